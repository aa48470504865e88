"""What a landscape needs to know of a potential: the energy of all pairs of charges, and its first two derivatives."""

from __future__ import annotations

from typing import Any, Protocol

import jax


class Pairs(Protocol):
    """The pairs of n places u_i with m places v_j, which any number of questions may be asked about."""

    def values(self) -> jax.Array:
        """Return Phi(u_i, v_j), (..., n, m)."""
        ...

    def slopes(self) -> jax.Array:
        """Return the gradients of Phi(u_i, v_j) in u_i, (..., n, m, d)."""
        ...

    def force(self, charges: jax.Array) -> jax.Array:
        r"""Return :math:`\sum_j q_j\,\partial_1\Phi(u_i, v_j)` for charges (..., m), (..., n, d)."""
        ...


class Potential(Protocol):
    r"""The energy :math:`\Phi(u, v)` of two unit charges.

    :class:`~earnshaw.potentials.invariant.Invariant` potentials, those of neurons, depend on lengths and angles;
    :class:`~earnshaw.potentials.radial.Radial` ones, those of charges in space, on the distance. What sums over pairs
    does not care which it has. Potentials are hashable: a compiled program belongs to one of them.
    """

    @property
    def bounded(self) -> bool:
        """Whether Phi(u, u) is finite. Otherwise a charge has no energy with itself: it is left out."""
        ...

    def place(self, positions: jax.Array) -> Any:
        """Return what belongs to each of the places (..., n, d) alone, computed once for all their pairs."""
        ...

    def pairs(self, first: Any, second: Any = None) -> Pairs:
        """Return the pairs of places with others, or with themselves: then place i is exactly where place i is."""
        ...

    def second_derivatives(self, first: jax.Array, second: jax.Array) -> tuple[jax.Array, jax.Array]:
        r"""Return :math:`\partial_u^2\Phi` and :math:`\partial_u\partial_v\Phi`, (..., d, d) each, at vectors (..., d)."""
        ...
