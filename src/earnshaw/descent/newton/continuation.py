r"""Following a strict minimum along a path of landscapes, to the end or to where it ceases to be one.

Between two landscapes whose data (teacher, charges) differ, :math:`F_t` has the data :math:`(1 - t) a + t b`. Its critical
points are curves in (x, t),

.. math:: g(x, t) = \nabla_x F_t(x) = 0, \qquad H\,\dot x + \partial_t g\,\dot t = 0, \qquad |\dot x|^2 + \dot t^2 = 1 .

Each step predicts along the unit tangent and corrects by Newton's method on g together with the distance along that tangent
(pseudo-arclength), so that it also goes round a fold, where the curve turns back in t and the Hessian is singular.
Reference: Keller (1977), Numerical solution of bifurcation and nonlinear eigenvalue problems.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from earnshaw.landscapes.base import Landscape
from earnshaw.numerics import TOLERANCES, compiled

Array = NDArray[np.float64]
LONGEST, SHORTEST = 0.03, 1e-7  # steps along the curve
CORRECTIONS = 8  # of Newton's method, for one step
STRAIGHT = 0.98  # the cosine of two tangents in a row, below which a step was too long
DRIFT = 0.2  # a correction longer than this share of its step may lead to another curve
STEPS = 5000
TURN = 1e-6  # at a fold the null vector has a larger share than this of what moving t does to the gradient


class Fate(Enum):
    """What becomes of a minimum on the way; the value is the sentence that explains it."""

    ARRIVES = "it stays a strict minimum all the way"
    FOLD = "its smallest eigenvalue goes through 0, where it meets a saddle and both vanish"
    CROSSING = "its smallest eigenvalue goes through 0, where another curve crosses, and it goes on as a saddle"
    OUTSIDE = "in one dimension more its smallest eigenvalue goes through 0, and there it goes on as a saddle"
    DEAD = "one of its neurons shrinks to 0"
    LOST = "Newton's method loses it"
    NONE = "it is no strict minimum where it begins"


@dataclass(frozen=True, eq=False)
class Here:
    """A critical point: its place, its loss, and how the gradient changes with both."""

    point: Array
    t: float
    value: float
    hessian: Array  #: (N, N)
    change: Array  #: (N,), the derivative of the gradient by t
    least: float  #: the smallest eigenvalue of the Hessian, in R^(d+1) for a network of neurons
    outside: bool  #: whether that is a curvature towards the further dimension

    @property
    def coordinates(self) -> Array:
        """The place (N + 1,) in (x, t)."""
        return np.append(self.point.ravel(), self.t)

    def tangent(self, before: Array | None = None) -> Array:
        """Return the unit tangent (N + 1,) of the curve, the way it went before; first of all towards larger t."""
        normal = _ahead(len(self.change)) if before is None else before
        found = np.linalg.solve(_system(self.hessian, self.change, normal), _ahead(len(self.change)))
        return found / np.linalg.norm(found)

    @property
    def fate(self) -> Fate:
        """What the zero of the smallest eigenvalue is."""
        if self.outside:
            return Fate.OUTSIDE
        null = np.linalg.eigh(self.hessian)[1][:, 0]
        return Fate.FOLD if abs(null @ self.change) > TURN * np.linalg.norm(self.change) else Fate.CROSSING


class Course:
    """The path between two landscapes of one program, and the curves of critical points over it."""

    def __init__(self, first: Landscape, last: Landscape) -> None:
        self.ends, self.shape = (first, last), first.shape

    def settle(self, point: Array, t: float) -> Here | None:
        """Return the critical point that Newton's method finds at this t."""
        return self.correct(np.append(point.ravel(), t), _ahead(point.size))

    def correct(self, guess: Array, normal: Array) -> Here | None:
        """Return the critical point in the hyperplane through a guess (N + 1,) at right angles to ``normal``."""
        place, before = guess, np.inf
        for _ in range(CORRECTIONS):
            seen = _seen(*self.ends, jnp.asarray(place[:-1].reshape(self.shape)), jnp.asarray(place[-1]))
            value, gradient, hessian, change, block = map(np.asarray, seen)
            if not (np.isfinite(gradient).all() and np.isfinite(hessian).all()):
                return None
            residual = np.append(gradient.ravel(), normal @ (place - guess))
            left, floor = np.linalg.norm(residual), TOLERANCES.polish_floor * (1 + np.linalg.norm(place))
            if left < floor and (left < 1e-3 * floor or before < floor):  # the second time it is rounding
                inside, beyond = (float(np.linalg.eigvalsh(some)[0]) for some in (hessian, block))
                where = place[:-1].reshape(self.shape), float(place[-1])
                return Here(*where, float(value), hessian, change.ravel(), min(inside, beyond), beyond < inside)
            try:
                step = np.linalg.solve(_system(hessian, change.ravel(), normal), -residual)
            except np.linalg.LinAlgError:
                return None
            place, before = place + step, left
        return None

    def walk(self, begin: Array, shortest: float) -> Iterator[tuple[Here, Fate | None]]:
        """Yield the points of the curve of strict minima that begins at a point, with its fate at the last of them.

        That is at t = 1, or where the smallest eigenvalue is 0, to the last digits, or where a neuron is shorter than
        ``shortest``. A point that is no strict minimum yields nothing.
        """
        here = self.settle(begin, 0.0)
        if here is None or here.least <= TOLERANCES.strict:
            return
        tangent, length = here.tangent(), LONGEST / 2
        yield here, None
        for _ in range(STEPS):
            found = self._step(here, tangent, length)
            if found is None:
                length /= 2
                if length < SHORTEST:
                    break
                continue
            after, turned = found
            if after.t >= 1 and (last := self.settle(between(here, after, 1.0), 1.0)) is not None and last.least > 0:
                yield last, Fate.ARRIVES
                return
            if after.least <= 0:
                end = self._zero(here, tangent, length)
                if abs(end.least) > TOLERANCES.strict:
                    break
                yield end, end.fate
                return
            if after.t >= 1:
                break
            if np.linalg.norm(after.point, axis=-1).min() < shortest:
                yield after, Fate.DEAD
                return
            yield after, None
            here, tangent, length = after, turned, min(LONGEST, 1.4 * length)
        yield here, Fate.LOST

    def _step(self, here: Here, tangent: Array, length: float) -> tuple[Here, Array] | None:
        """Return the next point and its tangent; None where the step is too long."""
        guess = here.coordinates + length * tangent
        after = self.correct(guess, tangent)
        if after is None or np.linalg.norm(after.coordinates - guess) > DRIFT * length:
            return None
        turned = after.tangent(tangent)
        return (after, turned) if turned @ tangent > STRAIGHT else None

    def _zero(self, here: Here, tangent: Array, length: float) -> Here:
        """Return the point between here and a step on where the smallest eigenvalue is 0.

        That is smooth along the curve, also where t turns back; and as t stands still there, it is right to twice as many
        digits.
        """
        from scipy.optimize import brentq

        seen = {0.0: here}

        def least(along: float) -> float:
            found = self.correct(here.coordinates + along * tangent, tangent)
            if found is not None:  # where two curves cross, Newton's system is singular in one point
                seen[along] = found
            return 0.0 if found is None else found.least

        root = float(brentq(least, 0.0, length, xtol=1e-14, rtol=8.9e-16))  # type: ignore[arg-type]
        return seen[min(seen, key=lambda along: abs(along - root))]


def between(before: Here, after: Here, t: float) -> Array:
    """Return the point on the chord between two at a t between theirs."""
    share = (t - before.t) / (after.t - before.t)
    return (1 - share) * before.point + share * after.point


def _system(hessian: Array, change: Array, normal: Array) -> Array:
    return np.vstack([np.column_stack([hessian, change]), normal])


def _ahead(size: int) -> Array:
    return np.append(np.zeros(size), 1.0)


@compiled
def _seen(first: Any, last: Any, point: jax.Array, t: jax.Array) -> tuple[jax.Array, ...]:
    """Return value, gradient, Hessian, the gradient's derivative by t, and the Hessian's block of a further dimension."""

    def ground(t: jax.Array) -> Any:
        return jax.tree.map(lambda a, b: (1 - t) * a + t * b, first, last)

    here = ground(t)
    gradient, change = jax.jvp(lambda t: ground(t).gradient(point), (t,), (jnp.ones_like(t),))
    hessian = here.hessian(point)
    block = here.extra_dimension(point) if hasattr(here, "extra_dimension") else hessian
    return here.value(point), gradient, hessian, change, block
