"""Starts: the initial point of a run, from its key."""

from earnshaw.starts.gaussian import Normal, Sphere, Xavier
from earnshaw.starts.given import Given
from earnshaw.starts.named import Start, start

__all__ = ["Given", "Normal", "Sphere", "Start", "Xavier", "start"]
