"""Is this code slower than that of another commit? ``make bench BASE=<commit>``.

Two processes, one with the code of the commit and one with the code here, compile first and then do the same work in turn,
five times. What is printed is the median of the ratios of their times, new over old, so that what else the machine does
hits both.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

ROUNDS = 5
LIMIT = 1.05
REPOSITORY = Path(__file__).resolve().parents[1]

# Runs in either tree: what is common to both, or asked for by what is there.
WORKER = """
import sys, time
import numpy as np
import earnshaw as es

def conv():
    if hasattr(es, "RandomConvNets"):
        return es.sweep(es.RandomConvNets(filter_size=20, patches=25, ratio=0.5), runs=4000)
    return es.conv_sweep(20, 25, 0.5, runs=4000)

six = es.TwoLayer(np.eye(6))
spurious = es.families(es.sweep(six, runs=1000).spurious)[0].weights
WORK = {
    "sweep k=6": lambda: es.sweep(six, runs=2000),
    "sweep k=10": lambda: es.sweep(es.TwoLayer(np.eye(10)), runs=500),
    "sweep k=20": lambda: es.sweep(es.TwoLayer(np.eye(20)), runs=150),
    "sweep k=5 adam": lambda: es.sweep(es.TwoLayer(np.eye(5)), runs=200, optimizer="adam:0.01"),
    "sweep conv": conv,
    "prove k=6": lambda: [es.prove(six, spurious) for _ in range(20)],
}
for work in WORK.values():
    work()
print("ready", flush=True)
for line in sys.stdin:
    begin = time.perf_counter()
    WORK[line.strip()]()
    print(time.perf_counter() - begin, flush=True)
"""
WORK = ("sweep k=6", "sweep k=10", "sweep k=20", "sweep k=5 adam", "sweep conv", "prove k=6")


class Worker:
    """A process with the code of one tree."""

    def __init__(self, tree: Path) -> None:
        environment = os.environ | {"PYTHONPATH": str(tree / "src"), "OPENBLAS_NUM_THREADS": "1"}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER], env=environment, cwd=tree, stdin=pipe, stdout=pipe, text=True
        )

    def _pipes(self) -> tuple[IO[str], IO[str]]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        return self.process.stdin, self.process.stdout

    def wait(self) -> None:
        """Wait until everything is compiled."""
        if self._pipes()[1].readline().strip() != "ready":
            raise SystemExit("a process ended before its work began; see what it printed above")

    def time(self, work: str) -> float:
        """Do some work and return the seconds."""
        words, answers = self._pipes()
        words.write(work + "\n")
        words.flush()
        return float(answers.readline())


def main() -> None:
    """Compare, print a table, write ``out/bench/compare.json``; exit with 1 when something is slower than the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", help="the commit to compare with")
    base = parser.parse_args().base
    ratios: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place) / "base"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(tree), base], cwd=REPOSITORY, check=True)
        try:
            old, new = Worker(tree), Worker(REPOSITORY)
            for worker in (old, new):
                worker.wait()
            for work in WORK:
                pairs = [(old.time(work), new.time(work)) for _ in range(ROUNDS)]
                ratios[work] = statistics.median(after / before for before, after in pairs)
                seconds = [statistics.median(column) for column in zip(*pairs, strict=True)]
                print(f"{work:16} {seconds[0]:7.3f} s -> {seconds[1]:7.3f} s   {ratios[work]:.3f}", flush=True)
            for worker in (old, new):
                worker.process.kill()
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(tree)], cwd=REPOSITORY, check=True)
    overall = statistics.median(ratios.values())
    print(f"median of all: {overall:.3f} (limit {LIMIT})")
    folder = REPOSITORY / "out" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "compare.json").write_text(
        json.dumps({"base": base, "ratios": ratios, "median": overall}, indent=1) + "\n"
    )
    sys.exit(overall > LIMIT)


if __name__ == "__main__":
    main()
