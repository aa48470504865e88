"""Papers: one module per paper, with its settings, its printed numbers, and ours beside them.

Each module has ``PAPER``, its name on the command line, and ``ITEMS``, its tables and figures.
"""

from earnshaw.papers.comparison import Comparison
from earnshaw.papers.reproduction import Items, Reproduction

__all__ = ["Comparison", "Items", "Reproduction"]
