"""Bring your own optimiser: two from optax and one written here, from the same starts as gradient descent."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import optax

import earnshaw as es

PROBLEM = es.TwoLayer(teacher=np.eye(5))


def sign_descent(step: float, decay: float) -> optax.GradientTransformation:
    """Every weight moves by the same length, which falls with time; only the gradient's signs matter."""

    def update(updates: Any, state: Any, params: Any = None) -> Any:
        return -step / (1 + state / decay) * jnp.sign(updates), state + 1

    return optax.GradientTransformation(lambda params: jnp.zeros(()), update)


def main() -> None:
    """Run each from the same 40 starts and print what became of the runs, and what the median run cost."""
    optimizers = {
        "gradient descent": "gd:0.1",
        "clipped Adam": optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.02)),
        "sign descent": sign_descent(step=0.02, decay=50.0),
    }
    for name, optimizer in optimizers.items():
        runs = es.sweep(PROBLEM, runs=40, seed=0, optimizer=optimizer, max_steps=5000)
        print(f"{name:>16}: {runs.outcomes}, {np.median(runs.gradients):.0f} gradients for the median run")


if __name__ == "__main__":
    main()
