"""Newton's method by products with the Hessian: the last mile from a descent's end to the stationary point.

Conjugate gradients, in all of space or inside a ball, take the steps; Lanczos' method finds the curvature at the end.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.base import along, dots
from earnshaw.landscapes.base import Landscape
from earnshaw.numerics import TOLERANCES, compiled

LANCZOS_STEPS = 100
NEWTON_STEPS = 16
RESIDUAL = 1e-3  # of each step's linear system, as a share of the gradient
SPARE = 50  # products more than there are parameters, at most, for each step


class Solution(NamedTuple):
    """Of each lane: the step s, H s, whether all curvature met was positive, and the products with H."""

    step: jax.Array
    image: jax.Array
    convex: jax.Array
    products: jax.Array


def conjugate_gradients(
    landscape: Landscape,
    points: jax.Array,
    gradient: jax.Array,
    goal: jax.Array,
    active: jax.Array,
    spare: int,
    radius: jax.Array | None = None,
) -> Solution:
    r"""Solve :math:`H s = -g` for each active lane until the residual's square is at most ``goal``.

    A lane stops where it meets negative curvature. With a radius it goes on along the last direction to the boundary of
    the ball, as it does where it would leave the ball, so that it minimises the model :math:`g\cdot s + \tfrac12 s\cdot H s`
    there roughly (Steihaug). At most ``spare`` products more than there are parameters.

    Reference: Nocedal & Wright (2006), Algorithms 5.2 and 7.2.
    """
    hessian = jax.linearize(landscape.gradient, points)[1]
    limit = math.prod(points.shape[1:]) + spare

    def body(carry: tuple) -> tuple:
        count, (step, image, convex, products), residual, direction, square, active = carry
        product = hessian(direction)
        curvature = dots(direction, product)
        convex = convex & ((curvature > 0) | ~active)
        rate = square / jnp.where(convex, curvature, 1.0)
        going = active & convex
        if radius is None:
            rate = jnp.where(going, rate, 0.0)
        else:
            longer = step + along(rate, step) * direction
            going = going & (dots(longer, longer) < radius**2)
            rate = jnp.where(going, rate, jnp.where(active, _to_boundary(step, direction, radius), 0.0))
        step = step + along(rate, step) * direction
        image = image + along(rate, step) * product
        residual = residual - along(rate, step) * product
        new_square = dots(residual, residual)
        turn = new_square / jnp.where(square > 0, square, 1.0)
        direction = residual + along(turn, step) * direction
        solution = Solution(step, image, convex, products + active)
        return count + 1, solution, residual, direction, new_square, going & (new_square > goal)

    zero, square = jnp.zeros_like(points), dots(gradient, gradient)
    none = jnp.zeros(points.shape[0], dtype=jnp.int64)
    start = (0, Solution(zero, zero, none == 0, none), -gradient, -gradient, square, active & (square > 0))
    return jax.lax.while_loop(lambda carry: (carry[0] < limit) & jnp.any(carry[-1]), body, start)[1]


def _to_boundary(step: jax.Array, direction: jax.Array, radius: jax.Array) -> jax.Array:
    """Return t >= 0 with |step + t direction| = radius."""
    a, b, c = dots(direction, direction), dots(step, direction), dots(step, step) - radius**2
    root = jnp.sqrt(jnp.maximum(b * b - a * c, 0.0))
    return jnp.where(a > 0, (root - b) / jnp.where(a > 0, a, 1.0), 0.0)


class Polished(NamedTuple):
    """Stationary points found by Newton's method; every field has one entry per lane.

    ``convex`` says that no negative curvature was met on the way and the gradient fell to rounding level;
    ``smallest`` and ``largest`` are Ritz values of the Hessian there, NaN where it is not ``convex``, ``smallest_at_start``
    where the lane came from (for lanes that have more than ``long_wait`` before them; for others it may be NaN);
    ``radius`` is the largest R with R L(R) <= 0.9 smallest: the ball in which the stationary point is the only one and
    strictly minimal; ``distance`` is how far Newton's method moved; ``wait`` is how many steps of gradient descent should
    lead into the ball, by the smallest eigenvalue.
    """

    point: jax.Array | np.ndarray
    value: jax.Array | np.ndarray
    gradient_norm: jax.Array | np.ndarray
    convex: jax.Array | np.ndarray
    smallest: jax.Array | np.ndarray
    largest: jax.Array | np.ndarray
    smallest_at_start: jax.Array | np.ndarray
    radius: jax.Array | np.ndarray
    distance: jax.Array | np.ndarray
    wait: jax.Array | np.ndarray


@compiled
def polish(landscape: Landscape, points: jax.Array, probe: jax.Array, lengths: jax.Array) -> Polished:
    """Follow Newton's method from each lane of points, ``(lanes, *shape)``, solving by conjugate gradients.

    Each step is solved to a thousandth of its gradient: one step more in the end, and half the products in all. A lane
    stops where negative curvature shows. Costs some hundred gradients a lane and never forms a Hessian. Lanczos' method
    begins with the ``probe``, of the shape of a point or one for each lane: random, and 0 along padded parameters. The
    ``lengths`` (lanes,) are those of the descent's steps.
    """
    start = points
    lanes = points.shape[0]

    def improve(carry: tuple) -> tuple:
        count, points, gradient, norm, damping, active, convex = carry
        goal = RESIDUAL**2 * dots(gradient, gradient)
        solved = conjugate_gradients(landscape, points, gradient, goal, active, spare=SPARE)
        trial = points + along(damping, points) * solved.step
        trial_gradient = landscape.gradient(trial)
        trial_norm = _norm(trial_gradient)
        convex = convex & (solved.convex | ~active)
        better = active & convex & (trial_norm < norm)
        points = jnp.where(along(better, points), trial, points)
        gradient = jnp.where(along(better, points), trial_gradient, gradient)
        # Far away a full step may overshoot: shorten it. At rounding level nothing helps any more: stop.
        progress = better & (trial_norm < 0.9 * norm) | (norm > floor) & active
        damping = jnp.where(better, jnp.minimum(1.0, 4.0 * damping), 0.25 * damping)
        return count + 1, points, gradient, jnp.where(better, trial_norm, norm), damping, progress & convex, convex

    def going(carry: tuple) -> jax.Array:
        return (carry[0] < NEWTON_STEPS) & jnp.any(carry[5])

    gradient = landscape.gradient(points)
    norm = _norm(gradient)
    floor = TOLERANCES.polish_floor * (1.0 + _norm(points))
    every = jnp.ones(lanes, dtype=bool)
    carry = (0, points, gradient, norm, jnp.ones(lanes), jnp.isfinite(norm), every)
    _, points, gradient, norm, _, _, convex = jax.lax.while_loop(going, improve, carry)
    distance, convex = _norm(points - start), convex & (norm <= floor)

    def curvatures(found: tuple, place: jax.Array) -> tuple:
        """Look at the curvature there, and in a second round at the start, if a lane has far to go: one program."""
        smallest, largest, *_ = found
        radius = _unique_radius(landscape, points, TOLERANCES.contraction * smallest)
        wait = jnp.log(distance / (TOLERANCES.ball * radius)) / (lengths * smallest)
        first = jnp.isnan(smallest)
        needed = convex & (first | (smallest > 0) & ~(wait <= TOLERANCES.long_wait))  # also where no radius is known
        ends = jax.lax.cond(jnp.any(needed), lambda: _lanczos(landscape, place, probe), lambda: (unknown, unknown))
        return (
            *(jnp.where(first & convex, new, old) for new, old in zip(ends, (smallest, largest), strict=True)),
            radius,
            wait,
            ends[0],
        ), None

    unknown = jnp.full(lanes, jnp.nan)
    found, _ = jax.lax.scan(curvatures, (unknown,) * 5, jnp.stack([points, start]))
    smallest, largest, radius, wait, smallest_at_start = found
    return Polished(
        point=points,
        value=landscape.value(points),
        gradient_norm=norm,
        convex=convex,
        smallest=smallest,
        largest=largest,
        smallest_at_start=smallest_at_start,
        radius=radius,
        distance=distance,
        wait=wait,
    )


def _norm(array: jax.Array) -> jax.Array:
    return jnp.sqrt(dots(array, array))


def _lanczos(landscape: Landscape, points: jax.Array, probe: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the extreme Ritz values of the Hessian at each lane."""
    # Plain Lanczos: rounding makes it repeat eigenvalues that it has found, which does not hurt the extremes.
    lanes, size = points.shape[0], math.prod(points.shape[1:])
    length = min(LANCZOS_STEPS, 2 * size)
    hessian = jax.linearize(landscape.gradient, points)[1]
    probe = jnp.broadcast_to(probe, points.shape)
    first = probe / along(_norm(probe), probe)

    def body(carry: tuple, _: None) -> tuple:
        before, vector, beta, alive, initial = carry
        image = hessian(vector) - along(beta, points) * before
        alpha = dots(image, vector)
        image = image - along(alpha, points) * vector
        new_beta = _norm(image)
        # After an invariant subspace is exhausted, repeat a value already found: it changes no extreme.
        initial = jnp.where(jnp.isnan(initial), alpha, initial)
        alpha = jnp.where(alive, alpha, initial)
        alive = alive & (new_beta > 1e-10)
        new_beta = jnp.where(alive, new_beta, 0.0)
        inverse = jnp.where(alive, 1.0 / jnp.where(alive, new_beta, 1.0), 0.0)
        vector, before = image * along(inverse, image), vector
        return (before, vector, new_beta, alive, initial), (alpha, new_beta)

    zero = jnp.zeros(lanes)
    start = (jnp.zeros_like(points), first, zero, jnp.ones(lanes, dtype=bool), jnp.full(lanes, jnp.nan))
    _, (diagonal, beside) = jax.lax.scan(body, start, None, length=length)
    return _extreme_eigenvalues(diagonal, beside[:-1])


def _extreme_eigenvalues(diagonal: jax.Array, beside: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the smallest and largest eigenvalue of symmetric tridiagonal matrices, by counting signs (Sturm).

    Six rounds of 64 trial shifts each narrow the Gershgorin interval to 1e-11 of its length. Unlike a call into
    LAPACK, this does not depend on the number of threads. (``jax.scipy.linalg.eigh_tridiagonal`` bisects too, to the last
    digit, but one shift at a time: for the two lanes of a Newton test it takes five times as long.)
    """
    size = jnp.abs(jnp.pad(beside, ((0, 1), (0, 0)))) + jnp.abs(jnp.pad(beside, ((1, 0), (0, 0))))
    low, high = jnp.min(diagonal - size, 0), jnp.max(diagonal + size, 0)
    squares = jnp.pad(beside, ((1, 0), (0, 0))) ** 2
    tiny = 1e-300

    def count_below(shifts: jax.Array) -> jax.Array:
        def pivot(carry: tuple, row: tuple) -> tuple:
            count, last = carry
            alpha, square = row
            now = alpha[:, None] - shifts - square[:, None] / last
            now = jnp.where(jnp.abs(now) < tiny, -tiny, now)
            return (count + (now < 0), now), None

        start = (jnp.zeros(shifts.shape, dtype=jnp.int32), jnp.ones_like(shifts))
        return jax.lax.scan(pivot, start, (diagonal, squares))[0][0]

    ranks = jnp.array([1, diagonal.shape[0]])

    def narrow(_: jax.Array, ends: tuple) -> tuple:
        low, high = ends  # (lanes, ranks)
        shifts = low[..., None] + (high - low)[..., None] * jnp.linspace(0.0, 1.0, 64)
        below = jnp.sum(count_below(shifts.reshape(len(low), -1)).reshape(shifts.shape) < ranks[:, None], -1)
        width = (high - low) / 63
        return low + jnp.maximum(below - 1, 0) * width, low + jnp.minimum(below, 63) * width

    both = jnp.stack([low, low], -1), jnp.stack([high, high], -1)
    smallest, largest = jnp.mean(jnp.stack(jax.lax.fori_loop(0, 6, narrow, both)), 0).T
    return smallest, largest


def _unique_radius(landscape: Landscape, points: jax.Array, smallest: jax.Array) -> jax.Array:
    """Return R with R L(R) = smallest, 0 where smallest is not positive or not known, NaN where no L is known."""
    smallest = jnp.where(smallest > 0, smallest, 0.0)

    def body(_: jax.Array, radius: jax.Array) -> jax.Array:
        return 0.5 * (radius + smallest / landscape.hessian_lipschitz(points, radius))

    return jax.lax.fori_loop(0, 40, body, jnp.zeros_like(smallest))
