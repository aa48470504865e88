"""Starts: the initial point of a run, from its key."""

from earnshaw.starts.base import (
    FourSigns,
    Given,
    Normal,
    Sphere,
    SphereAndBall,
    Start,
    Xavier,
    sign_flips,
    starts_around,
)
from earnshaw.starts.naming import check_start, start, start_from_json, usual_start

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
