"""Cases of arithmetic: sums in doubles against exact fractions, bounds at few bits, guesses that are bad."""

from fractions import Fraction
from types import ModuleType

import adversaries
import adversaries_convexity
import adversaries_convnet
import edges
import mpmath as mp
import numpy as np
from cases import Case, exactly, fraction, holds, lipschitz, part, raises
from flint import arb, arb_mat
from truth import DIGITS, Truth


def sums() -> dict[str, Case]:
    """The lemmas of sums.py on numbers that lose in every rounding, and the guesses of balls.py when they are bad."""
    return {
        "sums: old": lambda c: adversaries_convexity.sums_hold(part(c, "sums")) is None,
        "sums: roundings": lambda c: adversaries_convexity.rounding_counts(part(c, "convexity")) is None,
        "sums: lengths": _lengths,
        "sums: products": _products,
        "sums: eigenvalues": _eigenvalues,
        "sums: few bits": _few_bits,
        "sums: blocks that are lost": _lost_blocks,
        "relu: pairs that are not told from parallel": _slack,
        "relu: a long direction": _direction,
        "relu: numbers of a saddle": _saddle_norms(),
        "convnet: few bits": adversaries_convnet.few_bits,
        "balls: calculus": lambda c: adversaries.calculus_holds(part(c, "balls"), part(c, "relu"), c.Rejected) is None,
        "balls: roots and eigenvalues": _ball_eigenvalues,
        "convexity: quantities": adversaries_convexity.quantities_hold(),
    }


def _lengths(checker) -> bool:
    balls, module = part(checker, "balls"), part(checker, "sums")
    with balls.precision(128):
        for count in (2, 100, 4000):
            lost = np.concatenate([[1.0], np.full(count, 2.0**-27 * 0.99)])
            exact = 1 + count * Fraction(float(lost[1])) ** 2
            bound = fraction(module.size(lost)) ** 2
            if not exact <= bound <= exact * (1 + Fraction(8 * count + 8) / 2**53):
                return False
        if not all(
            module.gamma(count).contains(arb(count) * arb(2) ** -53 / (1 - arb(count) * arb(2) ** -53))
            for count in (1, 5, 1000)
        ):
            return False
        x, factors = np.array([[1 + 2.0**-52, 3.0], [5.0, 1 / 3]]), np.array([1 / 3, 1 + 2.0**-52])
        exact = Fraction(0)
        for row, factor in zip(x, factors, strict=True):
            exact += sum((Fraction(float(factor * a)) - Fraction(float(factor)) * Fraction(float(a))) ** 2 for a in row)
        lengths = sum(Fraction(float(a)) ** 2 for a in x.ravel())
        largest = Fraction(float(np.abs(factors).max()))
        for off in (0.0, 2.0**-60, 2.0**-40):
            bound = fraction(module.slip(x, factors, arb(off))) ** 2
            least = (Fraction(off) + largest / 2**53) ** 2 * lengths
            if not max(exact, least) <= bound <= least * (1 + Fraction(1, 2**40)):
                return False
        signed = fraction(module.slip(x, -factors, arb(0)))
        return signed == fraction(module.slip(x, factors, arb(0)))


def _few_bits(checker) -> bool:
    """Every bound of sums.py and balls.py is one-sided at any precision; with 20 bits a wrong side shows."""
    balls, module, relu = (part(checker, name) for name in ("balls", "sums", "relu"))
    rng = np.random.default_rng(9)
    for _ in range(25):
        matrix = rng.standard_normal((3, 3)) / 3
        matrix, x, factors = matrix + matrix.T, rng.standard_normal((4, 2)) / 3, rng.standard_normal(4) / 3
        exact = sum(Fraction(float(a)) ** 2 for a in x.ravel())
        largest = Fraction(float(np.abs(factors).max()))
        with mp.workdps(40):
            values = [exactly(value) for value in mp.eigsy(mp.matrix(matrix.tolist()), eigvals_only=True)]
        truth = Truth(rng.standard_normal((2, 2)).tolist(), rng.standard_normal((1, 2)).tolist())
        with mp.workdps(DIGITS):
            steep = exactly(lipschitz(truth, 2.0**-6, 2.0**-7))
        with balls.precision(20):
            near = module.Near(matrix, arb(1) / 3)
            size, slip = fraction(module.size(x)), fraction(module.slip(x, factors, arb(1) / 3))
            whole = module.weighted(x, factors, arb(1) / 3)
            gram = module.gram([x], arb(1) / 3, arb(1) / 3)
            point = relu.Point(truth.rows[:2], truth.rows[2:])
            third = Fraction(1, 3)
            low, high = module.least(near), module.greatest(near)
            top, shift = balls.greatest_eigenvalue(balls.exact(matrix.tolist())), float(values[0]) - 1e-3
            if not (
                all(ball.is_exact() for ball in (low, high, top, whole.error, gram.error, point.shortest()))
                and size**2 >= exact
                and slip**2 >= third**2 * exact
                and slip >= (third + largest / 2**53) * size * (1 - Fraction(1, 10**9)) - Fraction(1, 10**5)
                and fraction(low) <= values[0] - third
                and fraction(high) >= values[-1] + third
                and fraction(whole.error) ** 2 >= third**2 * exact**2
                and fraction(gram.error) >= third
                and fraction(top) >= max(-values[0], values[-1])
                and fraction(balls.least_eigenvalue(balls.exact(matrix.tolist()), shift)) <= values[0]
                and fraction(point.shortest()) <= exactly(truth.shortest)
                and fraction(point.lipschitz(arb(2) ** -6, arb(2) ** -7)) >= steep
                and holds(point.value(), truth.value)
            ):
                return False
    return True


def _slack(checker) -> bool:
    """Where the area's ball reaches 0 the fractions are bounded by their norms, which here are attained."""
    relu = part(checker, "relu")
    with part(checker, "balls").precision(64):
        point = relu.Point([[2.0, 0.0], [0.0, 3.0]], [[1.0, -5.0]])
        exact = {"pair": point.pair_block(0, 1), "own": point.diagonal_block(0, arb(1))}
        point.length = [arb(1, 0.25), arb(2), arb(3)]
        if not 0.74 < point.shortest() <= 0.75:
            return False
        point = relu.Point([[2.0, 0.0], [0.0, 3.0]], [[1.0, -5.0]])
        point.area[0][1] = point.area[1][0] = arb(0).union(point.area[0][1])
        wide = {"pair": point.pair_block(0, 1), "own": point.diagonal_block(0, arb(1))}
        most = {"pair": 1 / (2 * arb.pi()), "own": arb(6) / (2 * arb.pi() * 4)}
        return all(
            wide[name].contains(exact[name].mid())
            and all(entry.rad() <= most[name] * 1.0001 for entry in wide[name].entries())
            for name in wide
        )


def _saddle_norms() -> Case:
    """The numbers of the Newton-Kantorovich theorem for a given inverse and direction, each a hair beyond, at 40 bits."""
    _, proof, truth = next(entry for entry in edges.proofs() if entry[0] == "saddle n3 k2 d3")
    document = proof.certificates["saddle"].document
    x = next(edges.walks("saddle", truth, edges.numbers(document), 0, np.random.default_rng(0)))
    middle = np.array([[float(entry) for entry in row] for row in truth.hessian.tolist()])
    values, vectors = np.linalg.eigh(middle)
    guess, direction = (vectors / values) @ vectors.T * (1 + 1e-6), vectors[:, 0] * 1.5
    with mp.workdps(DIGITS):
        inverse, along = mp.matrix(guess.tolist()), mp.matrix(direction.tolist())
        column = mp.matrix([truth.gradient[i, a] for i in range(truth.n) for a in range(truth.d)])
        numbers = {
            "claims.newton_step_le": mp.norm(inverse * column, 2),
            "claims.defect_le": mp.norm(mp.eye(len(values)) - inverse * truth.hessian, 2),
            "claims.inverse_norm_le": mp.norm(inverse, 2),
            "claims.curvature_le": (along.T * truth.hessian * along)[0] / (along.T * along)[0],
        }
    numbers = {name: float(number) for name, number in numbers.items()}
    near = x | {name: number * (1.01 if number > 0 else 0.99) for name, number in numbers.items()}
    wrong = [near | {name: number * (1 - 1e-13 if number > 0 else 1 + 1e-13)} for name, number in numbers.items()]
    good, bad = edges.forged(document, near), [edges.forged(document, edit) for edit in wrong]

    def right(checker: ModuleType) -> bool:
        claims, reading = part(checker, "relu_claims"), part(checker, "reading")
        before, size = claims.guesses, len(values)
        given = arb_mat(size, size, guess.ravel().tolist()), arb_mat(size, 1, direction.tolist())
        claims.guesses = lambda hessian: given
        try:
            with part(checker, "balls").precision(42):
                claims._saddle(reading.parse(good, 1.0))
                return all(raises(checker, claims._saddle, reading.parse(data, 1.0)) for data in bad)
        finally:
            claims.guesses = before

    return right


def _direction(checker) -> bool:
    """The direction of a saddle's negative curvature may have any length."""
    claims = part(checker, "relu_claims")
    proof = adversaries.small_saddle()
    document = proof.certificates["saddle"].document
    bend = edges.numbers(document)["claims.curvature_le"]
    guess = claims.guesses
    claims.guesses = lambda hessian: (guess(hessian)[0], 2 * guess(hessian)[1])
    try:
        return checker.check_bytes(edges.forged(document, {}))[0] and not any(
            checker.check_bytes(edges.forged(document, {"claims.curvature_le": factor * bend}))[0]
            for factor in (2.0, 3.9, 1.001)
        )
    finally:
        claims.guesses = guess


def _lost_blocks(checker) -> bool:
    """Rows that are added one by one to a large sum, and lost every time, are in the error of `gram`."""
    balls, module = part(checker, "balls"), part(checker, "sums")
    count, small = 3000, 2.0**-27 * 0.99
    rows = [np.array([[1.0, 1.0]])] + [np.array([[small, -small]])] * count
    with balls.precision(128):
        near, far = module.gram(rows, arb(0), arb(0)), module.gram([np.array([[3.0]])], arb(2), arb(0))
    if not 16 <= far.error <= 16.0001:  # rows that are 3 and may be 5: 25 - 9
        return False
    lost = Fraction(count) * Fraction(small) ** 2
    distance = sum(
        (Fraction(float(near.entries[a, b])) - (1 + (lost if a == b else -lost))) ** 2 for a in (0, 1) for b in (0, 1)
    )
    return distance <= fraction(near.error) ** 2 <= 100 * (distance + Fraction(1, 2**80))


def _products(checker) -> bool:
    """Gram matrices and weighted sums must be within the error that comes with them, which must be about as small as can be."""
    balls, module = part(checker, "balls"), part(checker, "sums")
    rng = np.random.default_rng(3)
    x = rng.standard_normal((40, 3)) * 10.0 ** rng.integers(-3, 3, (40, 1))
    factors = rng.standard_normal(40)

    def exact(weights):
        rows = [[Fraction(float(a)) for a in row] for row in x]
        return [
            [sum((w * r[a] * r[b] for w, r in zip(weights, rows, strict=True)), Fraction(0)) for b in range(3)]
            for a in range(3)
        ]

    def distance(near, truth):
        square = sum((Fraction(float(near.entries[a, b])) - truth[a][b]) ** 2 for a in range(3) for b in range(3))
        return float(square) ** 0.5

    with balls.precision(128):
        size = float(np.sum(x**2))
        slipped = factors * (1 + 2.0**-30)
        off = arb(float(np.abs(slipped - factors).max()))
        whole = module.weighted(x, factors, arb(0))
        moved = module.weighted(x, slipped, off)
        blocks = module.gram((x[a : a + 7] for a in range(0, 40, 7)), arb(0), arb(0))
        wide = module.gram([x * (1 + 2.0**-30)], arb(0), arb(2) ** -30)
        apart = module.gram([x + 2.0**-30], arb(2) ** -30 * arb(120).sqrt(), arb(0))
        truth, ones = exact([Fraction(float(f)) for f in factors]), exact([Fraction(1)] * 40)
        checks = [
            (whole, truth, 200 * 2.0**-53 * size * np.abs(factors).max()),
            (moved, truth, 1.1 * 2.0**-30 * size * np.abs(factors).max()),
            (blocks, ones, 100 * 2.0**-53 * size),
            (wide, ones, 2.1 * 2.0**-30 * size),
            (apart, ones, 2.1 * 2.0**-30 * (120 * size) ** 0.5),
        ]
        return (
            all(
                np.array_equal(near.entries, near.entries.T) and distance(near, true) <= float(near.error) <= most
                for near, true, most in checks
            )
            and float(blocks.error) >= 40 * 2.0**-53 * size * 0.9
        )


def _eigenvalues(checker) -> bool:
    """Eigenvalue bounds of symmetric doubles: below the least, above the greatest, and near them; the error counts in full."""
    balls, module = part(checker, "balls"), part(checker, "sums")
    rng = np.random.default_rng(4)
    for count in (1, 2, 6, 30):
        matrix = rng.standard_normal((count, count))
        matrix = matrix + matrix.T
        with mp.workdps(40):
            values = mp.eigsy(mp.matrix(matrix.tolist()), eigvals_only=True)
        with balls.precision(128):
            for error in (0.0, 0.25):
                near = module.Near(matrix, arb(error))
                low, high = module.least(near), module.greatest(near)
                slack = Fraction(300 * count * count) / 2**53
                if not (low.is_exact() and high.is_exact()):
                    return False
                if not 0 <= exactly(values[0]) - Fraction(error) - fraction(low) <= slack:
                    return False
                if not 0 <= fraction(high) - exactly(values[count - 1]) - Fraction(error) <= slack:
                    return False
    return True


def _ball_eigenvalues(checker) -> bool:
    """The bounds of balls.py on matrices of wide balls, with good and bad guesses."""
    balls = part(checker, "balls")
    rng = np.random.default_rng(6)
    with balls.precision(64):
        for count in (1, 2, 5):
            middle = rng.standard_normal((count, count))
            middle = middle + middle.T
            with mp.workdps(40):
                values = mp.eigsy(mp.matrix(middle.tolist()), eigvals_only=True)
                sizes = mp.eigsy(mp.matrix(np.abs(middle).tolist()), eigvals_only=True)
            low = float(values[0])
            for radius in (0.0, 1e-3):
                matrix = arb_mat(count, count, [arb(float(x), radius) for x in middle.ravel()])
                for shift in (low - 1e-6, low - 1e-2):
                    bound = balls.least_eigenvalue(matrix, shift)
                    if not (bound.is_exact() and Fraction(shift) - fraction(bound) >= Fraction(radius) * count):
                        return False
                    if not Fraction(shift) - fraction(bound) <= Fraction(radius) * count * Fraction(
                        1001, 1000
                    ) + Fraction(1, 10**13):
                        return False
                top = balls.greatest_eigenvalue(matrix)
                if not (top.is_exact() and exactly(sizes[count - 1]) <= fraction(top)):
                    return False
                if radius == 0.0 and not fraction(top) <= exactly(sizes[count - 1]) * Fraction(102, 100) + Fraction(
                    1, 10**6
                ):
                    return False
                if radius and not fraction(top) >= exactly(sizes[count - 1]) + Fraction(radius) * Fraction(1, 2):
                    return False
        little = balls.greatest_eigenvalue(arb_mat(2, 2, [0.01, 0, 0, -0.02]))
        if not 0.02 <= little <= 0.021:
            return False
        wide = [arb(3, 0.5), arb(-4, 0.25)]
        length, square = balls.norm(wide), arb(0.25, 0.5)
        third = arb(1) / 3
        return (
            length.contains(balls.norm([arb(2.5), arb(-3.75)]))
            and length.contains(balls.norm([arb(3.5), arb(-4.25)]))
            and balls.norm([]).is_zero()
            and balls.root(square).contains(arb(0))
            and balls.root(square).contains(arb(0.75).sqrt())
            and balls.root(arb(9)) == 3
            and balls.root(third) ** 2 > 0.333
            and balls.root(third).overlaps(arb(3).sqrt() / 3)
            and balls.root(third).rad() < 1e-18
            and not balls.root(arb(-1e-9, 2e-9)).contains(arb(1e-4))
            and balls.exact([[1.5, -2.0]]) == arb_mat(1, 2, [1.5, -2])
            and balls.floats(arb_mat(1, 2, [third, 2])).tolist() == [[1 / 3, 2.0]]
        )
