"""Symmetry: which points of a landscape are one and the same, how often each was reached, and what many equal entries save."""

from earnshaw.symmetry.copies import copies
from earnshaw.symmetry.families import Family, FamilyRecord, families, pack, unpack
from earnshaw.symmetry.isotropy import Isotropy, Placed, isotropy
from earnshaw.symmetry.letters import label, letter
from earnshaw.symmetry.named import named
from earnshaw.symmetry.patterns import Block, Pattern
from earnshaw.symmetry.permutations import Alignment, Automorphisms, align, automorphisms, canonical

__all__ = ["Alignment", "Automorphisms", "align", "automorphisms", "canonical", "copies"]
__all__ += ["Block", "Family", "FamilyRecord", "Pattern", "families", "pack", "unpack"]
__all__ += ["Isotropy", "Placed", "isotropy", "label", "letter", "named"]
