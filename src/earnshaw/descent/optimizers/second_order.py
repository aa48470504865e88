"""Algorithms that see curvature: Algorithms 1 and 2 of Panigrahy et al., and Newton's method in a trust region."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.descent.base import Descent, Evaluations, along, dots, flat, follow, norms
from earnshaw.descent.newton.polish import conjugate_gradients
from earnshaw.descent.optimizers.first_order import FixedStep, Stepped
from earnshaw.errors import InputError
from earnshaw.landscapes.base import Landscape


def hessian_step(
    landscape: Landscape, point: jax.Array, gradient: jax.Array, step: float | jax.Array, printed: bool = False
) -> jax.Array:
    r"""Return the points after one step :math:`x + \beta v`, v the unit eigenvector of the least eigenvalue,

    .. math:: \beta = \alpha\,\lambda_{\min}\,\mathrm{sign}(\nabla f^T v), \qquad \mathrm{sign}(0) = 1 .

    With negative curvature this goes down, to the side of v on which the slope helps. ``printed`` gives the rule as it is
    printed, with a minus sign, which goes up (docs/errata.md).
    """
    eigenvalues, vectors = jnp.linalg.eigh(landscape.hessian(point))
    direction = vectors[..., :, 0]
    slope = jnp.sum(flat(landscape, gradient) * direction, -1)
    beta = step * eigenvalues[..., 0] * jnp.where(slope >= 0, 1.0, -1.0)
    if printed:
        beta = -beta
    return point + (beta[..., None] * direction).reshape(point.shape)


@dataclass(frozen=True, kw_only=True)
class HessianDescent(FixedStep):
    """Algorithm 1: every step is one of :func:`hessian_step`, which looks at the gradient for its sign only.

    It leaves saddles and is at home where the curvature is negative. At a minimum its steps go up again, so that it comes
    to rest nowhere: in a sweep its runs are finished by gradient descent.

    ``step`` is the factor alpha, and ``printed`` asks for the sign that is printed, which goes up.

    Reference: Panigrahy et al. (2018), Algorithm 1 and Lemma 19.
    """

    kind = "hessian-descent"
    called = " of Hessian descent"
    numbers = ("step",)

    step: float = 0.1
    printed: bool = False
    check_every: int = 5

    def advance(self, landscape: Landscape, state: Stepped) -> Stepped:
        """Return the state after one step of every lane."""
        gradient = landscape.gradient(state.point)
        return state._replace(point=hessian_step(landscape, state.point, gradient, state.length, self.printed))

    def evaluations(self, state: Stepped, steps: np.ndarray) -> Evaluations:
        """One gradient and one Hessian a step."""
        return Evaluations(steps, steps)


class SecondGDState(NamedTuple):
    """Points (lanes, *shape), values and factors alpha; steps taken, gradients and Hessians used; who still moves."""

    point: jax.Array
    value: jax.Array
    length: jax.Array
    steps: jax.Array
    gradients: jax.Array
    hessians: jax.Array
    active: jax.Array


@dataclass(frozen=True, kw_only=True)
class SecondGD(Descent):
    r"""Algorithm 2: where the gradient is at least eta, a step :math:`-\alpha\nabla f`; elsewhere one of Algorithm 1.

    A lane stops, at the point before, when a step gains less than :math:`\min(\alpha\eta^2/2,\ \alpha^2\gamma^3/3)`,
    which is what Lemmas 18 and 19 promise (the printed second term has 1/2 in place of 1/3; docs/errata.md). It costs
    one gradient for each step that was tried, and one Hessian for those along the curvature.

    Reference: Panigrahy et al. (2018), Algorithm 2.

    Attributes
    ----------
    step : the factor alpha.
    gradient_threshold : eta, in the norm of the whole gradient.
    curvature_threshold : gamma; saddles whose least eigenvalue is below -gamma are left.
    """

    kind = "second-gd"
    called = " of Algorithm 2"
    numbers = ("step", "gradient_threshold", "curvature_threshold")

    step: float = 0.1
    gradient_threshold: float = 1e-5
    curvature_threshold: float = 1e-3
    check_every: int = 10

    def init(self, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> SecondGDState:
        """Return the state of lanes at these points, all on their way."""
        zero, going = jnp.zeros(scale.shape, dtype=jnp.int64), jnp.ones(scale.shape, dtype=bool)
        return SecondGDState(points, landscape.value(points), self.step * scale, zero, zero, zero, going)

    def advance(self, landscape: Landscape, state: SecondGDState) -> SecondGDState:
        """Return the state after one step of every lane that still moves."""
        point, length = state.point, state.length
        gain = jnp.minimum(length * self.gradient_threshold**2 / 2, length**2 * self.curvature_threshold**3 / 3)
        gradient = landscape.gradient(point)
        curved = state.active & (norms(landscape, gradient) < self.gradient_threshold)
        down = point - along(length, point) * gradient
        moved = jax.lax.cond(
            jnp.any(curved),
            lambda: jnp.where(along(curved, point), hessian_step(landscape, point, gradient, length), down),
            lambda: down,
        )
        value = landscape.value(moved)
        active = state.active & (value < state.value - gain)
        return SecondGDState(
            point=jnp.where(along(active, point), moved, point),
            value=jnp.where(active, value, state.value),
            length=length,
            steps=state.steps + active,
            gradients=state.gradients + state.active,
            hessians=state.hessians + curved,
            active=active,
        )


@functools.partial(jax.jit, static_argnames=("max_steps", *SecondGD.numbers))
def second_gd(landscape: Landscape, points: jax.Array, *, max_steps: int, **settings: Any) -> SecondGDState:
    """Run Algorithm 2 on every lane of points (lanes, *shape) until all have stopped, or for so many steps."""
    descent = SecondGD(**settings)
    return jax.lax.while_loop(
        lambda carry: jnp.any(carry[1].active) & (carry[0] < max_steps),
        lambda carry: (carry[0] + 1, descent.advance(landscape, carry[1])),
        (jnp.asarray(0), follow(descent, landscape, points, 0)),
    )[1]


class TrustRegionState(NamedTuple):
    """Points (lanes, *shape), radii, and gradients and products with the Hessian counted so far."""

    point: jax.Array
    radius: jax.Array
    gradients: jax.Array
    hessians: jax.Array


@dataclass(frozen=True, kw_only=True)
class NewtonTrustRegion(Descent):
    r"""Minimise the quadratic model :math:`g\cdot s + \tfrac12 s\cdot H s` over :math:`|s| \le \Delta` by Steihaug's truncated conjugate gradients.

    Where the curvature along the search direction is negative the step goes to the boundary, so that saddles repel. It
    costs one gradient a step, and the products with the Hessian that the model took.

    ``radius`` is the first radius of the region, and ``max_radius`` the largest.

    Reference: Nocedal & Wright (2006), Algorithms 4.1 and 7.2.
    """

    kind = "newton-tr"
    numbers = ("radius",)

    radius: float = 0.1
    max_radius: float = 1.0
    check_every: int = 5

    def __post_init__(self) -> None:
        """Refuse radii that are no radii, too."""
        super().__post_init__()
        if not 0 < self.radius <= self.max_radius < math.inf:
            raise InputError(f"the trust region's radii are {self.radius}, {self.max_radius}; both must be positive")

    @classmethod
    def named(cls, *numbers: float) -> Self:
        """Return the algorithm with this first radius, and room for it."""
        return cls(radius=numbers[0], max_radius=max(1.0, numbers[0])) if numbers else cls()

    def init(self, landscape: Landscape, points: jax.Array, scale: jax.Array, keys: jax.Array) -> TrustRegionState:
        """Return the state of lanes at these points."""
        zero = jnp.zeros(points.shape[0], dtype=jnp.int64)
        return TrustRegionState(points, self.radius * scale, zero, zero)

    def advance(self, landscape: Landscape, state: TrustRegionState) -> TrustRegionState:
        """Solve the model, try its step, and keep it if the loss fell by a tenth of the promise."""
        point, radius = state.point, state.radius
        gradient = landscape.gradient(point)
        square = dots(gradient, gradient)
        norm = jnp.sqrt(square)
        goal = (jnp.minimum(0.1, jnp.sqrt(norm)) * norm) ** 2  # superlinear: Nocedal & Wright, (7.3)
        model = conjugate_gradients(landscape, point, gradient, goal, jnp.isfinite(square), spare=20, radius=radius)
        promised = -dots(gradient, model.step) - 0.5 * dots(model.step, model.image)
        trial = point + model.step
        before = landscape.value(point)
        fell = before - landscape.value(trial)
        # Near the end the fall drowns in rounding: then the promise is taken for it.
        fell = jnp.where(promised < 1e-13 * (1.0 + jnp.abs(before)), promised, fell)
        ratio = fell / jnp.where(promised > 0, promised, 1.0)
        length = jnp.sqrt(dots(model.step, model.step))
        grown = jnp.where((ratio > 0.75) & (length > 0.99 * radius), jnp.minimum(2 * radius, self.max_radius), radius)
        new_radius = jnp.where(ratio >= 0.25, grown, 0.25 * length)
        taken = (ratio > 0.1) & (promised > 0)
        return TrustRegionState(
            point=jnp.where(along(taken, point), trial, point),
            radius=jnp.where(promised > 0, new_radius, radius),
            gradients=state.gradients + 1,
            hessians=state.hessians + model.products,
        )
