"""Compiled functions: the same numbers, one compilation per shape, timed apart."""

import threading
import time

import jax.numpy as jnp
import numpy as np

from earnshaw.numerics import compilations, compiled


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
