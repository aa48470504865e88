"""What a descent needs to know of a landscape, and what every landscape checks of a point."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.errors import InputError
from earnshaw.numerics.compiling import program


def _checked(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of a point that refuses another shape. In traced code this is looked at once, while tracing."""

    @functools.wraps(method)
    def call(self: Landscape, point: Any, *more: Any, **named: Any) -> Any:
        if getattr(point, "shape", ())[-len(self.shape) :] != self.shape:
            point = self._array(point)
        return method(self, point, *more, **named)

    return call


_eigenvalues = program(jnp.linalg.eigvalsh)


class Landscape:
    """A loss over points of a fixed shape, with its first two derivatives.

    Everything broadcasts over leading batch axes of the point; a point of another shape raises :class:`InputError`. A
    landscape is a JAX pytree. It may be a batch itself, with other data for each lane of a descent: its data then have a
    leading axis that runs along the points' first one. Subclasses give ``shape``, ``value`` and ``gradient``; the rest
    has an answer here.
    """

    gauge: Any = 0  #: how many flat directions every point has, because moving along them changes nothing else
    global_value: Any = None  #: the smallest value there is, None when it is not known

    def __init_subclass__(cls, **more: Any) -> None:
        """Let every evaluation check the shape of its point."""
        super().__init_subclass__(**more)
        for name in ("value", "gradient", "hessian", "hessian_vector", "spectrum"):
            if name in vars(cls):
                setattr(cls, name, _checked(vars(cls)[name]))

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one point, which is one array."""
        raise NotImplementedError

    def point(self, *parts: Any) -> jax.Array:
        """Return a validated point; wrong shapes and NaN raise :class:`InputError`."""
        (point,) = parts
        array = self._array(point)
        if not np.isfinite(array).all():
            raise InputError("the point holds NaN or infinite entries; all must be finite")
        return jnp.asarray(array, dtype=jnp.float64)

    def _array(self, point: Any) -> np.ndarray | jax.Array:
        """Return a point of the right shape as an array; anything else raises."""
        try:
            array = point if isinstance(point, jax.Array) else np.asarray(point, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"the point is no array of real numbers ({error})") from None
        if array.shape[-len(self.shape) :] != self.shape:
            wanted = ", ".join(str(size) for size in self.shape)
            raise InputError(f"the point has shape {array.shape}; this problem needs (..., {wanted}){self._layout}")
        return array

    @property
    def _layout(self) -> str:
        """What else a message about a wrong shape should say."""
        return ""

    def neurons(self, point: jax.Array) -> jax.Array:
        """Return the rows that can die, (..., n, d): the weights of a point without its output weights."""
        return point

    def value(self, point: jax.Array) -> jax.Array:
        """Return the loss, shape (...)."""
        raise NotImplementedError

    def gradient(self, point: jax.Array) -> jax.Array:
        """Return the gradient, of the point's shape."""
        raise NotImplementedError

    @_checked
    @program
    def hessian_vector(self, point: jax.Array, direction: jax.Array) -> jax.Array:
        """Return the Hessian applied to a direction of the point's shape, without forming it."""
        return jax.jvp(self.gradient, (point,), (direction,))[1]

    @_checked
    @program
    def hessian(self, point: jax.Array) -> jax.Array:
        """Return the Hessian (..., N, N), N the number of entries of one point."""
        size = int(np.prod(self.shape))
        basis = jnp.eye(size).reshape(size, *self.shape)
        columns = jax.vmap(lambda row: self.hessian_vector(point, jnp.broadcast_to(row, point.shape)))(basis)
        batch = point.shape[: point.ndim - len(self.shape)]
        return jnp.moveaxis(columns.reshape(size, *batch, size), 0, -1)

    @_checked
    def spectrum(self, point: jax.Array, extra_dimension: bool = False) -> jax.Array:
        """Return the Hessian's eigenvalues in ascending order, (..., N); with ``extra_dimension``, where that makes sense,
        those in one dimension more."""
        return _eigenvalues(self.hessian(point))

    def project(self, point: jax.Array) -> jax.Array:
        """Return the nearest allowed point."""
        return point

    def standard(self, point: jax.Array) -> jax.Array:
        """Return the point moved along the directions that change nothing to a standard place, for comparing points."""
        return point

    def reduced(self, points: np.ndarray) -> tuple[Landscape, np.ndarray, Callable[[np.ndarray], np.ndarray]]:
        """Return a landscape in fewer coordinates that runs from these points never leave, the points there, and the way back."""
        return self, points, lambda reduced: reduced

    def own_data(self) -> dict[str, np.ndarray]:
        """Return what belongs to each lane alone, such as its teacher, by name; nothing when all lanes share everything."""
        return {}

    def take(self, index: jax.Array | np.ndarray | int) -> Self:
        """Return the landscape of these lanes: itself when it is one for all."""
        return self

    def hessian_lipschitz(self, point: jax.Array, radius: jax.Array) -> jax.Array:
        """Return a Lipschitz constant of the Hessian on the ball of this radius about the point; NaN when none is known."""
        return jnp.full(point.shape[: point.ndim - len(self.shape)], jnp.nan)

    def widened(self, multiple: int, least: int = 0) -> Self:
        """Return a landscape of larger arrays with the same values at points that :meth:`room` puts there.

        Sizes are rounded up to a multiple, and to ``least``, so that one program serves those that differ little. What is added has gradient
        and curvature 0, or the curvature of a further dimension.
        """
        return self

    def room(self, points: jax.Array | np.ndarray) -> jax.Array | np.ndarray:
        """Return points (lanes, ...) of the landscape that was widened to this one, at the same leading places of its arrays."""
        return points

    def padded(
        self, points: jax.Array | np.ndarray, multiple: int, least: int = 0
    ) -> tuple[Self, jax.Array | np.ndarray]:
        """Return the landscape :meth:`widened`, and these points in it."""
        wide = self.widened(multiple, least)
        return wide, wide.room(points)
