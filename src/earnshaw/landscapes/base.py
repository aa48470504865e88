"""What a descent needs to know of a landscape."""

from __future__ import annotations

from typing import Protocol, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

Self = TypeVar("Self", bound="Landscape")


class Landscape(Protocol):
    """A loss over points of a fixed shape, with its first two derivatives.

    Everything broadcasts over leading batch axes of the point. A landscape is a JAX pytree. It may be a batch itself,
    with other data for each lane of a descent: its data then have a leading axis that runs along the points' first one.
    Classes that name this one as their base inherit the answers for a landscape without such extras.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one point, which is one array."""
        ...

    @property
    def gauge(self) -> int:
        """How many flat directions every point has, because moving along them changes nothing but the parameters."""
        return 0

    @property
    def global_value(self) -> float | None:
        """The smallest value there is, None when it is not known."""
        ...

    def value(self, point: jax.Array) -> jax.Array:
        """Return the loss, shape (...)."""
        ...

    def gradient(self, point: jax.Array) -> jax.Array:
        """Return the gradient, of the point's shape."""
        ...

    def hessian(self, point: jax.Array) -> jax.Array:
        """Return the Hessian (..., N, N), N the number of entries of one point."""
        ...

    def hessian_vector(self, point: jax.Array, direction: jax.Array) -> jax.Array:
        """Return the Hessian applied to a direction, of the point's shape."""
        ...

    def neurons(self, point: jax.Array) -> jax.Array:
        """Return the neurons (..., n, d) of a point: its rows, without what is no weight of theirs."""
        return point

    def project(self, point: jax.Array) -> jax.Array:
        """Return the nearest allowed point: itself where every point is allowed."""
        return point

    def take(self: Self, index: jax.Array | np.ndarray | int) -> Self:
        """Return the landscape of these lanes: itself when it is one for all."""
        return self

    def hessian_lipschitz(self, point: jax.Array, radius: jax.Array) -> jax.Array:
        """Return a Lipschitz constant of the Hessian on the ball of this radius about the point; NaN when none is known."""
        return jnp.full(point.shape[: point.ndim - len(self.shape)], jnp.nan)

    def padded(self: Self, points: jax.Array | np.ndarray, multiple: int) -> tuple[Self, jax.Array | np.ndarray]:
        """Return a landscape of larger arrays with the same values, and these points in it at the same leading places.

        Sizes that differ little are rounded up to the same multiple, so that a program is compiled once for all of them.
        What is added has gradient and curvature 0, or the curvature of a further dimension.
        """
        return self, points
