r"""The first paper's own chain (Safran & Shamir 2018, Lemmas 1 and 2), for comparison with ours.

With :math:`\epsilon \ge |\nabla F|`, a lower bound :math:`\lambda` of the smallest eigenvalue by the algorithm of
section 4.1.2, and the third-order bound of Theorem 3 on a ball of radius :math:`\alpha = 10^{-3} \max |w_i|`,

.. math:: L_A = \frac{n}{\pi w_{\min}^2} \left( \sqrt 2 (n - 1)(w_{\max} + w_{\min}) + k v_{\max} \right), \qquad
          r = \frac{3 \lambda - \sqrt{9 \lambda^2 - 25 L_A \epsilon}}{2 L_A} < \alpha,

a minimum lies within r, and by Lemma 2 its value is at least :math:`F - r^2 L_H - r \epsilon`,

.. math:: L_H = \frac12 + n(n-1)\left(\frac{w_{\max}}{2 \pi w_{\min}} + \frac12\right)
          + \frac{n k v_{\max}}{2 \pi w_{\min}} .

Everything is evaluated in balls, **but this is not a proof**. As written, Lemma 5 bounds the change of a norm and not
of the matrix, Lemma 7 halves a bound of Lemma 9, and the error :math:`\epsilon_3` of the eigenvalue algorithm lacks a
factor :math:`\lambda_{\max}` in its second term (``eigenvalue_corrected`` has it, and C < 1 is tested); see
``docs/errata.md``. Use :func:`earnshaw.proof.prove` to prove something.

The paper proves one representative for a family of runs that agree up to symmetry and rounding, and moves the bounds to
the others: ``family_distance`` D lowers :math:`\lambda` by :math:`L_A D` and raises the distance by D. Its Example 1
speaks of three runs within 1.2e-8 of each other; Example 2 of one run.
"""

from dataclasses import dataclass
from functools import reduce

import numpy as np
from flint import arb, arb_mat
from numpy.typing import ArrayLike

from earnshaw.errors import InputError
from earnshaw.problems import Problem, TwoLayer
from earnshaw.proof.doubles import down, up
from earnshaw.proof.relu import point_of
from earnshaw.proof.trusted.balls import exact, floats, norm, precision
from earnshaw.proof.trusted.relu import Point
from earnshaw.threads import one_blas_thread


@dataclass(frozen=True)
class PaperChain:
    """The numbers of the paper's chain at one point; `holds` says whether its own conditions are met."""

    gradient_le: float
    eigenvalue_printed: float
    eigenvalue_corrected: float
    third_order: float
    alpha: float
    radius: float | None
    objective_ge: float | None
    holds: bool


def follow_paper(problem: Problem, weights: ArrayLike, *, family_distance: float = 0.0, bits: int = 128) -> PaperChain:
    """Evaluate the paper's chain at `weights` (n, d), not polished: the paper did not polish either."""
    if not isinstance(problem, TwoLayer) or problem.unprovable is not None:
        raise InputError(
            "the paper's chain is about ReLU networks with output weights 1; give an earnshaw.TwoLayer of those"
        )
    with precision(bits), one_blas_thread():
        point = Point(point_of(problem, weights).tolist(), problem.teacher.tolist())
        eps = arb(up(norm(point.gradient().entries())))
        printed, corrected = _eigenvalue(point.hessian())
        alpha = _largest(point.length[: point.n]) / 1000
        third = _third_order(point, alpha)
        shift = third * arb(family_distance)
        lam = arb(printed) - shift
        slack = 9 * lam * lam - 25 * third * eps
        radius = value = None
        if slack > 0 and lam > 0:
            radius = (3 * lam - slack.sqrt()) / (2 * third) + arb(family_distance)
            value = point.value() - radius * radius * _second_order(point, radius) - radius * eps
        return PaperChain(
            gradient_le=up(eps),
            eigenvalue_printed=down(lam),
            eigenvalue_corrected=down(arb(corrected) - shift),
            third_order=up(third),
            alpha=down(alpha),
            radius=None if radius is None else up(radius),
            objective_ge=None if value is None else down(value),
            holds=radius is not None and value is not None and bool(radius < alpha) and bool(value > 0),
        )


def _eigenvalue(matrix: arb_mat) -> tuple[float, float]:
    """Bound the smallest eigenvalue as section 4.1.2 does; return it as printed, and with the second term repaired.

    With A' ~ U D U', E = I - U'U, C = |E|_F and c = 1/sqrt(1 - C) - 1, the printed error is
    |A - A'|_F + |A' - U D U'|_F + |U|^2 (2 lambda_max c + c^2); the last term should be lambda_max c^2.
    """
    middle = floats(matrix)
    values, vectors = np.linalg.eigh((middle + middle.T) / 2)
    near, u, size = exact(middle.tolist()), exact(vectors.tolist()), matrix.nrows()
    identity = arb_mat(size, size, 1)
    distance = norm((u.transpose() * u - identity).entries())
    if not distance < 1:
        return -1.0, -1.0
    factor = 1 / (1 - distance).sqrt() - 1
    spectrum = arb_mat(size, size, [arb(float(values[a])) * u[b, a] for a in range(size) for b in range(size)])
    first = norm((matrix - near).entries())
    second = norm((near - u * spectrum).entries())
    length = 1 + norm((u - identity).entries())
    least, greatest = arb(float(values[0])), arb(float(np.max(np.abs(values))))
    printed = length * length * (2 * greatest * factor + factor * factor)
    repaired = length * length * greatest * (2 * factor + factor * factor)
    return down(least - first - second - printed), down(least - first - second - repaired)


def _largest(balls: list[arb]) -> arb:
    return reduce(arb.max, (ball.upper() for ball in balls), arb(0)).upper()


def _extremes(point: Point, radius: arb) -> tuple[arb, arb, arb]:
    """Return the shortest and longest neuron on the ball and the longest teacher neuron."""
    return point.shortest() - radius, _largest(point.length[: point.n]) + radius, _largest(point.length[point.n :])


def _third_order(point: Point, radius: arb) -> arb:
    """Return L_A of Theorem 3 on the ball of `radius`."""
    low, high, teacher = _extremes(point, radius)
    n, k = point.n, point.k
    return n / (arb.pi() * low * low) * (arb(2).sqrt() * (n - 1) * (high + low) + k * teacher)


def _second_order(point: Point, radius: arb) -> arb:
    """Return the bound of Lemma 7 on the Hessian's norm on the ball of `radius`."""
    low, high, teacher = _extremes(point, radius)
    n, k = point.n, point.k
    half, turn = arb(1) / 2, 2 * arb.pi() * low
    return half + n * (n - 1) * (high / turn + half) + n * k * teacher / turn
