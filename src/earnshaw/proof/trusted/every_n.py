r"""Spurious minima for every number of neurons: one minimum, and one neuron whose splitting opens no way down.

Notation of relu.py and relu_claims.py. D_i = Hessian_ii - I/2 = sum_y c(y) d^2 f(w_i, y)/dw^2 over all rows y other than
w_i; D_i w_i = 0.

THEOREM (every n). Let the hypotheses of the theorem (minimum) hold with M included, let i be a neuron, and
  (i) 0 < delta <= lambda_min(D_i(W0) + w_i w_i'/|w_i|^2) - L r - r^2/|w_i|^2, with w_i of the centre W0;
  (j) 0 < beyond <= M_ii(W0) - 1/2 - L r.
Then for every n' >= n and every dimension D >= d the teacher, padded with zeros, has spurious local minima with n' neurons:
each network made from W* by replacing w_i by s_1 w_i, ..., s_p w_i, p = n' - n + 1, s_j > 0, sum s_j = 1, is one, and
F_ge <= F <= F_le there. At each the Hessian is positive semidefinite, and its kernel is the tangent space, of dimension
p - 1, of the set of these networks.
  Proof. The split network computes the same function, so F is the same. For c > 0, f(cw, v) = c f(w, v); so the gradient
of f in w does not change when w is scaled, its second derivative is divided by c, and the mixed one does not change. For
parallel rows these are v/2, 0 and I/2. Hence the gradient at each part is that at w_i, which is 0, and with perturbations
u_j of the parts, u = sum_j u_j, u_j = s_j u + z_j (so that sum_j z_j = 0), and x of the other neurons, the Hessian's form is
    sum_j u_j.(D_i/s_j) u_j + |u|^2/2 + (terms of u and x) = Hess F(W*)[(u, x), (u, x)] + sum_j z_j.D_i z_j/s_j,
because sum_j u_j.D_i u_j/s_j = u.D_i u + sum_j z_j.D_i z_j/s_j. Let e be a unit vector of R^d orthogonal to w*_i. Then
|e.w_i| <= |w_i - w*_i| <= r, and D_i varies no faster than the Hessian, so e.D_i(W*) e >= delta by (i). In a further
dimension D_i is the number M_ii - 1/2 >= beyond. So the form is >= 0, and it is 0 only if u = 0, x = 0 and each z_j is a
multiple of w*_i: tangent to the affine set S of the split networks. F is C^2 (no neuron is 0), constant on S, with
gradient 0 there. Let N be the orthogonal complement of the direction of S. The Hessian at the split network is positive
definite on N, and so it is in a ball about it. A point q of the ball is s + v with s its projection to S, in the ball too,
and v in N; F(q) = F(s) + (a mean of v.Hess v/2 on the segment) >= F(s). So it is a local minimum; n' >= k and F_ge > 0 make
it spurious. QED
"""

from flint import arb, arb_mat

from .balls import least_eigenvalue, precision, require, shown
from .reading import Document, parse
from .relu import Point
from .relu_claims import check_minimum


def verify(data: bytes, limit: float) -> tuple[str, str]:
    """Check the bytes of a certificate; return its kind and the statement proved, or raise Rejected."""
    document = parse(data, limit)
    with precision(document.precision):
        return document.kind, _check(document)


def _check(document: Document) -> str:
    point, real = Point(document.center, document.target), document.real
    statement = check_minimum(document, point)
    require(
        document.numbers["claims.lambda_ext_ge"] is not None, "every_n needs lambda_ext_ge: it is about all dimensions"
    )
    neuron = int(real("every_n.neuron"))
    require(neuron < point.n, f"every_n.neuron is {neuron}, and the neurons are counted from 0 to {point.n - 1}")
    delta, beyond = arb(real("every_n.delta")), arb(real("every_n.delta_ext"))
    near = arb(real("R_enclosure"))
    drift, square = arb(real("claims.hess_lipschitz_le")) * near, point.square[neuron]
    least = least_eigenvalue(lifted(point, neuron), real("hint.shift_split")) - drift - near * near / square
    require(delta > 0, "every_n.delta is not positive: splitting the neuron is not shown to open no way down")
    require(delta <= least, "every_n.delta exceeds what D proves across the neuron")
    require(beyond > 0, "every_n.delta_ext is not positive")
    require(
        beyond <= point.extension()[neuron, neuron] - arb(1) / 2 - drift, "every_n.delta_ext exceeds M_ii - 1/2 - L r"
    )
    return (
        f"every n: for every n' >= {point.n} and every dimension D >= {point.d} this teacher has spurious local minima with n' "
        f"neurons and F >= {shown(real('claims.F_ge'), up=False)}: neuron {neuron} (from 0) of the minimum below, split into "
        f"parallel parts in any proportion; D >= {shown(real('every_n.delta'), up=False)} across it and >= "
        f"{shown(real('every_n.delta_ext'), up=False)} in further dimensions. The minimum: {statement}"
    )


def lifted(point: Point, neuron: int) -> arb_mat:
    """Enclose D_i + w_i w_i'/|w_i|^2 at the centre."""
    own = arb_mat(1, point.d, [point.students[neuron, a] for a in range(point.d)])
    block = point.diagonal_block(neuron, point.extension()[neuron, neuron])
    block += own.transpose() * own * (1 / point.square[neuron])
    for a in range(point.d):
        block[a, a] -= arb(1) / 2
    return block
