"""A GPU and the CPU beside it, held against each other run by run: ``python benchmarks/gpu.py``.

For each k = n the same runs by ``earnshaw sweep --device cpu`` and ``--device gpu``, after a tenth of them in a process of its own,
which compiles the programs. Prints which runs have another outcome and which end elsewhere, how long the commands took, and
how far both are from what the hardware could do; writes ``out/bench/gpu.json``. Exit code 1: a minimum is more than 1e-9 away.

The limits are measured here: multiplications and additions in float64, by a chain of them on the GPU, which its matrix units have
no part in, and by a matrix product on each core.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the commands need some, too

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import earnshaw as es
from earnshaw.cli.console import out
from earnshaw.descent import GradientDescent, Outcome, Stop, Stopping, native
from earnshaw.descent.pool import SLOTS, Pool, _drift
from earnshaw.numerics import remember_programs
from earnshaw.problems import TwoLayer, standard_teacher
from earnshaw.starts import Xavier
from sweep import CORES, time_sweep

FOLDER = Path("out/bench/gpu")
CLOSE = 1e-9  # between two ends at one minimum
DEVICES = ("cpu", "gpu")


def operations(dimension: int) -> int:
    """Return the floating-point operations of one pair of neurons in one step, as counted in ``native/force.h``."""
    return 2 * dimension + 45


def command(k: int, runs: int, device: str, workers: int) -> float:
    """Return the wall seconds of the whole command, with programs compiled."""
    words = [sys.executable, "-m", "earnshaw", "sweep", "-k", str(k), "--device", device, "--json"]
    words += ["--workers", str(workers)] if device == "cpu" else []
    begin, folder = 0.0, FOLDER / f"{device}{k}"
    for some in (runs // 10, runs):
        shutil.rmtree(folder, ignore_errors=True)
        begin = time.perf_counter()
        subprocess.run([*words, "--runs", str(some), "--out", str(folder)], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


@dataclass(frozen=True)
class Differences:
    """Two folders of the same runs, held against each other; runs by their indices."""

    runs: int
    outcomes: dict[str, int]
    other_outcome: dict[int, tuple[str, str]]  # by CPU and GPU
    other_steps: list[int]
    elsewhere: list[int]  # of equal outcome, but not at a minimum: they were stopped on their way to the teacher
    minima_apart: float  # the largest distance of an entry, of runs that both end at a minimum

    def __str__(self) -> str:
        steps, ends = len(self.other_steps), len(self.elsewhere)
        return (
            f"{self.runs} runs {self.outcomes}: {len(self.other_outcome)} other outcomes {self.other_outcome or ''}, {steps} other "
            f"step counts {self.other_steps[:10] or ''}, minima at most {self.minima_apart:.1e} apart, {ends} other ends more than {CLOSE:g}"
        )


def differences(k: int) -> Differences:
    """Hold the two folders against each other, run by run."""
    cpu, gpu = (es.load(FOLDER / f"{device}{k}").runs for device in DEVICES)
    assert np.array_equal(cpu.run, gpu.run)
    equal = cpu.outcome == gpu.outcome
    apart = np.abs(cpu.weights - gpu.weights).max(axis=(1, 2))
    minima = equal & (cpu.outcome == Outcome.SPURIOUS.code)

    def named(run: int) -> tuple[str, str]:
        return Outcome.from_code(cpu.outcome[run]).name, Outcome.from_code(gpu.outcome[run]).name

    return Differences(
        runs=len(cpu),
        outcomes=cpu.outcomes,
        other_outcome={run: named(run) for run in np.flatnonzero(~equal).tolist()},
        other_steps=np.flatnonzero(cpu.steps != gpu.steps).tolist(),
        elsewhere=np.flatnonzero(equal & ~minima & (apart > CLOSE)).tolist(),
        minima_apart=float(apart[minima].max(initial=0.0)),
    )


def pool_seconds(problem: TwoLayer) -> float:
    """Return the time of one pair of neurons in one step of a pool that is full: of those that there are, padding left out."""
    slots = SLOTS["gpu"]
    pool = Pool([(problem, partial(Xavier().draw, problem, 0, np.arange(slots)))], GradientDescent(), Stopping())
    pool._fill()
    times = []
    for _ in range(4):  # the first one compiles
        begin, before = time.perf_counter(), np.asarray(pool.flow.steps).max()
        pool.flow, _ = _drift(pool.descent, pool.limit, pool.landscape, pool.flow, np.int64(slots + 1))
        taken = np.asarray(pool.flow.steps).max() - before
        times.append((time.perf_counter() - begin) / max(taken, 1))
    return min(times[1:]) / slots / _pairs(problem)


def kernel_seconds(problem: TwoLayer) -> float:
    """Return the time of one pair of neurons in one step of the native kernel, on one core."""
    seconds, steps, over = time_sweep(problem, 500, Stop.PAPER, "native")
    return seconds * CORES / over / steps / _pairs(problem)


def _pairs(problem: TwoLayer) -> int:
    (n, _), k = problem.shape, len(problem.teacher)
    return n * (n + k)


def chain_speed() -> float:
    """Return the multiplications and additions per second of the default device, in float64."""
    length, links, times = 1 << 20, 512, 50

    @jax.jit
    def chain(x: jax.Array) -> jax.Array:
        def more(_: int, x: jax.Array) -> jax.Array:
            for _ in range(links):
                x = x * 0.999 + 1e-3
            return x

        return jax.lax.fori_loop(0, times, more, x)

    x = jnp.linspace(0.0, 1.0, length)
    chain(x).block_until_ready()
    begin = time.perf_counter()
    chain(x).block_until_ready()
    return 2 * length * links * times / (time.perf_counter() - begin)


def product_speed(workers: int) -> float:
    """Return the multiplications and additions per second of so many cores, in float64."""
    size, times = 1000, 8
    matrices = [np.random.default_rng(seed).normal(size=(size, size)) for seed in range(workers)]

    def several(matrix: np.ndarray) -> None:
        for _ in range(times):
            np.dot(matrix, matrix)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(several, matrices))
        begin = time.perf_counter()
        list(pool.map(several, matrices))
    return 2 * size**3 * times * workers / (time.perf_counter() - begin)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", type=int, nargs="+", default=[6, 10, 20], help="sizes (default: 6 10 20)")
    parser.add_argument("--runs", type=int, default=20_000, help="of each size (default: 20000)")
    parser.add_argument("--workers", type=int, default=CORES, help="cores that the CPU has (default: all)")
    arguments = parser.parse_args()
    if jax.default_backend() == "cpu":
        print("JAX sees no GPU here: there is nothing to compare", file=sys.stderr)
        return 2
    remember_programs()
    FOLDER.mkdir(parents=True, exist_ok=True)
    limits = {"cpu": product_speed(arguments.workers), "gpu": chain_speed()}
    out.print(
        f"float64: {limits['gpu'] / 1e12:.1f} TFLOP/s on {jax.devices()[0].device_kind} (a chain of multiplications and additions), "
        f"{limits['cpu'] / 1e12:.2f} on {arguments.workers} cores (a matrix product on each)",
        soft_wrap=True,
    )
    rows, good = [], True
    for k in arguments.k:
        problem = TwoLayer(standard_teacher(k))
        seconds = {device: command(k, arguments.runs, device, arguments.workers) for device in DEVICES}
        found, pairs = differences(k), {"gpu": pool_seconds(problem)}
        if not native.missing():
            pairs["cpu"] = kernel_seconds(problem) / arguments.workers
        least = {device: operations(k) / speed for device, speed in limits.items()}
        rows.append({"k": k, **asdict(found), "seconds": seconds, "pair": pairs, "least": least})
        good &= found.minima_apart <= CLOSE
        out.print(f"[bold]k = n = {k}[/], {found}", soft_wrap=True)
        for device in DEVICES:
            kernel = f"{1e12 * pairs[device]:.0f}" if device in pairs else "-"
            out.print(
                f"  {device}: {seconds[device]:.1f} s, {found.runs / seconds[device]:.0f} runs a second; the kernel alone {kernel} ps for a "
                f"pair and step, the least that the hardware allows {1e12 * least[device]:.1f}",
                soft_wrap=True,
            )
    (FOLDER.parent / "gpu.json").write_text(json.dumps({"limits": limits, "sizes": rows}, indent=1) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
