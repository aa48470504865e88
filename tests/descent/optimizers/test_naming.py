"""Optimisers by name, from files and as objects; what cannot be used is said in one sentence."""

import dataclasses
import subprocess
import sys

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
    optimizer,
)
from earnshaw.errors import InputError

FILE = """
import optax

clipped = optax.chain(optax.clip(1.0), optax.adam(0.01))
number = 3


def made():
    return optax.sgd(0.1)


def wants_more(step):
    return optax.sgd(step)


def broken():
    raise RuntimeError("no licence\\nsecond line")
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gd", GradientDescent(step=0.1)),
        ("gd:0.03", GradientDescent(step=0.03)),
        ("newton-tr", NewtonTrustRegion()),
        ("newton-tr:2", NewtonTrustRegion(radius=2.0, max_radius=2.0)),
        ("perturbed-gd", PerturbedDescent()),
        ("perturbed-gd:0.05:0.2", PerturbedDescent(step=0.05, radius=0.2)),
        ("flow", Flow()),
        ("flow:0.5:1e-8", Flow(time=0.5, tolerance=1e-8)),
        ("stochastic:0.2:16", StochasticDescent(step=0.2, samples=16)),
        ("hessian-descent:0.2", HessianDescent(step=0.2)),
        ("second-gd", SecondGD()),
        ("second-gd:0.2:1e-4:1e-2", SecondGD(step=0.2, gradient_threshold=1e-4, curvature_threshold=1e-2)),
        ("projected:0.02", ProjectedDescent(step=0.02)),
    ],
)
def test_our_own_by_name(name, expected):
    assert optimizer(name) == expected


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("momentum", "momentum:0.05:0.9"),
        ("momentum:0.1", "momentum:0.1:0.9"),
        ("nesterov:0.1:0.5", "nesterov:0.1:0.5"),
        ("adam:0.01", "adam:0.01"),
        ("adam:0.01:0.8", "adam:0.01:0.8"),
        ("rmsprop:0.01", "rmsprop:0.01"),
        ("sgd:0.1", "sgd:0.1"),
        ("lbfgs:0.5:5", "lbfgs:0.5:5"),
    ],
)
def test_those_of_optax_by_name(name, record):
    made = optimizer(name)
    assert isinstance(made, Optax)
    assert made.to_json()["name"] == made.name == record
    assert "digest" not in made.to_json()
    assert optimizer(name) == made, "the same name is the same object, so that nothing is compiled twice"


def test_the_numbers_of_a_name_are_the_arguments_of_optax():
    slope, point = jnp.array([[1.0, -2.0]]), jnp.array([[0.5, 0.5]])
    for name, direct in (("adam:0.02:0.5", optax.adam(0.02, 0.5)), ("nesterov:0.1:0.3", optax.sgd(0.1, 0.3, True))):
        made = optimizer(name).transformation  # type: ignore[attr-defined]
        states = [t.init(point) for t in (made, direct)]
        for _ in range(3):
            (first, states[0]), (second, states[1]) = (
                t.update(slope, state, point) for t, state in zip((made, direct), states, strict=True)
            )
        np.testing.assert_allclose(first, second)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "unknown optimiser ''; choose gd:STEP"),
        ("nosuch", "unknown optimiser 'nosuch'; choose gd:STEP"),
        ("gd:", "'gd:' needs numbers"),
        ("gd:fast", "'gd:fast' needs numbers"),
        ("gd:0.1:0.2", "2 numbers after its name; at most 1"),
        ("gd:-0.1", "the step is -0.1"),
        ("momentum:0.1:0.9:1", "3 numbers after its name; at most 2"),
        ("momentum:nan", "is nan; it must be a positive number"),
        ("momentum:0.1:1", "the fraction 1.0"),
        ("adam", "missing 1 required"),
        ("adam:0", "is 0.0; it must be a positive number"),
        ("adam:inf", "is inf; it must be a positive number"),
        ("adam:0.1:x", "needs numbers"),
        ("adam:0.1:0.9:0.9:1e-8:0:0:0:0:0", "at most 8"),
        ("cosine_decay_schedule:0.1:10", "give an optax GradientTransformation"),
        ("l2_loss", "optax.l2_loss cannot be made"),
        ("stochastic:0.1:2.5", "2.5 samples"),
        ("stochastic:0.1:nan", "nan samples"),
        ("stochastic:0.1:0", "0 samples"),
        ("flow:-1", "the time of the flow is -1.0"),
        ("second-gd:0.1:0", "the gradient_threshold of Algorithm 2 is 0.0"),
        ("hessian-descent:-1", "the step of Hessian descent is -1.0"),
        ("projected:inf", "the step of projected descent is inf"),
        ("newton-tr:nan", "radii are nan"),
        ("nosuch:thing", "No module named 'nosuch'"),
        ("nosuch.py:thing", "there is no file nosuch.py"),
        (":", "names no function"),
    ],
)
def test_a_bad_name_is_one_sentence(name, message):
    with pytest.raises(InputError) as caught:
        optimizer(name)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


# ---- a user's own ---------------------------------------------------------------------------------------------------


def test_from_a_file_and_from_a_module(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    for name in ("mine.py:clipped", "mine:clipped", "mine.py:made"):
        made = optimizer(name)
        assert isinstance(made, Optax)
        assert made.name == name
    for name, message in (
        ("mine.py:missing", "mine.py has no missing"),
        ("mine.py:number", "is 3; give an optax"),
        ("mine.py:wants_more", "missing 1 required positional argument: 'step'"),
        ("mine.py:broken", "RuntimeError: no licence"),
    ):
        with pytest.raises(InputError) as caught:
            optimizer(name)
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_changed_file_is_another_optimiser_and_another_process_sees_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "theirs.py").write_text(FILE)
    first = optimizer("theirs.py:clipped").to_json()
    module = optimizer("theirs:clipped").to_json()
    code = "from earnshaw.descent import optimizer; print(*(optimizer(n).to_json()['digest'] for n in ('theirs.py:clipped', 'theirs:clipped')))"
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert seen.stdout.split() == [first["digest"], module["digest"]]
    (tmp_path / "theirs.py").write_text(FILE.replace("0.01", "0.02"))
    assert optimizer("theirs.py:clipped").to_json()["digest"] != first["digest"]


class Base:
    """A user's optimiser in the form of optax, and the mistakes one makes with it."""

    def init(self, params):
        return jnp.zeros_like(params)

    def update(self, updates, state, params=None):
        return -0.1 * updates, state


class Raises(Base):
    def update(self, updates, state, params=None):
        raise RuntimeError("first line\nsecond line")


class WrongShape(Base):
    def update(self, updates, state, params=None):
        return updates.sum(0), state


class NotANumber(Base):
    def update(self, updates, state, params=None):
        return updates * jnp.nan, state


class Branches(Base):
    def update(self, updates, state, params=None):
        return (-updates, state) if updates.sum() > 0 else (updates, state)


class Grows(Base):
    def update(self, updates, state, params=None):
        return -updates, jnp.concatenate([state, state])


class NoPair(Base):
    def update(self, updates, state, params=None):
        return -updates


@dataclasses.dataclass
class NoHash(Base):
    step: float = 0.1


class NoUpdate:
    def init(self, params):
        return None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Raises(), "'Raises' fails (RuntimeError: first line)"),
        (WrongShape(), "a gradient of shape (2, 3) into an update of shape (3,)"),
        (NotANumber(), "an update with NaN or infinity"),
        (Branches(), "be written with jax.numpy"),
        (Grows(), "a state of the form it got"),
        (NoPair(), "'NoPair'"),
        (NoHash(), "cannot be hashed"),
        (NoUpdate(), "with init and update"),
        (lambda: 1 / 0, "calling it raised ZeroDivisionError"),
        (3, "'int' is 3"),
        (None, "'NoneType' is None"),
    ],
)
def test_an_object_that_cannot_work_is_one_sentence(given, message):
    with pytest.raises(InputError) as caught:
        optimizer(given)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_objects_that_work():
    assert isinstance(optimizer(Base()), Optax)
    assert isinstance(optimizer(Base), Optax), "a class is called"
    assert isinstance(optimizer(lambda: optax.adam(0.1)), Optax)
    descent = GradientDescent(step=0.2)
    assert optimizer(descent) is descent
    first, second = optimizer(optax.adam(0.1)), optimizer(optax.adam(0.2))
    assert first.to_json() != second.to_json(), "no folder is resumed with another optimiser"


def test_a_descent_of_ones_own_must_say_when_it_is_looked_at():
    class Mine:
        def init(self, landscape, points, scale, keys): ...
        def advance(self, landscape, state): ...
        def evaluations(self, state, steps): ...
        def to_json(self): ...

    with pytest.raises(InputError, match="check_every None"):
        optimizer(Mine())
