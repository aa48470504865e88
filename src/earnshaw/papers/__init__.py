"""Papers: one module or folder per paper, with its settings, its numbers, and ours beside them.

``PAPERS`` lists them with their tables and figures; nothing here imports JAX, so that help and completion are fast.
"""

from earnshaw.papers.comparison import Comparison, Item, Source
from earnshaw.papers.listing import PAPERS, Paper
from earnshaw.papers.reproduction import Reproduction

__all__ = ["PAPERS", "Comparison", "Item", "Paper", "Reproduction", "Source"]
