"""Patterns against the landscape itself: values, gradients, and the spectrum with its multiplicities."""

import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.landscapes import landscape
from earnshaw.problems import TwoLayer
from earnshaw.symmetry import Pattern

II = np.array(
    [0.98670382, -0.0504134, 0.30801099, 0.22451581, -0.60151192]
)  # Example 1 of Safran & Shamir (2018), k = 6


def full(pattern):
    taught = sum(size for size, known in zip(pattern.sizes, pattern.taught, strict=True) if known)
    return landscape(TwoLayer(np.eye(taught, pattern.dimension), students=pattern.neurons))


def odd(k, more=0):
    """One family, one odd coordinate, one odd neuron (or more): type S_{k-1}."""
    return Pattern.of((k - 1, 1), (0, *[None] * (1 + more)))


PATTERNS = {
    "n = k": odd(6),
    "n = k + 1, another dimension": Pattern.of((4, 2, 1), (0, 1, None, None), untaught=1),
}
MORE = {
    **{f"S_{k}": Pattern.of((k,), (0,)) for k in (6, 20)},
    **{f"k = {k}, n = {k + more}": odd(k, more) for k in (7, 10, 13, 20) for more in (0, 1)},
    "twins": Pattern.of((3, 3), (0, 0, 1, None)),
    "pairs": Pattern.of((2, 2, 2), (0, 1, 2), untaught=1),
    "three groups": Pattern.of((7, 4, 3), (0, 1, 2, None)),
    "a group without neurons": Pattern.of((4, 2, 1), (0, None)),
}
NIGHTLY = [
    pytest.param(pattern, id=name, marks=[pytest.mark.slow, pytest.mark.nightly]) for name, pattern in MORE.items()
]


@pytest.mark.parametrize("pattern", [*(pytest.param(p, id=name) for name, p in PATTERNS.items()), *NIGHTLY])
def test_value_gradient_and_spectrum_at_points_that_are_not_critical(pattern):
    numbers = np.random.default_rng(pattern.dimension).normal(size=len(pattern.entries))
    weights, energy = pattern.weights(numbers), full(pattern)
    np.testing.assert_allclose(pattern.numbers(weights), numbers, rtol=1e-13)
    assert pattern.value(numbers) == pytest.approx(float(energy.value(weights)), rel=1e-13)
    gradient = np.asarray(energy.gradient(weights))
    np.testing.assert_allclose(
        pattern.gradient(numbers), pattern.counts * pattern.numbers(gradient), rtol=1e-11, atol=1e-11
    )
    kinds = np.array([pattern.weights(kind).ravel() for kind in np.eye(len(numbers))])
    full_hessian = np.asarray(energy.hessian(weights)).reshape(weights.size, weights.size)
    np.testing.assert_allclose(pattern.hessian(numbers), kinds @ full_hessian @ kinds.T, rtol=1e-11, atol=1e-11)
    values, times = pattern.spectrum(numbers)
    spectrum = np.linalg.eigvalsh(full_hessian)
    assert times.sum() == spectrum.size
    np.testing.assert_allclose(np.repeat(values, times), spectrum, atol=1e-13 * np.abs(spectrum).max())


def test_a_known_minimum_and_its_blocks():
    pattern = odd(6)
    numbers = pattern.settle(II + 1e-3)
    np.testing.assert_allclose(numbers, II, atol=1e-8)
    assert pattern.value(numbers) == pytest.approx(0.025080581, abs=1e-9)
    blocks = {block.name: (block.multiplicity, len(block.matrix)) for block in pattern.blocks(numbers)}
    assert blocks == {
        "trivial": (1, 5),
        "standard of group 0": (4, 5),
        "(q-2, 1, 1) of group 0": (6, 1),
        "(q-2, 2) of group 0": (5, 1),
    }
    assert pattern.spectrum(numbers)[0][0] == pytest.approx(0.0047003547, abs=1e-9)


def test_the_same_family_for_a_thousand_neurons():
    """Its loss falls like (1/2 - 2/pi^2)/k, and its least curvature tends to 1/4 - 1/(2 pi); one program serves every k."""
    numbers, last = II, 6
    for k in (10, 30, 100, 300, 1000):
        a, b, c, d, e = numbers
        r, last = last / k, k
        guess = np.array([1 + (a - 1) * r**2, b * r**2, c * r, d * r, -1 + (e + 1) * r])
        numbers = odd(k).settle(guess)
    values, times = odd(1000).spectrum(numbers)
    assert times.sum() == 1000**2
    assert 1000 * odd(1000).value(numbers) == pytest.approx(0.5 - 2 / np.pi**2, abs=0.006)
    assert values[0] == pytest.approx(0.25 - 0.5 / np.pi, abs=0.004)


def test_names_and_mistakes():
    assert odd(20).name == "S_19"
    assert Pattern.of((17, 2, 1), (0, 1, None)).name == "S_17 x S_2"
    assert Pattern.of((1, 1), (0, 1)).name == "trivial"
    for sizes, rows in (((), (None,)), ((3, 0), (0,)), ((3,), ()), ((3,), (1,))):
        with pytest.raises(InputError, match="are no pattern"):
            Pattern.of(sizes, rows)
    with pytest.raises(InputError, match="no critical point of type S_5 there"):
        odd(6).settle(np.full(5, np.nan))
