r"""A ball of strict convexity of the risk of a data set, and the minimiser in it: theorem, and check of a certificate.

Inputs x_1..x_n in R^d with labels y_i, and a network of K neurons W = (w_1..w_K) with an activation phi, have the risk

    f(W) = 1/(2n) sum_i e_i(W)^2,       e_i(W) = 1/K sum_k phi(w_k.x_i) - y_i .

phi is one of  sigmoid 1/(1 + exp(-z)),  unit-tanh (1 + tanh z)/2,  unit-erf (1 + erf z)/2. Norms are Euclidean
(Frobenius), W0 is the centre, e_i = e_i(W0), and c1, c2, c3 bound |phi'|, |phi''|, |phi'''|:

    sigmoid of rate r (1; 2 is unit-tanh):  r/4, r^2/(6 sqrt 3), r^3/8;      unit-erf:  1/sqrt(pi), sqrt(2/(e pi)), 2/sqrt(pi),
    s2 >= lambda_max(1/n sum_i x_i x_i'),  se >= lambda_max(1/n sum_i e_i^2 x_i x_i'),  s4 >= max over |p| = 1 of 1/n sum_i (p.x_i)^4,
    L >= 3 c1 c2 sqrt(s2 s4)/K^(3/2) + c3 sqrt(se s4)/K,       G >= c1 c3 s4/K^(3/2) .

THEOREM. Let lambda <= lambda_min(Hess f(W0)), lambda > 0, R > 0 and lambda - L R - G R^2/2 >= 0. Then the Hessian of f is
positive definite at every W with |W - W0| < R, so f is strictly convex there and has at most one stationary point. If
also eps >= |grad f(W0)|, 0 < r < R and lambda r - L r^2/2 - G r^3/6 > eps, then there is one within r: a strict minimum.
  Proof. Let |a| = |v| = 1, tau_j = a_j.x, sigma_j = v_j.x. The third derivative of e^2/2 in directions a, a, v, for one
row, is 2 De[a] D^2e[a,v] + De[v] D^2e[a,a] + e D^3e[a,a,v], where De[a] = 1/K sum phi'_j tau_j, D^2e[a,v] =
1/K sum phi''_j tau_j sigma_j, D^3e[a,a,v] = 1/K sum phi'''_j tau_j^2 sigma_j. By Cauchy-Schwarz, used twice, the mean
over rows of |p.x||q.x||t.x| is at most |p||q||t| sqrt(s2 s4), that of |e||p.x|(q.x)^2 at most |p||q|^2 sqrt(se s4), and
that of four factors at most their lengths times s4. With sum|a_j| <= sqrt K and sum|a_j||v_j| <= 1 the first two terms
make 3 c1 c2 sqrt(s2 s4)/K^(3/2). At distance t from W0, |e - e(W0)| <= c1/K sum|delta_j.x| with |delta| = t, and the
last term is at most c3 sqrt(se s4)/K + c1 c3 s4 t/K^(3/2). So |D^3 f[a,a,v]| <= L + G t, and the Hessian at distance t is
at least lambda - L t - G t^2/2, which is positive for t < R, as it falls to a number >= 0 at R (or is lambda > 0). On
the sphere of radius r, (W - W0).grad f(W) >= r (lambda r - L r^2/2 - G r^3/6 - eps) > 0: the minimum over the closed ball
of radius r is interior. QED

LEMMA (fourth moment). Let A_i hold the d(d+1)/2 numbers x_ia^2 and sqrt(2) x_ia x_ib (a < b), and U 1 for the former
and 0 for the latter. Then n s4 <= c + lambda_max(sum_i A_i A_i' - c U U') for every real c.
  Proof. With P = (p_a^2, sqrt(2) p_a p_b), |P| = |p|^2 = 1 = U.P and (p.x_i)^2 = A_i.P. QED

The certificate states data and centre in exact doubles; phi and its derivatives are evaluated in balls, sums over rows
in doubles with the bounds of sums.py. `hint.shift` is c, a guess. Every claim is one-sided: a weaker number is fine.
"""

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat

from .balls import exact, norm, precision, require, shown
from .reading import COMMON, LARGE_BYTES, Rejected, afford, exact_keys, hex_float, integer, load, matrix
from .sums import UNIT, Near, gram, greatest, least, size, slip, weighted

MAX_NUMBERS = 300_000  # rows times neurons: one evaluation of phi in balls each
MAX_PRODUCTS = 1 << 37  # of doubles, in matrices of sums and their factors
LARGEST = 2.0**100  # of any entry, so that no sum overflows
PRECISION = 128
BLOCK = 1024
CLAIMS = ("curvature_ge", "change_le", "growth_le", "gradient_le", "radius", "minimiser_within")

Derivatives = tuple[arb, arb, arb]


def sigmoid(rate: int) -> Callable[[arb], Derivatives]:
    """Return phi, phi', phi'' of (1 + tanh h)/2, h = rate z/2, as functions of a ball."""

    def derivatives(z: arb) -> Derivatives:
        half = rate * z / 2
        bend, slope = half.tanh(), arb(rate) / 4 / half.cosh() ** 2
        return (1 + bend) / 2, slope, -rate * slope * bend

    return derivatives


def error_function(z: arb) -> Derivatives:
    """Return phi, phi', phi'' of (1 + erf z)/2."""
    slope = (-z * z).exp() / arb.pi().sqrt()
    return (1 + z.erf()) / 2, slope, -2 * z * slope


ACTIVATIONS: dict[str, Callable[[arb], Derivatives]] = {
    "sigmoid": sigmoid(1),
    "unit-tanh": sigmoid(2),
    "unit-erf": error_function,
}


def bounds(activation: str) -> Derivatives:
    """Enclose c1, c2, c3."""
    if activation == "unit-erf":
        root = arb.pi().sqrt()
        return 1 / root, (2 / arb(1).exp()).sqrt() / root, 2 / root
    rate = arb(2 if activation == "unit-tanh" else 1)
    return rate / 4, rate**2 / (6 * arb(3).sqrt()), rate**3 / 8


@dataclass(frozen=True)
class Document:
    """A certificate whose shape is right and whose numbers are finite; nothing about its truth is known yet."""

    activation: str
    x: np.ndarray
    y: np.ndarray
    center: list[list[float]]
    claims: dict[str, float | None]
    shift: float

    def real(self, name: str) -> float:
        """Return a claim that must be there."""
        value = self.claims[name]
        if value is None:
            raise Rejected(f"claims.{name} is null")
        return value


def parse(data: bytes, limit: float) -> Document:
    """Turn the bytes of a certificate of kind `convexity` into a Document, or raise Rejected with a reason."""
    raw = exact_keys(load(data), (*COMMON, "claims", "hint"), "the document")
    require(raw["kind"] == "convexity", "kind is not convexity")
    problem = exact_keys(raw["problem"], ("objective", "n", "d", "k", "x", "y"), "problem")
    known = {f"data/{name}": name for name in ACTIVATIONS}
    if type(problem["objective"]) is not str or problem["objective"] not in known:
        raise Rejected(f"problem.objective must be one of {', '.join(known)}")
    n, d = (integer(problem[name], f"problem.{name}", 1, LARGE_BYTES) for name in ("n", "d"))
    k = integer(problem["k"], "problem.k", 1, d)
    afford(limit, *costs(n, d, k))
    require(n >= k * d, f"n = {n} rows are fewer than k * d = {k * d} weights")
    x, y = doubles(problem["x"], n * d, "problem.x").reshape(n, d), doubles(problem["y"], n, "problem.y")
    center = matrix(raw["center"], k, d, "center")
    require(all(abs(entry) <= LARGEST for row in center for entry in row), "an entry of center is too large")
    claims = exact_keys(raw["claims"], CLAIMS, "claims")
    numbers = {name: None if value is None else hex_float(value, f"claims.{name}") for name, value in claims.items()}
    shift = hex_float(exact_keys(raw["hint"], ("shift",), "hint")["shift"], "hint.shift")
    return Document(known[problem["objective"]], x, y, center, numbers, shift)


def costs(n: int, d: int, k: int) -> list[tuple[str, int, int]]:
    """Return what the check of a data set costs, for `afford`: the Hessian and the fourth moment are matrices of sums."""
    products = sum(n * size**2 + 16 * size**3 for size in (k * d, d * (d + 1) // 2))
    return [("n k", n * k, MAX_NUMBERS), ("n s^2 + 16 s^3 for s = k d and d (d + 1)/2", products, MAX_PRODUCTS)]


def doubles(value: object, count: int, name: str) -> np.ndarray:
    """Read so many little-endian doubles in canonical base64, all of them finite and of a sane size."""
    if type(value) is not str or len(value) != (8 * count + 2) // 3 * 4:
        raise Rejected(f"{name} must be the base64 of {count} doubles in a string")
    try:
        content = base64.b64decode(value, validate=True)
    except (ValueError, binascii.Error):
        raise Rejected(f"{name} is not base64") from None
    require(base64.b64encode(content).decode("ascii") == value, f"{name} is not in canonical base64")
    require(len(content) == 8 * count, f"{name} does not hold {count} doubles")
    numbers = np.frombuffer(content, dtype="<f8").astype(np.float64)
    require(bool((np.abs(numbers) <= LARGEST).all()), f"{name} holds a number that is not finite, or too large")
    return numbers


def verify(data: bytes, limit: float) -> tuple[str, str]:
    """Check the bytes of a certificate; return its kind and the statement proved, or raise Rejected."""
    document = parse(data, limit)
    with precision(PRECISION), np.errstate(all="ignore"):  # what overflows fails a comparison
        _check(document)
    return "convexity", statement(document)


def _check(document: Document) -> None:
    """Compare every claim with the bound computed here, and check every hypothesis of the theorem."""
    real = document.real
    lam, change, growth = (arb(real(name)) for name in ("curvature_ge", "change_le", "growth_le"))
    eps, outer, within = arb(real("gradient_le")), arb(real("radius")), document.claims["minimiser_within"]
    require(lam > 0, "curvature_ge is not positive")
    require(outer > 0, "radius is not positive")
    require(lam - change * outer - growth * outer**2 / 2 >= 0, "lambda - L R - G R^2/2 >= 0 fails at R = radius")
    if within is not None:
        inner = arb(within)
        require(inner > 0, "minimiser_within is not positive")
        require(inner < outer, "minimiser_within is not below radius")
        gained = lam * inner - change * inner**2 / 2 - growth * inner**3 / 6
        require(gained > eps, "lambda r - L r^2/2 - G r^3/6 > eps fails at r = minimiser_within")
    sample = Sample(document)
    require(sample.gradient() <= eps, "gradient_le is below the norm of the gradient at the center")
    require(lam <= sample.curvature(), "curvature_ge exceeds what the Hessian at the center proves")
    change_bound, growth_bound = sample.change()
    require(change_bound <= change, "change_le is below the bound L")
    require(growth_bound <= growth, "growth_le is below the bound G")


class Sample:
    """The data set at the centre: what the theorem needs of every row, from balls to doubles with their errors.

    For each row and neuron `slopes` holds phi' and `bends` e phi''; `squares` holds e^2 for each row. `off` is how far
    each of the three may be from the exact number; `pull` encloses the sums of e phi'_k x.
    """

    def __init__(self, document: Document) -> None:
        self.x, self.activation, self.shift = document.x, document.activation, document.shift
        self.n, self.k, self.d = len(document.x), len(document.center), document.x.shape[1]
        self.slopes, self.bends, self.squares = np.empty((self.n, self.k)), np.empty((self.n, self.k)), np.empty(self.n)
        self.off = [arb(0), arb(0), arb(0)]
        self.pull = arb_mat(self.k, self.d)
        weights = exact(document.center).transpose()
        for start in range(0, self.n, BLOCK):
            block = self.x[start : start + BLOCK]
            self._evaluate(start, exact(block.tolist()), weights, document)
        finite = all(np.isfinite(numbers).all() for numbers in (self.slopes, self.bends, self.squares))
        require(bool(finite) and all(off < 1 for off in self.off), "the activation could not be enclosed in doubles")

    def _evaluate(self, start: int, block: arb_mat, weights: arb_mat, document: Document) -> None:
        """Evaluate phi in balls at some rows."""
        phi, k = ACTIVATIONS[self.activation], self.k
        inputs, pulls = (block * weights).entries(), []
        for row in range(block.nrows()):
            at = start + row
            towers = [phi(z) for z in inputs[row * k : row * k + k]]
            error = sum((tower[0] for tower in towers), arb(0)) / k - arb(float(document.y[at]))
            pulls += [error * tower[1] for tower in towers]
            self.squares[at] = self._rounded(2, error * error)
            for j, (_, slope, bend) in enumerate(towers):
                self.slopes[at, j] = self._rounded(0, slope)
                self.bends[at, j] = self._rounded(1, error * bend)
        self.pull += arb_mat(block.nrows(), k, pulls).transpose() * block

    def _rounded(self, kind: int, ball: arb) -> float:
        """Return a double near a ball, and remember how far it may be from the exact number."""
        number = float(ball)
        self.off[kind] = self.off[kind].max((ball - arb(number)).abs_upper())
        return number

    def gradient(self) -> arb:
        """Bound the norm of the gradient at the centre."""
        return (norm(self.pull.entries()) / (self.n * self.k)).upper()

    def curvature(self) -> arb:
        """Bound the smallest eigenvalue of the Hessian at the centre from below.

        n K^2 times the Hessian is J'J plus K times the blocks sum_i e_i phi''_k x_i x_i' on the diagonal, where row i of J
        is (phi'_1 x_i, ..., phi'_K x_i).
        """
        k, d = self.k, self.d
        blocks = (
            (self.slopes[a : a + BLOCK, :, None] * self.x[a : a + BLOCK, None, :]).reshape(-1, k * d)
            for a in range(0, self.n, BLOCK)
        )
        total, error = gram(blocks, arb(k).sqrt() * slip(self.x, self.slopes, self.off[0]), arb(0))
        for j in range(k):
            own, place = weighted(self.x, self.bends[:, j], self.off[1]), slice(j * d, j * d + d)
            error += k * own.error + 4 * UNIT * (k * size(own.entries) + size(total[place, place]))
            total[place, place] += k * own.entries
        return (least(Near(total, error)) / (self.n * k**2)).lower()

    def change(self) -> tuple[arb, arb]:
        """Bound L and G from above."""
        ones = np.ones(self.n)
        second, fourth = greatest(weighted(self.x, ones, arb(0))) / self.n, self.fourth_moment()
        errors = greatest(weighted(self.x, self.squares, self.off[2])) / self.n
        c1, c2, c3 = bounds(self.activation)
        root = arb(self.k).sqrt() ** 3
        change = 3 * c1 * c2 * (second * fourth).sqrt() / root + c3 * (errors * fourth).sqrt() / self.k
        return change.upper(), (c1 * c3 * fourth / root).upper()

    def fourth_moment(self) -> arb:
        """Bound s4 from above by the lemma. An entry of A costs two roundings, and that of sqrt 2."""
        first, second = np.triu_indices(self.d)
        diagonal = first == second
        root = np.where(diagonal, 1.0, np.sqrt(2.0))
        blocks = (self.x[a : a + BLOCK, first] * self.x[a : a + BLOCK, second] * root for a in range(0, self.n, BLOCK))
        total, error = gram(blocks, self.x.size * self.d * arb(2) ** -900, 8 * UNIT)
        total[np.ix_(diagonal, diagonal)] -= self.shift
        return ((greatest(Near(total, error + 2 * UNIT * size(total))) + arb(self.shift)) / self.n).upper()


def statement(document: Document) -> str:
    """Return what a certificate says, with bounds rounded to the safe side."""
    n, d = document.x.shape
    low, outer = shown(document.real("curvature_ge"), up=False), shown(document.real("radius"), up=False)
    within = document.claims["minimiser_within"]
    minimum = "" if within is None else f"; a strict minimum lies within {shown(within, up=True)} of the center"
    return (
        f"strictly convex risk of a data set (n = {n}, d = {d}, K = {len(document.center)}, {document.activation}): the "
        f"Hessian is >= {low} I at the center and positive definite nearer than {outer} to it, where there is at most one "
        f"stationary point{minimum}"
    )
