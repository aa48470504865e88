r"""What a certificate of the ReLU landscape proves, and the check of every hypothesis.

Notation of relu.py; norms are Euclidean (Frobenius), B(R) is the closed ball of radius R about the centre W0.

THEOREM (minimum). Let W0 and the teacher be exact doubles, n >= k, 0 < r <= R, and
  (a) R < min |w_i|, so that F is C^2 on B(R), and its Hessian is L-Lipschitz there with L = lipschitz(R);
  (b) eps >= |grad F(W0)|;
  (c) lambda <= smallest eigenvalue of Hess F(W0), and of M when every dimension D >= d is claimed;
  (d) eps - lambda r + L r^2/2 < 0;      (e) lambda - L R > 0;
  (f) 0 < mu <= lambda - L r;            (g) 0 < F_ge <= F(W0) - eps^2/(2 mu);      (h) F_le >= F(W0).
Then B(R) holds exactly one critical point W*; it lies in B(r), it is a strict local minimum with Hess F(W*) >= mu I,
F_ge <= F(W*) <= F_le, and since min F = 0 (n >= k) it is spurious.
  Proof. On B(R) the Hessian is >= (lambda - L R) I > 0, so F is strictly convex there: one critical point at most. On
the sphere of radius r, (W - W0).grad F(W) >= r (lambda r - L r^2/2 - eps) > 0 by (d), so the minimum of F over B(r) is
interior: W*. On the segment from W* to W0, Hess F >= mu I, hence F(W0) - F(W*) <= |grad F(W0)|^2/(2 mu). The gradient
of the padded point is the padded gradient; its Hessian is that of F and one copy of M for each further dimension. QED

THEOREM (basin). In addition, 0 < rho, rho + 2 r <= R, 0 < nu <= lambda - L (rho + 2 r), and
Lambda >= lambda_max(Hess F(W0)) + L (rho + 2 r). Then exact gradient descent with any fixed step eta in (0, 2/Lambda),
started in B(rho), converges to W*; each step multiplies the distance to W* by at most
max(1 - eta nu, eta Lambda - 1) < 1. In every dimension, if M was included: M_ij is 1/d times the trace of block (i, j)
of the Hessian, so y.M y is a mean of values u.Hess u with |u| = |y|, and no eigenvalue of M exceeds lambda_max.
  Proof. B(W*, rho + r) lies in B(rho + 2 r) and holds B(rho); there nu I <= Hess F <= Lambda I, and a step maps W - W*
to (I - eta H)(W - W*) with H a mean of Hessians on the segment, so it stays in B(W*, rho + r). QED

THEOREM (robust). In addition let delta > 0, 0 < r' < min |w_i|, L' = lipschitz(r', delta), and put
eps' = eps + sqrt(n) k delta/2, lambda' = lambda - k delta/(pi min |w_i|). If eps' - lambda' r' + L' r'^2/2 < 0,
0 < mu' <= lambda' - L' r', F' > 0 and sqrt(2 F' + eps'^2/mu') + k delta <= sqrt(2 F(W0)), then for every teacher V'
with |v'_j - v_j| <= delta for all j, B(r') holds exactly one critical point of F for V'; it is a
strict spurious minimum with value >= F'. When M is included V' may leave R^d for any R^D.
  Proof. The gradient of f(w, v) in w varies with v at rate <= 1/2, its Hessian at rate <= 1/(pi |w|), and
|max(0, v'.x) - max(0, v.x)| <= |(v' - v).x|; then the theorem above applies to V'. QED

THEOREM (saddle). Let A be any matrix, 0 < R < min |w_i|, Y >= |A grad F(W0)|, Z1 >= |I - A Hess F(W0)|, a >= |A|,
L = lipschitz(R). If Y + (Z1 - 1) R + a L R^2/2 < 0, and u.Hess F(W0) u <= kappa |u|^2 with u != 0 and
kappa + L R < 0, then B(R) holds a critical point W*, and it is a saddle, in every dimension D >= d; with
e >= |grad F(W0)| and h >= |Hess F(W0)|, |F(W*) - F(W0)| <= e R + (h + L R) R^2/2.
  Proof. The inequality forces Z1 < 1, so A is invertible, and W - A grad F(W) maps B(R) into itself: Brouwer. The
Hessian at W* is negative along u, and positive along W*: W*.Hess F(W*) W* = sum_ij f(w_i, w_j) > 0. QED
"""

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Protocol

import numpy as np
from flint import arb, arb_mat

from .balls import floats, greatest_eigenvalue, least_eigenvalue, norm, precision, require, shown
from .reading import Document, Numbers, Rejected, parse
from .relu import Point


def verify(data: bytes, limit: float) -> tuple[str, str]:
    """Check the bytes of a certificate; return its kind and the statement proved, or raise Rejected."""
    document = parse(data, limit)
    with precision(document.precision):
        return document.kind, _CHECKS[document.kind](document)


class Site(Protocol):
    """What the theorems ask of a point: sizes, value, rate of change, the gradient (of this norm) and blocks of Hessians.

    The eigenvalues of all `hessians` together are those of Hess F, and those of all `extensions` those of M.
    """

    n: int
    k: int
    d: int

    def value(self) -> arb:
        """Enclose F."""
        ...

    def gradient(self) -> arb_mat:
        """Enclose numbers whose norm is that of the gradient."""
        ...

    def lipschitz(self, radius: arb, delta: arb) -> arb:
        """Bound the Hessian's rate of change."""
        ...

    def hessians(self) -> Iterable[arb_mat]:
        """Enclose the blocks of the Hessian."""
        ...

    def extensions(self) -> Iterable[arb_mat]:
        """Enclose the blocks of M."""
        ...


def _shape(point: Site) -> str:
    return f"n = {point.n}, k = {point.k}, d = {point.d}"


def _minimum(document: Document) -> str:
    return check_minimum(document, Point(document.center, document.target))


def check_minimum(document: Numbers, point: Site) -> str:
    """Check hypotheses (a)-(h) of the first theorem; return the statement."""
    real = document.real
    inner, outer = _positive(document, "R_enclosure"), _positive(document, "R_unique")
    eps, lam, lip = (arb(real(f"claims.{name}")) for name in ("grad_norm_le", "lambda_min_ge", "hess_lipschitz_le"))
    mu, f_ge, f_le = (arb(real(f"claims.{name}")) for name in ("mu_ge", "F_ge", "F_le"))

    require(inner <= outer, "R_enclosure exceeds R_unique")
    require(point.lipschitz(outer, arb(0)) <= lip, "hess_lipschitz_le is below the bound L on the ball of R_unique")
    require(norm(point.gradient().entries()) <= eps, "grad_norm_le is below the norm of the gradient at the center")
    value = point.value()
    require(value <= f_le, "F_le is below F(center)")
    for hessian in point.hessians():
        require(lam <= least_eigenvalue(hessian, real("hint.shift")), "lambda_min_ge exceeds what the Hessian proves")
    everywhere = document.numbers["claims.lambda_ext_ge"]
    if everywhere is not None:
        for extension in point.extensions():
            proved = least_eigenvalue(extension, real("hint.shift_ext"))
            require(arb(everywhere) <= proved, "lambda_ext_ge exceeds what the matrix M proves")
        lam = lam.min(arb(everywhere))
    require(eps - lam * inner + lip * inner * inner / 2 < 0, "eps - lambda r + L r^2/2 < 0 fails at r = R_enclosure")
    require(lam - lip * outer > 0, "lambda - L R > 0 fails at R = R_unique")
    require(mu > 0, "mu_ge is not positive")
    require(mu <= lam - lip * inner, "mu_ge exceeds lambda - L R_enclosure")
    require(f_ge > 0, "F_ge is not positive: the point is not shown to be spurious")
    require(f_ge <= value - eps * eps / (2 * mu), "F_ge exceeds F(center) - eps^2/(2 mu)")
    far, near = shown(real("R_unique"), up=False), shown(real("R_enclosure"), up=True)
    if Decimal(near) <= Decimal(far):
        where = f"exactly one critical point within {far} of the center; it lies within {near}, "
    else:  # as shown, rounded, the numbers would not say so
        where = f"a critical point within {near} of the center, and no other within {far}; it "
    return (
        f"spurious local minimum ({_shape(point)}{_dimensions(document)}): {where}"
        f"is a strict local minimum with Hessian >= {shown(real('claims.mu_ge'), up=False)} I, and F >= "
        f"{shown(real('claims.F_ge'), up=False)} there while min F = 0; lambda_min >= "
        f"{shown(real('claims.lambda_min_ge'), up=False)} at the center"
    )


def _positive(document: Numbers, name: str) -> arb:
    """Return a radius, a distance or a step. Were it negative, a negative lambda could pass for a positive one."""
    number = arb(document.real(name))
    require(number > 0, f"{name} is not positive")
    return number


def _dimensions(document: Numbers) -> str:
    return "" if document.numbers["claims.lambda_ext_ge"] is None else ", every dimension D >= d"


def _least(document: Numbers) -> arb:
    """Return lambda of hypothesis (c), after it has been checked."""
    lam, everywhere = arb(document.real("claims.lambda_min_ge")), document.numbers["claims.lambda_ext_ge"]
    return lam if everywhere is None else lam.min(arb(everywhere))


def _basin(document: Document) -> str:
    point, real = Point(document.center, document.target), document.real
    statement = check_minimum(document, point)
    rho, step = _positive(document, "basin.radius"), _positive(document, "basin.step_lt")
    top, smooth, nu = (arb(real(f"basin.{name}")) for name in ("lambda_max_le", "smoothness_le", "mu_ge"))
    lip, reach = arb(real("claims.hess_lipschitz_le")), rho + 2 * arb(real("R_enclosure"))
    require(reach <= arb(real("R_unique")), "basin.radius + 2 R_enclosure exceeds R_unique")
    require(
        greatest_eigenvalue(point.hessian()) <= top,
        "basin.lambda_max_le is below the bound on the Hessian's eigenvalues",
    )
    require(smooth >= top + lip * reach, "basin.smoothness_le is below lambda_max_le + L R")
    require(nu > 0, "basin.mu_ge is not positive")
    require(nu <= _least(document) - lip * reach, "basin.mu_ge exceeds lambda - L R")
    require(step * smooth <= 2, "basin.step_lt exceeds 2 / smoothness_le")
    return (
        f"basin of attraction: exact gradient descent with a fixed step below {shown(real('basin.step_lt'), up=False)} "
        f"from any point within {shown(real('basin.radius'), up=False)} of the center converges to this {statement}"
    )


def _robust(document: Document) -> str:
    point, real = Point(document.center, document.target), document.real
    statement = check_minimum(document, point)
    delta, inner = _positive(document, "robust.delta"), _positive(document, "robust.R_enclosure")
    lip, mu, f_ge = (arb(real(f"robust.{name}")) for name in ("hess_lipschitz_le", "mu_ge", "F_ge"))
    moved = point.k * delta
    eps = arb(real("claims.grad_norm_le")) + arb(point.n).sqrt() * moved / 2
    lam = _least(document) - moved / (arb.pi() * point.shortest())
    require(point.lipschitz(inner, delta) <= lip, "robust.hess_lipschitz_le is below the bound L on its ball")
    require(
        eps - lam * inner + lip * inner * inner / 2 < 0, "eps' - lambda' r + L' r^2/2 < 0 fails for the robust ball"
    )
    require(mu > 0, "robust.mu_ge is not positive")
    require(mu <= lam - lip * inner, "robust.mu_ge exceeds lambda' - L' r")
    require(f_ge > 0, "robust.F_ge is not positive")
    left = (2 * f_ge + eps * eps / mu).sqrt()
    require(left + moved <= (2 * point.value()).sqrt(), "robust.F_ge exceeds what is left of F as the teacher moves")
    return (
        f"robust: every teacher whose neurons each lie within {shown(real('robust.delta'), up=False)} of the given "
        f"ones has a strict spurious minimum with F >= {shown(real('robust.F_ge'), up=False)} within "
        f"{shown(real('robust.R_enclosure'), up=True)} of the center, and no other critical point within "
        f"{shown(real('robust.R_enclosure'), up=False)}; for the given teacher: {statement}"
    )


def _saddle(document: Document) -> str:
    return check_saddle(document, Point(document.center, document.target))


def check_saddle(document: Numbers, point: Site) -> str:
    """Check the hypotheses of the last theorem; return the statement.

    The first of the point's `hessians` is the one that the gradient lives in: a critical point is looked for there, in the
    whole space or in the points with a symmetry, which the gradient of F never leaves. Any of them may have the direction u.
    """
    real = document.real
    radius = _positive(document, "R_enclosure")
    names = ("grad_norm_le", "newton_step_le", "defect_le", "inverse_norm_le", "hess_lipschitz_le", "curvature_le")
    eps, step, defect, size, lip, curvature = (arb(real(f"claims.{name}")) for name in names)
    require(point.lipschitz(radius, arb(0)) <= lip, "hess_lipschitz_le is below the bound L on the ball of R_enclosure")
    gradient, hessians = point.gradient().entries(), list(point.hessians())
    require(norm(gradient) <= eps, "grad_norm_le is below the norm of the gradient at the center")
    guessed = [(hessian, *guesses(hessian)) for hessian in hessians]
    hessian, inverse, _ = guessed[0]
    column = arb_mat(len(gradient), 1, gradient)
    require(norm((inverse * column).entries()) <= step, "newton_step_le is below |A gradient|")
    product = inverse * hessian
    for a in range(product.nrows()):
        product[a, a] -= 1
    require(norm(product.entries()) <= defect, "defect_le is below |I - A H|")
    require(norm(inverse.entries()) <= size, "inverse_norm_le is below |A|")
    require(
        step + (defect - 1) * radius + size * lip * radius * radius / 2 < 0, "the Newton-Kantorovich inequality fails"
    )
    bends = [_bends(matrix, u, curvature) for matrix, _, u in guessed]
    require(any(bends), "curvature_le is below the curvature found along the guessed direction")
    require(curvature + lip * radius < 0, "curvature_le + L R < 0 fails: the negative curvature may vanish on the ball")
    value = point.value()
    drift = eps * radius + (norm(hessian.entries()) + lip * radius) * radius * radius / 2
    require(arb(real("claims.F_ge")) <= value - drift, "F_ge exceeds F(center) minus its variation on the ball")
    require(arb(real("claims.F_le")) >= value + drift, "F_le is below F(center) plus its variation on the ball")
    return (
        f"saddle ({_shape(point)}, every dimension D >= d): a critical point within "
        f"{shown(real('R_enclosure'), up=True)} of the center that is neither a minimum nor a maximum, with an eigenvalue "
        f"<= {shown(real('claims.curvature_le'), up=True)} at the center and {shown(real('claims.F_ge'), up=False)} <= F "
        f"<= {shown(real('claims.F_le'), up=True)}"
    )


def _bends(hessian: arb_mat, u: arb_mat, curvature: arb) -> bool:
    """Say whether u.H u < curvature |u|^2."""
    return (u.transpose() * hessian * u)[0, 0] < curvature * (u.transpose() * u)[0, 0]


def guesses(hessian: arb_mat) -> tuple[arb_mat, arb_mat]:
    """Guess in floats an inverse of the Hessian and its most negative direction; nothing is assumed of either."""
    middle = floats(hessian)
    try:
        with np.errstate(all="ignore"):
            values, vectors = np.linalg.eigh((middle + middle.T) / 2)
            inverse = (vectors / values) @ vectors.T
    except np.linalg.LinAlgError:
        raise Rejected("the Hessian has no float eigendecomposition") from None
    size = hessian.nrows()
    matrix = arb_mat(size, size, [arb(x) for x in inverse.ravel().tolist()])
    return matrix, arb_mat(size, 1, [arb(x) for x in vectors[:, 0].tolist()])


_CHECKS: dict[str, Callable[[Document], str]] = {
    "minimum": _minimum,
    "basin": _basin,
    "robust": _robust,
    "saddle": _saddle,
}
