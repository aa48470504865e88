"""Cases of one theorem for every k from made-up numbers: balls as wide as no certificate has them."""

from types import SimpleNamespace

from cases import Case, part, raises
from flint import arb, arb_mat

from earnshaw.proof.trusted.balls import precision


def cases() -> dict[str, Case]:
    return {"every_k one k": _one_k, "every_k Krawczyk": _krawczyk}


def _one_k(checker) -> bool:
    """The bounds at one k from made-up numbers, wide balls among them: 1 x 1 blocks, a gradient, L and a value."""
    minimum = part(checker, "every_k").minimum

    def found(blocks, extensions, gradient, rate=8.0):
        site = SimpleNamespace(
            blocks=lambda: [(f"block {x}", arb_mat([[arb(x), 0], [0, 7]])) for x in blocks],
            extensions=lambda: [arb_mat([[arb(x)]]) for x in extensions],
            gradient=lambda: SimpleNamespace(entries=lambda: gradient),
            lipschitz=lambda near, moved: arb(rate) if moved == 0 else arb("nan"),
            value=lambda: arb(1, 0.25),
        )
        return minimum(site, 9)

    with precision(128):
        gradient, eps = [arb(-3 * 2.0**-10, 2.0**-10), arb(2 * 2.0**-10, 2.0**-10)], 5 * 2.0**-10  # at most 4 and 3
        for least, blocks, extensions in ((2, [2, 5], [3]), (2, [5, 2], [3]), (2, [5, 3], [4, 2]), (0.5, [0.5], [3])):
            around, mu, low, high = found(blocks, extensions, gradient)
            bound = least - 8 * 4 * eps / least
            near = 0 <= float(around) - 4 * eps / least < 1e-7
            near = near and abs(float(mu) - bound) < 1e-7 and high.contains(arb(0.75)) and high.contains(arb(1.25))
            if not (near and abs(float(low.lower()) - (0.75 - eps * eps / 2 / bound)) < 1e-7):
                return False
        blurred = arb(0.01, 0.1)
        wrong = [
            ([0], [1]),
            ([1], [0]),
            ([2, -1], [3]),
            ([2], [3, -1]),
            ([-0.5], [1]),
            ([1], [-0.5]),
            ([blurred], [1]),
            ([1], [blurred]),
        ]
        limit = 4 / (4 * eps)  # least^2 / (4 eps)
        return (
            all(raises(checker, found, *some, gradient, rate) for some in wrong for rate in (8.0, 1000.0))
            and all(
                raises(checker, found, [2], [3], gradient, rate) for rate in (1.001 * limit, arb(limit, 0.1 * limit))
            )
            and found([2], [3], gradient, 0.999 * limit)[1] > 0
        )


def _krawczyk(checker) -> bool:
    """Krawczyk's number and the matrix of a form from made-up balls."""
    module = part(checker, "every_k")

    def ball(middle, radius=0.0):
        return SimpleNamespace(at=lambda h: arb(middle, radius))

    tail = module.Tail.__new__(module.Tail)
    tail.tube, tail.slopes = 0.5, [[ball(2, 0.5), ball(0, 0.25)], [ball(0, 0.125), ball(4, 1)]]
    steps = (
        [(0.125, 0.0625), (-1, 0.25)],
        [(-0.25, 0.0625), (0.125, 0.25)],
    )  # the second row is the worst, then the first
    for residual, worst in zip(steps, (0.28125 + 0.625, 0.375 + 0.3125), strict=True):
        tail.residual = [ball(*x) for x in residual]
        if not abs(float(tail.krawczyk(arb(1)).upper()) - worst) < 1e-6:
            return False
    form = SimpleNamespace(terms={(0, 0): ball(5), (0, 1): ball(3), (1, 1): ball(7)})
    return module._matrix(form, 2, arb(1)) == arb_mat([[5, 1.5], [1.5, 7]])
