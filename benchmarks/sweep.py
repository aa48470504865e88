"""Speed of sweeps, as ratios to a named baseline measured in the same run: ``make bench``.

Prints a table and writes ``out/bench/sweep.json``. ``--no-grid`` leaves out the whole grid of the paper (minutes).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import baseline
from earnshaw.cli.console import out, progress_bar
from earnshaw.cli.sizes import paper_grid
from earnshaw.descent import Stop
from earnshaw.experiments import Plan, Setting, run_plan, sweep
from earnshaw.numerics import remember_programs
from earnshaw.problems import TwoLayer, standard_teacher
from earnshaw.starts import Xavier

ROUNDS = 3
FOLDER = Path("out/bench")


def time_sweep(problem: TwoLayer, runs: int, stop: Stop) -> tuple[float, int]:
    begin = time.perf_counter()
    result = sweep(problem, runs=runs, seed=0, stop=stop)
    return time.perf_counter() - begin, int(result.steps.sum())


def compare(k: int, baseline_runs: int, runs: int) -> dict[str, float]:
    """Time the baseline and a sweep in turn, several times; the ratios are medians over the rounds."""
    problem = TwoLayer(standard_teacher(k))
    starts = Xavier().draw(problem, 0, np.arange(ROUNDS * baseline_runs))
    for stop in Stop:  # compile
        sweep(problem, runs=64, seed=0, stop=stop)
    rows = []
    for turn in range(ROUNDS):
        begin = time.perf_counter()
        for start in starts[turn * baseline_runs : (turn + 1) * baseline_runs]:
            baseline.descend(start, problem.teacher)
        slow = (time.perf_counter() - begin) / baseline_runs
        paper, paper_steps = time_sweep(problem, runs, Stop.PAPER)
        early, _ = time_sweep(problem, runs, Stop.EARLY)
        rows.append((slow, paper / runs, early / runs, paper / paper_steps / (2 * k * k) * 1e9))
    slow, paper, early, pair = (statistics.median(column) for column in zip(*rows, strict=True))
    ratios = [row[0] / row[1] for row in rows]
    return {
        "k": k,
        "baseline_ms_per_run": 1e3 * slow,
        "paper_rule_ms_per_run": 1e3 * paper,
        "early_rule_ms_per_run": 1e3 * early,
        "ratio_same_rule": statistics.median(ratios),
        "gain_of_early_rule": statistics.median(row[1] / row[2] for row in rows),
        "ns_per_pair_and_step": pair,
    }


def whole_grid() -> float:
    """Time all 210 settings of the paper with 1000 runs each, compilation included."""
    settings = tuple(Setting(TwoLayer(standard_teacher(k), students=n)) for k, n in paper_grid())
    shutil.rmtree(FOLDER / "grid", ignore_errors=True)
    begin = time.perf_counter()
    with progress_bar("grid") as progress:
        run_plan(Plan(settings=settings), FOLDER / "grid", progress=progress)
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-grid", action="store_true", help="leave out the whole grid of the paper")
    arguments = parser.parse_args()
    remember_programs()
    FOLDER.mkdir(parents=True, exist_ok=True)
    rows = [compare(6, 10, 1000), compare(10, 6, 500), compare(20, 3, 128)]
    for row in rows:
        out.print(
            f"k = n = {row['k']}: baseline {row['baseline_ms_per_run']:.0f} ms a run, sweep {row['paper_rule_ms_per_run']:.2f} ms by the same rule: "
            f"[bold]{row['ratio_same_rule']:.0f}x[/]; early rule {row['early_rule_ms_per_run']:.2f} ms, another {row['gain_of_early_rule']:.1f}x; "
            f"{row['ns_per_pair_and_step']:.1f} ns per pair and step",
            soft_wrap=True,
        )
    record: dict[str, object] = {"sizes": rows, "cores": os.cpu_count()}
    if not arguments.no_grid:
        record["grid_seconds"] = whole_grid()
        out.print(f"the whole grid of the paper, 210 settings of 1000 runs: {record['grid_seconds']:.0f} s")
    (FOLDER / "sweep.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
