import jax
import jax.numpy as jnp
import numpy as np
import pytest

from earnshaw.landscapes.empirical import EmpiricalRisk
from earnshaw.landscapes.rows import Rows
from earnshaw.landscapes.streamed import StreamedRisk
from earnshaw.numerics.compiling import program


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
