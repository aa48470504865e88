"""Theorem 5: gradient flow on L/2 beside the dynamics of charges, each integrated on its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.landscapes import PairEnergy
from earnshaw.potentials.radial import AlmostYukawa, Variant
from earnshaw.problems.charges import random_protons, spread

Velocity = Callable[[jax.Array], jax.Array]


@dataclass(frozen=True)
class Flows:
    """How two ways of moving compare.

    Attributes
    ----------
    difference : largest distance, at 50 times, of gradient flow on L/2 and the dynamics under Phi.
    doubled_difference : the same for the dynamics under 2 Phi.
    speed_ratio : the speed under 2 Phi over that of the flow, at the start.
    """

    difference: float
    doubled_difference: float
    speed_ratio: float


def integrate(velocity: Velocity, start: jax.Array, times: jax.Array, tolerance: float = 1e-11) -> jax.Array:
    """Return the solution (times, *shape) of an autonomous equation."""
    import diffrax

    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, y, args: velocity(y)),
        diffrax.Tsit5(),
        t0=0.0,
        t1=times[-1],
        dt0=None,
        y0=start,
        saveat=diffrax.SaveAt(ts=times),
        stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance),
        max_steps=100_000,
    )
    assert solution.ys is not None
    return solution.ys


def compare_flows(seed: int, electrons: int = 3, protons: int = 4, until: float = 20.0) -> Flows:
    """Integrate both for random charges under the smooth variant S, and compare.

    The flow takes the gradient of F = L/2 by automatic differentiation of the loss; the dynamics add up pair forces.
    """
    d = 3
    places, charges = random_protons(d, protons, 0.25, seed)
    moving = np.random.default_rng([seed, 0, 10]).uniform(-1, 1, electrons)
    start = spread(d, 0.25) * np.random.default_rng([seed, 0, 11]).normal(size=(electrons, d))
    potential = AlmostYukawa(d, 1.0, 0.5, Variant.S)
    landscape = PairEnergy.among(potential, places, charges, student_output_weights=-moving)
    times, start = jnp.linspace(0.0, until, 50), jnp.asarray(start)

    def downhill(x: jax.Array) -> jax.Array:
        return -jax.grad(landscape.value)(x)

    flow = jax.jit(lambda x: integrate(downhill, x, times))(start)
    charges_move = jax.jit(lambda x, factor: integrate(lambda y: factor * landscape.velocity(y), x, times))
    single, double = charges_move(start, 1.0), charges_move(start, 2.0)
    ratio = jnp.linalg.norm(2 * landscape.velocity(start)) / jnp.linalg.norm(downhill(start))
    return Flows(float(jnp.abs(flow - single).max()), float(jnp.abs(flow - double).max()), float(ratio))
