"""Decompose a small symmetric tensor into vectors that need not be orthogonal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
TRIALS, STEPS = 20, 60


@dataclass(frozen=True)
class Decomposition:
    """Vectors a_i with T close to the sum of a_i (x) a_i (x) a_i: (K, K) array, one a row; and the relative misfit."""

    vectors: Array
    misfit: float

    @property
    def directions(self) -> Array:
        """The vectors as unit vectors; their signs say the signs of their weights in T."""
        return self.vectors / np.maximum(np.linalg.norm(self.vectors, axis=1, keepdims=True), 1e-300)


def decompose(tensor: Array, seed: int = 0, trials: int = TRIALS) -> Decomposition:
    r"""Return :math:`T \approx \sum_{i=1}^K a_i^{\otimes 3}` for a symmetric tensor (K, K, K).

    For random vectors t, s the matrices :math:`T(I, I, t) = \sum_i (a_i\cdot t)\, a_i a_i^T` and T(I, I, s) are made
    diagonal together: the eigenvectors of :math:`T(I, I, t)\, T(I, I, s)^{-1}` are the a_i when T is exactly of this
    form. With noise they are a guess, which Levenberg-Marquardt refines on the whole tensor; the best of several random
    projections is kept, and the first guess by power iteration with deflation is tried too.

    Reference: Kuleshov, Chaganty & Liang (2015), for simultaneous diagonalisation over random projections.
    """
    generator, size = np.random.default_rng(seed), float(np.linalg.norm(tensor))
    best = Decomposition(np.zeros_like(tensor[0]), 1.0)
    if size == 0 or not np.isfinite(size):
        return best
    guesses = [_simultaneous(tensor, generator) for _ in range(trials)] + [_deflation(tensor, generator)]
    for guess in guesses:
        if guess is None:
            continue
        vectors = refine(tensor, guess)
        misfit = float(np.linalg.norm(_rebuilt(vectors) - tensor)) / size
        if misfit < best.misfit - 1e-12:
            best = Decomposition(vectors, misfit)
        if best.misfit < 1e-10:
            break
    return best


def _rebuilt(vectors: Array) -> Array:
    return np.einsum("ia,ib,ic->abc", vectors, vectors, vectors)


def _simultaneous(tensor: Array, generator: np.random.Generator) -> Array | None:
    first, second = generator.normal(size=(2, len(tensor)))
    try:
        vectors = np.linalg.eig(np.linalg.solve((tensor @ second).T, (tensor @ first).T).T)[1]
    except np.linalg.LinAlgError:
        return None
    units = np.real(vectors).T + 1e-3 * np.imag(vectors).T  # a complex pair gives two different real guesses
    units = units / np.maximum(np.linalg.norm(units, axis=1, keepdims=True), 1e-300)
    return _scaled(tensor, units)


def _scaled(tensor: Array, units: Array) -> Array:
    """Return the units times the cube roots of the weights that fit the tensor best."""
    columns = np.einsum("ia,ib,ic->iabc", units, units, units).reshape(len(units), -1)
    weights = np.linalg.lstsq(columns.T, tensor.ravel(), rcond=None)[0]
    return np.cbrt(weights)[:, None] * units


def _deflation(tensor: Array, generator: np.random.Generator) -> Array:
    """Return a guess by power iteration with deflation: exact for orthogonal vectors."""
    K, rest, units = len(tensor), tensor.copy(), []
    for _ in range(K):
        starts = generator.normal(size=(10, K))
        starts /= np.linalg.norm(starts, axis=1, keepdims=True)
        for _ in range(50):
            starts = np.einsum("abc,sb,sc->sa", rest, starts, starts)
            starts /= np.maximum(np.linalg.norm(starts, axis=1, keepdims=True), 1e-300)
        values = np.einsum("abc,sa,sb,sc->s", rest, starts, starts, starts)
        unit = starts[np.argmax(np.abs(values))]
        units.append(unit)
        rest = rest - values[np.argmax(np.abs(values))] * np.einsum("a,b,c->abc", unit, unit, unit)
    return _scaled(tensor, np.array(units))


def refine(tensor: Array, vectors: Array, steps: int = STEPS) -> Array:
    """Return vectors that fit the tensor locally best in squares, by Levenberg-Marquardt from a guess (K, K)."""
    K, damping = len(tensor), 1e-3
    residual = (_rebuilt(vectors) - tensor).ravel()
    for _ in range(steps):
        # The derivative of a_a a_b a_c in a_e: d_ae a_b a_c + a_a d_be a_c + a_a a_b d_ce.
        jacobian = np.einsum("ae,ib,ic->abcie", np.eye(K), vectors, vectors)
        jacobian = jacobian + np.transpose(jacobian, (1, 0, 2, 3, 4)) + np.transpose(jacobian, (1, 2, 0, 3, 4))
        jacobian = jacobian.reshape(K**3, K * K)
        gram, slope = jacobian.T @ jacobian, jacobian.T @ residual
        change = np.linalg.solve(gram + damping * np.trace(gram) / (K * K) * np.eye(K * K) + 1e-300, -slope)
        trial = vectors + change.reshape(K, K)
        trial_residual = (_rebuilt(trial) - tensor).ravel()
        if trial_residual @ trial_residual < residual @ residual:
            gain = 1 - (trial_residual @ trial_residual) / (residual @ residual)
            vectors, residual, damping = trial, trial_residual, damping / 4
            if gain < 1e-12:
                break
        else:
            damping *= 8
            if damping > 1e8:
                break
    return vectors
