"""Experiments: plan, engine, store. Many runs in, records and files out; no mathematics of their own."""

from earnshaw.experiments.plan import Plan, Setting, default_batch
from earnshaw.experiments.summary import Summary, families, load_summaries, summarise
from earnshaw.experiments.sweep import Interrupted, SweepResult, run_plan, sweep

__all__ = [
    "Interrupted",
    "Plan",
    "Setting",
    "Summary",
    "SweepResult",
    "default_batch",
    "families",
    "load_summaries",
    "run_plan",
    "summarise",
    "sweep",
]
