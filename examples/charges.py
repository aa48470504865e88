"""Find four hidden protons: gradient descent on the loss against climbing the logarithm of the field."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from earnshaw.experiments.charges import recover
from earnshaw.potentials.radial import AlmostYukawa, laplacian, realisability


def main() -> None:
    """Look at a potential that an activation has, then recover protons in 50 random instances."""
    potential = AlmostYukawa(dimension=3, eigenvalue=1.0, radius=0.5)
    r = jnp.array([0.0, 0.25, 0.5, 1.0, 2.0, 4.0])
    print(f"potential at r = {np.array2string(np.asarray(r))}:")
    print(np.array2string(np.asarray(potential.value(r)), precision=5))
    error = float(jnp.abs(laplacian(potential, r[2:]) / potential.value(r[2:]) - 1).max())
    print(f"Laplacian / potential - 1 outside the ball: at most {error:.0e}")
    print(f"an activation has this potential: {realisability(potential).realisable}")

    works = recover(dimension=3, protons=4, factor=1.0, count=50, seed=0)
    printed = recover(dimension=3, protons=4, factor=1.0, count=50, seed=0, printed=True)
    print(
        f"log domain:           every proton found in {works.found()} of 50 instances, {works.steps:.0f} steps a node"
    )
    print(f"Algorithm 3, printed: every proton found in {printed.found()} of 50 instances")


if __name__ == "__main__":
    main()
