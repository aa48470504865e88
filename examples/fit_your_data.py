"""Fit a network of probabilities to data in files, and prove that the solution is isolated.

Run it with: python examples/fit_your_data.py
"""

import tempfile
from pathlib import Path

import numpy as np

import earnshaw as es
from earnshaw.experiments.data import read_data
from earnshaw.landscapes.logistic_data import draw_rows
from earnshaw.problems.logistic import gaussian_weights
from earnshaw.symmetry.assignment import relative_error

# In place of data of your own: 0/1 labels drawn from a network of two sigmoid neurons in five dimensions.
truth = es.Logistic(gaussian_weights(2, 5, seed=0), samples=20_000, seed=1)
x, y = draw_rows(truth)

with tempfile.TemporaryDirectory() as folder:
    np.savez(Path(folder) / "data.npz", x=x, y=y)
    rows = read_data(Path(folder) / "data.npz")  # also .csv, or two .npy files; says in a sentence what is wrong

found = es.fit(rows, neurons=2)  # or es.fit(x, y, neurons=2)
print(f"{found.outcome.name}: it {found.outcome.value}")
print(f"risk {found.value:.6f}; Hessian's eigenvalues from {found.spectrum[0]:.2e} to {found.spectrum[-1]:.2e}")
print(
    f"error of the start {relative_error(found.start, truth.weights):.3f}, of the fit {relative_error(found.weights, truth.weights):.3f}"
)
ball = found.proved
assert ball is not None
print(f"proved: strictly convex within {ball.radius:.2e}, with the minimiser within {ball.minimiser_within:.1e}")
