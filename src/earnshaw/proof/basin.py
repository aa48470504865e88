r"""A proved basin of attraction of gradient descent around a proved minimum.

Inside radius :math:`\rho = R - 2 r` (R = ``R_unique``, r = ``R_enclosure``) exact gradient descent with a fixed step
:math:`\eta < 2/\Lambda` goes to the minimum, :math:`\Lambda \ge \lambda_{\max} + L R`; see the theorem (basin) in
``proof/trusted/relu_claims.py``.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb

from earnshaw.proof.balls import down, up
from earnshaw.proof.doubles import DoubleMatrix
from earnshaw.proof.minimum import Minimum, Missed

MARGIN = 1e-6  # on lambda_max, relatively: the checker guesses its own weights and must not find a larger bound


@dataclass(frozen=True)
class Basin:
    """Radius around the centre, strong convexity and smoothness there, and the bound on the step."""

    radius: float
    lambda_max: float
    smoothness: float
    mu: float
    step: float

    def section(self) -> dict[str, Any]:
        """Return the `basin` section of the certificate."""
        return {
            "radius": self.radius,
            "lambda_max_le": self.lambda_max,
            "smoothness_le": self.smoothness,
            "mu_ge": self.mu,
            "step_lt": self.step,
        }


def prove_basin(hessian: DoubleMatrix, minimum: Minimum) -> Basin:
    """Prove the basin of `minimum`; raises Missed when there is no room for one."""
    top = _greatest(hessian)
    radius = down(arb(minimum.outer) - 2 * arb(minimum.inner))
    reach = arb(radius) + 2 * arb(minimum.inner)
    smoothness = up(arb(top) + arb(minimum.lipschitz) * reach)
    mu = down(arb(minimum.lam) - arb(minimum.lipschitz) * reach)
    if not (radius > 0 and mu > 0 and reach <= arb(minimum.outer)):
        raise Missed(f"no room for a basin: R_unique = {minimum.outer:.3g}, R_enclosure = {minimum.inner:.3g}")
    return Basin(radius, top, smoothness, mu, down(2 / arb(smoothness)))


def _greatest(matrix: DoubleMatrix) -> float:
    """Bound the largest eigenvalue by max_i (|H| x)_i / x_i, x > 0, with room for rounding and for the checker's x."""
    sizes = np.abs(matrix.entries)
    x = np.ones(sizes.shape[0])
    for _ in range(50):
        y = sizes @ x
        x = y / np.max(y)
    x = x + 1e-3
    size = sizes.shape[0]
    quotient = arb(float(np.max((sizes @ x) / x))) * (1 + arb(size + 8) * arb(2) ** -52)
    # |H~ - H| <= error in Frobenius norm, and the spectral norm of the difference is no larger.
    return up((quotient + matrix.error) * (1 + arb(MARGIN)))
