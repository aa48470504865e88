"""Algorithm 4 of Panigrahy et al.: gradient descent with a projection after each step."""

from __future__ import annotations

import functools
from typing import Protocol

import jax


class Projectable(Protocol):
    """A landscape on a surface: a gradient, and the nearest allowed point."""

    def gradient(self, point: jax.Array, /) -> jax.Array:
        """Return the gradient."""
        ...

    def project(self, point: jax.Array, /) -> jax.Array:
        """Return the nearest allowed point."""
        ...


@functools.partial(jax.jit, static_argnames=("steps", "step"))
def projected_descent(landscape: Projectable, points: jax.Array, *, steps: int, step: float) -> jax.Array:
    r"""Return the points after so many steps :math:`x \leftarrow \Pi(x - \alpha\nabla f(x))`.

    Next to a kink of the landscape a fixed step goes to and fro: positions are then right to the length of a step.
    Reference: Panigrahy et al. (2018), Algorithm 4.
    """
    return jax.lax.fori_loop(0, steps, lambda _, x: landscape.project(x - step * landscape.gradient(x)), points)
