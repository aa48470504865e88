"""Descent: algorithms that move a batch of students downhill, and the verdict on where each one ended."""

from earnshaw.descent.gradient_descent import GradientDescent, Stop
from earnshaw.descent.lanes import run_lanes
from earnshaw.descent.newton import Polished, polish, settle
from earnshaw.descent.outcomes import Outcome, Runs, Trace

__all__ = ["GradientDescent", "Outcome", "Polished", "Runs", "Stop", "Trace", "polish", "run_lanes", "settle"]
