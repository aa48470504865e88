"""Every optimiser: it ends where it should, it counts what it uses, and it is the algorithm that its name says."""

import dataclasses
import functools
import itertools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import scipy.integrate
import scipy.stats

from earnshaw.descent import (
    Flow,
    GradientDescent,
    NewtonTrustRegion,
    Outcome,
    PerturbedDescent,
    StochasticDescent,
    Stopping,
    descend,
    optimizer,
)
from earnshaw.errors import InputError
from earnshaw.experiments import Runs
from earnshaw.landscapes import landscape
from earnshaw.numerics import lane_keys
from earnshaw.problems import TwoLayer, standard_teacher
from earnshaw.starts import Xavier

SIX = TwoLayer(standard_teacher(6))
ENERGY = landscape(SIX)
LANES = np.array([0, 1, 2, 3, 4, 5, 544, 592])  # of seed 0; gradient descent with step 0.1 is trapped from the last two
STARTS = Xavier().draw(SIX, 0, LANES)
ADAM, LBFGS, MOMENTUM = optimizer("adam:0.01"), optimizer("lbfgs"), optimizer("momentum:0.05:0.9")


def run(descent, lanes=LANES, batch=8, starts=None, **stopping):
    lanes = np.asarray(lanes)
    starts = Xavier().draw(SIX, 0, lanes) if starts is None else starts
    return Runs.of_ledger(SIX, lanes, descend(SIX, descent, Stopping(**stopping), starts, lanes, batch)[0])


def begin(descent, energy, points):
    """The state of a block of lanes, with keys of their own."""
    keys = jax.random.key_data(lane_keys(7, np.arange(len(points))))
    return descent.init(energy, jnp.asarray(points), jnp.ones(len(points)), keys)


@functools.partial(jax.jit, static_argnums=0)
def advance(descent, energy, state, steps=1):
    """The state after some steps, computed as a sweep computes it."""
    return jax.lax.fori_loop(0, steps, lambda _, s: descent.advance(energy, s), state)


@functools.partial(jax.tree_util.register_dataclass, data_fields=(), meta_fields=("curvatures",))
@dataclass(frozen=True)
class Bowl:
    """A quadratic, F = sum_i c_i x_i^2 / 2, over points of shape (1, N): a bowl, or a saddle where a c_i is negative."""

    curvatures: tuple[float, ...]

    def value(self, point: jax.Array) -> jax.Array:
        return 0.5 * jnp.sum(jnp.asarray(self.curvatures) * point**2, (-2, -1))

    def gradient(self, point: jax.Array) -> jax.Array:
        return jnp.asarray(self.curvatures) * point


# ---- fates --------------------------------------------------------------------------------------------------------


@functools.cache
def ended(name):
    return run(optimizer(name), max_steps=30_000)


NAMES = ("adam:0.01", "newton-tr")
SLOW = ("flow", "lbfgs")
NIGHTLY = ("momentum:0.05:0.9", "perturbed-gd", "stochastic:0.1:64")


@pytest.mark.parametrize(
    "name",
    [
        *NAMES,
        *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW),
        *(pytest.param(name, marks=[pytest.mark.slow, pytest.mark.nightly]) for name in NIGHTLY),
    ],
)
def test_every_run_is_decided_and_every_end_is_what_it_is_called(name):
    runs = ended(name)
    assert set(runs.outcomes) <= {"GLOBAL", "SPURIOUS"}
    assert (runs.outcome[:6] == Outcome.GLOBAL.code).all(), "easy starts reach the teacher with every optimiser"
    assert (runs.where(Outcome.GLOBAL).value < 1e-3).all()
    for end in runs.spurious.weights:
        assert np.linalg.norm(ENERGY.gradient(end)) < 1e-13
        assert float(ENERGY.spectrum(end)[0]) > 1e-3
        assert float(ENERGY.value(end)) == pytest.approx(0.0250806, abs=1e-7)  # the one family there is for k = 6
    assert (runs.steps > 0).all()
    assert (runs.gradients >= runs.steps).all()
    assert (runs.hessians > 0).all() == (name == "newton-tr")
    assert not runs.halvings.any()


@pytest.mark.slow
def test_the_flow_is_trapped_where_gradient_descent_is():
    assert ended("flow").spurious.run.tolist() == [544, 592]
    # A step of the flow covers the time of ten steps of gradient descent.
    plain = run(GradientDescent())
    assert (np.abs(10 * ended("flow").steps[:6] - plain.steps[:6]) <= 100).all()


# ---- counts -------------------------------------------------------------------------------------------------------


class Counted:
    """A landscape that counts what it is asked for when it is computed (not when it is traced)."""

    def __init__(self, inner) -> None:
        self.inner, self.tally = inner, {"values": 0, "gradients": 0}

    def note(self, what: str) -> None:
        jax.debug.callback(lambda: self.tally.update({what: self.tally[what] + 1}))

    def value(self, point: jax.Array) -> jax.Array:
        self.note("values")
        return self.inner.value(point)

    def gradient(self, point: jax.Array) -> jax.Array:
        self.note("gradients")
        return self.inner.gradient(point)


@pytest.mark.parametrize(
    "descent",
    [GradientDescent(), ADAM, pytest.param(Flow(), marks=pytest.mark.slow), PerturbedDescent(wait=1, threshold=1e9)],
)
def test_gradients_are_counted(descent):
    counted, steps = Counted(ENERGY), 3
    state = begin(descent, counted, STARTS[:1])
    step = jax.jit(lambda state: descent.advance(counted, state))
    for _ in range(steps):
        state = step(state)
    jax.effects_barrier()
    cost = descent.evaluations(state, np.array([steps]))
    assert cost.gradients.tolist() == [counted.tally["gradients"]]
    assert counted.tally["gradients"] >= steps
    assert cost.hessians.tolist() == [0]


@pytest.mark.slow
def test_a_restart_counts_what_the_failed_attempts_cost():
    runs = run(GradientDescent(step=20.0), lanes=[0, 1])
    assert (runs.halvings > 0).all()
    assert np.array_equal(runs.gradients, runs.steps)
    assert (runs.steps >= 50 * (runs.halvings + 1)).all()


# ---- the optimisers of optax ---------------------------------------------------------------------------------------


def plain_loop(transformation, point, steps, noted=lambda: None):
    """The loop of optax's own documentation, for one point."""

    @jax.jit
    def step(point, inner):
        def loss(x):
            noted()
            return ENERGY.value(x)

        value, slope = ENERGY.value(point), ENERGY.gradient(point)
        update = optax.with_extra_args_support(transformation).update
        change, inner = update(slope, inner, point, value=value, grad=slope, value_fn=loss)
        return optax.apply_updates(point, change), inner

    inner = transformation.init(point)
    for _ in range(steps):
        point, inner = step(point, inner)
    jax.effects_barrier()
    return np.asarray(point)


@pytest.mark.parametrize(
    ("descent", "transformation"),
    [
        (MOMENTUM, optax.sgd(0.05, momentum=0.9)),
        pytest.param(optimizer("nesterov:0.02:0.8"), optax.sgd(0.02, momentum=0.8, nesterov=True), marks=pytest.mark.slow),
        (ADAM, optax.adam(0.01)),
        pytest.param(optimizer(optax.chain(optax.clip(0.01), optax.rmsprop(0.02))), optax.chain(optax.clip(0.01), optax.rmsprop(0.02)), marks=pytest.mark.slow),
    ],
    ids=["momentum", "nesterov", "adam", "chain"],
)  # fmt: skip
def test_a_lane_is_the_plain_loop_of_optax(descent, transformation):
    state = advance(descent, ENERGY, begin(descent, ENERGY, STARTS[:3]), 40)
    for lane in range(2):
        expected = plain_loop(transformation, jnp.asarray(STARTS[lane]), 40)
        np.testing.assert_allclose(state.point[lane], expected, atol=1e-12)
        assert np.linalg.norm(expected - STARTS[lane]) > 0.1
    assert np.asarray(state.gradients).tolist() == [40, 40, 40]


def test_momentum_is_the_heavy_ball():
    state = advance(MOMENTUM, ENERGY, begin(MOMENTUM, ENERGY, STARTS[:3]), 40)
    point, velocity = STARTS[0], np.zeros((6, 6))
    for _ in range(40):
        velocity = 0.9 * velocity + np.asarray(ENERGY.gradient(point))
        point = point - 0.05 * velocity
    np.testing.assert_allclose(state.point[0], point, atol=1e-12)


def test_a_lanes_scale_shortens_its_steps():
    points = np.repeat(STARTS[:1], 2, axis=0)
    for descent in (ADAM, MOMENTUM):
        state = begin(descent, ENERGY, points)._replace(scale=jnp.array([1.0, 0.5]))
        moved = np.asarray(advance(descent, ENERGY, state).point) - points
        assert np.linalg.norm(moved[0]) > 1e-3
        np.testing.assert_allclose(moved[1], 0.5 * moved[0], atol=1e-14)


@pytest.mark.slow
def test_lbfgs_is_that_of_optax_and_every_trial_of_its_line_search_is_counted():
    counted = Counted(ENERGY)
    expected = plain_loop(optax.lbfgs(), jnp.asarray(STARTS[0]), 12, lambda: counted.note("values"))
    state = begin(LBFGS, ENERGY, STARTS[:2])
    state = advance(LBFGS, ENERGY, state, 12)
    np.testing.assert_allclose(state.point[0], expected, atol=1e-10)
    assert int(state.gradients[0]) == 12 + counted.tally["values"] > 24


# ---- Newton's method in a trust region ------------------------------------------------------------------------------


def steihaug(gradient, hessian, radius):
    """Algorithm 7.2 of Nocedal & Wright, with a dense Hessian; also the number of products."""
    goal = min(0.1, np.linalg.norm(gradient) ** 0.5) * np.linalg.norm(gradient)
    step, residual, direction = np.zeros_like(gradient), gradient, -gradient
    for count in range(1, 1000):
        image = hessian @ direction
        curvature = direction @ image
        length = residual @ residual / curvature if curvature > 0 else np.inf
        if curvature <= 0 or np.linalg.norm(step + length * direction) >= radius:
            a, b, c = direction @ direction, 2 * step @ direction, step @ step - radius**2
            return step + (-b + np.sqrt(b * b - 4 * a * c)) / (2 * a) * direction, count
        step, new = step + length * direction, residual + length * image
        if np.linalg.norm(new) <= goal:
            return step, count
        direction, residual = -new + (new @ new) / (residual @ residual) * direction, new
    raise AssertionError


def test_the_trust_region_is_algorithm_4_1_with_steihaugs_steps():
    descent = NewtonTrustRegion()
    state, energy = begin(descent, ENERGY, STARTS[:1]), ENERGY
    point, radius, products, outside = STARTS[0].copy(), descent.radius, 0, 0
    for _ in range(15):
        state = advance(descent, ENERGY, state)
        gradient, hessian = np.asarray(energy.gradient(point)).ravel(), np.asarray(energy.hessian(point))
        change, count = steihaug(gradient, hessian, radius)
        products += count
        promised = -(gradient @ change + 0.5 * change @ hessian @ change)
        trial = point + change.reshape(6, 6)
        ratio = float(energy.value(point) - energy.value(trial)) / promised
        length = np.linalg.norm(change)
        assert promised > 0
        assert length <= radius * (1 + 1e-12)
        outside += length > 0.99 * radius
        if ratio < 0.25:
            radius = 0.25 * length
        elif ratio > 0.75 and length > 0.99 * radius:
            radius = min(2 * radius, descent.max_radius)
        point = trial if ratio > 0.1 else point
        np.testing.assert_allclose(state.point[0], point, atol=1e-7)
        assert float(state.radius[0]) == pytest.approx(radius, rel=1e-6)
    assert outside > 3, "the boundary was met"
    assert int(state.hessians[0]) == products
    assert int(state.gradients[0]) == 15


def test_newton_leaves_a_saddle_where_gradient_descent_stays():
    saddle = Bowl((1.0, 0.5, -1e-3))
    begun = np.array([[[1.0, 1.0, 1e-9]]])
    newton, plain = NewtonTrustRegion(), GradientDescent()
    left = advance(newton, saddle, begin(newton, saddle, begun), 30)
    stayed = advance(plain, saddle, begin(plain, saddle, begun), 30 + int(left.hessians[0]))
    assert float(saddle.value(left.point)[0]) < -1e-3
    assert abs(float(stayed.point[0, 0, 2])) < 1e-8


@pytest.mark.slow
def test_newton_converges_faster_than_linearly():
    minimum = run(GradientDescent(), lanes=[544, 592]).weights[0]
    rng = np.random.default_rng(0)
    descent = NewtonTrustRegion()
    state = begin(descent, ENERGY, minimum[None] + 1e-3 * rng.normal(size=(1, 6, 6)))
    norms = []
    for _ in range(8):
        norms.append(float(jnp.linalg.norm(ENERGY.gradient(state.point))))
        state = advance(descent, ENERGY, state)
    falls = [after / before for before, after in itertools.pairwise(norms) if before > 1e-10]
    assert norms[-1] < 1e-12
    assert falls[-1] < 1e-3 < 1e-2 < max(falls), "the ratio itself falls"


# ---- flow ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("lane", [0, 6])
def test_the_flow_is_the_solution_of_the_differential_equation(lane):
    descent = Flow(time=5.0, tolerance=1e-9)
    state = advance(descent, ENERGY, begin(descent, ENERGY, STARTS[lane : lane + 1]), 2)
    slope = jax.jit(ENERGY.gradient)
    exact = scipy.integrate.solve_ivp(
        lambda t, y: -np.asarray(slope(y.reshape(6, 6))).ravel(),
        (0.0, 10.0),
        STARTS[lane].ravel(),
        method="DOP853",
        rtol=1e-12,
        atol=1e-13,
    )
    assert exact.success
    error = np.abs(np.asarray(state.point[0]).ravel() - exact.y[:, -1]).max()
    assert error < 1e-7
    loose = Flow(time=5.0, tolerance=1e-3)
    rough = advance(loose, ENERGY, begin(loose, ENERGY, STARTS[lane : lane + 1]), 2)
    assert np.abs(np.asarray(rough.point[0]).ravel() - exact.y[:, -1]).max() > error
    assert int(rough.gradients[0]) < int(state.gradients[0])


@pytest.mark.slow
def test_a_flow_that_needs_too_many_steps_becomes_nan_and_not_a_number_that_looks_right():
    stiff, descent = Bowl((1.0, 1e6)), Flow()
    state = advance(descent, stiff, begin(descent, stiff, np.ones((1, 1, 2))), 1)
    assert np.isnan(np.asarray(state.point)).all()


# ---- perturbed descent -------------------------------------------------------------------------------------------------


def test_perturbed_descent_leaves_a_saddle_that_gradient_descent_cannot_leave():
    saddle, begun = Bowl((1.0, -0.2)), np.zeros((4, 1, 2))
    plain, kicked = GradientDescent(), PerturbedDescent()
    assert not np.asarray(advance(plain, saddle, begin(plain, saddle, begun), 700).point).any()
    state = advance(kicked, saddle, begin(kicked, saddle, begun), 700)
    assert (np.abs(np.asarray(state.point)[:, 0, 1]) > 0.1).all()
    assert len(np.unique(np.asarray(state.point)[:, 0, 1])) == 4, "every lane has its own kicks"


def test_kicks_are_uniform_in_the_ball_and_rare():
    flat, lanes, radius = Bowl((0.0, 0.0, 0.0)), 1000, 0.5
    descent = PerturbedDescent(radius=radius, wait=5, kicks=3)
    state, places = begin(descent, flat, np.zeros((lanes, 1, 3))), []
    for _ in range(30):
        state = advance(descent, flat, state)
        places.append(np.asarray(state.point)[:, 0])
    moves = np.diff(np.array([np.zeros((lanes, 3)), *places]), axis=0)
    when = np.flatnonzero(np.abs(moves).max((1, 2)) > 0)
    assert len(when) == 3, "as many kicks as allowed"
    assert when[0] >= 5
    assert (np.diff(when) > 5).all()
    kicks = moves[when].reshape(-1, 3) / radius
    length = np.linalg.norm(kicks, axis=1)
    assert length.max() <= 1
    assert scipy.stats.kstest(length**3, "uniform").pvalue > 1e-3
    assert (
        scipy.stats.kstest((kicks[:, 0] / length + 1) / 2, "uniform").pvalue > 1e-3
    )  # Archimedes: any axis of a sphere
    assert np.abs(np.corrcoef(moves[when][:, :, 0])[np.triu_indices(3, 1)]).max() < 5 / np.sqrt(lanes), "independent"


def test_no_kick_where_the_gradient_is_large():
    slope, begun = Bowl((1e-6,)), np.full((1, 1, 1), 1e6)
    kicked, plain = PerturbedDescent(wait=1), GradientDescent()
    first = advance(kicked, slope, begin(kicked, slope, begun), 20)
    second = advance(plain, slope, begin(plain, slope, begun), 20)
    assert np.array_equal(first.point, second.point)
    assert not np.asarray(first.kicks).any()


# ---- stochastic descent --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_step_on_a_sample_is_the_exact_step_in_the_mean():
    descent, lanes = StochasticDescent(step=0.5, samples=16), 3000
    state = begin(descent, ENERGY, np.repeat(STARTS[:1], lanes, axis=0))
    once = advance(descent, ENERGY, state)
    slopes = (STARTS[:1] - np.asarray(once.point)) / 0.5
    error = slopes.std(0) / np.sqrt(lanes)
    assert (np.abs(slopes.mean(0) - np.asarray(ENERGY.gradient(STARTS[0]))) < 5 * error).all()
    assert (error > 1e-4).all()
    # The next step sees other inputs: from the same point the two changes are not correlated.
    again = advance(descent, ENERGY, once._replace(point=state.point, taken=state.taken + 1))
    second = (STARTS[:1] - np.asarray(again.point)) / 0.5 * (1 + 1 / descent.decay)
    assert np.abs(second.mean(0) - slopes.mean(0)).max() < 8 * error.max()
    pairs = ((slopes - slopes.mean(0)) * (second - second.mean(0))).mean(0) / slopes.std(0) / second.std(0)
    assert np.abs(pairs).max() < 5 / np.sqrt(lanes)


def test_the_step_of_stochastic_descent_falls():
    descent = StochasticDescent(step=0.5, samples=4, decay=10.0)
    state = begin(descent, ENERGY, STARTS[:1])
    later = state._replace(taken=state.taken * 0 + 30)
    key = jax.random.fold_in(jax.random.wrap_key_data(state.key[0]), 30)
    inputs = np.asarray(jax.random.normal(key, (4, 6)))
    active = (inputs @ STARTS[0].T > 0).astype(float)  # the derivative of ReLU, by hand
    error = np.maximum(inputs @ STARTS[0].T, 0).sum(1) - np.maximum(inputs, 0).sum(1)
    slope = (error[:, None] * active).T @ inputs / 4
    moved = advance(descent, ENERGY, later).point[0]
    np.testing.assert_allclose(moved, STARTS[0] - 0.5 / 4 * slope, atol=1e-14)


@pytest.mark.slow
def test_a_run_that_trembles_is_finished_by_plain_descent():
    lanes = np.array([544, 592])
    minima = run(GradientDescent(), lanes=lanes).weights
    descent = StochasticDescent(step=0.01, samples=16, decay=1e9)
    runs = run(descent, lanes, starts=minima, max_steps=12_000)
    assert runs.steps.tolist() == [12_000, 12_000], "the steps are the optimiser's own"
    assert (np.linalg.norm(runs.last_weights - minima, axis=(1, 2)) > 1e-3).all(), "it trembles"
    assert runs.outcomes == {"SPURIOUS": 2}
    np.testing.assert_allclose(runs.weights, minima, atol=1e-9)
    assert (runs.gradient_norm < 1e-13).all()


def test_stochastic_descent_refuses_a_step_function():
    problem = TwoLayer(np.eye(2), activation="sign")
    with pytest.raises(InputError, match="sign is flat"):
        descend(problem, StochasticDescent(), Stopping(), np.ones((1, 2, 2)), np.arange(1), 8)


# ---- a lane and its company -----------------------------------------------------------------------------------------------


def agree(found, expected):
    """Whether runs have the same fates, and the same end where that was polished."""
    assert np.array_equal(found.outcome, expected.outcome)
    polished = found.outcome == Outcome.SPURIOUS.code
    np.testing.assert_allclose(found.weights[polished], expected.weights[polished], atol=1e-9)


def test_adam_computes_the_same_bits_in_any_order_and_the_same_fates_in_any_company():
    runs, descent = ended("adam:0.01"), optimizer("adam:0.01")
    order = np.array([7, 2, 0, 5, 6, 1, 3, 4])
    assert run(descent, lanes=LANES[order], max_steps=30_000) == runs[order]
    for batch, lanes in ((8, [6, 1]), (3, [6, 7, 0])):
        agree(run(descent, lanes=LANES[lanes], batch=batch, max_steps=30_000), runs[lanes])


@pytest.mark.slow
def test_line_searches_end_alike_in_any_company():
    """Their last bits depend on the place in the block, which the plan fixes; fates and polished ends do not."""
    runs, descent = ended("lbfgs"), optimizer("lbfgs")
    order = np.array([7, 2, 0, 5, 6, 1, 3, 4])
    agree(run(descent, lanes=LANES[order], max_steps=30_000), runs[order])
    agree(run(descent, lanes=LANES[[6, 7, 0]], batch=3, max_steps=30_000), runs[[6, 7, 0]])


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (Flow, {"time": 0.0}, "the time of the flow is 0.0"),
        (Flow, {"tolerance": float("nan")}, "the tolerance of the flow is nan"),
        (NewtonTrustRegion, {"radius": -1.0}, "radii are -1.0"),
        (NewtonTrustRegion, {"radius": 2.0, "max_radius": 1.0}, "radii are 2.0, 1.0"),
        (PerturbedDescent, {"radius": 0.0}, "the radius of perturbed descent is 0.0"),
        (PerturbedDescent, {"wait": 0}, "wait 0"),
        (StochasticDescent, {"samples": 0}, "0 samples"),
        (StochasticDescent, {"decay": -1.0}, "the decay of stochastic descent is -1.0"),
    ],
)
def test_bad_settings_are_refused(kind, settings, message):
    with pytest.raises(InputError, match=message):
        kind(**settings)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Flow(), Flow(tolerance=1e-7)),
        (NewtonTrustRegion(), NewtonTrustRegion(radius=0.2)),
        (PerturbedDescent(), PerturbedDescent(kicks=3)),
        (StochasticDescent(), StochasticDescent(decay=1.0)),
        (ADAM, optimizer("adam:0.02")),
    ],
)
def test_the_record_tells_settings_apart(first, second):
    assert first.to_json() != second.to_json()
    assert first.to_json() == dataclasses.replace(first).to_json()
