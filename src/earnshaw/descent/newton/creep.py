"""Where a creeping run will end: gradient flow by an implicit method, whose steps grow as the motion slows down."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from earnshaw.landscapes.base import Landscape

TIME = 1e10  # of the flow; a strict minimum takes some 20 / (smallest eigenvalue)
EVALUATIONS = 5000  # of the gradient, before giving up
PARAMETERS = 1000  # more would make the dense Hessian slow


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

    shape = point.shape
    if point.size > PARAMETERS:
        return None
    evaluations = 0

    def slope(_: float, x: np.ndarray) -> np.ndarray:
        nonlocal evaluations
        evaluations += 1
        if evaluations > EVALUATIONS:
            raise _Spent
        return -np.asarray(landscape.gradient(jnp.asarray(x.reshape(shape)))).ravel()

    def curvature(_: float, x: np.ndarray) -> np.ndarray:
        return -np.asarray(landscape.hessian(jnp.asarray(x.reshape(shape))))

    def moving(time: float, x: np.ndarray) -> float:
        return float(np.linalg.norm(slope(time, x).reshape(-1, shape[-1]), axis=-1).max()) - still

    def above(_: float, x: np.ndarray) -> float:
        return float(landscape.value(jnp.asarray(x.reshape(shape)))) - 0.5 * low  # clearly below

    moving.terminal = above.terminal = True  # pyright: ignore[reportFunctionMemberAccess]
    try:
        with np.errstate(all="ignore"):  # a trial step may reach a zero neuron; the method then takes a shorter one
            path = solve_ivp(
                slope, (0.0, TIME), point.ravel(), "BDF", jac=curvature, events=(moving, above), rtol=1e-6, atol=1e-9
            )
    except (_Spent, ValueError):  # SciPy raises ValueError for a matrix with NaN
        return None
    return path.y[:, -1].reshape(shape) if path.status == 1 and np.isfinite(path.y[:, -1]).all() else None
