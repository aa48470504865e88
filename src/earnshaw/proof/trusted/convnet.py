r"""The stationary points of the convolutional network with weight normalisation: theorem, and check of a certificate.

The teacher has a filter w* in R^p, p >= 2, and output weights a* in R^k, both nonzero; u is the vector of k ones. From
k independent standard Gaussian patches Z_i in R^p a student with filter v != 0 and output weights a learns by the loss

    F(v, a) = 1/2 E ( sum_i a_i max(0, Z_i.v)/|v| - sum_i a*_i max(0, Z_i.w*) )^2 .

Write W = |w*|, A = |a*|^2, S = u.a*, kappa = k + pi - 1, b = a.a*, phi for the angle of v and w*, psi = pi - phi, and

    g = psi cos phi + sin phi,       H = (u u' + (pi - 1) I)/(2 pi),       a(g) = W ((g - 1) a* + (pi - g) (S/kappa) u)/(pi - 1),
    K = (kappa A - S^2)/((pi - 1) kappa),       g_c = (kappa A - pi S^2)/(kappa A - S^2),       F_c = W^2 A^2/(4 pi K).

FACTS. E max(0, x)^2 = 1/2, E max(0, x) = 1/sqrt(2 pi) for a normal x, and E max(0, Z.v) max(0, Z.w*) = |v| W g/(2 pi)
(the arc-cosine kernel) give 4 pi F = (u.a - W S)^2 + (pi - 1)(|a|^2 + W^2 A) - 2 (g - 1) W b. As a function of a this is
a quadratic with Hessian H > 0; it is least at a(g), where b = W K (g - g_c). Since K (pi - g_c) = A,

    (*)   F(v, a) = F_c - (W^2 K/(4 pi)) (g - g_c)^2 + (a - a(g)).H (a - a(g))/2,       K > 0  (Cauchy: S^2 <= k A).

g falls strictly from pi to 0 as phi goes from 0 to pi: dg/dphi = -psi sin phi. The gradient in v is a multiple of
b psi sin phi, and not 0 unless that is. F is C^2 where v != 0.

THEOREM 1 (all stationary points). They are (i) phi = 0, a = W a*, where F = 0; (ii) phi = pi, a = a(0), where
F = F_c - W^2 K g_c^2/(4 pi) > 0 and b = -W K g_c; (iii) if g_c > 0, g = g_c and a = a(g_c), where b = 0, F = F_c.
  (i) is the global minimum. (iii) are strict saddles. (ii) is a local minimum iff g_c > 0, that is, iff the margin
kappa A - pi S^2 is positive. In that case F(v, a) > F at (ii) wherever b < 0 and (phi, a) != (pi, a(0)): (ii) is the
strict minimum of F on that half space, up to the length of v, on which F does not depend. Otherwise (ii) is no minimum.
  Proof. b psi sin phi = 0 and a = a(g) leave phi = 0, phi = pi, or b = 0, that is g = g_c; g_c <= 1 < pi, and
g_c > 0 is needed for g = g_c with phi < pi. Along phi -> (phi, a(g)) the square in (*) stays 0, and F as a function of g
is a parabola that opens downwards with its top at g_c: so (iii) has negative curvature along this curve (dg/dphi != 0)
and positive curvature in a; and if g_c <= 0, F falls strictly as g grows from 0: (ii) is no minimum. Let g_c > 0. With Q
for F at g = 0, F = Q(a) - (W/(2 pi)) g b; where b < 0 this is >= Q(a) >= Q(a(0)), with equality only for g = 0 and
a = a(0). At (ii) b = -W K g_c < 0, so that b < 0 holds near (ii). (The Hessian of F vanishes on v at (ii): g is of order
psi^3/3. The second-order test says nothing there, on either side of the condition.) QED

THEOREM 2 (attraction). Let |v| >= 1, phi < pi, F(v, a) < F_c, and 0 < eta <= 1/L, where L is the larger eigenvalue of
the matrix (h, m; m, n) with h = kappa/(2 pi), m = pi W sqrt(A)/8, n = W^2 A. Then exact gradient descent with step eta
from (v, a) converges to (ii) if b < 0, and to (i) if b > 0; no other case can occur, and b < 0 only if g_c > 0.
  Proof. a*.H^-1 a* = 2 pi K, so by (*) F < F_c implies |b - W K (g - g_c)| < W K |g - g_c|: b is not 0, has the sign of
g - g_c, and |b| < 2 W K |g - g_c| <= 2 W A, since g_c <= 1. (So below F_c the angle decides as well as b.) Let the point
move along a step: v - s eta q, a - s eta r, 0 <= s <= 1, with q, r the gradient at the start; q is orthogonal to v, so
|v| does not shrink, and with y = s eta |q|/|v| and up to sign, phi moves by arctan y: dg/dy = psi sin phi/(1 + y^2) and
|d^2 g/dy^2| <= (|g''| + 2 y |g'|)/(1 + y^2)^2 <= sqrt(g''^2 + g'^2) <= pi, because (1 + 4 y^2)/(1 + y^2)^4 <= 1 and
psi^2 + psi sin(2 psi) + sin(psi)^2, whose derivative is 4 cos psi (psi cos psi + sin psi), is greatest at psi = pi; and
psi sin phi <= psi (pi - psi) <= pi^2/4. As long as F < F_c the second derivative of F in s is therefore at most
eta^2 (h |r|^2 + 2 m |q||r| + n |q|^2) <= eta^2 L (|q|^2 + |r|^2), and F' <= -eta (1 - s eta L)(|q|^2 + |r|^2): F falls
along the whole step, by continuity, by eta/2 times the squared gradient at least, and stays below F_c: b keeps its sign.
Hence the squares of the gradients have a finite sum, |v|^2 grows by eta^2 |q|^2 a step and stays bounded, a is bounded
by (*), the gradient tends to 0, and limit points are stationary with F < F_c and b of the given sign. If b > 0, phi does
not grow: it becomes |phi - arctan(lambda sin phi)| with 0 <= lambda = eta W b psi/(2 pi |v|^2) <= eta n <= 1; so phi = pi
is excluded and (i) is left. If b < 0, (i) and (iii) are excluded, (ii) is left, and b < 0 there. QED

A certificate states the problem in exact doubles; `center`, the doubles nearest to the output weights of (ii);
`R_enclosure`, their distance; and pairs of bounds. Each pair must be the two doubles next to the true number, one on each
side (or the number itself, twice): a bound that is true but loose is refused as well, so that no number in the file can
be altered unnoticed. The bounds of the saddles' angle are null exactly when the margin is not positive. `step_le` is the
greatest double that Theorem 2 allows.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import copysign, inf, nextafter

from flint import arb, fmpq

from .balls import precision, require, shown
from .reading import COMMON, MAX_BYTES, Rejected, afford, exact_keys, hex_float, integer, load

OBJECTIVE = "convnet/relu"
MAX_WEIGHTS = 10_000
PRECISION = 256
PAIRS = ("margin", "F", "product", "barrier", "angle")
CLAIMS = (*(f"{name}_{side}" for name in PAIRS for side in ("ge", "le")), "step_le")


@dataclass(frozen=True)
class Document:
    """A certificate whose shape is right and whose numbers are finite; nothing about its truth is known yet."""

    filter: list[float]
    outputs: list[float]
    center: list[float]
    radius: float
    claims: dict[str, float | None]

    def real(self, name: str) -> float:
        """Return a claim that must be there."""
        value = self.claims[name]
        if value is None:
            raise Rejected(f"claims.{name} is null")
        return value


def parse(data: bytes, limit: float) -> Document:
    """Turn the bytes of a certificate of kind `convnet` into a Document, or raise Rejected with a reason."""
    raw = exact_keys(load(data), (*COMMON, "R_enclosure", "claims"), "the document")
    require(raw["kind"] == "convnet", "kind is not convnet")
    problem = exact_keys(raw["problem"], ("p", "k", "filter", "output_weights", "objective"), "problem")
    require(problem["objective"] == OBJECTIVE, f"problem.objective must be {OBJECTIVE!r}")
    p, k = integer(problem["p"], "problem.p", 2, MAX_BYTES), integer(problem["k"], "problem.k", 1, MAX_BYTES)
    afford(limit, ("p", p, MAX_WEIGHTS), ("k", k, MAX_WEIGHTS))
    filter = _vector(problem["filter"], p, "problem.filter")
    outputs = _vector(problem["output_weights"], k, "problem.output_weights")
    claims = exact_keys(raw["claims"], CLAIMS, "claims")
    numbers = {name: None if value is None else hex_float(value, f"claims.{name}") for name, value in claims.items()}
    radius, center = hex_float(raw["R_enclosure"], "R_enclosure"), _vector(raw["center"], k, "center")
    for number in (*numbers.values(), radius, *center):
        require(number != 0 or copysign(1, number) > 0, "a zero is written with a sign")  # so that it has one form only
    return Document(filter, outputs, center, radius, numbers)


def verify(data: bytes, limit: float) -> tuple[str, str]:
    """Check the bytes of a certificate; return its kind and the statement proved, or raise Rejected."""
    document = parse(data, limit)
    with precision(PRECISION):
        _check(document)
    return "convnet", statement(document)


def _vector(value: object, size: int, name: str) -> list[float]:
    """Read a list of `size` hex floats."""
    if type(value) is not list or len(value) != size:
        raise Rejected(f"{name} must be a list of {size} numbers")
    return [hex_float(entry, name) for entry in value]


def _ball(number: Fraction) -> arb:
    return arb(fmpq(number.numerator, number.denominator))


def overlap(angle: arb) -> arb:
    """Enclose g at an angle."""
    return (arb.pi() - angle) * angle.cos() + angle.sin()


class Teacher:
    """The numbers of the theorem for one teacher; S, A and W^2 are exact rationals before they become balls."""

    def __init__(self, filter: list[float], outputs: list[float]) -> None:
        self.k, self.outputs = len(outputs), [Fraction(x) for x in outputs]
        zero = Fraction(0)
        square, total = sum((x * x for x in self.outputs), zero), sum(self.outputs, zero)
        length = sum((Fraction(x) ** 2 for x in filter), zero)
        require(length > 0, "the filter is zero")
        require(square > 0, "the output weights are all zero")
        self.total, self.square, self.length = _ball(total), _ball(square), _ball(length).sqrt()
        self.kappa = self.k - 1 + arb.pi()
        # (k - 1) A - pi (S^2 - A): exactly 0 for k = 1, and never 0 otherwise, for pi is irrational
        self.margin = _ball((self.k - 1) * square) - arb.pi() * _ball(total * total - square)
        self.curvature = (self.kappa * self.square - self.total**2) / ((arb.pi() - 1) * self.kappa)
        self.turning = self.margin / (self.kappa * self.square - self.total**2)

    def spurious_outputs(self) -> list[arb]:
        """Enclose a(0) = W (pi S/kappa u - a*)/(pi - 1), written as W (pi (S u - a*) - (k - 1) a*)/((pi - 1) kappa)."""
        scale = self.length / ((arb.pi() - 1) * self.kappa)
        total = sum(self.outputs, Fraction(0))
        return [scale * (arb.pi() * _ball(total - x) - _ball((self.k - 1) * x)) for x in self.outputs]

    def barrier(self) -> arb:
        """Enclose F_c."""
        return (self.length * self.square) ** 2 / (4 * arb.pi() * self.curvature)

    def spurious_value(self) -> arb:
        """Enclose F at (ii)."""
        return self.barrier() - self.length**2 * self.curvature * self.turning**2 / (4 * arb.pi())

    def product(self) -> arb:
        """Enclose b at (ii)."""
        return -self.length * self.margin / ((arb.pi() - 1) * self.kappa)

    def smoothness(self) -> arb:
        """Enclose L of Theorem 2."""
        size = self.length * self.square.sqrt()
        h, m, n = self.kappa / (2 * arb.pi()), arb.pi() * size / 8, size**2
        return (h + n + ((h - n) ** 2 + 4 * m**2).sqrt()) / 2


def _check(document: Document) -> None:
    """Compare every number of a certificate with its ball."""
    teacher, real = Teacher(document.filter, document.outputs), document.real
    _tight(document, "margin", teacher.margin)
    _tight(document, "F", teacher.spurious_value())
    _tight(document, "product", teacher.product())
    _tight(document, "barrier", teacher.barrier())
    if teacher.margin > 0:
        low, high = real("angle_ge"), real("angle_le")
        require(0 < low < high <= nextafter(low, inf) and arb(high) < arb.pi(), "the angle's bounds are not neighbours")
        require(overlap(arb(low)) > teacher.turning, "angle_ge exceeds the saddles' angle")
        require(overlap(arb(high)) < teacher.turning, "angle_le is below the saddles' angle")
    else:
        require(teacher.margin <= 0, "the sign of the margin is not decided at this precision")
        angles = document.claims["angle_ge"], document.claims["angle_le"]
        require(angles == (None, None), "there are no saddles: the bounds of their angle must be null")
    distance = arb(0)
    for exact, double in zip(teacher.spurious_outputs(), document.center, strict=True):
        _nearest(exact, double)
        distance += (exact - double) * (exact - double)
    _radius(distance, document.radius)
    step, most = real("step_le"), 1 / teacher.smoothness()
    require(arb(step) <= most, "step_le exceeds 1/L")
    require(arb(nextafter(step, inf)) > most, "step_le is not the greatest double below 1/L")


def _tight(document: Document, name: str, ball: arb) -> None:
    """Require the two doubles next to the number, or the number itself twice."""
    low, high = document.real(f"{name}_ge"), document.real(f"{name}_le")
    if low == high:
        require(ball == arb(low), f"{name}_ge and {name}_le are equal, but not the number itself")
        return
    require(arb(low) < ball, f"{name}_ge is not below the number")
    require(ball < arb(high), f"{name}_le is not above the number")
    require(high <= nextafter(low, inf), f"{name}_ge and {name}_le are not neighbours: a bound is loose")


def _nearest(exact: arb, double: float) -> None:
    """Require that no double is nearer."""
    below, above = (arb(nextafter(double, end)) for end in (-inf, inf))
    require(2 * exact > below + double, "an entry of center is not the nearest double: too large")
    require(2 * exact < above + double, "an entry of center is not the nearest double: too small")


def _radius(square: arb, radius: float) -> None:
    """Require the least double that is at least the root of `square`."""
    require(radius >= 0, "R_enclosure is negative")
    require(square <= arb(radius) ** 2, "R_enclosure is below the distance of center from the spurious point")
    if radius > 0:
        require(arb(nextafter(radius, 0)) ** 2 < square, "R_enclosure is not the least double that will do")


def statement(document: Document) -> str:
    """Return what a certificate says, with bounds rounded to the safe side."""

    def between(name: str) -> str:
        low, high = shown(document.real(f"{name}_ge"), up=False), shown(document.real(f"{name}_le"), up=True)
        return f"{low} <= {name} <= {high}"

    shape = f"of the convolutional network (p = {len(document.filter)}, k = {len(document.outputs)})"
    point = f"filter against the teacher's and output weights within {shown(document.radius, up=True)} of center"
    step = shown(document.real("step_le"), up=False)
    descent = f"gradient descent with a step of at most {step} from |v| >= 1 and F below"
    if document.claims["angle_ge"] is None:
        return (
            f"no spurious local minimum {shape}: the point with {point} is stationary but no minimum, {between('F')}; "
            f"every other stationary point is a global minimum; {descent} "
            f"{shown(document.real('barrier_ge'), up=False)} converges to one unless the filter starts exactly against "
            f"the teacher's"
        )
    angles = f"{shown(document.real('angle_ge'), up=False)} to {shown(document.real('angle_le'), up=True)}"
    return (
        f"spurious local minimum {shape}, with {point}, {between('F')} while min F = 0; strict saddles at the angle "
        f"{angles} with {between('barrier')}; {descent} the barrier converges to the spurious minimum if a.a* < 0, and "
        f"otherwise to a global one"
    )
