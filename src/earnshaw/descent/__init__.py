"""Descent: algorithms that move a batch of points downhill, and the verdict on where each one ended."""

from earnshaw.descent.base import Descent, Evaluations
from earnshaw.descent.descend import descend
from earnshaw.descent.judges import BarrierJudge, BudgetJudge, Judge, NewtonJudge, Units, judge_for
from earnshaw.descent.lanes import Lanes, Snapshot, run_lanes
from earnshaw.descent.ledger import Ledger
from earnshaw.descent.newton.dense import settle
from earnshaw.descent.newton.polish import Polished, polish
from earnshaw.descent.optimizers.flow import Flow
from earnshaw.descent.optimizers.gradient_descent import GradientDescent
from earnshaw.descent.optimizers.hessian_descent import HessianDescent
from earnshaw.descent.optimizers.naming import descent_from_json, optimizer
from earnshaw.descent.optimizers.newton_trust_region import NewtonTrustRegion
from earnshaw.descent.optimizers.optax_descent import Optax
from earnshaw.descent.optimizers.perturbed import PerturbedDescent
from earnshaw.descent.optimizers.projected import ProjectedDescent
from earnshaw.descent.optimizers.second_gd import SecondGD
from earnshaw.descent.optimizers.stochastic import StochasticDescent
from earnshaw.descent.outcomes import Outcome, Runs, Trace
from earnshaw.descent.stopping import Stop, Stopping

__all__ = [
    "BarrierJudge",
    "BudgetJudge",
    "Descent",
    "Evaluations",
    "Flow",
    "GradientDescent",
    "HessianDescent",
    "Judge",
    "Lanes",
    "Ledger",
    "NewtonJudge",
    "NewtonTrustRegion",
    "Optax",
    "Outcome",
    "PerturbedDescent",
    "Polished",
    "ProjectedDescent",
    "Runs",
    "SecondGD",
    "Snapshot",
    "StochasticDescent",
    "Stop",
    "Stopping",
    "Trace",
    "Units",
    "descend",
    "descent_from_json",
    "judge_for",
    "optimizer",
    "polish",
    "run_lanes",
    "settle",
]
