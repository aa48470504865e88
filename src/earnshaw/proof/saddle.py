r"""Proving a saddle: a zero of the gradient by Newton-Kantorovich, and a direction of negative curvature.

The approximate inverse A and the direction u are floats; the checker makes its own. What is claimed therefore leaves
room: each bound is :data:`ROOM` times what is found here, which costs nothing because the enclosing radius is tiny.
"""

from typing import Any

from flint import arb, arb_mat, ctx

from earnshaw.proof.claims import SaddleClaim
from earnshaw.proof.doubles import down, up
from earnshaw.proof.trusted.balls import norm
from earnshaw.proof.trusted.relu import Point
from earnshaw.proof.trusted.relu_claims import guesses
from earnshaw.proof.verdict import Missed

ROOM = 16


def prove_saddle(point: Point) -> tuple[SaddleClaim, dict[str, Any]]:
    """Prove that a saddle lies at `point`; return the claim and its certificate's sections, or raise Missed."""
    gradient, hessian = point.gradient(), point.hessian()
    inverse, direction = guesses(hessian)
    eps = up(norm(gradient.entries()))
    column = arb_mat(point.n * point.d, 1, gradient.entries())
    step = up(ROOM * norm((inverse * column).entries()) + arb(2) ** -1000)
    product = inverse * hessian
    for a in range(product.nrows()):
        product[a, a] -= 1
    defect = up(ROOM * norm(product.entries()))
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
    length = (direction.transpose() * direction)[0, 0]
    bent = (direction.transpose() * hessian * direction)[0, 0] / length
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
