"""Starts: the initial point of a run, from its key."""

from earnshaw.starts.gaussian import Xavier

__all__ = ["Xavier"]
