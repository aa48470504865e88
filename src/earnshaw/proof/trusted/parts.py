r"""The parts of the weights that symmetry keeps apart, at a point with many equal entries.

The coordinates are in groups of sizes q_0, q_1, ..., and G is the product of the symmetric groups S_q; it permutes the
coordinates of each group together with the neurons of its families (blocks.py).

DECOMPOSITION. The weights, as a representation of G, are a sum of pieces: row i at group c. Write P_c for the permutation
representation of S_{q_c} on R^{q_c}, which is 1 + st, and st for its part of sum 0. A single neuron at c is P_c. A family
of c at itself is P_c (x) P_c = 2 copies of 1, 3 of st, and one each of (q-2, 1, 1) and (q-2, 2), of dimensions
(q-1)(q-2)/2 and q(q-3)/2; for q = 2 that is 2 of 1 and 2 of st, for q = 3 (q-2, 2) is missing. A family of c at another
group e is P_c (x) P_e = 1 + st_c + st_e + st_c (x) st_e. All of these are irreducible over the complex numbers too, and
no two of them are alike. So by Schur's lemma, if u_1, ..., u_m are the images of one vector of an irreducible
representation under maps into the weights that commute with G and have images orthogonal to each other, which together
fill its part of the weights, then that part of the Hessian has the eigenvalues of the m x m matrix <u_a, H u_b>/(|u_a||u_b|),
each as many times as the dimension says. The vector and its images are, with alpha = e_0 - e_1 of sum 0:

    1                the indicator of each number of the pattern;
    st of c          alpha of the own coordinate, in a family of c: at its own coordinate, and at each other group; at the
                     others of c alpha_i + alpha_r and alpha_i - alpha_r (i the own coordinate, r the place); in other
                     rows alpha_r at c. (For q = 2 the sum is 0, and left out.)
    (q-2, 1, 1)      in each family of c, at c: E_01 - E_10 + E_12 - E_21 + E_20 - E_02;
    (q-2, 2)         in each family of c, at c: (e_0 - e_1)(e_2 - e_3)' and its transpose;
    st_c (x) st_e    alpha_i alpha_r in families of c at e, and of e at c.

Their number times their dimensions must add up to n k, which blocks.py checks. In each dimension beyond k the Hessian is M
(relu.py): on the neurons, P_c for each family and 1 for each single neuron.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

Vector = Callable[[int, int, int, int, bool], int]  # row, its place, group, place there, own coordinate: a value


@dataclass(frozen=True)
class Part:
    """A part of the weights: its name, how many copies the Hessian has of its block, groups cut (how far), vectors."""

    name: str
    copies: int
    cut: dict[int, int]
    vectors: list[Vector]


def parts(sizes: Sequence[int], ties: Sequence[int | None]) -> Iterator[Part]:
    """Yield all parts of the weights, as the decomposition lists them; `ties` are the groups of the rows, or None."""
    groups, rows = range(len(sizes)), range(len(ties))
    entries = [(i, c, own) for i in rows for c in groups for own in (True, False) if not own or ties[i] == c]
    yield Part("trivial", 1, {}, [_indicator(*entry) for entry in entries])
    for c in groups:
        q, families = sizes[c], [row for row in rows if ties[row] == c]
        if q < 2:
            continue
        vectors = [_along(row, c) for row in rows if row not in families]
        for row in families:
            vectors += [_own(row, c), *(_across(row, group) for group in groups if group != c)]
            vectors += [_mixed(row, c, 1)] * (q > 2) + [_mixed(row, c, -1)]
        yield Part(f"standard of group {c}", q - 1, {c: 2}, vectors)
        if q > 2:
            yield Part(f"(q-2,1,1) of group {c}", (q - 1) * (q - 2) // 2, {c: 3}, [_cycle(i, c) for i in families])
        if q > 3:
            yield Part(f"(q-2,2) of group {c}", q * (q - 3) // 2, {c: 4}, [_cross(i, c) for i in families])
        for e in groups[c + 1 :]:
            if sizes[e] > 1:
                vectors = [_product(row, e) for row in families]
                vectors += [_product(row, c) for row in rows if ties[row] == e]
                copies = (q - 1) * (sizes[e] - 1)
                yield Part(f"product of groups {c} and {e}", copies, {c: 2, e: 2}, vectors)


def _alpha(place: int) -> int:
    """Return e_0 - e_1 at a place of a cut group."""
    return int(place == 0) - int(place == 1)


def _indicator(row: int, group: int, own: bool) -> Vector:
    return lambda i, _, c, __, mine: int((i, c, mine) == (row, group, own))


def _own(row: int, group: int) -> Vector:
    return lambda i, at, c, _, mine: _alpha(at) * ((i, c, mine) == (row, group, True))


def _across(row: int, group: int) -> Vector:
    return lambda i, at, c, _, __: _alpha(at) * ((i, c) == (row, group))


def _along(row: int, group: int) -> Vector:
    return lambda i, _, c, to, __: _alpha(to) * ((i, c) == (row, group))


def _mixed(row: int, group: int, sign: int) -> Vector:
    return lambda i, at, c, to, mine: (_alpha(at) + sign * _alpha(to)) * ((i, c, mine) == (row, group, False))


def _cycle(row: int, group: int) -> Vector:
    signs = {(0, 1): 1, (1, 2): 1, (2, 0): 1, (1, 0): -1, (2, 1): -1, (0, 2): -1}
    return lambda i, at, c, to, mine: signs.get((at, to), 0) * ((i, c, mine) == (row, group, False))


def _cross(row: int, group: int) -> Vector:
    half = {(0, 2): 1, (0, 3): -1, (1, 2): -1, (1, 3): 1}
    signs = {**half, **{(to, at): sign for (at, to), sign in half.items()}}
    return lambda i, at, c, to, mine: signs.get((at, to), 0) * ((i, c, mine) == (row, group, False))


def _product(row: int, group: int) -> Vector:
    return lambda i, at, c, to, _: _alpha(at) * _alpha(to) * ((i, c) == (row, group))
