"""Names of activations, functions of a user's own, and the sentences that refuse them."""

import pickle
import textwrap

import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.problems import Data, Logistic, TwoLayer, activation, problem_from_json, unit_activation


def swish(x):
    return x / (1 + jnp.exp(-x))


@pytest.mark.parametrize(
    ("given", "name", "parameter", "homogeneous", "odd", "vanishes"),
    [
        ("relu", "relu", None, 1, False, True),
        ("leaky:.10", "leaky:0.1", 0.1, 1, False, True),
        ("leaky:1", "leaky:1.0", 1.0, 1, True, True),
        ("sign", "sign", None, 0, True, False),
        ("erf", "erf", None, None, True, True),
        ("hermite:1", "hermite:1", 1, 1, True, True),
        ("hermite:2", "hermite:2", 2, None, False, False),
        ("hermite:03", "hermite:3", 3, None, True, True),
        ("sigmoid", "sigmoid", None, None, False, False),
        ("tanh", "tanh", None, None, True, True),
        ("softplus", "softplus", None, None, False, False),
        ("gelu", "gelu", None, None, False, True),
        ("unit-tanh", "unit-tanh", None, None, False, False),
        ("unit-erf", "unit-erf", None, None, False, False),
        ("jax.numpy:tanh", "jax.numpy:tanh", None, None, True, True),
        ("jax.nn:relu", "jax.nn:relu", None, 1, False, True),
        ("jax.numpy:sign", "jax.numpy:sign", None, 0, True, False),
        ("jax.numpy:square", "jax.numpy:square", None, 2, False, True),
        ("jax.numpy:cos", "jax.numpy:cos", None, None, False, False),
    ],
)
def test_names_and_facts(given, name, parameter, homogeneous, odd, vanishes):
    found = activation(given)
    assert (found.name, str(found), found.parameter) == (name, name, parameter)
    assert (found.homogeneous, found.odd, found.vanishes_at_zero) == (homogeneous, odd, vanishes)
    assert (found.digest is None) == (":" not in given or given.startswith(("leaky", "hermite")))
    assert activation(found) is found


FILE = """
import jax.numpy as jnp
number = 3.0
def fine(x): return jnp.sin(x) + number * x
def branches(x): return x if x > 0 else 0.0
def total(x): return jnp.sum(x)
def softmax(x): return jnp.exp(x) / jnp.sum(jnp.exp(x))
def root(x): return jnp.sqrt(x)
def pole(x): return 1 / jnp.maximum(x, 0)
def imaginary(x): return x + 1j
def words(x): return ["no"] * len(x)
def two(x, y): return x + y
def single(x): return x.astype(jnp.float32)
def nothing(x): return 0 * x
def none(x): return None
"""


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("sine", r"unknown activation 'sine'; choose one of relu, leaky:SLOPE"),
        ("leaky", r"'leaky' has no usable slope; write for example leaky:0.1"),
        ("leaky:x", r"no usable slope"),
        ("leaky:nan", r"no usable slope"),
        ("hermite:0", r"no usable degree; write hermite:1 to"),
        ("hermite:2.5", r"no usable degree"),
        ("relu:3", r"unknown activation 'relu:3'"),
        ("missing.py:f", r"'missing.py:f' cannot be loaded: there is no file missing.py"),
        ("no_such_module:f", r"importing no_such_module raised ModuleNotFoundError"),
        ("my.py:absent", r"'my.py:absent' cannot be loaded: my.py has no absent"),
        ("broken.py:f", r"importing broken.py raised ZeroDivisionError"),
        ("my.py:number", r"'my.py:number' is 3.0, not a function"),
        ("my.py:branches", r"'my.py:branches' fails \(.*jnp.where in place of if"),
        ("my.py:total", r"returns shape \(\) for an array of shape \(97,\)"),
        ("my.py:softmax", r"does not act on each number by itself"),
        ("my.py:root", r"'my.py:root' is nan at x = -11.98"),
        ("numpy:sqrt", r"'numpy:sqrt' is nan at x = -11.98"),
        ("my.py:pole", r"is inf at x = "),
        ("my.py:imaginary", r"numbers of type complex128"),
        ("my.py:words", r"numbers of type <U2"),
        ("my.py:two", r"fails \(TypeError"),
        ("my.py:single", r"numbers of type float32; real numbers in double precision"),
        ("my.py:nothing", r"is 0 everywhere"),
        ("my.py:none", r"returns shape \(\)"),
        (3.5, r"the activation is 3.5; give a name"),
        (None, r"the activation is None"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_sentence(given, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.py").write_text(FILE)
    (tmp_path / "broken.py").write_text("1 / 0\n")
    with pytest.raises(InputError, match=message) as caught:
        TwoLayer(np.eye(2), activation=given)
    assert "\n" not in str(caught.value)


def test_a_function_from_a_file_and_by_name_and_as_an_object(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(FILE)
    for given in ("own.py:fine", "own:fine"):
        found = activation(given)
        assert found(np.array([0.5]))[0] == pytest.approx(np.sin(0.5) + 1.5, rel=1e-15)
        assert (found.name, found.odd) == (given, True)
    direct = activation(swish)
    assert direct.name.endswith(":swish")
    assert direct(np.array([2.0]))[0] == pytest.approx(2 / (1 + np.exp(-2)), rel=1e-15)


def test_the_digest_changes_with_the_function_and_only_then(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "own.py"

    def digest(text):
        file.write_text(textwrap.dedent(text))
        return activation("own.py:f").digest

    plain = digest("import jax.numpy as jnp\ndef f(x): return jnp.sin(x)\n")
    assert digest("import jax.numpy as jnp\n\n# a remark elsewhere\ndef f(x): return jnp.sin(x)\n") == plain
    assert digest("import jax.numpy as jnp\ndef f(x): return jnp.sin(1.001 * x)\n") != plain
    helper = "import jax.numpy as jnp\na = {}\ndef f(x): return jnp.sin(a * x)\n"
    assert digest(helper.format(1.0)) != digest(helper.format(1.001))  # the same source, another constant
    functions = [activation(lambda x, a=a: jnp.sin(a * x)) for a in (1.0, 2.0)]
    assert functions[0].digest != functions[1].digest


def test_json_carries_the_name_and_the_digest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(FILE)
    problem = TwoLayer(np.eye(2), activation="own.py:fine", trainable_output=True)
    record = problem.to_json()
    assert record["objective"] == "two-layer/own.py:fine"
    assert record["trainable_output"] is True
    assert problem_from_json(record, functions=True) == problem
    with pytest.raises(InputError, match="loading it was not allowed"):
        problem_from_json(record)
    with pytest.raises(InputError, match="digest is missing"):
        problem_from_json({key: value for key, value in record.items() if key != "activation_digest"}, functions=True)
    (tmp_path / "own.py").write_text(FILE.replace("3.0", "3.5"))
    with pytest.raises(InputError, match="it has changed"):
        problem_from_json(record, functions=True)


@pytest.mark.parametrize("name", ["leaky:0.1", "hermite:3", "tanh", "unit-erf"])
def test_json_of_named_activations(name):
    problem = TwoLayer(np.eye(2), activation=name)
    assert problem.to_json()["objective"] == f"two-layer/{name}"
    assert problem_from_json(problem.to_json()) == problem
    assert problem != TwoLayer(np.eye(2))
    assert pickle.loads(pickle.dumps(problem)) == problem


def test_relu_records_are_what_they_always_were():
    """Certificates hold them byte by byte."""
    record = TwoLayer([[1.0, 0.0], [0.5, 2.0]]).to_json()
    assert record == {
        "n": 2,
        "k": 2,
        "d": 2,
        "target": [["0x1.0000000000000p+0", "0x0.0p+0"], ["0x1.0000000000000p-1", "0x1.0000000000000p+1"]],
        "objective": "two-layer/relu",
    }
    assert list(record) == ["n", "k", "d", "target", "objective"]


def test_what_is_realisable_depends_on_the_activation():
    def realisable(sigma, teacher, student, **more):
        return TwoLayer(
            np.eye(len(teacher)), len(student), sigma, output_weights=teacher, student_output_weights=student, **more
        ).is_realisable

    assert realisable("relu", [1, 2], [3, 3])
    assert realisable("leaky:0.1", [1, 2], [3, 3, 3])
    assert not realisable("leaky:0.1", [1, -2], [3, 3])
    assert realisable("hermite:1", [1, -2], [3, 3])  # linear: odd and homogeneous
    for sigma in ("erf", "tanh", "hermite:3"):
        assert realisable(sigma, [1, -2], [2, 1])
        assert realisable(sigma, [1, -2], [-2, -1, 5])  # odd, and the spare one can vanish
        assert not realisable(sigma, [1, -2], [1, 3])
        assert not realisable(sigma, [1, 1], [1, 2])
    assert realisable("gelu", [1, -2], [-2, 1, 5])
    assert not realisable("gelu", [1, -2], [2, 1])
    assert realisable("sigmoid", [1, -2], [-2, 1])
    assert not realisable("sigmoid", [1, -2], [-2, 1, 5])  # the spare one is at least a constant
    assert realisable("sign", [1, -2], [2, 1])
    assert not realisable("sign", [1], [1, 1])
    for sigma in ("sigmoid", "relu", "sign"):
        assert TwoLayer(np.eye(3), activation=sigma, output_weights=[1, -2, 3], trainable_output=True).is_realisable
        assert not TwoLayer(np.eye(3), 2, sigma, trainable_output=True).is_realisable


def test_output_weights_cannot_be_both_fixed_and_trained():
    with pytest.raises(InputError, match="give one of the two"):
        TwoLayer(np.eye(2), student_output_weights=[1, 2], trainable_output=True)


@pytest.mark.parametrize(
    ("sigma", "expected"),
    [("erf", 4 / np.pi * np.arcsin(2 * 9 / 19)), ("sign", 2.0), ("hermite:2", 2 * (9**2 + 8**2 / 2)), ("relu", 9.0)],
)
def test_the_scale_is_twice_the_second_moment(sigma, expected):
    """E[He_2(3 z)^2] / 2 = (3^4 3 - 2 3^2 + 1) / 2 is the third."""
    problem = TwoLayer([[0.0, 3.0]], activation=sigma)
    assert problem.scale == pytest.approx(expected, rel=1e-3)
    assert TwoLayer([[0.0, 3.0]], activation=sigma, output_weights=[-2.0]).scale == pytest.approx(4 * problem.scale)


def test_only_the_papers_problem_is_orthonormal():
    assert TwoLayer(np.eye(3)).is_orthonormal
    assert not TwoLayer(np.eye(3), activation="erf").is_orthonormal
    assert not TwoLayer(np.eye(3), trainable_output=True).is_orthonormal


@pytest.mark.parametrize("name", ["sigmoid", "unit-tanh", "unit-erf"])
def test_a_name_means_one_function_in_every_problem(name):
    sigma = activation(name)
    assert unit_activation(name) is sigma
    for problem in (TwoLayer(np.eye(2), activation=name), Logistic(np.eye(2), 9, activation=name), data(name)):
        assert problem.activation is sigma
        assert problem_from_json(problem.to_json()) == problem


def data(sigma):
    return Data(np.random.default_rng(0).normal(size=(6, 2)), np.linspace(0, 1, 6), 2, sigma)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("tanh", r"the activation tanh has values -1 to 1; the model needs \[0, 1\]: use unit-tanh$"),
        ("erf", r"use unit-erf$"),
        ("relu", r"has values 0 to inf; the model needs \[0, 1\]: use sigmoid, unit-tanh, unit-erf, or a function"),
        ("swish", r"unknown activation 'swish'; choose one of relu"),
        ("my.py:fine", r"my.py:fine has values -3\d"),
        ("my.py:number", r"not a function"),
        ("my.py:total", r"returns shape"),
    ],
)
def test_probabilities_need_values_between_0_and_1(given, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.py").write_text(FILE)
    for make in (lambda: Logistic(np.eye(2), 9, activation=given), lambda: data(given)):
        with pytest.raises(InputError, match=message):
            make()


def test_json_of_data_carries_the_digest_of_a_users_function(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "import jax.numpy as jnp\ndef soft(x): return 0.5 + {} * jnp.arctan(x) / jnp.pi\n"
    (tmp_path / "own.py").write_text(text.format(1.0))
    problems = [Logistic(np.eye(2), 9, activation="own.py:soft"), data("own.py:soft")]
    for problem in problems:
        assert problem_from_json(problem.to_json(), functions=True) == problem
        with pytest.raises(InputError, match="loading it was not allowed"):
            problem_from_json(problem.to_json())
    (tmp_path / "own.py").write_text(text.format(0.9))
    for problem in problems:
        with pytest.raises(InputError, match="it has changed"):
            problem_from_json(problem.to_json(), functions=True)


USERS = """
import sys
import jax.numpy as jnp
def leaves(x): sys.exit(0)
def prints(x):
    print("said")
    return jnp.tanh(x)
class Odd:
    def __call__(self, x): return jnp.tanh(x)
    def __getattr__(self, name): raise RuntimeError("no " + name)
odd = Odd()
class Holder:
    @property
    def inner(self): raise RuntimeError("not here")
holder = Holder()
"""


def test_a_users_function_is_contained(tmp_path, monkeypatch, capsys):
    """It may exit, print or raise anywhere: one sentence with its name, and nothing on standard output."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "users.py").write_text(USERS)
    (tmp_path / "gone.py").write_text("print('said')\nimport sys\nsys.exit(3)\n")
    with pytest.raises(InputError, match=r"'users.py:leaves' fails .*sys\.exit\(0\)"):
        activation("users.py:leaves")
    with pytest.raises(InputError, match=r"'gone.py:f' cannot be loaded: .*sys\.exit\(3\)"):
        activation("gone.py:f")
    with pytest.raises(InputError, match=r"'users.py:holder.inner' cannot be loaded: .*not here"):
        activation("users.py:holder.inner")
    odd = activation("users.py:odd")
    assert odd.digest is not None
    with pytest.raises(InputError, match=r"type Odd, raises RuntimeError: no __qualname__"):
        activation(odd.function.function)
    first, second = activation("users.py:prints"), activation("users.py:prints")
    assert first.function == second.function, "so that programs are compiled once"
    assert np.allclose(first(np.array([0.5])), np.tanh(0.5))
    out, err = capsys.readouterr()
    assert out == ""
    assert "said" in err
