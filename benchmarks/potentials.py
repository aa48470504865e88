"""Speed of the activations: a step of gradient descent, as a ratio to ReLU's in the same run.

Prints nanoseconds per pair of neurons and step, and writes ``out/bench/potentials.json``. Each activation is timed in
turn with ReLU, several times; the ratio is the median over the rounds.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.cli.console import out
from earnshaw.landscapes import TwoLayerLandscape, landscape
from earnshaw.numerics import compiled
from earnshaw.problems import TwoLayer, standard_teacher

LANES, K = 64, 10
ROUNDS, SECONDS = 7, 0.15
CLOSED = ("leaky:0.1", "sign", "erf", "hermite:2", "hermite:3", "hermite:5", "gelu")
MIXTURES = ("sigmoid", "tanh", "softplus")
FUNCTIONS = ("jax.nn:silu", "jax.numpy:tanh")
LIMIT = 3.0  # what a closed form may cost, in units of ReLU


def _walk(energy: TwoLayerLandscape, weights: jax.Array, steps: jax.Array) -> jax.Array:
    return jax.lax.fori_loop(0, steps, lambda _, w: w - 0.01 * energy.gradient(w), weights)


walk = compiled(_walk)


def seconds_per_step(energy: TwoLayerLandscape, weights: jax.Array, steps: int) -> float:
    begin = time.perf_counter()
    jax.block_until_ready(walk(energy, weights, jnp.asarray(steps)))
    return (time.perf_counter() - begin) / steps


def compare(name: str, weights: jax.Array) -> dict[str, Any]:
    """Time an activation and ReLU in turn."""
    relu, energy = (landscape(TwoLayer(standard_teacher(K), activation=sigma)) for sigma in ("relu", name))
    steps = []
    for one in (relu, energy):  # compile, and find how many steps fill the time
        seconds_per_step(one, weights, 1)
        steps.append(max(2, round(SECONDS / seconds_per_step(one, weights, 5))))
    rounds = [
        (seconds_per_step(relu, weights, steps[0]), seconds_per_step(energy, weights, steps[1])) for _ in range(ROUNDS)
    ]
    pairs = LANES * K * 2 * K
    return {
        "activation": name,
        "ns_per_pair_and_step": 1e9 * statistics.median(other for _, other in rounds) / pairs,
        "relu_ns_per_pair_and_step": 1e9 * statistics.median(base for base, _ in rounds) / pairs,
        "ratio_to_relu": statistics.median(other / base for base, other in rounds),
    }


def main() -> None:
    weights = jnp.asarray(np.random.default_rng(0).normal(size=(LANES, K, K)) / np.sqrt(K))
    rows = []
    for name in (*CLOSED, *MIXTURES, *FUNCTIONS):
        row = compare(name, weights)
        rows.append(row)
        kind = "closed form" if name in CLOSED else "mixture" if name in MIXTURES else "series"
        out.print(
            f"{name:15} {kind:12} {row['ns_per_pair_and_step']:8.1f} ns a pair, {row['ratio_to_relu']:6.2f} x ReLU"
        )
    folder = Path("out/bench")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "potentials.json").write_text(json.dumps({"rows": rows, "cores": os.cpu_count()}, indent=1) + "\n")
    slow = [row["activation"] for row in rows if row["activation"] in CLOSED and row["ratio_to_relu"] > LIMIT]
    out.print(f"closed forms within {LIMIT:g} times ReLU: " + ("all" if not slow else f"not {', '.join(slow)}"))


if __name__ == "__main__":
    main()
