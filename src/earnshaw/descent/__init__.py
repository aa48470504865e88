"""Descent: algorithms that move a batch of points downhill, and the verdict on where each one ended."""

from earnshaw.descent.base import Descent, Evaluations
from earnshaw.descent.descend import descend
from earnshaw.descent.judges.barrier import BarrierJudge
from earnshaw.descent.judges.newton import Judge, NewtonJudge, Units
from earnshaw.descent.lanes import run_lanes
from earnshaw.descent.ledger import Ledger
from earnshaw.descent.newton.polish import Polished, polish, settle
from earnshaw.descent.optimizers.flow import Flow
from earnshaw.descent.optimizers.gradient_descent import GradientDescent
from earnshaw.descent.optimizers.naming import optimizer
from earnshaw.descent.optimizers.newton_trust_region import NewtonTrustRegion
from earnshaw.descent.optimizers.optax_descent import Optax
from earnshaw.descent.optimizers.perturbed import PerturbedDescent
from earnshaw.descent.optimizers.stochastic import StochasticDescent
from earnshaw.descent.outcomes import Outcome, Runs, Trace
from earnshaw.descent.stopping import Stop, Stopping

__all__ = [
    "BarrierJudge",
    "Descent",
    "Evaluations",
    "Flow",
    "GradientDescent",
    "Judge",
    "Ledger",
    "NewtonJudge",
    "NewtonTrustRegion",
    "Optax",
    "Outcome",
    "PerturbedDescent",
    "Polished",
    "Runs",
    "StochasticDescent",
    "Stop",
    "Stopping",
    "Trace",
    "Units",
    "descend",
    "optimizer",
    "polish",
    "run_lanes",
    "settle",
]
