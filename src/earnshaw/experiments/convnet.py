"""Runs of the convolutional network of Du et al.: the best of four signs, the two phases of a run, and the lemmas along it."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from earnshaw.descent import GradientDescent, Lanes, Outcome, Stopping, run_lanes
from earnshaw.descent.judges.barrier import BarrierJudge, check_step
from earnshaw.experiments.plan import Plan
from earnshaw.experiments.sweep import sweep
from earnshaw.landscapes import lane_landscape
from earnshaw.landscapes.convnet import ConvNetLandscape
from earnshaw.landscapes.convnet_lanes import reduce_arrays, teachers
from earnshaw.landscapes.convnet_stationary import Stationarity, spurious_limit, stationary_points
from earnshaw.numerics import compiled
from earnshaw.problems import ConvNet, RandomConvNets
from earnshaw.starts import FourSigns, SphereAndBall, sign_flips
from earnshaw.threads import one_blas_thread

Array = NDArray[np.float64]
ROUNDING = 1e-13  # by which an inequality may fail without meaning it
REACHED = 1e-10


def best_of_four(problems: Sequence[ConvNet], seed: int = 0, step: float = 0.1) -> NDArray[np.int8]:
    """Return the outcome code of the best of the four signs of a random start, for each problem.

    Their p and k may differ: all share one block in five coordinates.
    """
    reduced, points = [], []
    for problem, start in zip(problems, SphereAndBall().draw_many(problems, seed), strict=True):
        check_step(step, problem.patches, math.sqrt(problem.scale))
        teacher = problem.filter, problem.output_weights, np.ones(problem.patches)
        small, five, _ = reduce_arrays(*teacher, sign_flips(start[None], problem.filter_size)[:, 0])
        reduced.append(small)
        points.append(five)
    together = ConvNetLandscape(*jax.device_put([np.concatenate(leaves) for leaves in zip(*reduced, strict=True)]))
    descent, starts = GradientDescent(step=step), np.concatenate(points)
    judge, indices = BarrierJudge.of(together, descent, Stopping()), np.arange(len(starts))
    batch = problems[0].batch
    work = Lanes(landscape=together, descent=descent, judge=judge, starts=starts, indices=indices, batch=batch)
    with one_blas_thread():
        ledger, _ = run_lanes(work)
    best = np.argmin(np.where(np.isfinite(ledger.value), ledger.value, np.inf).reshape(-1, 4), axis=1)
    return ledger.outcome.reshape(-1, 4)[np.arange(len(problems)), best]


@dataclass(frozen=True)
class Trajectory:
    """What matters of runs, moment by moment; arrays are (moments, lanes)."""

    landscape: ConvNetLandscape
    step_length: float
    step: NDArray[np.int64]  #: (moments,)
    value: Array
    angle: Array
    supplement: Array  #: pi minus the angle
    product: Array  #: a . a*
    total: Array  #: the sum of a
    length: Array  #: |v|
    ends: Array  #: (lanes, p + k), the points at the last moment

    @property
    def spurious(self) -> NDArray[np.bool_]:
        """Which runs were on the spurious side when they were left."""
        return self.product[-1] < 0


def follow(landscape: ConvNetLandscape, points: np.ndarray, step: float, steps: int, every: int = 1) -> Trajectory:
    """Run Algorithm 1 from points (lanes, p + k) and record every so many steps, the start included."""
    descent = GradientDescent(step=step)
    moments, ends = _follow(descent, landscape, jnp.asarray(points), steps // every, jnp.asarray(every))
    return Trajectory(
        landscape, step, np.arange(steps // every + 1) * every, *np.asarray(moments), ends=np.asarray(ends)
    )


@functools.partial(compiled, static_argnums=(0, 3))
def _follow(
    descent: GradientDescent, landscape: ConvNetLandscape, points: jax.Array, count: int, every: jax.Array
) -> tuple[jax.Array, jax.Array]:
    def seen(point: jax.Array) -> jax.Array:
        way = landscape.angles(point)
        total = jnp.sum(landscape.split(point)[1] * landscape.ones, -1)
        value, product = landscape.value(point), landscape.product(point)
        return jnp.stack([value, way.angle, way.supplement, product, total, way.length])

    def moment(state, _):
        state = jax.lax.fori_loop(0, every, lambda _, s: descent.advance(landscape, s), state)
        return state, seen(state.point)

    lanes = points.shape[0]
    begun = descent.init(landscape, points, jnp.ones(lanes), jnp.zeros((lanes, 2), dtype=jnp.uint32))
    last, later = jax.lax.scan(moment, begun, None, length=count)
    return jnp.moveaxis(jnp.concatenate([seen(points)[None], later]), 1, 0), last.point


@dataclass(frozen=True, eq=False)
class Fates:
    """One random start of one random teacher, and what becomes of its four signs."""

    problem: ConvNet
    starts: Array  #: (4, p + k), in the order of ``earnshaw.starts.base.SIGNS``
    outcomes: tuple[Outcome, ...]  #: proved, by the barrier (docs/convnet.md, Theorem 2)
    decided: NDArray[np.int64]  #: (4,) the step at which that was known
    path: Trajectory  #: four lanes, in five coordinates
    ends: Array  #: (4, p + k), the points at its last moment


def four_fates(nets: RandomConvNets, seed: int, run: int, step: float, steps: int, every: int = 1) -> Fates:
    """Follow the four signs of the start of one run of a sweep, and say where each goes."""
    lane = np.array([run])
    (filter,), (outputs,) = teachers(nets, seed, lane)
    problem, starts = ConvNet(filter, outputs), FourSigns().draw(nets, seed, lane)[:, 0]
    runs = sweep(problem, runs=len(starts), start=starts, optimizer=GradientDescent(step=step), workers=1)
    reduced, five, lift = ConvNetLandscape.of(problem).reduced(starts)
    path = follow(reduced, five, step, steps, every)
    outcomes = tuple(map(Outcome.from_code, runs.outcome.tolist()))
    return Fates(problem, starts, outcomes, runs.steps, path, lift(path.ends))


def runs_again(plan: Plan, name: str, lanes: int, steps: int) -> Trajectory | None:
    """Return the first so many runs of a setting with random teachers again, moment by moment.

    None where they were not by gradient descent from single random starts.
    """
    setting = plan.by_name[name]
    problem, descent = setting.problem, setting.descent
    usual = isinstance(problem, RandomConvNets) and isinstance(descent, GradientDescent)
    if not (usual and isinstance(plan.start, SphereAndBall)):
        return None
    landscape, points = first_lanes(problem, min(lanes, setting.runs), plan.seed)
    return follow(landscape, points, descent.step, steps)


def first_lanes(problem: RandomConvNets, runs: int, seed: int) -> tuple[ConvNetLandscape, np.ndarray]:
    """Return the teachers and starts of the first so many runs, in five coordinates."""
    lanes = np.arange(runs)
    reduced, points, _ = lane_landscape(problem, seed, lanes).reduced(SphereAndBall().draw(problem, seed, lanes))
    return reduced, points


@dataclass(frozen=True)
class SpuriousPoint:
    """The stationary point of a filter against the teacher's; it is the same for all teachers of a sweep, up to a rotation."""

    value: float  #: its loss
    minimum: bool  #: whether it is a local minimum
    limit: float  #: the ratio S/|a*| from which on it is none


def spurious_point(problem: RandomConvNets, seed: int) -> SpuriousPoint:
    """Return the spurious point of the teachers that a sweep draws, by its closed form."""
    filters, outputs = teachers(problem, seed, np.arange(1))
    _, point, *_ = stationary_points(ConvNet(filters[0], outputs[0]))
    return SpuriousPoint(point.value, point.kind is Stationarity.SPURIOUS, spurious_limit(problem.patches))


@dataclass(frozen=True)
class Phases:
    """The two phases of one run (Theorem 3.1); None for a step that is not reached."""

    #: the step T1 at which :math:`\cos\varphi \ge 1/2` and :math:`a\cdot a^* \ge W|a^*|^2/2` for the first time
    first: int | None
    second: int | None  #: the step T2 at which the loss is below :math:`10^{-10} W^2|a^*|^2`
    rate: float | None  #: the factor per step by which the loss falls at the end of the second phase
    #: the factor :math:`(1 - \eta\lambda)^2` of the smallest curvature at the global minimum,
    #: :math:`\lambda = \min((\pi - 1)/2\pi,\ W^2|a^*|^2/2|v|^2)`
    expected: float


def phases(run: Trajectory, lane: int = 0) -> Phases:
    """Find T1 and T2 in a run, and measure the rate of the second phase."""
    scale, norm = _lane(run, "square", lane), _lane(run, "norm", lane)
    strong = (np.cos(run.angle[:, lane]) >= 0.5) & (run.product[:, lane] >= norm * scale / 2)
    low = run.value[:, lane] <= REACHED * norm**2 * scale
    first, second = (int(run.step[np.argmax(mask)]) if mask.any() else None for mask in (strong, low))
    slowest = min((math.pi - 1) / (2 * math.pi), norm**2 * scale / (2 * run.length[-1, lane] ** 2))
    expected = (1 - run.step_length * slowest) ** 2
    value = run.value[:, lane] / (norm**2 * scale)
    late = (value <= 1e-6) & (value > 1e-14)
    rate = float(np.exp(np.polyfit(run.step[late], np.log(value[late]), 1)[0])) if late.sum() > 2 else None
    return Phases(first, second, rate, expected)


def _lane(run: Trajectory, name: str, lane: int) -> float:
    return float(np.broadcast_to(getattr(run.landscape, name), run.value.shape[1:])[lane])


@dataclass(frozen=True)
class Monitor:
    """One lemma along one run recorded at every step."""

    lemma: str
    steps: int  #: at how many steps its hypotheses hold
    failed: int | None  #: the first step after which its conclusion does not, whatever the hypotheses
    violated: int | None  #: the first at which it fails although they hold: a violation


def monitors(run: Trajectory, lane: int = 0) -> tuple[Monitor, ...]:
    r"""Check Lemmas 4.2-4.5 of Du et al. along a run that was recorded at every step.

    4.2: the angle does not grow while :math:`a\cdot a^* > 0`. 4.3: :math:`a\cdot a^*` stays positive, as long as
    :math:`0 \le S\,1\cdot a \le W S^2` and :math:`\varphi < \pi/2`. 4.4: :math:`S\,1\cdot a` stays at most
    :math:`W S^2`. 4.5: :math:`\sin^2\varphi` shrinks by the factor :math:`1 - \eta\lambda\cos\varphi`,
    :math:`\lambda = W(\pi - \varphi) a\cdot a^*/(2\pi|v|^2)`, while :math:`\eta\lambda \le \cos\varphi`.
    """
    eta, norm = run.step_length, _lane(run, "norm", lane)
    aim = norm * _lane(run, "total", lane) ** 2
    angle, product, length = run.angle[:, lane], run.product[:, lane], run.length[:, lane]
    total = run.total[:, lane] * _lane(run, "total", lane)
    pull = norm * run.supplement[:, lane] * product / (2 * math.pi * length**2)
    sine, cosine = np.sin(angle) ** 2, np.cos(angle)
    short = eta < 2 * math.pi / _lane(run, "kappa", lane)
    positive, below = product > 0, total <= aim * (1 + ROUNDING)
    lemmas = {  # (hypotheses before the step, conclusion after it)
        "4.2: the angle does not grow": (positive[:-1], angle[1:] <= angle[:-1] + ROUNDING),
        "4.3: a . a* stays positive": ((positive & (total >= 0) & below & (angle < math.pi / 2))[:-1], positive[1:]),
        "4.4: the sum of a stays below": (below[:-1] & short, below[1:]),
        "4.5: the sine contracts": (
            (positive & (eta * pull <= cosine))[:-1],
            sine[1:] <= (1 - eta * cosine * pull)[:-1] * sine[:-1] + ROUNDING,
        ),
    }
    return tuple(
        Monitor(name, int(given.sum()), _first(run, ~holds), _first(run, given & ~holds))
        for name, (given, holds) in lemmas.items()
    )


def _first(run: Trajectory, mask: NDArray[np.bool_]) -> int | None:
    return int(run.step[1 + np.argmax(mask)]) if mask.any() else None


@dataclass(frozen=True)
class Hypotheses:
    """Which theorem speaks of a start, lane by lane."""

    #: Theorem 3.1, :math:`a\cdot a^* > 0,\ |1\cdot a| \le |S| W,\ \varphi < \pi/2`
    towards_global: NDArray[np.bool_]
    #: Theorem 3.3, :math:`a\cdot a^* < 0,\ |1\cdot a| \le |S| W,\ g \le 1 - 2S^2/|a^*|^2`
    towards_spurious: NDArray[np.bool_]


def hypotheses(landscape: ConvNetLandscape, points: np.ndarray) -> Hypotheses:
    """Say which theorem's hypotheses each start (lanes, p + k) satisfies, apart from a small step."""
    return Hypotheses(*map(np.asarray, _hypotheses(landscape, jnp.asarray(points))))


@compiled
def _hypotheses(landscape: ConvNetLandscape, points: jax.Array) -> tuple[jax.Array, jax.Array]:
    way, product = landscape.angles(points), landscape.product(points)
    total = jnp.sum(landscape.split(points)[1] * landscape.ones, -1)
    small = jnp.abs(total) <= jnp.abs(landscape.total) * landscape.norm * (1 + ROUNDING)
    low = way.overlap <= 1 - 2 * landscape.total**2 / landscape.square
    return (product > 0) & small & (way.angle < math.pi / 2), (product < 0) & small & low
