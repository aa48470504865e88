"""A certificate in words and in LaTeX: the theorem it proves, with its numbers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from earnshaw.errors import InputError
from earnshaw.proof.certificate import Certificate
from earnshaw.proof.trusted import Rejected, convexity, convnet, reading
from earnshaw.proof.trusted.balls import shown
from earnshaw.proof.verdict import Proof


@dataclass(frozen=True)
class Explanation:
    """The theorem of one certificate."""

    kind: str
    words: str
    latex: str

    def __str__(self) -> str:
        """Return the words."""
        return self.words


@dataclass(frozen=True)
class _Kind:
    """How certificates of one kind are read, and what they say."""

    parse: Callable[[bytes], Any]
    words: Callable[[Any], str]
    latex: Callable[[Any], str]


def explain(certificate: Proof | Certificate | str | os.PathLike[str]) -> Explanation:
    """Say what a certificate (that of a proof, or of the file at a path) claims; whether it is true is for `check` to say.

    Raises InputError when the document is not a well-formed certificate.
    """
    if isinstance(certificate, Proof):
        certificate = certificate.certificate
    elif not isinstance(certificate, Certificate):
        certificate = Certificate.load(certificate)
    kind = KINDS.get(certificate.kind)
    if kind is None:
        raise InputError(f"the certificate is of the unknown kind {certificate.kind!r}; known are {', '.join(KINDS)}")
    try:
        document = kind.parse(certificate.to_text().encode())
        return Explanation(certificate.kind, kind.words(document), _theorem(kind.latex(document)))
    except Rejected as rejected:
        raise InputError(f"not a well-formed certificate: {rejected}") from None


class _Numbers:
    """The certificate's numbers, printed with six digits on the safe side; as LaTeX if asked to."""

    def __init__(self, real: Callable[[str], float], latex: bool) -> None:
        self._real, self._latex = real, latex

    def low(self, name: str) -> str:
        """Round down: lower bounds, and radii within which something holds."""
        return self._shown(name, up=False)

    def high(self, name: str) -> str:
        """Round up: upper bounds, and radii that enclose."""
        return self._shown(name, up=True)

    def _shown(self, name: str, up: bool) -> str:
        mantissa, _, exponent = shown(self._real(name), up=up).partition("e")
        if not self._latex:
            return f"{mantissa}e{exponent}" if exponent else mantissa
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def _theorem(body: str) -> str:
    return f"\\begin{{theorem}}\n{body}\n\\end{{theorem}}\n"


# ---- the ReLU landscape ---------------------------------------------------------------------------------------------


def _everywhere(document: reading.Document) -> bool:
    return document.kind == "saddle" or document.numbers["claims.lambda_ext_ge"] is not None


def _relu_words(document: reading.Document) -> str:
    d, number = len(document.target[0]), _Numbers(document.real, latex=False)
    text = (
        f"A network of n = {len(document.center)} ReLU neurons learns a sum of k = {len(document.target)} ReLU neurons from "
        f"standard Gaussian inputs in R^{d}; F is half the mean squared error, and its least value is 0. "
    )
    if _everywhere(document):
        text += f"What follows holds in R^D for every D >= {d}, with the weights padded by zeros. "
    if document.kind == "saddle":
        return text + (
            f"Within distance {number.high('R_enclosure')} of the certificate's center F has a critical point. It is a "
            f"saddle: some eigenvalue of the Hessian at the center is at most {number.high('claims.curvature_le')}, and the "
            "Hessian varies too little on the ball for it to become 0, while scaling all weights raises F to second order. "
            f"F there lies between {number.low('claims.F_ge')} and {number.high('claims.F_le')}."
        )
    text += (
        f"Within distance {number.low('R_unique')} of the certificate's center F has exactly one critical point. It lies "
        f"within {number.high('R_enclosure')} of the center. It is a strict local minimum, with all eigenvalues of the "
        f"Hessian at least {number.low('claims.mu_ge')}, and F there is at least {number.low('claims.F_ge')}, so it is not a "
        f"global minimum. The proof rests on three bounds in ball arithmetic at the center: gradient norm at most "
        f"{number.high('claims.grad_norm_le')}, smallest eigenvalue at least {number.low('claims.lambda_min_ge')}, and a "
        f"Hessian that varies at rate at most {number.high('claims.hess_lipschitz_le')}."
    )
    if document.kind == "basin":
        text += (
            f" Moreover, exact gradient descent with any fixed step below {number.low('basin.step_lt')} that starts within "
            f"{number.low('basin.radius')} of the center converges to this minimum: on the way the eigenvalues of the "
            f"Hessian stay between {number.low('basin.mu_ge')} and {number.high('basin.smoothness_le')}."
        )
    if document.kind == "robust":
        text += (
            f" Moreover, for every teacher whose neurons each lie within {number.low('robust.delta')} of the given ones, F "
            f"has exactly one critical point within {number.high('robust.R_enclosure')} of the same center, and it is again "
            f"a strict spurious minimum, with F at least {number.low('robust.F_ge')}."
        )
    return text


def _relu_latex(document: reading.Document) -> str:
    n, k, d = len(document.center), len(document.target), len(document.target[0])
    where = rf"$D \ge {d}$" if _everywhere(document) else rf"$D = {d}$"
    number = _Numbers(document.real, latex=True)
    low, high = number.low, number.high
    text = (
        rf"Let $v_1, \dots, v_{{{k}}} \in \mathbb{{R}}^{{{d}}}$ be the certificate's target and $W_0 \in "
        rf"\mathbb{{R}}^{{{n} \times {d}}}$ its center, padded with zeros to dimension {where}, and let"
        "\n"
        r"\[ F(W) = \tfrac12 \mathbb{E}_{x \sim \mathcal{N}(0, I)} \Bigl( \sum_{i=1}^{"
        rf"{n}}} [w_i^\top x]_+ - \sum_{{j=1}}^{{{k}}} [v_j^\top x]_+ \Bigr)^2 . \]"
        "\n"
    )
    if document.kind == "saddle":
        return text + (
            rf"Then $F$ has a critical point $W^*$ with $\|W^* - W_0\| \le {high('R_enclosure')}$ and "
            rf"${low('claims.F_ge')} \le F(W^*) \le {high('claims.F_le')}$. It is a saddle: $\lambda_{{\min}}(\nabla^2 "
            rf"F(W_0)) \le {high('claims.curvature_le')}$, and $\nabla^2 F(W^*)$ has eigenvalues of both signs."
        )
    text += (
        rf"Then $F$ has exactly one critical point $W^*$ with $\|W^* - W_0\| \le {low('R_unique')}$. It satisfies "
        rf"$\|W^* - W_0\| \le {high('R_enclosure')}$, $\nabla^2 F(W^*) \succeq {low('claims.mu_ge')}\, I$ and $F(W^*) \ge "
        rf"{low('claims.F_ge')} > 0 = \min F$: it is a strict spurious local minimum."
    )
    if document.kind == "basin":
        text += (
            rf" If $\|W - W_0\| \le {low('basin.radius')}$ and $0 < \eta < {low('basin.step_lt')}$, the iterates of $W "
            r"\mapsto W - \eta \nabla F(W)$ converge to $W^*$, and each step multiplies the distance to it by at most "
            rf"$\max(1 - {low('basin.mu_ge')}\,\eta,\ {high('basin.smoothness_le')}\,\eta - 1) < 1$."
        )
    if document.kind == "robust":
        text += (
            rf" For every $V'$ with $\|v'_j - v_j\| \le {low('robust.delta')}$ for all $j$, the function $F$ of $V'$ has "
            rf"exactly one critical point with $\|W - W_0\| \le {high('robust.R_enclosure')}$; it is a strict local minimum "
            rf"with value at least ${low('robust.F_ge')} > 0$."
        )
    return text


# ---- the convolutional network --------------------------------------------------------------------------------------


def _convnet_latex(document: convnet.Document) -> str:
    low = _Numbers(document.real, latex=True).low
    is_minimum = document.claims["angle_ge"] is not None
    kind = "is a local minimum, though not a global one" if is_minimum else "is not a local minimum"
    condition = r"\pi S^2 < (k + \pi - 1)|a^*|^2" if is_minimum else r"\pi S^2 \ge (k + \pi - 1)|a^*|^2"
    saddles = (
        rf"; the others are strict saddles, at the angle ${low('angle_ge')}$ to $w^*$ (rounded down)"
        if is_minimum
        else ""
    )
    return (
        rf"Let $w^* \in \mathbb{{R}}^{{{len(document.filter)}}}$ and $a^* \in \mathbb{{R}}^{{{len(document.outputs)}}}$ be the certificate's "
        "filter and output weights, $S = \\sum_i a^*_i$, and let\n"
        r"\[ F(v, a) = \tfrac12 \mathbb{E} \Bigl( \sum_i a_i [Z_i^\top v]_+ / |v| - \sum_i a^*_i [Z_i^\top w^*]_+ \Bigr)^2, "
        "\\qquad Z_i \\sim \\mathcal{N}(0, I) . \\]\n"
        rf"Then ${condition}$. The stationary point with $v$ against $w^*$, whose output weights are the certificate's "
        rf"center to rounding and where $F \ge {low('F_ge')}$, {kind}; those with $v$ along $w^*$ are the global minima{saddles}. "
        rf"Gradient descent with a step of at most ${low('step_le')}$ from a point with $|v| \ge 1$, $v$ not against $w^*$, and "
        rf"$F < {low('barrier_ge')}$ converges to the former if $a^\top a^* < 0$ and to the latter if $a^\top a^* > 0$."
    )


# ---- the risk of a data set -----------------------------------------------------------------------------------------

_ACTIVATIONS: Mapping[str, tuple[str, str]] = {
    "sigmoid": ("1/(1 + exp(-z))", r"1/(1 + e^{-z})"),
    "unit-tanh": ("(1 + tanh z)/2", r"(1 + \tanh z)/2"),
    "unit-erf": ("(1 + erf z)/2", r"(1 + \operatorname{erf} z)/2"),
}


def _convexity_words(document: convexity.Document) -> str:
    (n, d), number = document.x.shape, _Numbers(document.real, latex=False)
    text = (
        f"A network of K = {len(document.center)} neurons, the mean of phi(w_k.x) with phi(z) = "
        f"{_ACTIVATIONS[document.activation][0]}, is fitted to the n = {n} inputs in R^{d} and their labels that the "
        "certificate holds; f is half the mean squared error. At the certificate's center the Hessian of f is at least "
        f"{number.low('curvature_ge')} I and the gradient at most {number.high('gradient_le')}, and at distance t the "
        f"Hessian changes at rate at most {number.high('change_le')} + {number.high('growth_le')} t. So it is positive "
        f"definite nearer than {number.low('radius')} to the center: f is strictly convex there and has at most one "
        "stationary point."
    )
    if document.claims["minimiser_within"] is not None:
        text += f" There is one, a strict local minimum, within {number.high('minimiser_within')} of the center."
    return text


def _convexity_latex(document: convexity.Document) -> str:
    (n, d), number = document.x.shape, _Numbers(document.real, latex=True)
    text = (
        rf"Let $x_1, \dots, x_{{{n}}} \in \mathbb{{R}}^{{{d}}}$ and $y_1, \dots, y_{{{n}}}$ be the certificate's data, $W_0$ "
        rf"its center, $\varphi(z) = {_ACTIVATIONS[document.activation][1]}$, and let"
        "\n"
        rf"\[ f(W) = \frac{{1}}{{{2 * n}}} \sum_{{i=1}}^{{{n}}} \Bigl( \tfrac1{{{len(document.center)}}} "
        rf"\sum_{{k=1}}^{{{len(document.center)}}} \varphi(w_k^\top x_i) - y_i \Bigr)^2 . \]"
        "\n"
        rf"Then $\nabla^2 f(W_0) \succeq {number.low('curvature_ge')}\, I$, and $\nabla^2 f(W) \succ 0$ for all $W$ with "
        rf"$\|W - W_0\| < {number.low('radius')}$, where $f$ has at most one stationary point."
    )
    if document.claims["minimiser_within"] is not None:
        text += rf" One is a strict local minimum, with $\|W - W_0\| \le {number.high('minimiser_within')}$."
    return text


KINDS: Mapping[str, _Kind] = {
    **dict.fromkeys(reading.KINDS, _Kind(reading.parse, _relu_words, _relu_latex)),
    "convnet": _Kind(convnet.parse, convnet.statement, _convnet_latex),
    "convexity": _Kind(convexity.parse, _convexity_words, _convexity_latex),
}
