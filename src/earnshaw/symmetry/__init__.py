"""Symmetry: which points of a landscape are one and the same, and how often each was reached."""

from earnshaw.symmetry.families import Family, families
from earnshaw.symmetry.permutations import align, canonical

__all__ = ["Family", "align", "canonical", "families"]
