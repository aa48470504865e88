"""Seconds to prove and to check: minima of the symmetric family with one odd neuron, families for every k, and data sets.

Run it with ``python benchmarks/proofs.py``. Each number is the faster of three; compare numbers measured side by side.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from earnshaw.problems import Data, Problem, TwoLayer
from earnshaw.proof import check, prove, prove_every_k

# k: a (diagonal), b (off it), c (odd column), d (odd row), e (corner)
FAMILY = {
    20: (1.00300375, -0.00365514, 0.09318741, 0.06371471, -0.81002058),
    40: (1.00105685, -8.79786061e-4, 0.0478642184, 0.0325767408, -0.890149535),
}


def minimum(k: int) -> tuple[Problem, np.ndarray]:
    a, b, c, d, e = FAMILY[k]
    weights = np.full((k, k), b)
    np.fill_diagonal(weights, a)
    weights[:-1, -1], weights[-1, :-1], weights[-1, -1] = c, d, e
    return TwoLayer(np.eye(k)), weights


def data(rows: int, neurons: int, dimension: int) -> tuple[Problem, np.ndarray]:
    weights, x = 2 * np.eye(neurons, dimension), np.random.default_rng(0).normal(size=(rows, dimension))
    return Data(x, (1 / (1 + np.exp(-x @ weights.T))).mean(axis=1), neurons), weights


def main() -> None:
    print("problem                     proved s  checked s")
    for name, attempt in {
        "k = n = 20": partial(prove, *minimum(20)),
        "k = n = 40": partial(prove, *minimum(40)),
        "family II, every k >= 6": partial(prove_every_k, "II"),
        "family A, every k >= 6": partial(prove_every_k, "A"),
        "family B, every k >= 7": partial(prove_every_k, "B"),
        "10,000 rows, K = 3, d = 5": partial(prove, *data(10_000, 3, 5)),
        "10,000 rows, K = 3, d = 20": partial(prove, *data(10_000, 3, 20)),
    }.items():
        proofs = [attempt() for _ in range(3)]
        checks = [check(proofs[0]) for _ in range(3)]
        assert all(result.verified for result in checks)
        print(f"{name:28}{min(p.seconds for p in proofs):8.2f}{min(c.seconds for c in checks):11.2f}")


if __name__ == "__main__":
    main()
