"""What a landscape of charges needs to know of a potential that depends on the distance alone."""

from __future__ import annotations

from typing import Protocol

import jax


class RadialPotential(Protocol):
    r"""A potential :math:`\Phi(\theta, w) = \Phi(|\theta - w|)` on R^d.

    Outside of ``radius`` it is an eigenfunction of the Laplacian, :math:`\Delta\Phi = \lambda\Phi`, with lambda the
    ``eigenvalue`` (0 for a harmonic potential). All methods work elementwise on distances r > 0, and a bounded potential
    takes r = 0 too.

    Reference: Panigrahy et al. (2018), sections 2 and 3.
    """

    @property
    def dimension(self) -> int:
        """The dimension d of the space."""
        ...

    @property
    def eigenvalue(self) -> float:
        """The lambda of the Laplacian."""
        ...

    @property
    def radius(self) -> float:
        """The potential is lambda-harmonic for distances from here on."""
        ...

    @property
    def bounded(self) -> bool:
        """Whether Phi(0) is finite; it is then 1. The energy of a charge with itself is left out otherwise."""
        ...

    def value(self, distance: jax.Array) -> jax.Array:
        """Return Phi(r)."""
        ...

    def slope(self, distance: jax.Array) -> jax.Array:
        """Return the first derivative in r."""
        ...

    def curvature(self, distance: jax.Array) -> jax.Array:
        """Return the second derivative in r."""
        ...


def laplacian(potential: RadialPotential, distance: jax.Array) -> jax.Array:
    r"""Return :math:`\Delta\Phi = \Phi'' + \frac{d-1}{r}\Phi'`, elementwise, for r > 0."""
    return potential.curvature(distance) + (potential.dimension - 1) / distance * potential.slope(distance)
