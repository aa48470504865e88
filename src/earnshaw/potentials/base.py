"""What a landscape needs to know of a potential."""

from __future__ import annotations

from typing import Any, Protocol

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike


class Potential(Protocol):
    r"""A rotation-invariant potential :math:`\Phi(u, v) = E[\sigma(u\cdot x)\,\sigma(v\cdot x)]`.

    It depends on u and v through three numbers, and there are two ways to choose them:

    - *polar* (``polar`` is True): the norms :math:`|u|, |v|` and the cosine of the angle of u and v. This suits
      activations that are not smooth at 0, whose potential has no derivative at u = 0.
    - *plain* (False): the squares :math:`|u|^2, |v|^2` and the product :math:`u\cdot v`. Potentials of smooth
      activations are smooth in these, also at u = 0.

    What belongs to one neuron alone is computed once a neuron by :meth:`prepare`, from its norm (polar) or its square
    (plain); the results, its *features*, may be any tree of arrays whose last axes are those of the norms given. The
    rest is elementwise in (features of u, features of v, cosine or product), so that all pairs of all runs are one fused
    loop. All methods broadcast. Potentials are hashable: a compiled program belongs to one of them.
    """

    @property
    def polar(self) -> bool:
        """Whether norms and cosines are meant, or squares and products."""
        ...

    def activation(self, x: jax.Array) -> jax.Array:
        """Return sigma(x), elementwise: what the quadrature and sampled references use."""
        ...

    def prepare(self, size: jax.Array) -> Any:
        """Return the features of neurons of these norms (polar) or squares (plain)."""
        ...

    def value(self, first: Any, second: Any, product: jax.Array) -> jax.Array:
        """Return Phi."""
        ...

    def gradient(self, first: Any, second: Any, product: jax.Array) -> tuple[jax.Array, jax.Array]:
        r"""Return (A, B) with :math:`\partial\Phi/\partial u = A\,u + B\,v`, for polar ones with unit vectors instead."""
        ...

    def second_derivatives(self, first: jax.Array, second: jax.Array) -> tuple[jax.Array, jax.Array]:
        r"""Return (d2Phi/du2, d2Phi/du dv), two (..., d, d) arrays, for vectors (..., d)."""
        ...


def measure(potential: Potential, vectors: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return what the potential measures of vectors (..., d), and the vectors that its gradient is a combination of.

    Norms (...) and unit vectors for polar potentials; squares (...) and the vectors themselves for plain ones.
    """
    squares = jnp.sum(vectors * vectors, -1)
    if not potential.polar:
        return squares, vectors
    norms = jnp.sqrt(squares)
    return norms, vectors / norms[..., None]


def value_at(potential: Potential, first: ArrayLike, second: ArrayLike) -> jax.Array:
    """Return Phi(u, v), shape (...), for vectors (..., d)."""
    (a, u), (b, v) = measure(potential, jnp.asarray(first)), measure(potential, jnp.asarray(second))
    return potential.value(potential.prepare(a), potential.prepare(b), jnp.sum(u * v, -1))


def gradient_at(potential: Potential, first: ArrayLike, second: ArrayLike) -> jax.Array:
    """Return dPhi/du, shape (..., d), for vectors (..., d)."""
    (a, u), (b, v) = measure(potential, jnp.asarray(first)), measure(potential, jnp.asarray(second))
    along, toward = potential.gradient(potential.prepare(a), potential.prepare(b), jnp.sum(u * v, -1))
    return along[..., None] * u + toward[..., None] * v
