"""Every potential against an integral of its activation, and its derivatives against differences at many digits."""

import functools

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss

from earnshaw.potentials import gradient_at, potential, value_at
from earnshaw.potentials.logistic import ERROR, SCALES, WEIGHTS
from earnshaw.problems import activation

D = 3
CLOSED = ("leaky:0.1", "leaky:-0.5", "sign", "erf", "hermite:1", "hermite:2", "hermite:5", "gelu", "unit-erf")
MIXTURES = ("sigmoid", "tanh", "softplus", "unit-tanh")
EVERY = (*CLOSED, *MIXTURES)
NORMS = (1e-3, 0.05, 1.0, 2.5, 30.0, 1e3)


def pairs():
    """Named pairs (r, s, cosine, sine): random, and near every degenerate angle; norms from 1e-3 to 1e3."""
    rng = np.random.default_rng(0)
    for index in range(12):
        angle = rng.uniform(0.05, np.pi - 0.05)
        yield f"random{index}", *10 ** rng.uniform(-3, 3, 2), np.cos(angle), np.sin(angle)
    for r, s in ((1e-3, 1e3), (1e3, 1e3), (1e-3, 1e-3), (1.0, 2.5), (30.0, 0.05)):
        yield f"parallel{r:g}-{s:g}", r, s, 1.0, 0.0
        yield f"antiparallel{r:g}-{s:g}", r, s, -1.0, 0.0
        yield f"orthogonal{r:g}-{s:g}", r, s, 0.0, 1.0
        for angle in (1e-3, 1e-6):
            yield f"near-parallel{angle:g}-{r:g}-{s:g}", r, s, np.cos(angle), np.sin(angle)
            yield f"near-antiparallel{angle:g}-{r:g}-{s:g}", r, s, -np.cos(angle), np.sin(angle)
    yield "near-orthogonal", 0.7, 1.3, 1e-9, 1.0


PAIRS = {name: numbers for name, *numbers in pairs()}
FIRST = np.array([[r, 0.0, 0.0] for r, *_ in PAIRS.values()]) @ (
    TURN := np.linalg.qr(np.random.default_rng(1).normal(size=(D, D)))[0]
)
SECOND = np.array([[s * c, s * sine, 0.0] for _, s, c, sine in PAIRS.values()]) @ TURN
R, S = np.linalg.norm(FIRST, axis=1), np.linalg.norm(SECOND, axis=1)


@functools.cache
def computed(name):
    """Value, gradient and the two Hessian blocks at all pairs, by one program."""

    @jax.jit
    def everything(u, v):
        phi = potential(name)
        return value_at(phi, u, v), gradient_at(phi, u, v), *phi.second_derivatives(u, v)

    return tuple(np.asarray(array) for array in everything(FIRST, SECOND))


# ---- the reference: an integral in the plane, on panels that shrink towards the two lines where sigma turns -------

FINE = np.concatenate([[0.0], 10.0 ** np.arange(-6.0, -0.4, 0.5)])
GRADED = np.unique(np.concatenate([-FINE, FINE, np.arange(-27.0, 28.0)]))
NODES, NODE_WEIGHTS = leggauss(14)


def panels(edges):
    """Nodes and weights of Gauss-Legendre panels between edges (..., m)."""
    low, high = edges[..., :-1, None], edges[..., 1:, None]
    shape = (*edges.shape[:-1], -1)
    return (0.5 * (high - low) * (NODES + 1) + low).reshape(shape), (0.5 * (high - low) * NODE_WEIGHTS).reshape(shape)


def normal(x):
    return np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)


def integral(sigma, r, s, cosine, sine, other=None):
    """E[sigma(r X) other(s (c X + S Y))], other being sigma by default, for normal X and Y; panels are clipped to where the density is above 1e-37."""
    other = sigma if other is None else other
    x, weights = panels(np.clip(GRADED, -13, 13))
    if sine == 0:
        return float((sigma(r * x) * other(s * cosine * x)) @ (weights * normal(x)))
    crossing = np.clip(-cosine * x / sine, -14, 14)
    y, inner = panels(np.clip(crossing[:, None] + GRADED, -13, 13))
    mean = np.sum(other(s * (cosine * x[:, None] + sine * y)) * inner * normal(y), -1)
    return float((sigma(r * x) * mean) @ (weights * normal(x)))


def test_the_reference_is_right_where_the_answer_is_known():
    for r, s, cosine, sine in PAIRS.values():
        angle = np.arctan2(sine, cosine)
        exact = r * s * (sine + (np.pi - angle) * cosine) / (2 * np.pi)
        assert integral(activation("relu"), r, s, cosine, sine) == pytest.approx(exact, rel=0, abs=2e-13 * r * s)


QUICK = ("erf",)


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in EVERY])
def test_values_against_the_integral(name):
    """To 1e-10, or better, of the size sqrt(Phi(u, u) Phi(v, v)) of what is integrated."""
    sigma = activation(name)
    if name in ("erf", "unit-erf", "gelu"):  # the vectorised math.erf is slow; JAX's has other code and is fast
        sigma = jax.jit(potential(name).activation)
    values = computed(name)[0]
    for value, numbers in zip(values, PAIRS.values(), strict=True):
        r, s, _, sine = numbers
        tolerance = 2e-13 if name in CLOSED else 2e-11
        if name == "sign":
            tolerance += 3e-16 / max(sine, 1e-8)  # what an error of 1e-16 in the cosine does to an angle
        size = np.sqrt(integral(sigma, r, r, 1.0, 0.0) * integral(sigma, s, s, 1.0, 0.0))
        assert abs(value - integral(sigma, *numbers)) <= tolerance * size, numbers


def density(x):
    return np.exp(-(np.minimum(np.abs(x), 30) ** 2) / 2) / np.sqrt(2 * np.pi)


def logistic(x):
    return 0.5 + 0.5 * np.tanh(0.5 * x)


SLOPES = {
    "erf": lambda x: 2 * np.sqrt(2) * density(np.sqrt(2) * x),
    "tanh": lambda x: 1 / np.cosh(np.clip(x, -300, 300)) ** 2,
    "softplus": logistic,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOPES)
def test_gradients_against_the_integral(name):
    """B = E[sigma'(u.x) sigma'(v.x)] and A |u|^2 + B u.v = E[u.x sigma'(u.x) sigma(v.x)], by parts, of sigma itself."""
    slope, sigma = SLOPES[name], jax.jit(potential(name).activation)
    u, v = jnp.asarray(R**2), jnp.asarray(S**2)
    cosine = np.array([c for *_, c, _ in PAIRS.values()])
    along, toward = map(np.asarray, jax.jit(potential(name).gradient)(u, v, R * S * cosine))
    for index, numbers in list(enumerate(PAIRS.values()))[::2]:
        r, s, c, _ = numbers
        assert abs(toward[index] - integral(slope, *numbers, slope)) <= 2e-11, numbers
        radial = integral(lambda x: x * slope(x), *numbers, sigma)
        assert abs(along[index] * r * r + toward[index] * r * s * c - radial) <= 3e-11 * max(1, r) * max(1, s), numbers


# ---- derivatives: differences of textbook formulas at many digits --------------------------------------------------

SHARP, SMOOTH = (70, -20), (45, -14)  # digits, and the power of ten that is the step


def lifted(first, second, lift, other):
    p = mp.fdot(first, second)
    a, b = mp.fdot(first, first) + lift, mp.fdot(second, second) + other
    return p, a, b, max(mp.mpf(-1), min(mp.mpf(1), p / mp.sqrt(a * b)))


def arc(first, second, lift, other):
    return mp.asin(lifted(first, second, lift, other)[3])


def ramp(first, second, lift, other):
    p, a, b, cosine = lifted(first, second, lift, other)
    return (mp.sqrt(a * b - p * p) + (mp.pi - mp.acos(cosine)) * p) / (2 * mp.pi)


def mixture(kernel, first, second, gain=1):
    total = mp.mpf(0)
    lifts = [(mp.mpf(float(scale)) / gain) ** 2 for scale in SCALES]
    for lift, weight in zip(lifts, WEIGHTS, strict=True):
        for other, another in zip(lifts, WEIGHTS, strict=True):
            total += mp.mpf(float(weight)) * mp.mpf(float(another)) * kernel(first, second, lift, other)
    return total


def hermite(degree, first, second):
    """E[He(u.x) He(v.x)] / l! from the expansion of He(r z) and orthogonality, by sums over the two expansions."""
    r, s, p = mp.sqrt(mp.fdot(first, first)), mp.sqrt(mp.fdot(second, second)), mp.fdot(first, second)
    total = mp.mpf(0)
    for j in range(degree // 2 + 1):
        low = degree - 2 * j
        factor = mp.factorial(degree) / (2**j * mp.factorial(j) * mp.factorial(low))
        powers = [factor * (norm**2 - 1) ** j * norm**low for norm in (r, s)]
        total += powers[0] * powers[1] * mp.factorial(low) * (p / (r * s)) ** low
    return total / mp.factorial(degree)


def gelu(first, second):
    """By two integrations by parts from E[cdf cdf], and the derivatives of that by differences inside mpmath."""
    p, a, b, cosine = lifted(first, second, 1, 1)
    root = mp.sqrt(a * b - p * p)
    arc_part = mp.mpf(1) / 4 + mp.asin(cosine) / (2 * mp.pi)
    by_p = 1 / (2 * mp.pi * root)
    by_a, by_b = -p / (2 * a) * by_p, -p / (2 * b) * by_p
    return p * arc_part + 2 * (a - 1) * p * by_a + ((a - 1) * (b - 1) + p * p) * by_p + 2 * (b - 1) * p * by_b


TEXTBOOK = {
    "leaky:0.1": lambda u, v: mp.mpf("0.9") ** 2 * ramp(u, v, 0, 0) + mp.mpf("0.1") * mp.fdot(u, v),
    "leaky:-0.5": lambda u, v: mp.mpf("1.5") ** 2 * ramp(u, v, 0, 0) - mp.mpf("0.5") * mp.fdot(u, v),
    "sign": lambda u, v: 2 / mp.pi * arc(u, v, 0, 0),
    "erf": lambda u, v: 2 / mp.pi * arc(u, v, mp.mpf("0.5"), mp.mpf("0.5")),
    "hermite:1": functools.partial(hermite, 1),
    "hermite:2": functools.partial(hermite, 2),
    "hermite:5": functools.partial(hermite, 5),
    "gelu": gelu,
    "sigmoid": lambda u, v: mp.mpf("0.25") + mixture(arc, u, v) / (2 * mp.pi),
    "tanh": lambda u, v: 2 / mp.pi * mixture(arc, u, v, gain=2),
    "softplus": lambda u, v: mixture(ramp, u, v),
    "unit-tanh": lambda u, v: mp.mpf("0.25") + mixture(arc, u, v, gain=2) / (2 * mp.pi),
    "unit-erf": lambda u, v: mp.mpf("0.25") + arc(u, v, mp.mpf("0.5"), mp.mpf("0.5")) / (2 * mp.pi),
}


def differences(function, first, second, digits, power):
    """The gradient by u, and the rows of second derivatives by (u; v), of a function of two vectors."""
    with mp.workdps(digits):
        step = mp.mpf(10) ** power
        point = [mp.mpf(float(x)) for x in (*first, *second)]

        def at(*moves):
            moved = point.copy()
            for index, sign in moves:
                moved[index] += sign * step
            return function(moved[:D], moved[D:])

        slope = [(at((a, 1)) - at((a, -1))) / (2 * step) for a in range(D)]
        bend = [
            [
                (at((a, 1), (b, 1)) - at((a, 1), (b, -1)) - at((a, -1), (b, 1)) + at((a, -1), (b, -1))) / (4 * step**2)
                for b in range(2 * D)
            ]
            for a in range(D)
        ]
        return np.array(slope, dtype=float), np.array([[float(x) for x in row] for row in bend])


def sizes(name, first, second, sine):
    """What the errors of gradient and Hessian blocks are measured in: the size of the terms that are added up."""
    r, s = np.linalg.norm(first), np.linalg.norm(second)
    if name.startswith("hermite"):
        degree = int(name[8:])
        grow = max(r, 1) * max(s, 1)
        return max(s, 1) * grow ** (degree - 1), grow ** (degree - 1) * max(r, s, 1) ** 2
    if name == "sign":
        return 1 / r * max(1, 2e-3 / max(sine, 1e-9)) ** 2, (1 / r**2 + 1 / (r * s)) / sine
    return max(s, 1), max(s / r, 1) if name.startswith("leaky") else max(r, s, 1)


def smooth_pairs(name):
    """A kink has no differences at exactly (anti)parallel pairs."""
    skipped = ("parallel", "antiparallel") if name.startswith(("leaky", "sign")) else ()
    return [index for index, pair in enumerate(PAIRS) if not pair.startswith(skipped or ("-",))]


def chosen(name):
    indices = smooth_pairs(name)
    if name not in MIXTURES:
        return indices
    wanted = {"tanh": ("near-parallel0.001-1000-1000", "random0"), "softplus": ("near-parallel0.001-1-2.5", "random1")}
    wanted = wanted.get(name, ("near-orthogonal",))  # hundreds of arcs at a time are slow
    return [index for index in indices if list(PAIRS)[index] in wanted]


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_derivatives_against_differences_at_many_digits(name):
    _, gradient, same, mixed = computed(name)
    for index in chosen(name):
        slope, bend = differences(TEXTBOOK[name], FIRST[index], SECOND[index], *(SHARP if name in CLOSED else SMOOTH))
        sine = list(PAIRS.values())[index][3]
        size, curvature = sizes(name, FIRST[index], SECOND[index], sine)
        assert np.abs(gradient[index] - slope).max() <= 1e-10 * size, list(PAIRS)[index]
        assert np.abs(same[index] - bend[:, :D]).max() <= 1e-10 * curvature, list(PAIRS)[index]
        assert np.abs(mixed[index] - bend[:, D:]).max() <= 1e-10 * curvature, list(PAIRS)[index]


@pytest.mark.parametrize(
    "name",
    [
        "gelu",
        *(
            pytest.param(n, marks=[pytest.mark.slow] + [pytest.mark.nightly] * (n in ("softplus", "unit-tanh")))
            for n in EVERY
            if n not in ("gelu", "leaky:-0.5")
        ),
    ],
)
def test_derivatives_against_automatic_differentiation(name):
    """At ordinary pairs, where it loses no digits: the gradient from the value, the Hessian from the gradient."""
    phi = potential(name)
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=(2, 8, D))

    @jax.jit
    @jax.vmap
    def both(u, v):
        slope = jax.grad(lambda u: value_at(phi, u, v))(u)
        bend = jax.jacfwd(lambda u, v: gradient_at(phi, u, v), (0, 1))(u, v)
        return slope, *bend, gradient_at(phi, u, v), *phi.second_derivatives(u, v)

    found = [np.asarray(array) for array in both(first, second)]
    for expected, given in zip(found[:3], found[3:], strict=True):
        scale = np.abs(given).max()
        assert scale > 1e-3 or name == "hermite:1"
        assert np.abs(expected - given).max() <= 2e-12 * max(scale, 1.0)


def test_the_mixture_is_the_logistic_function_to_the_error_that_it_states():
    from scipy.special import ndtr

    x = np.concatenate([[0.0], np.logspace(-4, 3, 4000)])
    cdf = ndtr(-x[:, None] / SCALES)
    error = np.abs(cdf @ WEIGHTS - 1 / (1 + np.exp(np.minimum(x, 700)))).max()
    assert 1e-13 < error < ERROR
    ramp_mean = (SCALES * normal(x[:, None] / SCALES) - x[:, None] * cdf) @ WEIGHTS
    assert np.abs(ramp_mean - np.log1p(np.exp(-x))).max() < 4e-13
    assert WEIGHTS.sum() == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(
    "name", ["erf", *(pytest.param(n, marks=pytest.mark.slow) for n in ("gelu", "tanh", "hermite:2"))]
)
def test_smooth_potentials_are_right_at_zero(name):
    """u = 0: the potential is sigma(0) E[sigma(v.x)], its slope E[sigma(v.x) x] sigma'(0); everything is finite."""
    phi = potential(name)
    v = np.array([0.3, -0.4, 1.2])
    tiny = np.array([1e-7, 2e-7, -1e-7])
    function = jax.jit(lambda u: (value_at(phi, u, v), gradient_at(phi, u, v), *phi.second_derivatives(u, v)))
    at_zero, nearby = function(np.zeros(D)), function(tiny)
    for zero, near in zip(at_zero, nearby, strict=True):
        assert np.isfinite(zero).all()
        np.testing.assert_allclose(zero, near, atol=1e-5)
    np.testing.assert_allclose(at_zero[1] + at_zero[2] @ tiny, nearby[1], atol=1e-12)
    np.testing.assert_allclose(at_zero[0] + at_zero[1] @ tiny, nearby[0], atol=1e-12)


def test_sign_has_a_tip():
    phi = potential("sign")
    axes = np.eye(D)
    assert np.array_equal(gradient_at(phi, axes[0], 2 * axes[0]), np.zeros(D))
    for angle in (1e-3, 1e-4, 1e-5):
        other = np.cos(angle) * axes[0] + np.sin(angle) * axes[1]
        slope = np.asarray(gradient_at(phi, 3 * axes[0], other))
        assert slope[1] == pytest.approx(2 / np.pi / 3, rel=3e-16 / angle**2 + 1e-14)
    assert float(value_at(phi, axes[0], -axes[0])) == -1.0


@pytest.mark.parametrize("name", EVERY)
def test_the_two_ways_to_write_an_activation_agree(name):
    x = np.linspace(-6, 6, 101)
    sigma = activation(name)
    np.testing.assert_allclose(potential(name).activation(jnp.asarray(x)), sigma(x), rtol=1e-12, atol=1e-13)
    assert potential(name) == potential(sigma)
    assert hash(potential(name)) == hash(potential(sigma))
    if sigma.odd:
        np.testing.assert_allclose(sigma(-x), -sigma(x), atol=1e-15)
    if sigma.homogeneous is not None:
        np.testing.assert_allclose(sigma(3 * x), 3.0**sigma.homogeneous * sigma(x), atol=1e-12)
    assert sigma.vanishes_at_zero == (abs(sigma(np.array([1e-12]))[0]) < 1e-10)
