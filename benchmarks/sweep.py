"""Speed of sweeps, with and without the native kernel, as ratios to a named baseline measured in the same run: ``make bench``.

All times are CPU seconds of this process, over the cores it may use: the machine need not be quiet. Prints a table and writes ``out/bench/sweep.json``. ``--no-grid`` leaves out the whole grid of the paper (minutes).
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import shutil
import statistics
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import baseline
from earnshaw.cli.console import out, progress_bar
from earnshaw.cli.settings import PAPER_GRID
from earnshaw.descent import Stop, native
from earnshaw.experiments import Plan, run_plan, sweep
from earnshaw.numerics import remember_programs
from earnshaw.problems import TwoLayer, standard_teacher
from earnshaw.starts import Xavier
from earnshaw.threads import cores

ROUNDS = 3
BASELINE_STEPS = 5000  # of each of the baseline's runs: its time per step is what counts
FOLDER = Path("out/bench")


CORES = cores()


class Clocked:
    """The native library, with a clock that says how much CPU time its kernel took."""

    def __init__(self) -> None:
        self.native, self.seconds, self.lock = native._library(), 0.0, threading.Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.native, name)

    def earnshaw_run(self, *arguments: Any) -> int:
        begin = time.thread_time()
        count = self.native.earnshaw_run(*arguments)  # type: ignore[union-attr]
        with self.lock:
            self.seconds += time.thread_time() - begin
        return count


def time_sweep(problem: TwoLayer, runs: int, stop: Stop, kernel: str) -> tuple[float, int, float]:
    """Return the CPU seconds of a sweep on each core, its steps, and by how much the kernel alone would be faster."""
    clocked = Clocked()
    with mock.patch.object(native, "_library", return_value=clocked) if kernel == "native" else nullcontext():
        begin = time.process_time()
        result = sweep(problem, runs=runs, seed=0, stop=stop, kernel=kernel)
        seconds = time.process_time() - begin
    return seconds / CORES, int(result.steps.sum()), seconds / clocked.seconds if clocked.seconds else math.nan


def compare(k: int, baseline_runs: int, runs: int, kernel: str) -> dict[str, float | str]:
    """Time the baseline and a sweep in turn, several times; the ratios are medians over the rounds.

    Both follow the same rule from the same starts, so they take the same steps, and runs per second compare as steps per
    second do; the baseline is timed on the first steps of the first few runs only. Of our side everything is timed that a
    sweep does: starts, tests, polish, families.
    """
    problem = TwoLayer(standard_teacher(k))
    starts = Xavier().draw(problem, 0, np.arange(baseline_runs))
    for stop in Stop:  # compile
        time_sweep(problem, 64, stop, kernel)
    rows = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        taken = sum(baseline.descend(start, problem.teacher, max_steps=BASELINE_STEPS)[1] for start in starts)
        slow = (time.process_time() - begin) / taken
        paper, steps, over = time_sweep(problem, runs, Stop.PAPER, kernel)
        early, _, early_over = time_sweep(problem, runs, Stop.EARLY, kernel)
        pair = 1e9 * paper / steps / (2 * k * k)
        speeds = slow * steps / paper, paper / early, pair, 1e6 * slow, runs / paper, runs / early
        rows.append((*speeds, over, early_over))
    medians = (statistics.median(column) for column in zip(*rows, strict=True))
    ratio, gain, pair, step, paper_rate, early_rate, over, early_over = medians
    alone = {} if math.isnan(over) else {"over_kernel_paper_rule": over, "over_kernel_early_rule": early_over}
    return {
        "k": k,
        "kernel": kernel,
        "ratio_same_rule": ratio,
        "gain_of_early_rule": gain,
        "ns_per_pair_and_step": pair,
        "baseline_us_per_step": step,
        "runs_per_second_paper_rule": paper_rate,
        "runs_per_second_early_rule": early_rate,
        **alone,
    }


def whole_grid() -> float:
    """Time all 210 settings of the paper with 1000 runs each, compilation included."""
    problems = [TwoLayer(standard_teacher(k), students=n) for k, n in PAPER_GRID]
    shutil.rmtree(FOLDER / "grid", ignore_errors=True)
    begin = time.perf_counter()
    with progress_bar("grid") as progress:
        run_plan(Plan.of(problems), FOLDER / "grid", progress=progress)
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-grid", action="store_true", help="leave out the whole grid of the paper")
    arguments = parser.parse_args()
    remember_programs()
    FOLDER.mkdir(parents=True, exist_ok=True)
    rows = []
    kernels = ("xla",) if native.missing() else ("native", "xla")
    for (k, baseline_runs, runs), kernel in itertools.product(((6, 5, 1000), (10, 3, 1000), (20, 2, 500)), kernels):
        row = compare(k, baseline_runs, runs, kernel)
        rows.append(row)
        over = [f"{row[name]:.2f}" for name in ("over_kernel_paper_rule", "over_kernel_early_rule") if name in row]
        whole = f"; the whole sweep takes {' and '.join(over)} times its kernel" if over else ""
        out.print(
            f"k = n = {row['k']}, {kernel}: [bold]{row['ratio_same_rule']:.0f} times[/] the baseline's runs per second by the same rule "
            f"({row['runs_per_second_paper_rule']:.1f}), early rule {row['gain_of_early_rule']:.1f} times that "
            f"({row['runs_per_second_early_rule']:.1f}); {row['ns_per_pair_and_step']:.1f} ns per pair and step{whole}",
            soft_wrap=True,
        )
    record: dict[str, object] = {"sizes": rows, "cores": CORES}
    if not arguments.no_grid:
        record["grid_seconds"] = whole_grid()
        out.print(f"the whole grid of the paper, 210 settings of 1000 runs: {record['grid_seconds']:.0f} s")
    (FOLDER / "sweep.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
