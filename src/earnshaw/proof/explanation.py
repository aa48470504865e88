"""A certificate in words and in LaTeX: the theorem it proves, with its numbers.

Numbers have six digits and are rounded to the safe side: ``low`` rounds down lower bounds, and radii within which something
holds; ``high`` rounds up upper bounds, and radii that enclose.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from earnshaw.problems import TwoLayer
from earnshaw.proof.certificate import Certificate
from earnshaw.proof.splitting import splitting, splitting_words
from earnshaw.proof.trusted import Rejected, absence, blocks_claims, convexity, convnet, every_k, reading
from earnshaw.proof.trusted.balls import shown
from earnshaw.proof.verdict import Proof
from earnshaw.proof.verdict import check as run_checker
from earnshaw.showing import Shown

Number = Callable[[str], str]
SMALL = 10  # rows and columns of a matrix that LaTeX shows; the class pmatrix has no more columns
PATIENCE = 10.0  # seconds that a check may take before it must be asked for


@dataclass(frozen=True, repr=False)
class Explanation(Shown):
    """The theorem of one certificate; where it was rejected or not checked, the words say that, and there is no LaTeX."""

    kind: str
    words: str
    latex: str
    verified: bool | None = True  #: None: not checked

    def __str__(self) -> str:
        """Return the words."""
        return self.words

    def _line(self) -> str:
        return f"{self.kind}, {'not checked' if self.verified is None else 'verified' if self.verified else 'rejected'}"

    def _facts(self) -> Mapping[str, object]:
        return {"in words": self.words}


def explain(certificate: Proof | Certificate | str | os.PathLike[str], check: bool = False) -> Explanation:
    """Say what a certificate (that of a proof, or of the file at a path) proves, once the trusted checker has verified it.

    A check that would take more than about ten seconds is made only when ``check`` asks for it. The words for a
    certificate that is false begin with REJECTED, for one that was not checked with NOT CHECKED. Raises InputError when
    there is no certificate to read.
    """
    given = certificate.certificate if isinstance(certificate, Proof) else certificate
    certificate = given if isinstance(given, Certificate) else Certificate.load(given)
    kind = certificate.kind
    if kind not in KINDS:
        return Explanation(kind, f"REJECTED unknown kind {kind[:40]!r}; known are {', '.join(KINDS)}", "", False)
    parse, theorem, seconds = KINDS[kind]
    try:
        document = parse(certificate.to_text().encode(), inf)
    except Rejected as rejected:
        return Explanation(kind, f"REJECTED {rejected}", "", False)
    if not check and (long := seconds(document)) > PATIENCE:
        return Explanation(kind, f"NOT CHECKED the check would take about {long:.0f} s; ask for it", "", None)
    checked = run_checker(given, inf)
    if not checked.verified:
        return Explanation(kind, str(checked), "", False)
    words, latex = theorem(
        document,
        lambda name: shown(document.real(name), up=False),
        lambda name: shown(document.real(name), up=True),
    )
    latex += _matrices(document)
    powers = re.sub(r"(\d)e([+-]\d+)", lambda number: rf"{number[1]} \cdot 10^{{{int(number[2])}}}", latex)
    return Explanation(kind, words, f"\\begin{{theorem}}\n{powers}\n\\end{{theorem}}\n")


def _blocks(document: blocks_claims.Document, low: Number, high: Number) -> tuple[str, str]:
    """A point with many equal entries."""
    n, k, names = document.n, document.k, blocks_claims.group(document)
    groups = ", ".join(str(size) for size in document.sizes)
    rows = ", ".join(
        "a single neuron" if row is None else f"one for each of group {row} (from 0)" for row in document.rows
    )
    words = (
        f"A network of n = {n} ReLU neurons learns the sum of the k = {k} coordinate ReLU neurons from standard Gaussian "
        f"inputs in R^{k}; F is half the mean squared error, and its least value is 0. The certificate's center is a point "
        f"that {names} fixes: its coordinates are in groups of {groups}, its neurons are {rows}, and it is given by "
        f"{len(document.center)} numbers. What follows is about all its weights"
    )
    words += f", and holds in R^D for every D >= {k}. " if _everywhere(document) else ". "
    latex = (
        rf"Let $v_1, \dots, v_{{{k}}}$ be the coordinate vectors of $\mathbb{{R}}^{{{k}}}$ and $W_0 \in \mathbb{{R}}^{{{n} \times {k}}}$ "
        rf"the certificate's center, fixed by ${_factors(document)}$, padded with zeros to dimension {_where(document, k)}, and let"
        "\n" + _loss(n, k)
    )
    return _point(document, words, latex, low, high)


def _factors(document: blocks_claims.Document) -> str:
    return r" \times ".join(f"S_{{{size}}}" for size in sorted(document.sizes, reverse=True) if size > 1) or r"\{1\}"


def _everywhere(document: reading.Numbers) -> bool:
    """Say whether a certificate's claim is about every dimension."""
    return document.numbers.get("claims.lambda_ext_ge", 0.0) is not None


def _where(document: reading.Numbers, d: int) -> str:
    return rf"$D \ge {d}$" if _everywhere(document) else f"$D = {d}$"


def _loss(n: int, k: int) -> str:
    return (
        r"\[ F(W) = \tfrac12 \mathbb{E}_{x \sim \mathcal{N}(0, I)} \Bigl( \sum_{i=1}^{"
        rf"{n}}} [w_i^\top x]_+ - \sum_{{j=1}}^{{{k}}} [v_j^\top x]_+ \Bigr)^2 . \]"
        "\n"
    )


def _matrices(document: Any) -> str:
    """Return the certificate's matrices for readers, rounded to four digits; nothing where there are none, or large ones."""
    shown = {"W_0": getattr(document, "center", None), "V": getattr(document, "target", None)}
    if not all(_is_small(matrix) for matrix in shown.values()):
        return ""

    def rows(matrix: Any) -> str:
        return r" \\ ".join(" & ".join(f"{round(float(entry), 4) + 0.0:g}" for entry in row) for row in matrix)

    parts = [rf"{name} \approx \begin{{pmatrix}} {rows(matrix)} \end{{pmatrix}}" for name, matrix in shown.items()]
    rounded = "\nHere, rounded to four digits and with one neuron a row (the certificate has every digit),\n"
    return rounded + r"\[ " + r", \qquad ".join(parts) + r" . \]"


def _is_small(matrix: Any) -> bool:
    """Say whether this is a matrix, and fits on a page."""
    return matrix is not None and isinstance(matrix[0], list) and max(len(matrix), len(matrix[0])) <= SMALL


def _relu(document: reading.Document, low: Number, high: Number) -> tuple[str, str]:
    """The ReLU landscape."""
    n, k, d = len(document.center), len(document.target), len(document.target[0])
    words = (
        f"A network of n = {n} ReLU neurons learns a sum of k = {k} ReLU neurons from standard Gaussian inputs in R^{d}; "
        "F is half the mean squared error, and its least value is 0. "
    )
    words += f"What follows holds in R^D for every D >= {d}, with the weights padded by zeros. " * _everywhere(document)
    latex = (
        rf"Let $v_1, \dots, v_{{{k}}} \in \mathbb{{R}}^{{{d}}}$ be the certificate's target and $W_0 \in "
        rf"\mathbb{{R}}^{{{n} \times {d}}}$ its center, padded with zeros to dimension {_where(document, d)}, and let"
        "\n" + _loss(n, k)
    )
    words, latex = _point(document, words, latex, low, high)
    if document.kind == "saddle":
        return words, latex
    if document.kind == "basin":
        words += (
            f" Moreover, exact gradient descent with any fixed step below {low('basin.step_lt')} that starts within "
            f"{low('basin.radius')} of the center converges to this minimum: on the way the eigenvalues of the Hessian stay "
            f"between {low('basin.mu_ge')} and {high('basin.smoothness_le')}."
        )
        latex += (
            rf" If $\|W - W_0\| \le {low('basin.radius')}$ and $0 < \eta < {low('basin.step_lt')}$, the iterates of $W "
            r"\mapsto W - \eta \nabla F(W)$ converge to $W^*$, and each step multiplies the distance to it by at most "
            rf"$\max(1 - {low('basin.mu_ge')}\,\eta,\ {high('basin.smoothness_le')}\,\eta - 1)$."
        )
    if document.kind == "every_n":
        neuron = document.real("every_n.neuron")
        words += (
            f" Moreover, for every n' >= {n} F has local minima with n' neurons and the same value: replace neuron {neuron} "
            f"(from 0) of the minimum by parallel parts of it, in any proportion. None of them is strict beyond n' = {n}. The proof "
            "rests on two bounds at the minimum, for the neuron's block of the Hessian minus I/2: at least "
            f"{low('every_n.delta')} across the neuron, and at least {low('every_n.delta_ext')} in each further dimension."
        )
        latex += (
            rf" Moreover, let $n' \ge {n}$, $p = n' - {n} + 1$, and let $s_1, \dots, s_p > 0$ have the sum 1. The network of $n'$ "
            rf"neurons in which $w^*_i$, $i = {neuron}$ (from 0), is replaced by $s_1 w^*_i, \dots, s_p w^*_i$ is a spurious local "
            rf"minimum with the same value: $\nabla^2 F_{{ii}}(W^*) - \frac12 I \succeq {low('every_n.delta')}\, I$ on the complement "
            rf"of $w^*_i$ in $\mathbb{{R}}^{{{d}}}$, and at least ${low('every_n.delta_ext')}$ in each further dimension."
        )
    if document.kind == "robust":
        words += (
            f" Moreover, for every teacher whose neurons each lie within {low('robust.delta')} of the given ones, F has "
            f"a strict spurious minimum with F at least {low('robust.F_ge')} within {high('robust.R_enclosure')} of the same "
            f"center, and no other critical point within {low('robust.R_enclosure')}."
        )
        latex += (
            rf" For every $V'$ with $\|v'_j - v_j\| \le {low('robust.delta')}$ for all $j$, the function $F$ of $V'$ has "
            rf"a strict local minimum with $\|W - W_0\| \le {high('robust.R_enclosure')}$ and value at least "
            rf"${low('robust.F_ge')} > 0$, and no other critical point with $\|W - W_0\| \le {low('robust.R_enclosure')}$."
        )
    rows = splitting(TwoLayer(np.array(document.target), students=n), document.center)
    return f"{words} {splitting_words(rows)}", latex


def _point(document: reading.Numbers, words: str, latex: str, low: Number, high: Number) -> tuple[str, str]:
    """What is proved of a point, after the words that say which it is."""
    if document.kind in ("saddle", "blocks_saddle"):
        words += (
            f"Within distance {high('R_enclosure')} of the certificate's center F has a critical point. It is a saddle: some "
            f"eigenvalue of the Hessian at the center is at most {high('claims.curvature_le')}, and the Hessian varies too "
            "little on the ball for it to become 0, while scaling all weights raises F to second order. F there lies "
            f"between {low('claims.F_ge')} and {high('claims.F_le')}."
        )
        latex += (
            rf"Then $F$ has a critical point $W^*$ with $\|W^* - W_0\| \le {high('R_enclosure')}$ and "
            rf"${low('claims.F_ge')} \le F(W^*) \le {high('claims.F_le')}$. It is a saddle: $\lambda_{{\min}}(\nabla^2 "
            rf"F(W_0)) \le {high('claims.curvature_le')}$, and $\nabla^2 F(W^*)$ has eigenvalues of both signs."
        )
        return words, latex
    words += (
        f"F has a critical point within {high('R_enclosure')} of the certificate's center, and no other within "
        f"{low('R_unique')}. It is a strict local minimum, with all eigenvalues of the Hessian at least "
        f"{low('claims.mu_ge')}, and F there is at least {low('claims.F_ge')}, so it is not a global minimum. The proof rests "
        f"on three bounds in ball arithmetic at the center: gradient norm at most {high('claims.grad_norm_le')}, smallest "
        f"eigenvalue at least {low('claims.lambda_min_ge')}, and a Hessian that varies at rate at most "
        f"{high('claims.hess_lipschitz_le')}."
    )
    latex += (
        rf"Then $F$ has a critical point $W^*$ with $\|W^* - W_0\| \le {high('R_enclosure')}$, and no other critical point "
        rf"$W$ with $\|W - W_0\| \le {low('R_unique')}$. It satisfies $\nabla^2 F(W^*) \succeq {low('claims.mu_ge')}\, I$ and $F(W^*) \ge "
        rf"{low('claims.F_ge')} > 0 = \min F$: it is a strict spurious local minimum."
    )
    return words, latex


def _every_k(document: every_k.Document, low: Number, high: Number) -> tuple[str, str]:
    """A family of minima, one for each k."""
    first, start, singles = document.first, document.start, every_k.FAMILIES[document.family].singles
    group, value, letters = ("S_{k-1}", "k F", "a, b, c, d, e") if singles else ("S_k", "F", "a, b")
    neurons, height = ("k", "k") if singles < 2 else ("k + 1", "(k+1)")
    least, far, under, over = (f"claims.{name}" for name in every_k.SHAPE["claims"])
    words = (
        f"A network of n = {neurons} ReLU neurons learns the sum of the k coordinate ReLU neurons from standard Gaussian inputs; F is half "
        f"the mean squared error, and its least value is 0. For every integer k >= {first} and in R^D for every D >= k, F has a "
        f"strict local minimum that {group} fixes, of family {document.family}, given by {len(document.curve)} numbers. All "
        f"eigenvalues of the Hessian there are at least {low(least)} if k < {start}, and at least {low(far)} if k >= {start}; {value} lies "
        f"between {low(under)} and {high(over)}, so it is not a global minimum. For k from {first} to {start - 1} the certificate "
        f"has a point each. For all real k >= {start} at once it has a polynomial in h = k^(-1/2) for each scaled number, and "
        f"within {high('tail.tube')} of it a zero of the scaled gradient is enclosed on each of {len(document.ends) - 1} pieces of h."
    )
    regular, single = r"w_i = a v_i + b \sum_{j \ne i, j < k} v_j + c\, v_k \ (i < k)", r"\sum_{j < k} v_j"
    if singles == 2:
        letters += ", d', e'"
        rows = rf"{regular}, \ w_k = d {single} + e\, v_k, \ w_{{k+1}} = d' {single} + e' v_k"
    else:
        rows = rf"{regular}, \ w_k = d {single} + e\, v_k" if singles else r"w_i = a v_i + b \sum_{j \ne i} v_j"
    latex = (
        rf"For every integer $k \ge {first}$ and every dimension $D \ge k$, with $v_1, \dots, v_k$ orthonormal in $\mathbb{{R}}^D$, the function"
        "\n"
        r"\[ F(W) = \tfrac12 \mathbb{E}_{x \sim \mathcal{N}(0, I)} \Bigl( \sum_{i=1}^{"
        f"{neurons}"
        r"} [w_i^\top x]_+ - \sum_{j=1}^k [v_j^\top x]_+ "
        "\\Bigr)^2 \\]\n"
        rf"of $W \in \mathbb{{R}}^{{{height} \times D}}$ has a critical point $W^*$ of the form ${rows}$ with real ${letters}$. It satisfies "
        rf"$\nabla^2 F(W^*) \succeq {low(least)}\, I$ if $k < {start}$, and $\nabla^2 F(W^*) \succeq {low(far)}\, I$ if $k \ge {start}$, and "
        rf"${low(under)} \le {value}(W^*) \le {high(over)}$: it is a strict spurious local minimum."
    )
    return words, latex


def _convnet(document: convnet.Document, low: Number, high: Number) -> tuple[str, str]:
    """The convolutional network."""
    kind, condition, saddles = "is not a local minimum", r"\pi S^2 \ge (k + \pi - 1)|a^*|^2", ""
    if document.claims["angle_ge"] is not None:
        kind, condition = "is a local minimum, though not a global one", r"\pi S^2 < (k + \pi - 1)|a^*|^2"
        saddles = rf"; the others are strict saddles, at the angle ${low('angle_ge')}$ to $w^*$ (rounded down)"
    latex = (
        rf"Let $w^* \in \mathbb{{R}}^{{{len(document.filter)}}}$ and $a^* \in \mathbb{{R}}^{{{len(document.outputs)}}}$ be the certificate's "
        "filter and output weights, $S = \\sum_i a^*_i$, and let\n"
        r"\[ F(v, a) = \tfrac12 \mathbb{E} \Bigl( \sum_i a_i [Z_i^\top v]_+ / |v| - \sum_i a^*_i [Z_i^\top w^*]_+ \Bigr)^2, "
        "\\qquad Z_i \\sim \\mathcal{N}(0, I) . \\]\n"
        rf"Then ${condition}$. The stationary point with $v$ against $w^*$, whose output weights are the certificate's "
        rf"center to rounding and where $F \ge {low('F_ge')}$, {kind}; those with $v$ along $w^*$ are the global minima{saddles}. "
        rf"Gradient descent with a step of at most ${low('step_le')}$ from a point with $|v| \ge 1$, $v$ not against $w^*$, and "
        rf"$F < {low('barrier_ge')}$ converges to the former if $a^\top a^* < 0$ and to the latter if $a^\top a^* > 0$."
    )
    return convnet.statement(document), latex


_ACTIVATIONS = {
    "sigmoid": ("1/(1 + exp(-z))", r"1/(1 + e^{-z})"),
    "unit-tanh": ("(1 + tanh z)/2", r"(1 + \tanh z)/2"),
    "unit-erf": ("(1 + erf z)/2", r"(1 + \operatorname{erf} z)/2"),
}


def _convexity(document: convexity.Document, low: Number, high: Number) -> tuple[str, str]:
    """The risk of a data set."""
    (n, d), k, (phi, varphi) = document.x.shape, len(document.center), _ACTIVATIONS[document.activation]
    words = (
        f"A network of K = {k} neurons, the mean of phi(w_k.x) with phi(z) = {phi}, is fitted to the n = {n} inputs in R^{d} "
        "and their labels that the certificate holds; f is half the mean squared error. At the certificate's center the "
        f"Hessian of f is at least {low('curvature_ge')} I and the gradient at most {high('gradient_le')}, and at distance t "
        f"the Hessian changes at rate at most {high('change_le')} + {high('growth_le')} t. So it is positive definite nearer "
        f"than {low('radius')} to the center: f is strictly convex there and has at most one stationary point."
    )
    latex = (
        rf"Let $x_1, \dots, x_{{{n}}} \in \mathbb{{R}}^{{{d}}}$ and $y_1, \dots, y_{{{n}}}$ be the certificate's data, $W_0$ "
        rf"its center, $\varphi(z) = {varphi}$, and let"
        "\n"
        rf"\[ f(W) = \frac{{1}}{{{2 * n}}} \sum_{{i=1}}^{{{n}}} \Bigl( \tfrac1{{{k}}} \sum_{{k=1}}^{{{k}}} "
        r"\varphi(w_k^\top x_i) - y_i \Bigr)^2 . \]"
        "\n"
        rf"Then $\nabla^2 f(W_0) \succeq {low('curvature_ge')}\, I$, and $\nabla^2 f(W) \succ 0$ for all $W$ with "
        rf"$\|W - W_0\| < {low('radius')}$, where $f$ has at most one stationary point."
    )
    if document.claims["minimiser_within"] is not None:
        words += f" There is one, a strict local minimum, within {high('minimiser_within')} of the center."
        latex += rf" One is a strict local minimum, with $\|W - W_0\| \le {high('minimiser_within')}$."
    return words, latex


def _absence(document: absence.Document, low: Number, high: Number) -> tuple[str, str]:
    """The absence of bad minima."""
    k, d = len(document.target), len(document.target[0])
    span = min(k, d)
    words = (
        f"A network of n = {document.n} ReLU neurons learns a sum of k = {k} ReLU neurons, the certificate's target, from standard "
        f"Gaussian inputs in R^D, for any D >= {span} that holds them; F is half the mean squared error. Every local minimum of F "
        f"is a global one, at which the student's neurons are the teacher's in some order. The proof walks over all directions of "
        f"the neurons, in cells that one of {len(document.counts) - 1} tests closes (its producer tested {document.counts['cells']}). "
        f"Within {low('radius')} of the teacher there is no other critical point."
    )
    latex = (
        rf"Let $v_1, \dots, v_{{{k}}}$ be the certificate's target, embedded in $\mathbb{{R}}^D$ for any $D \ge {span}$ that holds it, and let"
        "\n"
        rf"\[ F(W) = \tfrac12 \mathbb{{E}}_{{x \sim \mathcal{{N}}(0, I)}} \Bigl( \sum_{{i=1}}^{{{document.n}}} [w_i^\top x]_+ - "
        rf"\sum_{{j=1}}^{{{k}}} [v_j^\top x]_+ \Bigr)^2 . \]"
        "\n"
        r"Then every local minimum $W$ of $F$ has $F(W) = 0$."
    )
    return words, latex


def _seconds(costs: Iterable[tuple[str, int, int]], *most: float) -> float:
    """Return about how long a check takes, from its counts, each so many seconds (measured) at what is allowed by default."""
    return sum(count / allowed * seconds for (_, count, allowed), seconds in zip(costs, most, strict=True))


def _relu_seconds(document: reading.Document) -> float:
    n, k, d = len(document.center), len(document.target), len(document.target[0])
    return _seconds(reading.costs(n, k, d, document.precision), 20, 250)


def _convexity_seconds(document: convexity.Document) -> float:
    n, d = document.x.shape
    return _seconds(convexity.costs(n, d, len(document.center)), 5, 10)


Theorem = Callable[[Any, Number, Number], tuple[str, str]]
# For each kind how its certificates are read, the theorem in words and in LaTeX, and about how long a check takes.
KINDS: Mapping[str, tuple[Callable[[bytes, float], Any], Theorem, Callable[[Any], float]]] = {
    **dict.fromkeys(reading.KINDS, (reading.parse, _relu, _relu_seconds)),
    **dict.fromkeys(blocks_claims.BLOCK_KINDS, (blocks_claims.parse, _blocks, lambda document: 0.0)),
    every_k.KIND: (every_k.parse, _every_k, lambda document: 0.0),
    "convnet": (convnet.parse, _convnet, lambda document: 0.0),
    "convexity": (convexity.parse, _convexity, _convexity_seconds),
    "absence": (absence.parse, _absence, lambda document: 1e-4 * document.counts["cells"]),
}
