"""What a landscape needs to know of a potential."""

from __future__ import annotations

from typing import Protocol

import jax
import numpy as np


class Potential(Protocol):
    r"""A rotation-invariant potential :math:`\Phi(u, v) = \phi(|u|, |v|, c)`, c the cosine of the angle of u and v.

    Everything that a batched landscape sums over pairs is elementwise in (|u|, |v|, c), so that all pairs of all runs
    are one fused loop. All methods broadcast.
    """

    def activation(self, x: np.ndarray) -> np.ndarray:
        """Return sigma(x), elementwise: what the quadrature and sampled references use."""
        ...

    def value(self, first_norm: jax.Array, second_norm: jax.Array, cosine: jax.Array) -> jax.Array:
        """Return Phi."""
        ...

    def gradient(self, first_norm: jax.Array, second_norm: jax.Array, cosine: jax.Array) -> tuple[jax.Array, jax.Array]:
        r"""Return (A, B) with :math:`\partial\Phi/\partial u = A\,\bar u + B\,\bar v`, bars being unit vectors."""
        ...

    def second_derivatives(self, first: jax.Array, second: jax.Array) -> tuple[jax.Array, jax.Array]:
        r"""Return (d2Phi/du2, d2Phi/du dv), two (..., d, d) arrays, for vectors (..., d)."""
        ...
