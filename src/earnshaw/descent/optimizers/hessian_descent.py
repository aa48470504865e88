"""Algorithm 1 of Panigrahy et al.: steps along the direction of most negative curvature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.base import Descent, Evaluations, check_settings, follow
from earnshaw.landscapes.base import Landscape


def flat(landscape: Landscape, point: jax.Array) -> jax.Array:
    """Return points with one axis for all parameters."""
    return point.reshape(*point.shape[: point.ndim - len(landscape.shape)], -1)


def norms(landscape: Landscape, gradient: jax.Array) -> jax.Array:
    """Return the length of each lane's gradient."""
    return jnp.linalg.norm(flat(landscape, gradient), axis=-1)


def hessian_step(
    landscape: Landscape, point: jax.Array, gradient: jax.Array, step: float | jax.Array, printed: bool = False
) -> jax.Array:
    r"""Return the points after one step :math:`x + \beta v`, v the unit eigenvector of the least eigenvalue,

    .. math:: \beta = \alpha\,\lambda_{\min}\,\mathrm{sign}(\nabla f^T v), \qquad \mathrm{sign}(0) = 1 .

    With negative curvature this goes down, to the side of v on which the slope helps. ``printed`` gives the rule as it is
    printed, with a minus sign, which goes up (docs/errata.md).
    """
    eigenvalues, vectors = jnp.linalg.eigh(landscape.hessian(point))
    direction = vectors[..., :, 0]
    along = jnp.sum(flat(landscape, gradient) * direction, -1)
    beta = step * eigenvalues[..., 0] * jnp.where(along >= 0, 1.0, -1.0)
    if printed:
        beta = -beta
    return point + (beta[..., None] * direction).reshape(point.shape)


class HessianState(NamedTuple):
    """Points (lanes, *shape) and the factors alpha (lanes,)."""

    point: jax.Array
    length: jax.Array


@dataclass(frozen=True, kw_only=True)
class HessianDescent(Descent):
    """Algorithm 1: every step is one of :func:`hessian_step`, which looks at the gradient for its sign only.

    It leaves saddles and is at home where the curvature is negative. At a minimum its steps go up again, so that it comes
    to rest nowhere: in a sweep its runs are finished by gradient descent.

    Reference: Panigrahy et al. (2018), Algorithm 1 and Lemma 19.

    Attributes
    ----------
    step : the factor alpha.
    printed : whether to use the sign that is printed, which goes up.
    check_every : the stop tests are made at multiples of this many of the run's own steps.
    """

    kind: ClassVar[str] = "hessian-descent"
    numbers: ClassVar[tuple[str, ...]] = ("step",)

    step: float = 0.1
    printed: bool = False
    check_every: int = 5

    def __post_init__(self) -> None:
        """Refuse what is not positive."""
        check_settings(self, " of Hessian descent", "step")

    def init(self, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> HessianState:
        """Return the state of lanes at these points."""
        return HessianState(points, self.step * scale)

    def advance(self, landscape: Landscape, state: HessianState) -> HessianState:
        """Return the state after one step of every lane."""
        gradient = landscape.gradient(state.point)
        return state._replace(point=hessian_step(landscape, state.point, gradient, state.length, self.printed))

    def evaluations(self, state: HessianState, steps: np.ndarray) -> Evaluations:
        """One gradient and one Hessian a step."""
        return Evaluations(steps, steps)


def hessian_descent(
    landscape: Landscape, point: jax.Array, *, steps: int, step: float, printed: bool = False
) -> jax.Array:
    """Return the points after so many steps of Algorithm 1."""
    return follow(HessianDescent(step=step, printed=printed), landscape, point, steps).point
