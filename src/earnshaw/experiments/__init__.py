"""Experiments: work, engine, store. Many runs in, records and files out; no mathematics of their own."""

from earnshaw.errors import Interrupted
from earnshaw.experiments.arena import Arena, Disagreement, Score, Trap, load_arena, run_arena
from earnshaw.experiments.atlas import Atlas, AtlasPoint, build_atlas, family_spectrum, load_atlas
from earnshaw.experiments.comparing import Compared, MatchedFamily, Share, compare
from earnshaw.experiments.convnet import best_of_four
from earnshaw.experiments.deep import DeepGrid, DeepTraining, train_grid
from earnshaw.experiments.dynamics import Motion, dynamics
from earnshaw.experiments.engine import run
from earnshaw.experiments.fit import Fit, Fitting, fit
from earnshaw.experiments.follow import Followed, Following, Station, Trail, follow
from earnshaw.experiments.grow import Growing, Grown, Ladder, Rung, grow
from earnshaw.experiments.logistic import DataSets, Measurement, measure
from earnshaw.experiments.merging import merge
from earnshaw.experiments.met import MetFamily, families_met
from earnshaw.experiments.plan import Plan, Setting
from earnshaw.experiments.proving import Proved, Target, prove_sweep, prove_targets, targets
from earnshaw.experiments.repair import repair, verify
from earnshaw.experiments.runs import Runs
from earnshaw.experiments.summary import Summary, families
from earnshaw.experiments.survey import AtlasMap, Cell, Status, atlas_map
from earnshaw.experiments.sweep import Sweep, SweepResult, load_sweep, run_plan, sweep, sweep_in
from earnshaw.experiments.work import Work, finished_records, load, work_of

__all__ = ["Interrupted", "Work", "finished_records", "load", "merge", "repair", "run", "verify", "work_of"]
__all__ += ["Plan", "Runs", "Setting", "Summary", "Sweep", "SweepResult", "families", "load_sweep", "run_plan", "sweep"]
__all__ += ["MetFamily", "families_met", "sweep_in"]
__all__ += ["Arena", "Disagreement", "Score", "Trap", "load_arena", "run_arena"]
__all__ += ["Atlas", "AtlasPoint", "build_atlas", "family_spectrum", "load_atlas"]
__all__ += ["AtlasMap", "Cell", "Status", "atlas_map"]
__all__ += ["Proved", "Target", "prove_sweep", "prove_targets", "targets"]
__all__ += ["DataSets", "DeepGrid", "DeepTraining", "Fit", "Fitting", "Measurement", "Motion"]
__all__ += ["best_of_four", "dynamics", "fit", "measure", "train_grid"]
__all__ += ["Growing", "Grown", "Ladder", "Rung", "grow"]
__all__ += ["Compared", "MatchedFamily", "Share", "compare"]
__all__ += ["Followed", "Following", "Station", "Trail", "follow"]
