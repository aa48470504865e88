r"""Proving a ball in which the risk of a data set is strictly convex: numbers guessed in doubles, confirmed by the checker.

``proof/trusted/convexity.py`` states the theorem about :math:`f_n(W) = \frac1{2n}\sum_i e_i(W)^2,\ e_i(W) = \frac1K\sum_k
\phi(w_k\cdot x_i) - y_i`: with :math:`\lambda` the Hessian's smallest eigenvalue at the centre, and

.. math:: L = \frac{3 c_1 c_2}{K^{3/2}}\sqrt{s_2 s_4} + \frac{c_3}{K}\sqrt{s_e s_4}, \qquad G = \frac{c_1 c_3}{K^{3/2}} s_4,

the Hessian at distance t is at least :math:`\lambda - L t - G t^2/2`. Here every number is computed in plain doubles and
given room for the rounding that the checker counts: n rows cost it about :math:`n 2^{-53}` of the sum of absolute values.
A guess that is too bold is no harm, for the verdict is the checker's.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from earnshaw.errors import InputError
from earnshaw.problems import Data
from earnshaw.proof.certificate import affordable, build
from earnshaw.proof.claims import ConvexityClaim, DensePoint
from earnshaw.proof.trusted import check_bytes
from earnshaw.proof.trusted.convexity import LARGEST, costs
from earnshaw.proof.trusted.reading import LARGE_BYTES
from earnshaw.proof.verdict import Proof, Verdict

Array = NDArray[np.float64]
_ROOM = 2.0**-49  # per row, of a sum of absolute values: what the checker's rounding may cost, and more
_SUM, _EACH = (
    2.0**-42,
    2.0**-49,
)  # of the gradient, whose sum the checker knows exactly: our errors, relative and absolute
_LITTLE = 2.0**-40
_BLOCK = 4096


def too_large(samples: int, neurons: int, dimension: int) -> str | None:
    """Say why a data set of these sizes is too large for a certificate; None when it is not."""
    try:
        affordable(costs(samples, dimension, neurons))
    except InputError as error:
        return str(error)
    numbers = samples * (dimension + 1)
    if 11 * numbers + (1 << 20) > LARGE_BYTES:  # base64 of doubles, and the rest
        return f"a certificate would hold {numbers} numbers of the data set; it takes up to {LARGE_BYTES // 11}"
    return None


def prove_convexity(problem: Data, weights: ArrayLike | None, *, meta: Mapping[str, str] | None = None) -> Proof:
    """Prove a ball around weights (K, d) in which the risk is strictly convex, and where in it the minimiser is.

    Takes about a second for each 10,000 rows and three neurons, most of it the checker's.
    """
    center = np.array(weights, dtype=np.float64)
    if center.shape != problem.shape:
        raise InputError(
            f"the point has shape {center.shape}; give {problem.neurons} rows of {problem.dimension} numbers"
        )
    if not np.isfinite(center).all():
        raise InputError("a weight is NaN or infinite; give finite numbers")
    large = too_large(problem.samples, problem.neurons, problem.dimension)
    if large is not None:
        raise InputError(large)
    if max(np.abs(problem.x).max(), np.abs(center).max()) > LARGEST:
        return Proof.undecided(problem, "the numbers are too large to be enclosed; rescale the data", center)
    with np.errstate(all="ignore"):
        claim, shift = _guess(problem, center)
    if not claim.curvature_ge > 0:
        reason = f"the smallest eigenvalue at the centre is only known to be at least {claim.curvature_ge:.3g}"
        return Proof.undecided(problem, reason, center)
    sections = {"claims": vars(claim), "hint": {"shift": shift}}
    certificate = build("convexity", problem.to_json(), center, sections, meta)
    accepted, _, sentence = check_bytes(certificate.to_text().encode())
    if not accepted:
        return Proof.undecided(problem, f"the checker does not confirm what doubles suggest: {sentence}", center)
    reason, point = "every inequality of the theorem holds, by the checker", DensePoint(center)
    certificates = {"convexity": certificate}
    return Proof(Verdict.PROVED_CONVEX, reason, problem.network, problem.sizes, point, claim, certificates)


def _guess(problem: Data, center: Array) -> tuple[ConvexityClaim, float]:
    """Return the claim that doubles suggest, and the shift of the bound of the fourth moment."""
    x, n, (K, d) = problem.x, problem.samples, problem.shape
    phi, slope, bend, (c1, c2, c3) = _derivatives(problem.activation.name, x @ center.T)
    error = phi.mean(axis=1) - problem.y
    length = float(np.sum(x * x))

    pull = np.linalg.norm((error[:, None] * slope).T @ x)
    doubt = np.linalg.norm(((_SUM * np.abs(error) + _EACH)[:, None] * slope).T @ np.abs(x))
    gradient = float(pull + doubt) / (n * K)

    jacobian = (slope[:, :, None] * x[:, None, :]).reshape(n, K * d)
    hessian = jacobian.T @ jacobian
    size = float(np.trace(hessian))
    for k in range(K):
        own, place = error * bend[:, k], slice(k * d, k * d + d)
        hessian[place, place] += K * (x * own[:, None]).T @ x
        size += K * float(np.abs(own).max()) * length
    curvature = float(np.linalg.eigvalsh(hessian)[0] - n * _ROOM * size) / (n * K**2)

    second = _most(x.T @ x, n, length)
    weighted = _most((x * error[:, None] ** 2).T @ x, n, float(np.max(error**2)) * length)
    fourth, shift = _fourth_moment(x)
    change = 3 * c1 * c2 / K**1.5 * np.sqrt(second * fourth) + c3 / K * np.sqrt(weighted * fourth)
    change, growth = (float(number) * (1 + _LITTLE) for number in (change, c1 * c3 / K**1.5 * fourth))

    if not curvature > 0:
        return ConvexityClaim(curvature, change, growth, gradient, 0.0, None), shift
    # The root of  curvature = change r + growth r^2 / 2, in the form without cancellation.
    radius = float(2 * curvature / (change + np.sqrt(change**2 + 2 * growth * curvature))) * (1 - _LITTLE)
    within = max(2 * gradient / curvature, radius * 2.0**-200)
    # Going out to `within`, the slope along the ray has gained this much: more than the gradient could take away.
    gained = curvature * within - change * within**2 / 2 - growth * within**3 / 6
    found = within < radius and gained > gradient * (1 + _LITTLE)
    return ConvexityClaim(curvature, change, growth, gradient, radius, within if found else None), shift


def _derivatives(activation: str, z: Array) -> tuple[Array, Array, Array, tuple[float, float, float]]:
    """Return phi, phi', phi'' and the largest sizes of phi', phi'', phi'''."""
    if activation == "unit-erf":
        from scipy.special import erf

        root = np.sqrt(np.pi)
        slope = np.exp(-z * z) / root
        return (1 + erf(z)) / 2, slope, -2 * z * slope, (1 / root, np.sqrt(2 / np.e) / root, 2 / root)
    rate = {"sigmoid": 1.0, "unit-tanh": 2.0}[activation]
    tail = np.exp(-rate * np.abs(z))
    phi = np.where(z > 0, 1.0, tail) / (1 + tail)
    slope = rate * tail / (1 + tail) ** 2
    return phi, slope, rate * slope * (1 - 2 * phi), (rate / 4, rate**2 / (6 * np.sqrt(3)), rate**3 / 8)


def _most(matrix: Array, rows: int, size: float) -> float:
    """Return the largest eigenvalue of 1/n of a sum over n rows, whose absolute values sum to at most `size`, with room."""
    return float(np.linalg.eigvalsh(matrix)[-1] + rows * _ROOM * size) / rows


def _fourth_moment(x: Array) -> tuple[float, float]:
    r"""Return a bound of :math:`s_4 = \max_{|p|=1} \frac1n\sum_i (p\cdot x_i)^4`, and the shift c that gives it.

    With :math:`A_i = x_ix_i^T` as a vector of its d(d+1)/2 entries (those off the diagonal times sqrt 2) and U the vector
    of the identity, :math:`n s_4 \le c + \lambda_{\max}(\sum_i A_iA_i^T - c\, UU^T)` for every c. For normal inputs
    c = n gives about the right value 3 n, where c = 0 gives (d + 2) n.
    """
    n, d = x.shape
    first, second = np.triu_indices(d)
    diagonal = first == second
    total = np.zeros((len(first),) * 2)
    for start in range(0, n, _BLOCK):
        rows = x[start : start + _BLOCK]
        products = rows[:, first] * rows[:, second] * np.where(diagonal, 1.0, np.sqrt(2.0))
        total += products.T @ products
    size, typical, ones = float(np.trace(total)), n * float(np.mean(x * x)) ** 2, np.outer(diagonal, diagonal)
    shifts = (0.0, 0.5 * typical, typical, 1.5 * typical)
    return min((_most(total - c * ones, n, size + c * d) + c / n, c) for c in shifts)
