"""Judges: who decides what became of a lane, and which judge a landscape gets."""

from __future__ import annotations

import functools

from earnshaw.descent.base import Descent
from earnshaw.descent.judges.barrier import BarrierJudge
from earnshaw.descent.judges.base import Judge, Look, Report
from earnshaw.descent.judges.budget import BudgetJudge
from earnshaw.descent.judges.newton import NewtonJudge, Units
from earnshaw.descent.stopping import Stopping
from earnshaw.landscapes.base import Landscape
from earnshaw.landscapes.convnet import ConvNetLandscape
from earnshaw.landscapes.empirical import EmpiricalRisk
from earnshaw.problems.base import Problem

__all__ = ["BarrierJudge", "BudgetJudge", "Judge", "Look", "NewtonJudge", "Report", "Units", "judge_for", "judge_on"]


@functools.singledispatch
def judge_on(landscape: Landscape, problem: Problem, descent: Descent, stopping: Stopping) -> Judge:
    """Return the judge for a class of landscapes: Newton's, unless a line like those below registers another."""
    return NewtonJudge.of(problem, landscape, descent, stopping)


@judge_on.register
def _(landscape: ConvNetLandscape, problem: Problem, descent: Descent, stopping: Stopping) -> Judge:
    return BarrierJudge.of(landscape, descent, stopping)


@judge_on.register
def _(landscape: EmpiricalRisk, problem: Problem, descent: Descent, stopping: Stopping) -> Judge:
    return BudgetJudge(stopping)


def judge_for(problem: Problem, landscape: Landscape, descent: Descent, stopping: Stopping) -> Judge:
    """Return who decides the runs of a descent on this landscape of a problem."""
    return judge_on(landscape, problem, descent, stopping)
