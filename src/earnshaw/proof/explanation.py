"""A certificate in words and in LaTeX: the theorem it proves, with its numbers."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from earnshaw.errors import InputError
from earnshaw.proof.certificate import Certificate
from earnshaw.proof.trusted import Rejected
from earnshaw.proof.trusted.reading import parse
from earnshaw.proof.trusted.relu_claims import shown


@dataclass(frozen=True)
class Explanation:
    """The theorem of one certificate."""

    kind: str
    words: str
    latex: str


def explain(certificate: Certificate | str | os.PathLike[str]) -> Explanation:
    """Say what `certificate` (or the file at that path) claims; whether it is true is for `check` to say.

    Raises InputError when the document is not a well-formed certificate.
    """
    if not isinstance(certificate, Certificate):
        certificate = Certificate.load(certificate)
    if certificate.kind == "convnet":
        from earnshaw.proof.convnet import explain_convnet

        return explain_convnet(certificate)
    try:
        document = parse(certificate.to_text().encode())
    except Rejected as rejected:
        raise InputError(f"not a well-formed certificate: {rejected}") from None
    numbers = _Numbers(document.numbers)
    everywhere = document.kind == "saddle" or document.numbers["claims.lambda_ext_ge"] is not None
    frame = _Frame(len(document.center), len(document.target), len(document.target[0]), everywhere)
    words, latex = _TEXTS[document.kind]
    return Explanation(document.kind, words(frame, numbers), _theorem(frame, latex(frame, numbers)))


@dataclass(frozen=True)
class _Frame:
    n: int
    k: int
    d: int
    everywhere: bool


class _Numbers:
    """The certificate's numbers, printed with six digits on the safe side."""

    def __init__(self, numbers: Mapping[str, float | None]) -> None:
        self._numbers = numbers

    def low(self, name: str) -> str:
        """Round down: lower bounds, and radii within which something holds."""
        return shown(self._get(name), up=False)

    def high(self, name: str) -> str:
        """Round up: upper bounds, and radii that enclose."""
        return shown(self._get(name), up=True)

    def _get(self, name: str) -> float:
        value = self._numbers[name]
        if value is None:
            raise KeyError(f"{name} is not claimed by this certificate")
        return value


def _setting(frame: _Frame) -> str:
    text = (
        f"A network of n = {frame.n} ReLU neurons learns a sum of k = {frame.k} ReLU neurons from standard Gaussian "
        f"inputs "
        f"in R^{frame.d}; F is half the mean squared error, and its least value is 0. "
    )
    if frame.everywhere:
        text += f"What follows holds in R^D for every D >= {frame.d}, with the weights padded by zeros. "
    return text


def _minimum_words(frame: _Frame, numbers: _Numbers) -> str:
    return _setting(frame) + _minimum_core(numbers)


def _minimum_core(numbers: _Numbers) -> str:
    return (
        f"Within distance {numbers.low('R_unique')} of the certificate's center F has exactly one critical point. It "
        f"lies "
        f"within {numbers.high('R_enclosure')} of the center. It is a strict local minimum, with all eigenvalues of "
        f"the "
        f"Hessian at least {numbers.low('claims.mu_ge')}, and F there is at least {numbers.low('claims.F_ge')}, so "
        f"it is not "
        f"a global minimum. The proof rests on three bounds in ball arithmetic at the center: gradient norm at most "
        f"{numbers.high('claims.grad_norm_le')}, smallest eigenvalue at least {numbers.low('claims.lambda_min_ge')}, "
        f"and a "
        f"Hessian that varies at rate at most {numbers.high('claims.hess_lipschitz_le')}."
    )


def _basin_words(frame: _Frame, numbers: _Numbers) -> str:
    return (
        _minimum_words(frame, numbers)
        + f" Moreover, exact gradient descent with any fixed step below {numbers.low('basin.step_lt')} that starts "
        f"within "
        f"{numbers.low('basin.radius')} of the center converges to this minimum: on the way the eigenvalues of the "
        f"Hessian "
        f"stay between {numbers.low('basin.mu_ge')} and {numbers.high('basin.smoothness_le')}."
    )


def _robust_words(frame: _Frame, numbers: _Numbers) -> str:
    return (
        _minimum_words(frame, numbers)
        + f" Moreover, for every teacher whose neurons each lie within {numbers.low('robust.delta')} of the given "
        f"ones, F has "
        f"exactly one critical point within {numbers.high('robust.R_enclosure')} of the same center, and it is again "
        f"a strict "
        f"spurious minimum, with F at least {numbers.low('robust.F_ge')}."
    )


def _saddle_words(frame: _Frame, numbers: _Numbers) -> str:
    return (
        _setting(frame)
        + f"Within distance {numbers.high('R_enclosure')} of the certificate's center F has a critical point. It is "
        f"a saddle: "
        f"some eigenvalue of the Hessian at the center is at most {numbers.high('claims.curvature_le')}, and the "
        f"Hessian varies "
        f"too little on the ball for it to become 0, while scaling all weights raises F to second order. F there lies "
        f"between {numbers.low('claims.F_ge')} and {numbers.high('claims.F_le')}."
    )


def _tex(number: str) -> str:
    """Turn 1.5e-07 into LaTeX."""
    if "e" not in number:
        return number
    mantissa, exponent = number.split("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"


def _theorem(frame: _Frame, body: str) -> str:
    where = rf"$D \ge {frame.d}$" if frame.everywhere else rf"$D = {frame.d}$"
    return (
        "\\begin{theorem}\n"
        rf"Let $v_1, \dots, v_{{{frame.k}}} \in \mathbb{{R}}^{{{frame.d}}}$ be the certificate's target and $W_0 \in "
        rf"\mathbb{{R}}^{{{frame.n} \times {frame.d}}}$ its center, padded with zeros to dimension {where}, and let"
        + "\n"
        r"\[ F(W) = \tfrac12 \mathbb{E}_{x \sim \mathcal{N}(0, I)} \Bigl( \sum_{i=1}^{"
        + str(frame.n)
        + r"} [w_i^\top x]_+ - \sum_{j=1}^{"
        + str(frame.k)
        + r"} [v_j^\top x]_+ \Bigr)^2 . \]"
        + f"\n{body}\n\\end{{theorem}}\n"
    )


def _minimum_latex(_: _Frame, numbers: _Numbers) -> str:
    outer, inner = _tex(numbers.low("R_unique")), _tex(numbers.high("R_enclosure"))
    mu, value = _tex(numbers.low("claims.mu_ge")), _tex(numbers.low("claims.F_ge"))
    return (
        rf"Then $F$ has exactly one critical point $W^*$ with $\|W^* - W_0\| \le {outer}$. It satisfies "
        rf"$\|W^* - W_0\| \le {inner}$, $\nabla^2 F(W^*) \succeq {mu}\, I$ and $F(W^*) \ge {value} > 0 = \min F$: "
        rf"it is a strict spurious local minimum."
    )


def _basin_latex(frame: _Frame, numbers: _Numbers) -> str:
    step, radius = _tex(numbers.low("basin.step_lt")), _tex(numbers.low("basin.radius"))
    mu, smooth = _tex(numbers.low("basin.mu_ge")), _tex(numbers.high("basin.smoothness_le"))
    return (
        _minimum_latex(frame, numbers)
        + rf" If $\|W - W_0\| \le {radius}$ and $0 < \eta < {step}$, the iterates of $W \mapsto W - \eta \nabla "
        rf"F(W)$ converge "
        rf"to $W^*$, and each step multiplies the distance to it by at most $\max(1 - {mu}\,\eta,\ {smooth}\,\eta - "
        rf"1) < 1$."
    )


def _robust_latex(frame: _Frame, numbers: _Numbers) -> str:
    delta, radius = _tex(numbers.low("robust.delta")), _tex(numbers.high("robust.R_enclosure"))
    value = _tex(numbers.low("robust.F_ge"))
    return (
        _minimum_latex(frame, numbers)
        + rf" For every $V'$ with $\|v'_j - v_j\| \le {delta}$ for all $j$, the function $F$ of $V'$ has exactly one "
        rf"critical "
        rf"point with $\|W - W_0\| \le {radius}$; it is a strict local minimum with value at least ${value} > 0$."
    )


def _saddle_latex(_: _Frame, numbers: _Numbers) -> str:
    radius, bend = _tex(numbers.high("R_enclosure")), _tex(numbers.high("claims.curvature_le"))
    low, high = _tex(numbers.low("claims.F_ge")), _tex(numbers.high("claims.F_le"))
    return (
        rf"Then $F$ has a critical point $W^*$ with $\|W^* - W_0\| \le {radius}$ and ${low} \le F(W^*) \le {high}$. "
        rf"It is a "
        rf"saddle: $\lambda_{{\min}}(\nabla^2 F(W_0)) \le {bend}$, and $\nabla^2 F(W^*)$ has eigenvalues of both signs."
    )


_TEXTS: dict[str, Any] = {
    "minimum": (_minimum_words, _minimum_latex),
    "basin": (_basin_words, _basin_latex),
    "robust": (_robust_words, _robust_latex),
    "saddle": (_saddle_words, _saddle_latex),
}
