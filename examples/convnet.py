"""The convolutional network: what stationary points a teacher has, with proof, and where random starts end."""

from __future__ import annotations

import math

import numpy as np

import earnshaw as es

PATCHES = 9


def main() -> None:
    """Cross the condition S^2 < (k + pi - 1)/pi |a*|^2, prove both sides, and sweep."""
    limit = math.sqrt((PATCHES + math.pi - 1) / math.pi)
    rng = np.random.default_rng(0)
    contrast = rng.normal(size=PATCHES)
    contrast -= contrast.mean()
    contrast /= np.linalg.norm(contrast)
    for ratio in (0.5, limit - 1e-6, limit + 1e-6):
        outputs = ratio / PATCHES + math.sqrt(1 - ratio**2 / PATCHES) * contrast
        proof = es.prove(es.ConvNet(rng.normal(size=4), outputs))
        print(f"S/|a*| = {ratio:.7f}: {proof.verdict.name}, {proof.reason}, checked: {es.check(proof).verified}")

    for ratio in (0.5, 1.5):
        runs = es.sweep(es.RandomConvNets(filter_size=4, patches=PATCHES, ratio=ratio), runs=200, seed=0)
        print(f"S/|a*| = {ratio}: {runs.outcomes}, decided after at most {runs.steps.max()} steps")


if __name__ == "__main__":
    main()
