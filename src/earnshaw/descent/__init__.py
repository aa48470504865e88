"""Descent: algorithms that move a batch of points downhill, and the verdict on where each one ended."""

from earnshaw.descent import native, pool
from earnshaw.descent.base import Descent, Evaluations
from earnshaw.descent.judges import judge_for, suits
from earnshaw.descent.judges.barrier import BarrierJudge
from earnshaw.descent.judges.base import BudgetJudge, Judge
from earnshaw.descent.judges.newton import NewtonJudge, Units
from earnshaw.descent.lanes import Lanes, Snapshot, descend, run_lanes
from earnshaw.descent.newton.dense import settle
from earnshaw.descent.newton.polish import Polished, polish
from earnshaw.descent.optimizers.first_order import (
    Flow,
    GradientDescent,
    PerturbedDescent,
    ProjectedDescent,
    StochasticDescent,
)
from earnshaw.descent.optimizers.naming import descent_from_json, optimizer
from earnshaw.descent.optimizers.own import Optax
from earnshaw.descent.optimizers.second_order import HessianDescent, NewtonTrustRegion, SecondGD
from earnshaw.descent.outcomes import Ledger, Outcome, Stop, Stopping, Trace

__all__ = ["Descent", "Evaluations", "Lanes", "Ledger", "Outcome", "Snapshot", "Stop", "Stopping", "Trace"]
__all__ += ["Flow", "GradientDescent", "HessianDescent", "NewtonTrustRegion", "Optax", "PerturbedDescent"]
__all__ += ["ProjectedDescent", "SecondGD", "StochasticDescent", "descent_from_json", "optimizer"]
__all__ += ["BarrierJudge", "BudgetJudge", "Judge", "NewtonJudge", "Units", "judge_for", "suits"]
__all__ += ["Polished", "descend", "native", "polish", "pool", "run_lanes", "settle"]
