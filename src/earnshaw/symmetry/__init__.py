"""Symmetry: which points of a landscape are one and the same, and how often each was reached."""

from earnshaw.symmetry.families import Family, FamilyRecord, families, pack, unpack
from earnshaw.symmetry.permutations import Alignment, Automorphisms, align, automorphisms, canonical

__all__ = ["Alignment", "Automorphisms", "align", "automorphisms", "canonical"]
__all__ += ["Family", "FamilyRecord", "families", "pack", "unpack"]
