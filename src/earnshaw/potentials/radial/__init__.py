"""Potentials of the distance alone: Coulomb's, Yukawa's, and the bounded ones that an activation has."""

from earnshaw.potentials.radial.almost_yukawa import AlmostYukawa, Variant
from earnshaw.potentials.radial.base import Circle, Coulomb, Radial, Yukawa, laplacian, turned
from earnshaw.potentials.radial.fourier import Realisability, Transform, realisability
from earnshaw.potentials.radial.realisation import Realisation

__all__ = ["AlmostYukawa", "Circle", "Coulomb", "Radial", "Variant", "Yukawa", "laplacian", "turned"]
__all__ += ["Realisability", "Realisation", "Transform", "realisability"]
