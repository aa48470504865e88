"""Descent: algorithms that move a batch of points downhill, and the verdict on where each one ended."""

from earnshaw.descent.base import Descent, Evaluations
from earnshaw.descent.convnet import BarrierJudge
from earnshaw.descent.convnet_monitors import follow, hypotheses, monitors, phases
from earnshaw.descent.descend import descend
from earnshaw.descent.flow import Flow
from earnshaw.descent.gradient_descent import GradientDescent
from earnshaw.descent.judge import Judge, NewtonJudge, Units
from earnshaw.descent.lanes import run_lanes
from earnshaw.descent.ledger import Ledger
from earnshaw.descent.naming import optimizer
from earnshaw.descent.newton import Polished, polish, settle
from earnshaw.descent.newton_trust_region import NewtonTrustRegion
from earnshaw.descent.optax_descent import Optax
from earnshaw.descent.outcomes import Outcome, Runs, Trace
from earnshaw.descent.perturbed import PerturbedDescent
from earnshaw.descent.stochastic import StochasticDescent
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
    "follow",
    "hypotheses",
    "monitors",
    "optimizer",
    "phases",
    "polish",
    "run_lanes",
    "settle",
]
