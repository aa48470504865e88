"""The named baseline: one run at a time, NumPy, vectorised over pairs of neurons; the same rule, the same starts.

It is what one writes first: the closed-form gradient with ``np.arccos`` and matrix products, a Python loop over steps.
"""

from __future__ import annotations

import numpy as np

TWO_PI = 2 * np.pi


def pair_terms(weights: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return norms of both sides, sines and angles of all pairs."""
    norms, other_norms = np.linalg.norm(weights, axis=1), np.linalg.norm(others, axis=1)
    cosines = np.clip(weights @ others.T / np.outer(norms, other_norms), -1.0, 1.0)
    return norms, other_norms, np.sqrt(1 - cosines**2), np.arccos(cosines)


def gradient(weights: np.ndarray, teacher: np.ndarray) -> np.ndarray:
    norms, _, sines, angles = pair_terms(weights, weights)
    np.fill_diagonal(sines, 0.0)
    np.fill_diagonal(angles, 0.0)
    _, teacher_norms, teacher_sines, teacher_angles = pair_terms(weights, teacher)
    radial = (sines @ norms - teacher_sines @ teacher_norms) / norms
    return (radial[:, None] * weights + (np.pi - angles) @ weights - (np.pi - teacher_angles) @ teacher) / TWO_PI


def value(weights: np.ndarray, teacher: np.ndarray) -> float:
    def energy(first: np.ndarray, second: np.ndarray) -> float:
        norms, other_norms, sines, angles = pair_terms(first, second)
        return float(norms @ (sines + (np.pi - angles) * np.cos(angles)) @ other_norms) / TWO_PI

    return 0.5 * energy(weights, weights) - energy(weights, teacher) + 0.5 * energy(teacher, teacher)


def descend(
    start: np.ndarray, teacher: np.ndarray, step: float = 0.1, max_steps: int = 200_000, every: int = 50
) -> tuple[float, int]:
    """Follow the paper's rule: until every neuron's gradient norm is at most 1e-9, looked at every 50 steps."""
    weights, count = start.copy(), 0
    for count in range(1, max_steps + 1):
        weights -= step * gradient(weights, teacher)
        if count % every == 0 and np.linalg.norm(gradient(weights, teacher), axis=1).max() <= 1e-9:
            break
    return value(weights, teacher), count
