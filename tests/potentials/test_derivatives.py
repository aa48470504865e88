import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.potentials import derivatives
from earnshaw.problems import activation

PRECISE = {
    "sigmoid": lambda z: 1 / (1 + mp.exp(-z)),
    "unit-tanh": lambda z: (1 + mp.tanh(z)) / 2,
    "unit-erf": lambda z: (1 + mp.erf(z)) / 2,
    "tanh": mp.tanh,  # by automatic differentiation, as all others
}


@pytest.mark.parametrize("name", PRECISE)
def test_derivatives_against_forty_digits(name):
    points = np.array([-6.3, -1.1, 0.0, 0.4, 2.7])
    found = np.stack(derivatives(activation(name), points, 4))
    with mp.workdps(40):
        expected = [[float(mp.diff(PRECISE[name], mp.mpf(float(z)), n)) for z in points] for n in range(5)]
    np.testing.assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize("name", PRECISE)
def test_numpy_and_jax_agree_and_far_values_are_finite(name):
    points = np.array([-1e4, -800.0, -3.0, 0.1, 5.0, 1e4])
    ours, theirs = derivatives(activation(name), points, 4), derivatives(activation(name), jnp.asarray(points), 4)
    np.testing.assert_allclose(np.stack(ours), np.stack(theirs), atol=1e-15)
    assert np.isfinite(np.stack(ours)).all()
    assert [len(derivatives(activation(name), points, order)) for order in range(5)] == [1, 2, 3, 4, 5]


def test_a_function_of_the_users_own(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "import jax.numpy as jnp\ndef soft(z):\n    return 0.5 + jnp.arctan(z) / jnp.pi\n"
    )
    monkeypatch.chdir(tmp_path)
    found = derivatives(activation("mine.py:soft"), np.array([0.0, 1.0]), 2)
    np.testing.assert_allclose(np.stack(found), [[0.5, 0.75], [1 / np.pi, 0.5 / np.pi], [0, -0.5 / np.pi]], atol=1e-15)


@pytest.mark.slow
def test_automatic_derivatives_are_those_of_the_formulas():
    same = derivatives(activation(jax.nn.sigmoid), np.linspace(-3, 3, 7), 4)
    np.testing.assert_allclose(
        np.stack(same), np.stack(derivatives(activation("sigmoid"), np.linspace(-3, 3, 7), 4)), atol=1e-13
    )


def test_an_edited_file_is_read_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for factor in (0.25, 0.5):
        (tmp_path / "mine.py").write_text(f"import jax.numpy as jnp\ndef f(z): return 0.5 + {factor} * jnp.sin(z)\n")
        assert derivatives(activation("mine.py:f"), np.zeros(1), 1)[1] == pytest.approx(factor)


def test_what_cannot_be_differentiated_is_said():
    with pytest.raises(InputError, match=r"lambda>' has a derivative that is not finite"):
        derivatives(activation(lambda z: jnp.sqrt(jnp.abs(z)) / 4), np.zeros(2), 1)
    with pytest.raises(InputError, match=r"lambda>' cannot be differentiated \("):
        derivatives(activation(lambda z: np.tanh(np.asarray(z))), np.zeros(2), 1)
