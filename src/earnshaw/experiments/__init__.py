"""Experiments: plan, engine, store. Many runs in, records and files out; no mathematics of their own."""

from earnshaw.experiments.arena import Arena, Contestant, Disagreement, Score, Trap, run_arena
from earnshaw.experiments.convnet import ConvPlan, ConvRuns, Tries, best_of_four, conv_sweep, run_conv_plan
from earnshaw.experiments.plan import Plan, Setting
from earnshaw.experiments.proving import Proved, Target, prove_sweep, prove_targets, targets
from earnshaw.experiments.summary import Summary, families, load_summaries, summarise
from earnshaw.experiments.sweep import Interrupted, SweepResult, run_plan, sweep

__all__ = [
    "Arena",
    "Contestant",
    "ConvPlan",
    "ConvRuns",
    "Disagreement",
    "Interrupted",
    "Plan",
    "Proved",
    "Score",
    "Setting",
    "Summary",
    "SweepResult",
    "Target",
    "Trap",
    "Tries",
    "best_of_four",
    "conv_sweep",
    "families",
    "load_summaries",
    "prove_sweep",
    "prove_targets",
    "run_arena",
    "run_conv_plan",
    "run_plan",
    "summarise",
    "sweep",
    "targets",
]
