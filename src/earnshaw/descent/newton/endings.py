"""Where runs end that come to no rest: at tips, where the loss rises linearly to all sides, and far along a slow way."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.base import along
from earnshaw.landscapes.base import Landscape
from earnshaw.numerics import compiled

HALVINGS = 40  # of the steps towards a tip
STEPS = 50  # of each length
TIME = 1e10  # of the flow; a strict minimum takes some 20 / (smallest eigenvalue)
EVALUATIONS = 5000  # of the flow's gradient, before giving up
PARAMETERS = 1000  # more would make the dense Hessian slow


class Tip(NamedTuple):
    """The lowest points found (lanes, *shape), and their values."""

    point: jax.Array
    value: jax.Array


@compiled
def sharpen(landscape: Landscape, points: jax.Array, lengths: jax.Array, low: jax.Array) -> Tip:
    r"""Follow gradient descent from each lane with steps that are halved again and again, until the value is below ``low``.

    Sign neurons at an angle t to the teacher's lose :math:`2t/\pi`: the teacher is the tip of a cone, where neither
    gradient nor Hessian says anything, and a fixed step goes to and fro about it for ever, at a height in proportion to
    the step. With each halving the lowest point so far comes twice as close; where there is no tip below, it stays where
    it was.
    """

    def shorter(carry: tuple) -> tuple:
        count, point, value, lengths = carry

        def step(_: jax.Array, inner: tuple) -> tuple:
            here, best, least = inner
            here = here - along(lengths, here) * landscape.gradient(here)
            value = landscape.value(here)
            return here, jnp.where(along(value < least, here), here, best), jnp.fmin(value, least)

        _, point, value = jax.lax.fori_loop(0, STEPS, step, (point, point, value))
        return count + 1, point, value, lengths / 2

    def going(carry: tuple) -> jax.Array:
        return (carry[0] < HALVINGS) & jnp.any(carry[2] >= low)

    _, point, value, _ = jax.lax.while_loop(going, shorter, (0, points, landscape.value(points), lengths))
    return Tip(point, value)


class _Spent(Exception):
    """The evaluations are used up."""


def flow_end(landscape: Landscape, point: np.ndarray, low: float, still: float) -> np.ndarray | None:
    r"""Follow :math:`\dot x = -\nabla F(x)` from one point until F < low or every neuron's gradient is at most ``still``.

    Close to a minimum whose smallest eigenvalue is :math:`\lambda`, gradient descent with step :math:`\eta` needs about
    :math:`1/(\eta\lambda)` steps for each factor e, 1e5 or more where the minimum is nearly degenerate. On its way along
    the slow directions it is Euler's method for the flow with a step far below any time scale of the motion, so that the
    flow's end is its end; backward differentiation formulas with the exact Hessian take a few hundred steps for it.
    Returns None when neither condition is met in reach, or when the landscape has too many parameters.
    """
    from scipy.integrate import solve_ivp

    shape, evaluations = point.shape, itertools.count(1)
    if point.size > PARAMETERS:
        return None

    # NumPy arrays go into programs as they are: making arrays of JAX of them first costs as much as the gradient.
    def slope(_: float, x: Any) -> np.ndarray:
        if next(evaluations) > EVALUATIONS:
            raise _Spent
        return -np.asarray(landscape.gradient(x.reshape(shape))).ravel()

    def curvature(_: float, x: Any) -> np.ndarray:
        return -np.asarray(landscape.hessian(x.reshape(shape)))

    def moving(time: float, x: np.ndarray) -> float:
        return float(np.linalg.norm(slope(time, x).reshape(-1, shape[-1]), axis=-1).max()) - still

    def above(_: float, x: Any) -> float:
        return float(landscape.value(x.reshape(shape))) - 0.5 * low  # clearly below

    moving.terminal = above.terminal = True  # pyright: ignore[reportFunctionMemberAccess]
    try:
        with np.errstate(all="ignore"):  # a trial step may reach a zero neuron; the method then takes a shorter one
            path = solve_ivp(
                slope, (0.0, TIME), point.ravel(), "BDF", jac=curvature, events=(moving, above), rtol=1e-6, atol=1e-9
            )
    except (_Spent, ValueError):  # SciPy raises ValueError for a matrix with NaN
        return None
    return path.y[:, -1].reshape(shape) if path.status == 1 and np.isfinite(path.y[:, -1]).all() else None
