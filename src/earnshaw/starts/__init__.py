"""Starts: the initial point of a run, from its key."""

from earnshaw.starts.base import Given, Normal, Sphere, Start, Xavier, starts_around
from earnshaw.starts.naming import check_start, start, start_from_json, usual_start
from earnshaw.starts.signs import FourSigns, SphereAndBall, sign_flips

__all__ = [
    "FourSigns",
    "Given",
    "Normal",
    "Sphere",
    "SphereAndBall",
    "Start",
    "Xavier",
    "check_start",
    "sign_flips",
    "start",
    "start_from_json",
    "starts_around",
    "usual_start",
]
