"""Potentials of the distance alone: Coulomb's, Yukawa's, and the bounded ones that an activation has."""

from earnshaw.potentials.radial.almost_yukawa import AlmostYukawa, Variant
from earnshaw.potentials.radial.base import Radial, laplacian
from earnshaw.potentials.radial.circle import Circle, turned
from earnshaw.potentials.radial.coulomb import Coulomb
from earnshaw.potentials.radial.fourier import Realisability, Transform, realisability
from earnshaw.potentials.radial.realisation import Realisation
from earnshaw.potentials.radial.yukawa import Yukawa

__all__ = [
    "AlmostYukawa",
    "Circle",
    "Coulomb",
    "Radial",
    "Realisability",
    "Realisation",
    "Transform",
    "Variant",
    "Yukawa",
    "laplacian",
    "realisability",
    "turned",
]
