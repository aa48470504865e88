"""Learn with an activation of your own: a function written with jax.numpy, its potential, its accuracy, and a descent."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

import earnshaw as es
from earnshaw.potentials import potential, quadrature, value_at


def swish(x: jnp.ndarray) -> jnp.ndarray:
    """Return x sigmoid(x); any function that acts on each number by itself will do."""
    return x / (1 + jnp.exp(-x))


def main() -> None:
    """Compare the potential with quadrature; then follow the gradient from a few starts."""
    phi = potential(swish)
    u, v = np.array([0.8, -0.3]), np.array([0.2, 1.1])
    print(f"Phi(u, v) = {value_at(phi, u, v):.12f}, by quadrature {quadrature(phi, u, v):.12f}")

    problem = es.TwoLayer(np.eye(3), activation=swish)
    exact = es.landscape(problem)
    print(
        f"{problem.activation}: potential right to {exact.stated_error(problem.teacher):.0e} at the teacher's lengths"
    )

    points = jnp.asarray(np.random.default_rng(0).normal(size=(5, 3, 3)))
    for _ in range(2000):
        points = points - 0.5 * exact.gradient(points)
    for value, eigenvalues in zip(exact.value(points), exact.spectrum(points), strict=True):
        print(f"loss {value:.2e}, smallest eigenvalue of the Hessian {eigenvalues[0]:.4f}")

    named = {
        name: es.landscape(es.TwoLayer(np.eye(3), activation=name)) for name in ("tanh", "erf", "gelu", "leaky:0.1")
    }
    for name, energy in named.items():
        print(f"{name:10} loss of a random student {energy.value(points[0] + 0.3):.4f}")


if __name__ == "__main__":
    main()
