"""Every optimiser goes through JSON and is the same afterwards; what cannot be rebuilt says why in one sentence."""

import json
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from earnshaw.descent import (
    Flow,
    GradientDescent,
    HessianDescent,
    NewtonTrustRegion,
    Optax,
    PerturbedDescent,
    ProjectedDescent,
    SecondGD,
    StochasticDescent,
    descent_from_json,
    optimizer,
)
from earnshaw.errors import InputError
from earnshaw.experiments import sweep
from earnshaw.landscapes import landscape
from earnshaw.problems import TwoLayer

ENERGY = landscape(TwoLayer(np.eye(3)))
POINTS = np.random.default_rng(0).normal(size=(2, 3, 3))

FILE = """
from dataclasses import dataclass
from typing import NamedTuple

import optax
import jax

clipped = optax.chain(optax.clip(1.0), optax.adam(0.01))


def made():
    return optax.sgd(0.1)


class State(NamedTuple):
    point: jax.Array


@dataclass(frozen=True)
class Halved:
    step: float = 0.5
    check_every: int = 7

    def init(self, landscape, points, scale, keys):
        return State(points)

    def advance(self, landscape, state):
        return State(state.point - self.step * landscape.gradient(state.point) / 2)

    def evaluations(self, state, steps):
        return steps, 0 * steps

    def to_json(self):
        return {"kind": "gd", "step": self.step}


instance = Halved(step=0.25)
"""


def again(descent, functions=False):
    return descent_from_json(json.loads(json.dumps(descent.to_json())), functions)


def walked(descent, steps=3):
    keys = np.arange(4, dtype=np.uint32).reshape(2, 2)
    state = descent.init(ENERGY, jnp.asarray(POINTS), jnp.ones(2), jnp.asarray(keys))
    advance = jax.jit(descent.advance)
    for _ in range(steps):
        state = advance(ENERGY, state)
    return np.asarray(state.point)


OURS = [
    GradientDescent(step=1 / 3),
    GradientDescent(step=1),
    PerturbedDescent(step=0.07, kicks=3, wait=11),
    StochasticDescent(samples=5, decay=1 / 7),
    NewtonTrustRegion(radius=0.3, max_radius=3.0, check_every=2),
    Flow(time=0.1, tolerance=1e-5),
    HessianDescent(step=0.2, printed=True),
    SecondGD(step=0.03, gradient_threshold=1e-3, curvature_threshold=0.7),
    ProjectedDescent(step=0.01, check_every=9),
]
NAMES = ("gd:0.1", "momentum", "nesterov:0.1:0.5", "adam:0.01", "rmsprop:0.02:0.8", "lbfgs", "lbfgs:0.5:5")


@pytest.mark.parametrize("descent", [*OURS, *map(optimizer, NAMES)], ids=lambda descent: descent.to_json()["kind"])
def test_an_optimiser_goes_through_json_and_equals_itself(descent):
    read = again(descent)
    assert read == descent
    assert hash(read) == hash(descent)
    assert read.to_json() == descent.to_json()


def test_records_have_not_changed():
    """Old folders are known by the hash of these."""
    assert GradientDescent().to_json() == {"kind": "gd", "step": (0.1).hex(), "check_every": 50}
    assert optimizer("adam:0.01").to_json() == {"kind": "optax", "name": "adam:0.01", "check_every": 50}
    assert Flow().to_json() == {
        "kind": "flow",
        "time": "0x1.0000000000000p+0",
        "tolerance": (1e-6).hex(),
        "check_every": 5,
    }
    stochastic = {"kind": "stochastic", "step": (0.1).hex(), "samples": 64, "decay": (2000.0).hex(), "check_every": 50}
    assert StochasticDescent().to_json() == stochastic


def test_a_different_interval_between_looks_is_kept():
    seldom = Optax(name="adam:0.01", transformation=optimizer("adam:0.01").transformation, check_every=7)
    assert again(seldom) == seldom


@pytest.mark.parametrize(
    "name",
    ["borrowed.py:clipped", "borrowed:clipped", "borrowed.py:made", "borrowed.py:Halved", "borrowed.py:instance"],
)
def test_a_users_own_is_rebuilt_from_its_name_and_takes_the_same_steps(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sys.modules.pop("borrowed", None)
    (tmp_path / "borrowed.py").write_text(FILE)
    descent = optimizer(name)
    read = again(descent, functions=True)
    assert read.to_json() == descent.to_json()
    assert read.check_every == descent.check_every
    assert np.array_equal(walked(read), walked(descent))
    with pytest.raises(InputError, match="loading it was not allowed"):
        again(descent)
    record = descent.to_json()
    (tmp_path / "borrowed.py").write_text(FILE.replace("0.01", "0.02"))
    with pytest.raises(InputError, match="it has changed"):
        descent_from_json(record, functions=True)
    (tmp_path / "borrowed.py").unlink()
    sys.modules.pop("borrowed", None)
    with pytest.raises(InputError, match="cannot be loaded"):
        descent_from_json(record, functions=True)


def test_a_users_descent_works_without_what_it_does_not_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FILE)
    descent = optimizer("mine.py:instance")
    assert descent.step_length is None
    assert not descent.leaves_padding_alone
    assert descent.check_every == 7
    assert descent.to_json()["kind"] == "own", "its own record cannot pass for one of ours"
    assert descent.to_json()["settings"] == {"kind": "gd", "step": 0.25}
    expected = POINTS - 0.125 * np.asarray(ENERGY.gradient(POINTS))
    np.testing.assert_allclose(walked(descent, 1), expected, atol=1e-15)


STEADY = """
from typing import NamedTuple
import jax, jax.numpy as jnp
from earnshaw.descent import Evaluations

class State(NamedTuple):
    point: jax.Array
    length: jax.Array
    before: jax.Array  # (lanes, n, d)
    value: jax.Array

class Steady:
    check_every, step_length = 50, 0.1
    def init(self, landscape, points, scale, keys):
        return State(points, 0.1 * scale, points, landscape.value(points))
    def advance(self, landscape, state):
        moved = state.point - state.length[:, None, None] * landscape.gradient(state.point)
        return State(moved, state.length, state.point, landscape.value(state.point))
    def evaluations(self, state, steps):
        return Evaluations(3 * steps, 0 * steps)
    def to_json(self):
        return {"kind": "steady"}
"""


def test_a_users_gradient_descent_takes_its_steps_itself_also_where_kernels_of_ours_could(tmp_path, monkeypatch):
    """Whatever its state is, and whatever it asks of the landscape; what it says of its step is used to decide."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "steady.py").write_text(STEADY)
    problem = TwoLayer(np.eye(3), students=4)
    ours = sweep(problem, runs=8, kernel="xla")
    theirs = sweep(problem, runs=8, optimizer="steady.py:Steady", trace=50)
    assert np.array_equal(theirs.outcome, ours.outcome)
    assert np.array_equal(theirs.steps, ours.steps)
    assert np.array_equal(theirs.gradients, 3 * ours.steps)
    for name in ("native", "pool"):
        with pytest.raises(InputError, match="it is for ReLU"):
            sweep(problem, runs=8, optimizer="steady.py:Steady", kernel=name)


def test_another_process_rebuilds_it_from_the_record_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FILE)
    names = ("adam:0.01", "lbfgs", "mine.py:clipped", "mine.py:Halved", "second-gd:0.1:1e-4:1e-2")
    (tmp_path / "records.json").write_text(json.dumps([optimizer(name).to_json() for name in names]))
    code = (
        "import json; from earnshaw.descent import descent_from_json; records = json.load(open('records.json'));"
        "assert [descent_from_json(r, functions=True).to_json() for r in records] == records"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def test_an_object_that_was_given_as_one_cannot_be_rebuilt():
    class Mine(GradientDescent):
        """A class of the user's own."""

    for given in (optax.adam(0.1), lambda: optax.adam(0.1), Mine()):
        with pytest.raises(InputError, match="was given as an object and cannot be loaded again; write it into a file"):
            again(optimizer(given), functions=True)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({}, "unknown optimiser None"),
        ("gd", "unknown optimiser None"),
        ({"kind": "sgd"}, "unknown optimiser 'sgd'"),
        ({"kind": "gd"}, "needs the keys"),
        ({"kind": "gd", "step": 0.1, "check_every": 50}, "no hexadecimal float"),
        ({"kind": "gd", "step": "0.1x", "check_every": 50}, "no hexadecimal float"),
        ({"kind": "gd", "step": "-0x1p-3", "check_every": 50}, "the step is -0.125"),
        ({"kind": "gd", "step": "0x1p-3", "check_every": 5.5}, "check_every of the optimiser gd is 5.5"),
        ({"kind": "gd", "step": "0x1p-3", "check_every": True}, "check_every of the optimiser gd is True"),
        ({"kind": "gd", "step": "0x1p-3", "check_every": 0}, "check_every is 0"),
        ({"kind": "optax", "name": 3}, "has the name 3"),
        ({"kind": "optax", "name": "evil.py:run", "check_every": 50}, "cannot be loaded again"),
        ({"kind": "own", "name": "evil.py:run", "settings": {}, "digest": "0"}, "was not allowed"),
        ({"kind": "optax", "name": "adam:0.1", "check_every": 50, "more": 1}, "it has changed"),
        ({"kind": "optax", "name": "adam:0.1", "check_every": 50, "digest": "0"}, "cannot be loaded again"),
    ],
)
def test_a_bad_record_is_one_sentence(record, message):
    with pytest.raises(InputError, match=message) as caught:
        descent_from_json(record)
    assert "\n" not in str(caught.value)
