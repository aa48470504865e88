r"""Proving what ``proof/trusted/relu_claims.py`` states and checks: minima, basins, teachers that move, and saddles.

**Minimum.** With :math:`\epsilon \ge |\nabla F(W_0)|`, :math:`\lambda \le \lambda_{\min}` and :math:`L = L(R)` on the ball
of ``unique_radius`` R, the theorem needs

.. math:: R L(R) < \lambda, \qquad \lambda^2 > 2 L \epsilon, \qquad
          \frac{2 \epsilon}{\lambda + \sqrt{\lambda^2 - 2 L \epsilon}} < r \le R, \qquad
          F(W_0) - \frac{\epsilon^2}{2 (\lambda - L r)} > 0 .

**Basin.** Inside radius :math:`\rho = R - 2 r` (R = ``R_unique``, r = ``R_enclosure``) exact gradient descent with a fixed
step :math:`\eta < 2/\Lambda` goes to the minimum, :math:`\Lambda \ge \lambda_{\max} + L R`; see the theorem (basin).

**Robust.** For a teacher with every neuron within :math:`\delta` of the given one the gradient at the centre grows by at
most :math:`\sqrt n k \delta/2`, the smallest eigenvalue falls by at most :math:`k \delta/(\pi \min|w_i|)`, and
:math:`\sqrt{2F}` falls by at most :math:`k \delta`. The largest :math:`\delta` for which the theorem still applies is
found by bisection in floats and confirmed in balls.

**Saddle.** A zero of the gradient by Newton-Kantorovich, and a direction of negative curvature. The approximate inverse A
and the direction u are floats; the checker makes its own. What is claimed therefore leaves room: each bound is
:data:`ROOM` times what is found here, which costs nothing because the enclosing radius is tiny.
"""

from collections.abc import Callable
from dataclasses import replace
from math import inf, pi, sqrt
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx

from earnshaw.proof.claims import MinimumClaim, SaddleClaim
from earnshaw.proof.doubles import EigenBound, down, guess_least, prove_least, rounded, up
from earnshaw.proof.trusted.balls import norm
from earnshaw.proof.trusted.blocks import Symmetric
from earnshaw.proof.trusted.relu import Point
from earnshaw.proof.trusted.relu_claims import guesses
from earnshaw.proof.trusted.sums import Near
from earnshaw.proof.verdict import Missed

BACKOFF = 2.0**-10  # R_unique stays this far, relatively, below the largest radius the inequality allows
MARGIN = 1e-6  # on lambda_max, relatively: the checker guesses its own weights and must not find a larger bound
ROOM = 16
Sections = dict[str, Any]  # of a certificate


def prove_minimum(
    point: Point, hessian: Near, guess: float, *, every_dimension: bool = True
) -> tuple[MinimumClaim, Sections]:
    """Prove that a spurious minimum lies at `point`, whose Hessian's smallest eigenvalue is about `guess`.

    Returns the claim and the certificate's sections, or raises Missed when an inequality fails. `every_dimension` asks for
    M as well; when M does not allow the proof, the minimum is proved in dimension d alone.
    """
    bound = prove_least(hessian, guess)
    if bound is None or not bound.lower > 0:
        raise Missed(
            f"lambda_min > 0 missed: the smallest eigenvalue is about {guess:.3g} and its proved bound "
            f"{'is missing' if bound is None else f'{bound.lower:.3g}'}; the point is a saddle or degenerate"
        )
    if every_dimension:
        matrix = rounded(point.extension())
        extension = prove_least(matrix, guess_least(matrix.entries))
        if extension is not None and extension.lower > 0:
            try:
                return prove_radii(point, bound, extension)
            except Missed:
                if extension.lower >= bound.lower:
                    raise
    return prove_radii(point, bound, None)


def prove_radii(
    point: Point | Symmetric, bound: EigenBound, extension: EigenBound | None
) -> tuple[MinimumClaim, Sections]:
    """Choose the radii and check every inequality in balls."""
    eps = up(norm(point.gradient().entries()))
    beyond, shift = (None, None) if extension is None else extension
    lam = bound.lower if beyond is None else min(bound.lower, beyond)
    outer = LipschitzGuess(point).widest(lam) * (1 - BACKOFF)
    if not outer > 0:
        raise Missed(
            f"R L(R) < lambda missed for every R: lambda >= {lam:.3g}, shortest neuron {float(point.shortest()):.3g}"
        )
    lip = up(point.lipschitz(arb(outer), arb(0)))
    slack = arb(lam) ** 2 - 2 * arb(lip) * arb(eps)
    if not slack > 0:
        raise Missed(
            f"lambda^2 > 2 L eps missed: lambda >= {lam:.3g}, L <= {lip:.3g}, |gradient| <= {eps:.3g}, which should be "
            f"below {lam * lam / (2 * lip):.3g}; polish the point, or run gradient descent longer"
        )
    least = 2 * arb(eps) / (arb(lam) + slack.sqrt())
    inner = max(up(least * (1 + arb(BACKOFF))), outer * 2.0**-200)
    if not (arb(eps) - arb(lam) * arb(inner) + arb(lip) * arb(inner) ** 2 / 2 < 0 and 4 * inner < outer):
        raise Missed(
            f"eps - lambda r + L r^2/2 < 0 missed with room to spare: r = {inner:.3g} against R_unique = {outer:.3g}; "
            f"the gradient at the point, {eps:.3g}, is too large: polish it"
        )
    if not arb(lam) - arb(lip) * arb(outer) > 0:
        raise Missed(
            f"lambda - L R > 0 missed by {lip * outer - lam:.3g} at R = {outer:.3g}; more precision would help"
        )
    mu = down(arb(lam) - arb(lip) * arb(inner))
    value = point.value()
    value_ge, value_le = down(value - arb(eps) ** 2 / (2 * arb(mu))), up(value)
    if not value_ge > 0:
        raise Missed(
            f"F > 0 missed: F at the point is {float(value):.3g} and F >= {value_ge:.3g} at the minimum; "
            f"this is the neighbourhood of a global minimum, so nothing spurious is there to prove"
        )
    sections = {
        "R_enclosure": inner,
        "R_unique": outer,
        "claims": {
            "grad_norm_le": eps,
            "lambda_min_ge": bound.lower,
            "lambda_ext_ge": beyond,
            "hess_lipschitz_le": lip,
            "mu_ge": mu,
            "F_ge": value_ge,
            "F_le": value_le,
        },
        "hint": {"precision": ctx.prec, "shift": bound.shift, "shift_ext": shift},
    }
    return MinimumClaim(bound.lower, beyond, mu, eps, lip, value_ge, value_le, inner, outer), sections


def prove_basin(hessian: Near, claim: MinimumClaim, sections: Sections) -> tuple[MinimumClaim, Sections]:
    """Prove the basin of a minimum; return claim and sections with it, or raise Missed when there is no room for one."""
    top = _greatest(hessian)
    inner, outer = arb(claim.enclosure_radius), arb(claim.unique_radius)
    radius = down(outer - 2 * inner)
    reach = arb(radius) + 2 * inner
    smoothness = up(arb(top) + arb(claim.change_le) * reach)
    mu = down(arb(claim.lambda_ge) - arb(claim.change_le) * reach)
    if not (radius > 0 and mu > 0 and reach <= outer):
        raise Missed(
            f"no room for a basin: R_unique = {claim.unique_radius:.3g}, R_enclosure = {claim.enclosure_radius:.3g}"
        )
    step = down(2 / arb(smoothness))
    found = {"radius": radius, "lambda_max_le": top, "smoothness_le": smoothness, "mu_ge": mu, "step_lt": step}
    return replace(claim, basin_radius=radius, step_lt=step), sections | {"basin": found}


def _greatest(matrix: Near) -> float:
    """Bound the largest eigenvalue by max_i (|H| x)_i / x_i, x > 0, with room for rounding and for the checker's x."""
    sizes = np.abs(matrix.entries)
    x = np.ones(len(sizes))
    for _ in range(50):
        y = sizes @ x
        x = y / np.max(y)
    x = x + 1e-3
    quotient = arb(float(np.max((sizes @ x) / x))) * (1 + arb(len(sizes) + 8) * arb(2) ** -52)
    # |H~ - H| <= error in Frobenius norm, and the spectral norm of the difference is no larger.
    return up((quotient + matrix.error) * (1 + arb(MARGIN)))


def prove_robust(point: Point, claim: MinimumClaim, sections: Sections) -> tuple[MinimumClaim, Sections]:
    """Prove nearly the largest delta the theorem allows; return claim and sections with it, or raise Missed."""
    guess = LipschitzGuess(point)
    # No delta beyond this can work: eps' >= sqrt(n) k delta/2, and lambda'^2/(2 L') <= lambda^2/(2 L(0)).
    most = claim.lambda_ge**2 / (guess(0.0) * sqrt(point.n) * point.k)
    largest = _largest(lambda delta: _radius(guess, point, claim, delta) is not None, most, 25)
    for delta in (largest * 0.9999, largest * 0.99, largest * 0.5):
        radius = _radius(guess, point, claim, delta)
        if radius is None or not delta > 0:
            continue
        moved = point.k * arb(delta)
        eps = arb(claim.gradient_le) + arb(point.n).sqrt() * moved / 2
        lam = arb(claim.lambda_ge) - moved / (arb.pi() * point.shortest())
        lip = up(point.lipschitz(arb(radius), arb(delta)))
        mu = down(lam - arb(lip) * arb(radius))
        gap = (2 * point.value()).sqrt() - moved
        if not (eps - lam * arb(radius) + arb(lip) * arb(radius) ** 2 / 2 < 0 and mu > 0 and gap > 0):
            continue
        value_ge = down(gap * gap / 2 - eps * eps / (2 * arb(mu)))
        if value_ge > 0:
            found = {"delta": delta, "R_enclosure": radius, "hess_lipschitz_le": lip, "mu_ge": mu, "F_ge": value_ge}
            return replace(claim, teacher_radius=delta), sections | {"robust": found}
    raise Missed("no movement of the teacher is proved to keep the minimum")


def _radius(guess: "LipschitzGuess", point: Point, claim: MinimumClaim, delta: float) -> float | None:
    """Guess in floats a radius that proves `delta`; None when there seems to be none."""
    eps = claim.gradient_le + sqrt(point.n) * point.k * delta / 2
    lam = claim.lambda_ge - point.k * delta / (pi * guess.shortest)
    radius = guess.widest(lam, delta) * (1 - 1e-6)
    if not radius > 0:
        return None
    lip = guess(radius, delta)
    left = sqrt(max(0.0, 2 * claim.objective_ge)) - point.k * delta
    mu = lam - lip * radius
    fits = eps - lam * radius + lip * radius**2 / 2 < 0 and mu > 0 and left > 0 and left**2 / 2 > eps**2 / (2 * mu)
    return radius if fits else None


def prove_saddle(point: Point | Symmetric) -> tuple[SaddleClaim, Sections]:
    """Prove that a saddle lies at `point`; return the claim and its certificate's sections, or raise Missed."""
    gradient, hessians = point.gradient(), list(point.hessians())
    guessed = [guesses(hessian) for hessian in hessians]
    hessian, inverse = hessians[0], guessed[0][0]
    eps = up(norm(gradient.entries()))
    size = hessian.nrows()
    column = arb_mat(size, 1, gradient.entries())
    step = up(ROOM * norm((inverse * column).entries()) + arb(2) ** -1000)
    defect = up(ROOM * norm((inverse * hessian - arb_mat(size, size, 1)).entries()))
    inverse_norm = up(norm(inverse.entries()) * arb(1.001))
    radius = up(2 * arb(step))
    if not defect < 0.25 or not arb(radius) < point.shortest() / 2:
        raise Missed(
            f"Newton-Kantorovich missed: |I - A H| <= {defect:.3g} should be below 1/4, and the radius {radius:.3g} well "
            f"below the shortest neuron {float(point.shortest()):.3g}; the Hessian is nearly singular here or the point "
            "is not polished"
        )
    lip = up(point.lipschitz(arb(radius), arb(0)))
    kantorovich = step + (arb(defect) - 1) * arb(radius) + arb(inverse_norm) * arb(lip) * arb(radius) ** 2 / 2
    if not kantorovich < 0:
        raise Missed(
            f"Y + (Z1 - 1) R + Z2 R^2/2 < 0 missed by {float(kantorovich):.3g} at R = {radius:.3g}; polish the point"
        )
    bent = min(
        (
            (u.transpose() * block * u)[0, 0] / (u.transpose() * u)[0, 0]
            for block, (_, u) in zip(hessians, guessed, strict=True)
        ),
        key=float,
    )
    curvature = up(bent * (1 - arb(2) ** -30)) if bent < 0 else up(bent)
    if not arb(curvature) + arb(lip) * arb(radius) < 0:
        raise Missed(
            f"negative curvature missed: the smallest eigenvalue is about {curvature:.3g}, and it varies by up to "
            f"{lip * radius:.3g} on the enclosing ball"
        )
    value = point.value()
    drift = arb(eps) * arb(radius) + (norm(hessian.entries()) + arb(lip) * arb(radius)) * arb(radius) ** 2 / 2
    value_ge, value_le = down(value - drift), up(value + drift)
    sections = {
        "R_enclosure": radius,
        "claims": {
            "grad_norm_le": eps,
            "newton_step_le": step,
            "defect_le": defect,
            "inverse_norm_le": inverse_norm,
            "hess_lipschitz_le": lip,
            "curvature_le": curvature,
            "F_ge": value_ge,
            "F_le": value_le,
        },
        "hint": {"precision": ctx.prec},
    }
    return SaddleClaim(curvature, eps, lip, value_ge, value_le, radius), sections


class LipschitzGuess:
    """L(radius, delta) in floats, for searching only; infinite when the ball reaches a zero neuron."""

    def __init__(self, point: Point | Symmetric) -> None:
        lengths, copies = np.array([float(length) for length in point.length]), np.array(point.copies)
        self.students, self.n, self.k = lengths[np.array(point.charge) > 0], point.n, point.k
        self.others = np.sum(lengths * copies) - self.students
        self.shortest = float(np.min(self.students))

    def __call__(self, radius: float, delta: float = 0.0) -> float:
        """Return L."""
        if radius >= self.shortest:
            return inf
        n, rho = self.n, self.students - radius
        bend = 3 * sqrt(3) / (4 * pi) * (self.others + ((n - 1) * radius + self.k * delta)) / (rho * rho)
        return float(np.max(np.hypot(bend, 3 * sqrt(n - 1) / pi / rho)))

    def widest(self, lam: float, delta: float = 0.0) -> float:
        """Return nearly the largest R with R L(R) < lam; 0 when lam is not positive."""
        most = min(self.shortest, max(lam, 0.0) / self(0.0, delta))
        return _largest(lambda radius: radius * self(radius, delta) < lam, most, 40)


def _largest(holds: Callable[[float], bool], high: float, steps: int) -> float:
    """Bisect for nearly the largest number up to `high` for which something holds, which it does at 0."""
    low = 0.0
    for _ in range(steps):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
