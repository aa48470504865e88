r"""How far the teacher may move before the proof is lost.

For a teacher with every neuron within :math:`\delta` of the given one the gradient at the centre grows by at most
:math:`\sqrt n k \delta/2`, the smallest eigenvalue falls by at most :math:`k \delta/(\pi \min|w_i|)`, and
:math:`\sqrt{2F}` falls by at most :math:`k \delta`. The largest :math:`\delta` for which the theorem still applies is
found by bisection in floats and confirmed in balls.
"""

from dataclasses import dataclass
from math import pi, sqrt
from typing import Any

from flint import arb

from earnshaw.proof.balls import down, up
from earnshaw.proof.minimum import LipschitzGuess, Minimum, Missed
from earnshaw.proof.trusted.relu import Point


@dataclass(frozen=True)
class Robust:
    """The distance the teacher may move, and what remains of the proof there."""

    delta: float
    inner: float
    lipschitz: float
    mu: float
    value_ge: float

    def section(self) -> dict[str, Any]:
        """Return the `robust` section of the certificate."""
        return {
            "delta": self.delta,
            "R_enclosure": self.inner,
            "hess_lipschitz_le": self.lipschitz,
            "mu_ge": self.mu,
            "F_ge": self.value_ge,
        }


def prove_robust(point: Point, minimum: Minimum) -> Robust:
    """Prove nearly the largest delta the theorem allows; raises Missed when not even a tiny one is found."""
    guess = LipschitzGuess(point)
    # No delta beyond `high` can work: eps' >= sqrt(n) k delta/2, and lambda'^2/(2 L') <= lambda^2/(2 L(0)).
    low, high = 0.0, minimum.lam**2 / (guess(0.0) * sqrt(point.n) * point.k)
    for _ in range(25):
        middle = 0.5 * (low + high)
        if _radius(guess, point, minimum, middle) is not None:
            low = middle
        else:
            high = middle
    for delta in (low * 0.9999, low * 0.99, low * 0.5):
        result = _confirm(guess, point, minimum, delta)
        if result is not None:
            return result
    raise Missed("no movement of the teacher is proved to keep the minimum")


def _radius(guess: LipschitzGuess, point: Point, minimum: Minimum, delta: float) -> float | None:
    """Guess in floats a radius that proves `delta`; None when there seems to be none."""
    eps = minimum.gradient + sqrt(point.n) * point.k * delta / 2
    lam = minimum.lam - point.k * delta / (pi * guess.shortest)
    if not lam > 0:
        return None
    radius = guess.widest(lam, delta) * (1 - 1e-6)
    if not radius > 0:
        return None
    lip = guess(radius, delta)
    left = sqrt(max(0.0, 2 * minimum.value_ge)) - point.k * delta
    mu = lam - lip * radius
    fits = eps - lam * radius + lip * radius**2 / 2 < 0 and mu > 0 and left > 0 and left**2 / 2 > eps**2 / (2 * mu)
    return radius if fits else None


def _confirm(guess: LipschitzGuess, point: Point, minimum: Minimum, delta: float) -> Robust | None:
    """Check `delta` in balls."""
    radius = _radius(guess, point, minimum, delta)
    if radius is None or not delta > 0:
        return None
    moved = point.k * arb(delta)
    eps = arb(minimum.gradient) + arb(point.n).sqrt() * moved / 2
    lam = arb(minimum.lam) - moved / (arb.pi() * point.shortest())
    lip = up(point.lipschitz(arb(radius), arb(delta)))
    mu = down(lam - arb(lip) * arb(radius))
    gap = (2 * point.value()).sqrt() - moved
    if not (eps - lam * arb(radius) + arb(lip) * arb(radius) ** 2 / 2 < 0 and mu > 0 and gap > 0):
        return None
    value_ge = down(gap * gap / 2 - eps * eps / (2 * arb(mu)))
    return Robust(delta, radius, lip, mu, value_ge) if value_ge > 0 else None
