"""Potentials: Phi(u, v) = E[sigma(u.x) sigma(v.x)] and its first two derivatives, one file per activation."""

from earnshaw.potentials.base import Potential
from earnshaw.potentials.reference import monte_carlo, quadrature
from earnshaw.potentials.relu import ReLU

POTENTIALS: dict[str, Potential] = {"relu": ReLU()}

__all__ = ["POTENTIALS", "Potential", "ReLU", "monte_carlo", "quadrature"]
