"""Starts: the initial point of a run, from its key."""

from earnshaw.starts.gaussian import Normal, Sphere, Xavier
from earnshaw.starts.given import Given
from earnshaw.starts.named import Start, start
from earnshaw.starts.signs import RandomTeachers, SphereAndBall, sign_flips

__all__ = ["Given", "Normal", "RandomTeachers", "Sphere", "SphereAndBall", "Start", "Xavier", "sign_flips", "start"]
