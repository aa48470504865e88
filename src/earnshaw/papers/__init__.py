"""Papers: one module or folder per paper, with its settings, its numbers, and ours beside them.

``PAPERS`` lists them with their tables and figures; nothing here imports JAX, so that help and completion are fast.
"""

from earnshaw.papers.comparison import Comparison, Item, Reproduction, Source
from earnshaw.papers.listing import ERRATA, PAPERS, Paper

__all__ = ["ERRATA", "PAPERS", "Comparison", "Item", "Paper", "Reproduction", "Source"]
