"""Judges: who decides what became of a lane, and which judge a landscape gets."""

from __future__ import annotations

import dataclasses
import functools
import math

import numpy as np

from earnshaw.descent.base import Descent
from earnshaw.descent.judges.barrier import BarrierJudge, check_step, gradient_step
from earnshaw.descent.judges.base import DenseJudge, Judge
from earnshaw.descent.judges.newton import NewtonJudge
from earnshaw.descent.outcomes import Stopping
from earnshaw.landscapes.base import Landscape
from earnshaw.landscapes.convnet import ConvNetLandscape
from earnshaw.landscapes.empirical import EmpiricalRisk, StreamedRisk
from earnshaw.landscapes.rows import Rows
from earnshaw.problems import ConvNet, Problem, RandomConvNets

NEWTON_AFTER = 300  # steps of descent on a sum over rows, before Newton's method takes over


def suits(problem: Problem, descent: Descent) -> None:
    """Refuse an optimiser with which the ends of this problem's runs would be guesses."""
    if isinstance(problem, ConvNet | RandomConvNets):
        check_step(gradient_step(descent), problem.patches, math.sqrt(problem.scale))


@functools.singledispatch
def judge_for(landscape: Landscape, problem: Problem, descent: Descent, stopping: Stopping) -> Judge:
    """Return who decides the runs of a descent on a landscape: Newton's, unless a line like those below registers another."""
    return NewtonJudge.of(problem, landscape, descent, stopping)


@judge_for.register
def _(landscape: ConvNetLandscape, problem: Problem, descent: Descent, stopping: Stopping) -> Judge:
    return BarrierJudge.of(landscape, descent, stopping)


@judge_for.register
def _(landscape: EmpiricalRisk, problem: Problem, descent: Descent, stopping: Stopping) -> Judge:
    rows = Rows(np.asarray(landscape.x), np.asarray(landscape.y), threads=1)
    limits = dataclasses.replace(stopping, max_steps=min(stopping.max_steps, NEWTON_AFTER))
    return DenseJudge(stopping=limits, risk=StreamedRisk(rows, landscape.students, landscape.activation))
