"""Algorithm 1 of Panigrahy et al.: steps along the direction of most negative curvature."""

from __future__ import annotations

from typing import Protocol

import jax
import jax.numpy as jnp


class SecondOrder(Protocol):
    """What the second-order algorithms ask of a landscape; all methods take leading lanes."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one point."""
        ...

    def value(self, point: jax.Array, /) -> jax.Array:
        """Return the value."""
        ...

    def gradient(self, point: jax.Array, /) -> jax.Array:
        """Return the gradient."""
        ...

    def hessian(self, point: jax.Array, /) -> jax.Array:
        """Return the Hessian as a matrix."""
        ...


def flat(landscape: SecondOrder, point: jax.Array) -> jax.Array:
    """Return points with one axis for all parameters."""
    return point.reshape(*point.shape[: point.ndim - len(landscape.shape)], -1)


def norms(landscape: SecondOrder, gradient: jax.Array) -> jax.Array:
    """Return the length of each lane's gradient."""
    return jnp.linalg.norm(flat(landscape, gradient), axis=-1)


def hessian_step(
    landscape: SecondOrder, point: jax.Array, gradient: jax.Array, step: float, printed: bool = False
) -> jax.Array:
    r"""Return the points after one step :math:`x + \beta v`, v the unit eigenvector of the least eigenvalue,

    .. math:: \beta = \alpha\,\lambda_{\min}\,\mathrm{sign}(\nabla f^T v), \qquad \mathrm{sign}(0) = 1 .

    With negative curvature this goes down the gradient's side of v. The printed rule has a minus sign, which goes up;
    ``printed`` gives it (docs/errata.md).
    """
    eigenvalues, vectors = jnp.linalg.eigh(landscape.hessian(point))
    direction = vectors[..., :, 0]
    along = jnp.sum(flat(landscape, gradient) * direction, -1)
    beta = step * eigenvalues[..., 0] * jnp.where(along >= 0, 1.0, -1.0)
    if printed:
        beta = -beta
    return point + (beta[..., None] * direction).reshape(point.shape)


def hessian_descent(
    landscape: SecondOrder, point: jax.Array, *, steps: int, step: float, printed: bool = False
) -> jax.Array:
    """Return the points after so many steps of Algorithm 1, which looks at the gradient for its sign only.

    Reference: Panigrahy et al. (2018), Algorithm 1 and Lemma 19.
    """

    def once(_: jax.Array, x: jax.Array) -> jax.Array:
        return hessian_step(landscape, x, landscape.gradient(x), step, printed)

    return jax.lax.fori_loop(0, steps, once, point)
