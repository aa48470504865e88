"""The theorems of docs/absence.md on random networks. Only the kernel is given: derivatives of it are checked by differences."""

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize


def angles(x, y):
    """Angles of rows, by chords."""
    x, y = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (x, y))
    apart = np.linalg.norm(x[:, None] - y[None], axis=2)
    return 2 * np.arctan2(apart, np.linalg.norm(x[:, None] + y[None], axis=2))


def kernel(x, y):
    """f(x, y) of rows."""
    t = angles(x, y)
    lengths = np.linalg.norm(x, axis=1)[:, None] * np.linalg.norm(y, axis=1)
    return lengths * (np.sin(t) + (np.pi - t) * np.cos(t)) / (2 * np.pi)


def extension(w, v):
    """The matrix M."""
    own, other = angles(w, w), angles(w, v)
    r, a = np.linalg.norm(w, axis=1), np.linalg.norm(v, axis=1)
    m = (np.pi - own) / (2 * np.pi)
    np.fill_diagonal(own, 0)
    return m - np.diag(np.diag(m)) + np.diag(0.5 + (np.sin(own) @ r - np.sin(other) @ a) / (2 * np.pi * r))


def gradient(w, v):
    return extension(w, v) @ w - (np.pi - angles(w, v)) / (2 * np.pi) @ v


def differences(function, w, h=1e-5):
    """The derivative of a function of w in every entry, to about 1e-9."""
    columns = []
    for place in np.ndindex(w.shape):
        step = np.zeros_like(w)
        step[place] = h
        columns.append((np.asarray(function(w + step)) - np.asarray(function(w - step))).ravel() / (2 * h))
    return np.array(columns)


def hessian(w, v):
    found = differences(lambda x: gradient(x, v), w)
    return (found + found.T) / 2


def loss(w, v):
    w = w[np.linalg.norm(w, axis=1) > 0]
    return kernel(w, w).sum() / 2 - kernel(w, v).sum() + kernel(v, v).sum() / 2


@pytest.mark.parametrize("trial", range(5))
def test_the_gradient_is_that_of_the_loss(trial):
    rng = np.random.default_rng(trial)
    w, v = rng.normal(size=(3, 4)), rng.normal(size=(2, 4))
    assert gradient(w, v).ravel() == pytest.approx(differences(lambda x: loss(x, v), w)[:, 0], abs=1e-8)


@pytest.mark.parametrize("trial", range(20))
def test_a_zero_neuron_is_no_minimum(trial):
    """With the other neurons at the lengths that are stationary, F falls along some teacher neuron at the rate promised."""
    rng = np.random.default_rng(trial)
    k, d, others = rng.integers(1, 5), rng.integers(2, 5), rng.integers(1, 4)
    v, u = rng.normal(size=(k, d)), rng.normal(size=(others, d))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    r, *_ = np.linalg.lstsq(kernel(u, u), kernel(u, v).sum(axis=1))
    w = u[r > 0.05] * r[r > 0.05, None]
    while len(w):  # drop what would have to be negative
        u = w / np.linalg.norm(w, axis=1, keepdims=True)
        r, *_ = np.linalg.lstsq(kernel(u, u), kernel(u, v).sum(axis=1))
        w = u[r > 0] * r[r > 0, None]
        if (r > 0).all():
            break
    rates = kernel(v, v).sum(axis=1) - (kernel(v, w).sum(axis=1) if len(w) else 0)  # <relu(v_l.x), rho>
    assert rates.sum() == pytest.approx(2 * loss(w, v), abs=1e-12)  # <phi_V, rho> = |rho|^2
    best, step = rates.argmax(), 1e-6
    assert rates[best] >= 2 * loss(w, v) / k - 1e-12
    assert rates[best] > 1e-9
    fall = (loss(w, v) - loss(np.vstack([w, step * v[best]]), v)) / step
    assert fall == pytest.approx(rates[best], rel=1e-4)


@pytest.mark.parametrize("trial", range(10))
def test_lengths_are_determined_by_directions(trial):
    """Along its own direction the gradient of neuron i is sum_j kappa_ij r_j - b_i."""
    rng = np.random.default_rng(trial)
    n, k, d = rng.integers(1, 4), rng.integers(1, 4), rng.integers(2, 5)
    w, v = rng.normal(size=(n, d)), rng.normal(size=(k, d))
    r = np.linalg.norm(w, axis=1)
    u = w / r[:, None]
    expected = kernel(u, u) @ r - kernel(u, v).sum(axis=1)
    assert (gradient(w, v) * u).sum(axis=1) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("trial", range(10))
def test_the_partial_trace_is_m(trial):
    rng = np.random.default_rng(trial)
    n, k, d = rng.integers(2, 5), rng.integers(1, 5), rng.integers(2, 6)
    w, v, c = rng.normal(size=(n, d)), rng.normal(size=(k, d)), rng.normal(size=n)
    basis = np.linalg.qr(rng.normal(size=(d, d)))[0]
    whole, m = hessian(w, v), extension(w, v)
    total = sum(np.outer(c, e).ravel() @ whole @ np.outer(c, e).ravel() for e in basis)
    assert total == pytest.approx(d * c @ m @ c, abs=1e-6)
    assert np.linalg.eigvalsh(m)[0] >= np.linalg.eigvalsh(whole)[0] - 1e-7
    padded = [np.hstack([rows, np.zeros((len(rows), 1))]) for rows in (w, v)]
    beyond = hessian(*padded).reshape(n, d + 1, n, d + 1)[:, d, :, d]
    assert beyond == pytest.approx(m, abs=1e-7)


@pytest.mark.parametrize("trial", range(10))
def test_the_steps_of_theorem_d(trial):
    """Off the span grad F e = M beta; Hess F W = grad F2; and along beta (x) e grad F1 is positive."""
    rng = np.random.default_rng(trial)
    n, k, d = rng.integers(1, 5), rng.integers(1, 4), 5
    w, v = rng.normal(size=(n, d)), rng.normal(size=(k, d))
    v[:, -1] = 0
    beta = w[:, -1]
    assert gradient(w, v)[:, -1] == pytest.approx(extension(w, v) @ beta, abs=1e-12)
    pull = np.asarray([[kernel_slope(x, y) for y in v] for x in w]).sum(axis=1)  # grad F1
    assert (hessian(w, v) @ w.ravel()).reshape(n, d) == pytest.approx(gradient(w, v) + pull, abs=1e-6)
    r, a = np.linalg.norm(w, axis=1), np.linalg.norm(v, axis=1)
    along = (beta**2 / r) @ (np.sin(angles(w, v)) @ a) / (2 * np.pi)
    assert (pull[:, -1] * beta).sum() == pytest.approx(along, abs=1e-12)
    assert along > 0


def kernel_slope(x, y):
    """The gradient of f(x, y) in x."""
    t = angles(x[None], y[None])[0, 0]
    return (np.linalg.norm(y) * np.sin(t) * x / np.linalg.norm(x) + (np.pi - t) * y) / (2 * np.pi)


def critical_points(n, v, tries, seed):
    """Critical points found from random starts, none of them with a short neuron."""
    rng = np.random.default_rng(seed)
    shape = n, v.shape[1]

    for _ in range(tries):
        found = least_squares(
            lambda x: gradient(x.reshape(shape), v).ravel(),
            rng.normal(size=n * shape[1]),
            xtol=1e-15,
            ftol=1e-15,
            max_nfev=60,
        )
        w = found.x.reshape(shape)
        if np.abs(found.fun).max() < 1e-10 and np.linalg.norm(w, axis=1).min() > 1e-2:
            yield w


def test_critical_points_outside_the_span_are_strict_saddles():
    outside = inside = 0
    for seed, (n, k) in enumerate([(2, 1), (2, 2), (3, 2)]):
        v = np.eye(k, k + 1)
        for w in critical_points(n, v, 12, seed):
            if np.linalg.norm(w[:, k:]) > 1e-3:
                outside += 1
                assert np.linalg.eigvalsh(hessian(w, v))[0] < -1e-6
            else:
                inside += 1
    assert outside >= 3
    assert inside >= 3


def test_one_teacher_neuron_has_no_bad_minimum():
    rng = np.random.default_rng(5)
    for n, d in ((1, 2), (2, 2), (2, 3), (3, 3)):
        v, ends = np.eye(1, d), []
        for _ in range(8):
            start = rng.normal(size=(n, d))
            found = minimize(
                lambda x, n=n, v=v: (loss(x.reshape(n, -1), v), gradient(x.reshape(n, -1), v).ravel()),
                start.ravel(),
                jac=True,
            )
            w = found.x.reshape(n, d)
            ends.append(found.fun)
            assert found.fun < 1e-6 or np.linalg.norm(w, axis=1).min() < 1e-3  # a neuron on its way through 0
        assert np.median(ends) < 1e-6
    p, q = 0.7, 0.4  # the formula of the proof
    w = np.array([[p / 2, 0], [p / 2, 0], [-q, 0]])
    assert loss(w, np.array([[1.0, 0.0]])) == pytest.approx(((p - 1) ** 2 + q**2) / 4, abs=1e-14)
    assert gradient(w, np.array([[1.0, 0.0]]))[2] == pytest.approx([-q / 2, 0], abs=1e-12)


def gamma(x, y):
    t = angles(x[None], y[None])[0, 0]
    return np.sin(t) * x + (np.pi - t) * y


def test_the_second_derivative_along_great_circles():
    """Lemma 1, by second differences, with two of its constants nearly attained."""
    rng = np.random.default_rng(0)
    worst = np.zeros(3)
    h = 1e-3
    for trial in range(4000):
        d = rng.integers(2, 4)
        x, y = rng.normal(size=(2, d))
        x /= np.linalg.norm(x)
        if trial % 2:
            y = x + rng.normal(size=d) * 10.0 ** rng.uniform(-1.5, 0)
        y /= np.linalg.norm(y)
        if angles(x[None], y[None])[0, 0] < 0.02 or angles(x[None], -y[None])[0, 0] < 0.02:
            continue  # the differences must not straddle a parallel pair
        xi, eta = rng.normal(size=(2, d))
        xi, eta = xi - xi @ x * x, eta - eta @ y * y
        xi, eta = xi / np.linalg.norm(xi), eta / np.linalg.norm(eta)
        speeds = rng.choice([0.0, 1.0], size=2) if trial % 3 else rng.uniform(0, 1, size=2)

        def at(s, speeds=speeds, x=x, y=y, xi=xi, eta=eta):
            return gamma(
                np.cos(s * speeds[0]) * x + np.sin(s * speeds[0]) * xi,
                np.cos(s * speeds[1]) * y + np.sin(s * speeds[1]) * eta,
            )

        bent = np.linalg.norm(at(h) - 2 * at(0.0) + at(-h)) / h**2
        p, q = speeds
        assert bent <= 2 * p * p + 4 * p * q + np.sqrt(np.pi**2 + 4) * q * q + 1e-3
        if (p, q) == (1, 0):
            worst[0] = max(worst[0], bent / 2)
        if (p, q) == (0, 1):
            worst[1] = max(worst[1], bent / np.sqrt(np.pi**2 + 4))
    assert worst[0] > 0.99
    assert worst[1] > 0.95
