"""The front door: a landscape for every kind of problem, and one sentence for what is no point of it."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.landscapes import ConvNetLandscape, EmpiricalRisk, OnSphere, PairEnergy, TwoLayerLandscape, landscape
from earnshaw.problems import ChargeLaw, Charges, ConvNet, Data, DeepTanh, Logistic, TwoLayer

X = np.random.default_rng(0).normal(size=(12, 3))
PROBLEMS = {
    "two-layer": (TwoLayer(np.eye(2, 3)), TwoLayerLandscape),
    "trained": (TwoLayer(np.eye(2, 3), trainable_output=True), TwoLayerLandscape),
    "conv": (ConvNet([1.0, 2.0], [1.0, 1.0, 0.5]), ConvNetLandscape),
    "charges": (Charges(np.eye(3)), PairEnergy),
    "sphere": (Charges(np.eye(3), law=ChargeLaw("sign")), OnSphere),
    "logistic": (Logistic(np.eye(2, 3), 20), EmpiricalRisk),
    "data": (Data(X, (X[:, 0] > 0).astype(float), 2), EmpiricalRisk),
}
every_kind = pytest.mark.parametrize("kind", PROBLEMS)


@every_kind
def test_every_kind_has_its_landscape(kind):
    problem, expected = PROBLEMS[kind]
    energy = landscape(problem)
    assert type(energy) is expected
    assert energy.shape == problem.shape
    point = np.random.default_rng(1).normal(size=(2, *problem.shape))
    assert energy.point(point).shape == point.shape
    values = energy.value(point)
    assert values.shape == (2,)
    assert float(energy.value(point[0].tolist())) == pytest.approx(float(values[0]), rel=1e-12)
    assert energy.neurons(point).shape[:-1] in (point.shape[:-1], point.shape[:2])
    assert energy.spectrum(point).shape == (2, point[0].size)


@every_kind
def test_what_is_no_point_is_said_in_one_sentence(kind):
    problem, _ = PROBLEMS[kind]
    energy = landscape(problem)
    wide = np.ones((*problem.shape[:-1], problem.shape[-1] + 1))
    for method in (energy.value, energy.gradient, energy.hessian, energy.spectrum, jax.grad(energy.value)):
        for wrong in (wide, wide.tolist(), jnp.asarray(wide), np.float64(1.0)):
            if method not in (energy.value, energy.gradient) and isinstance(wrong, list | float):
                continue
            with pytest.raises(
                InputError, match=rf"the point has shape .*this problem needs \(\.\.\., .*{problem.shape[-1]}"
            ):
                method(wrong)
    with pytest.raises(InputError, match="no array of real numbers"):
        energy.value([["a"]])
    with pytest.raises(InputError, match="no array of real numbers"):
        energy.value([[1.0], [1.0, 2.0]])
    with pytest.raises(InputError, match="NaN"):
        energy.point(np.full(problem.shape, np.nan))
    with pytest.raises(InputError, match="shape"):
        energy.point(wide)


def test_what_has_no_landscape_is_said_in_one_sentence():
    with pytest.raises(InputError, match=r"a landscape of ndarray was asked for; give a problem, for example TwoLayer"):
        landscape(np.eye(3))
    with pytest.raises(InputError, match=r"network deep-tanh draws its teachers .* TwoLayer, ConvNet, Charges"):
        landscape(DeepTanh(2, 3))


def test_drawn_data_are_those_of_the_seed():
    problem = Logistic(np.eye(2, 3), 20, seed=4)
    assert np.array_equal(landscape(problem).x, landscape(problem).x)
    assert not np.array_equal(landscape(problem).x, landscape(replace(problem, seed=5)).x)
