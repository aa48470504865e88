import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.potentials.bounded import BOUNDED, UserActivation, bounded_activation

PRECISE = {
    "sigmoid": lambda z: 1 / (1 + mp.exp(-z)),
    "tanh": lambda z: (1 + mp.tanh(z)) / 2,
    "erf": lambda z: (1 + mp.erf(z)) / 2,
}


@pytest.mark.parametrize("name", BOUNDED)
def test_derivatives_against_forty_digits(name):
    points = np.array([-6.3, -1.1, 0.0, 0.4, 2.7])
    found = np.stack(BOUNDED[name].derivatives(points, 4))
    with mp.workdps(40):
        expected = [[float(mp.diff(PRECISE[name], mp.mpf(float(z)), n)) for z in points] for n in range(5)]
    np.testing.assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize("name", BOUNDED)
def test_numpy_and_jax_agree_and_far_values_are_finite(name):
    points = np.array([-1e4, -800.0, -3.0, 0.1, 5.0, 1e4])
    ours, theirs = BOUNDED[name].derivatives(points, 4), BOUNDED[name].derivatives(jnp.asarray(points), 4)
    np.testing.assert_allclose(np.stack(ours), np.stack(theirs), atol=1e-15)
    assert np.isfinite(np.stack(ours)).all()
    assert [len(BOUNDED[name].derivatives(points, order)) for order in range(5)] == [1, 2, 3, 4, 5]


def test_a_function_of_the_users_own(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "import jax.numpy as jnp\ndef soft(z):\n    return 0.5 + jnp.arctan(z) / jnp.pi\n"
    )
    monkeypatch.chdir(tmp_path)
    found = bounded_activation("mine.py:soft").derivatives(np.array([0.0, 1.0]), 2)
    np.testing.assert_allclose(np.stack(found), [[0.5, 0.75], [1 / np.pi, 0.5 / np.pi], [0, -0.5 / np.pi]], atol=1e-15)


@pytest.mark.slow
def test_automatic_derivatives_are_those_of_the_formulas():
    same = UserActivation("s", jax.nn.sigmoid).derivatives(np.linspace(-3, 3, 7), 4)
    np.testing.assert_allclose(
        np.stack(same), np.stack(BOUNDED["sigmoid"].derivatives(np.linspace(-3, 3, 7), 4)), atol=1e-13
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("swish", "choose sigmoid, tanh, erf"),
        ("mine.py:nothing", "no nothing"),
        ("mine.py:wide", r"values -4 to 4"),
        ("mine.py:lost", "failed on an array"),
        ("mine.py:flat", "array of its shape"),
        ("mine.py:number", "not a function"),
    ],
)
def test_what_cannot_be_used_is_said(name, message, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "def wide(z): return z\ndef lost(z): return z if z > 0 else 0\ndef flat(z): return z.sum() * 0\nnumber = 3\n"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        bounded_activation(name)
