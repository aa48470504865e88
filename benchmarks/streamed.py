"""Speed and memory of one streamed value-and-gradient pass, beside a NumPy pass over the same files: ``make bench``.

The baseline reads the same memory-mapped files in the same chunks and does the two matrix products that any pass must
do, X W' and R' X, and nothing else. Both run on what they are given: NumPy with BLAS's own threads, ours with one
thread for each core. Prints the ratio and writes ``out/bench/streamed.json``.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np

from earnshaw.cli.console import out, progress_bar
from earnshaw.landscapes.empirical import StreamedRisk
from earnshaw.landscapes.logistic_data import draw_files
from earnshaw.landscapes.rows import CHUNK, Rows
from earnshaw.problems.logistic import Logistic, gaussian_weights
from earnshaw.threads import one_blas_thread

FOLDER = Path("out/bench")
LIMIT_RATIO, LIMIT_BYTES = 0.5, 2 * 2**30


def two_products(rows: Rows, weights: np.ndarray, chunk: int) -> np.ndarray:
    """The baseline: read, and do the two matrix products."""
    total = np.zeros_like(weights)
    for start in range(0, len(rows), chunk):
        x, y = rows.x[start : start + chunk], rows.y[start : start + chunk]
        z = weights @ x.T
        z -= y
        total += z @ x
    return total


def seconds(work) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def measure(samples: int, dimension: int, neurons: int, folder: Path, rounds: int) -> dict[str, float]:
    problem = Logistic(gaussian_weights(neurons, dimension, 0), samples, seed=0)
    with progress_bar("write the files") as progress:
        rows = draw_files(problem, folder, progress)
    weights = problem.weights
    ours, single, baselines, plain = [], [], [], []
    risk, alone = StreamedRisk(rows, neurons), StreamedRisk(Rows(rows.x, rows.y, threads=1), neurons)
    two_products(rows, weights, CHUNK)  # the files into the page cache, for both sides alike
    for _ in range(rounds):
        baselines.append(seconds(lambda: two_products(rows, weights, CHUNK)))
        with one_blas_thread():
            plain.append(seconds(lambda: two_products(rows, weights, CHUNK)))
        ours.append(seconds(lambda: risk.value_and_gradient(weights)))
        single.append(seconds(lambda: alone.value_and_gradient(weights)))
    tracemalloc.start()
    risk.value_and_gradient(weights)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    best = min(statistics.median(baselines), statistics.median(plain))
    return {
        "samples": samples,
        "numpy_seconds": best,
        "seconds": statistics.median(ours),
        "seconds_one_thread": statistics.median(single),
        "speed_ratio": best / statistics.median(ours),
        "speed_ratio_one_thread": best / statistics.median(single),
        "peak_bytes": peak,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the data set (160 bytes each on disk)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=None, help="where the files go for the time being")
    arguments = parser.parse_args()
    needed = 168 * arguments.rows
    folder = Path(tempfile.mkdtemp(prefix="earnshaw-bench-", dir=arguments.folder))
    try:
        if shutil.disk_usage(folder).free < 1.2 * needed:
            raise SystemExit(f"{folder} has less than {needed / 1e9:.1f} GB free; use --folder or fewer --rows")
        row = measure(arguments.rows, 20, 3, folder, arguments.rounds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    good = row["speed_ratio"] >= LIMIT_RATIO and row["peak_bytes"] < LIMIT_BYTES
    out.print(
        f"streamed pass, n = {arguments.rows}, d = 20, K = 3: {row['seconds']:.2f} s (one thread {row['seconds_one_thread']:.2f} s); "
        f"NumPy's two products {row['numpy_seconds']:.2f} s: ratio {row['speed_ratio']:.2f} (one thread "
        f"{row['speed_ratio_one_thread']:.2f}, limit {LIMIT_RATIO}); peak memory {row['peak_bytes'] / 2**20:.0f} MiB",
        soft_wrap=True,
    )
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "streamed.json").write_text(json.dumps(row, indent=1) + "\n")
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
