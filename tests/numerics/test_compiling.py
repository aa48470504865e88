"""Compiled functions: the same numbers, one compilation per shape, timed apart; and programs inside programs."""

import threading
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.landscapes.empirical import EmpiricalRisk, StreamedRisk
from earnshaw.landscapes.rows import Rows
from earnshaw.numerics import compilations, compiled, compiling
from earnshaw.numerics.compiling import program


def test_a_compiled_function_is_traced_once_per_shape_and_timed():
    traced = []

    @compiled
    def double(x):
        traced.append(x.shape)
        return 2 * x

    before, started = len(compilations()), time.perf_counter()
    assert double(jnp.arange(3.0)).tolist() == [0, 2, 4]
    ((begin, end),) = compilations()[before:]
    assert started <= begin < end <= time.perf_counter()
    assert double(jnp.ones(3)).tolist() == [2, 2, 2]
    assert len(compilations()) == before + 1, "the second call reuses the program"
    assert double(jnp.ones(4)).shape == (4,)
    assert traced == [(3,), (4,)]
    assert len(compilations()) == before + 2
    assert compilations()[-1][0] >= end
    assert double.__name__ == "double"


def test_an_option_that_this_xla_does_not_know_is_left_out_and_the_others_stay(monkeypatch):
    known = compiling._known
    assert not known("xla_cpu_nonsense", 1)
    monkeypatch.setattr(compiling, "_cpu", lambda: "flags : fpu avx2 avx512f")
    monkeypatch.setattr(compiling, "_known", lambda name, value: "vector" not in name and known(name, value))
    options = compiling._options.__wrapped__
    assert options("cpu", True) == options("cpu") != {}
    monkeypatch.setattr(compiling, "_known", known)
    assert options("cpu", True) == {**options("cpu"), "xla_cpu_prefer_vector_width": 512}
    monkeypatch.setattr(compiling, "_cpu", lambda: "flags : fpu avx2")
    assert options("cpu", True) == options("cpu")
    assert options("gpu", True) == {}


def test_two_threads_do_not_compile_the_same_program_twice():
    traced = []

    @compiled
    def triple(x):
        traced.append(x.shape)
        return 3 * x

    results, spans, here = [], [], len(compilations())

    def work():
        results.append(triple(jnp.ones(5)))
        spans.append(compilations())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(traced) == 1
    assert all(len(own) <= 1 for own in spans), "each thread knows its own"
    assert any(spans)
    assert len(compilations()) == here
    assert np.array_equal(np.array(results), np.full((4, 5), 3.0))


def test_float64_is_on():
    assert jnp.ones(1).dtype == np.float64


def test_it_is_compiled_when_called_and_traced_when_traced():
    traced = []

    @program
    def square(x):
        traced.append(isinstance(x, jax.core.Tracer))
        return x * x

    assert float(square(np.array(3.0))) == 9
    assert float(square(np.array(4.0))) == 16
    assert len(traced) == 1, "the second call reuses the program"
    assert float(jax.grad(square)(3.0)) == 6
    assert float(jax.jit(lambda x: square(x) + 1)(3.0)) == 10
    np.testing.assert_allclose(jax.vmap(square)(jnp.arange(3.0)), [0, 1, 4])
    assert all(traced)


@pytest.mark.parametrize("columns", [4, 5, 7])
@pytest.mark.parametrize("samples", [16_384, 16_385, 20_000])
def test_shapes_that_default_options_compute_wrongly(columns, samples):
    generator = np.random.default_rng(0)
    rows = Rows(generator.normal(size=(samples, columns)), generator.random(samples))
    weights = generator.normal(size=(2, columns))
    value, gradient = StreamedRisk(rows, 2).value_and_gradient(weights)
    risk = EmpiricalRisk.of(rows, 2)
    assert float(risk.value(weights)) == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(risk.gradient(weights), gradient, atol=1e-15)
