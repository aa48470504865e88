"""Papers: one module per paper, with its settings, its printed numbers, and ours beside them."""

from earnshaw.papers.comparison import Comparison

__all__ = ["Comparison"]
