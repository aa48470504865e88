"""Value, gradient, Hessian and spectrum at one point, and the same loss on a finite sample beside them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

import earnshaw as es


def main() -> None:
    """Evaluate the exact landscape, then hold a sampled twin against it."""
    problem = es.TwoLayer(teacher=np.eye(3), students=4)
    exact = es.landscape(problem)
    point = exact.point(np.random.default_rng(0).normal(size=(4, 3)))

    value, gradient, hessian = exact.value(point), exact.gradient(point), exact.hessian(point)
    print(f"F = {float(value):.12f}")
    print(f"gradient {gradient.shape}, norm {float(jnp.linalg.norm(gradient)):.6f}")
    print(f"Hessian {hessian.shape}, symmetric to {float(jnp.abs(hessian - hessian.T).max()):.1e}")
    print(f"eigenvalues {np.array2string(np.asarray(exact.spectrum(point)), precision=3)}")
    extended = exact.spectrum(point, extra_dimension=True)
    print(
        f"one dimension more adds {len(extended) - len(hessian)} eigenvalues; the smallest is {float(extended[0]):.6f}"
    )

    by_differentiation = jax.grad(exact.value)(point)
    print(f"closed form against automatic differentiation: {float(jnp.abs(gradient - by_differentiation).max()):.1e}")

    sample = exact.draw(jax.random.key(1), 200_000)
    losses = exact.sampled_losses(point, sample)
    error = float(losses.std() / np.sqrt(len(losses)))
    print(f"200,000 samples give F = {float(losses.mean()):.5f} +- {error:.5f}")
    distance = float(jnp.linalg.norm(jax.grad(exact.sampled_value)(point, sample) - gradient))
    print(f"and a gradient at distance {distance:.4f} from the exact one")


if __name__ == "__main__":
    main()
