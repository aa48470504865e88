r"""The loss of each problem as a formula, for the section of a page that says what was run."""

from __future__ import annotations

from earnshaw.problems import Charges, Data, Logistic, Problem, TwoLayer
from earnshaw.problems.convnet import Convolutional

CONVOLUTIONAL = r"""With a filter $v$ of $p$ weights and output weights $a$, seen through $k$ patches, the loss is
\[ F(v, a) = \tfrac12 \mathbb{E} \Bigl( \sum_{i=1}^{k} a_i \frac{[Z_i^\top v]_+}{|v|} - \sum_{i=1}^{k} a^*_i [Z_i^\top w^*]_+ \Bigr)^2, \qquad Z_i \sim \mathcal{N}(0, I_p) . \]"""
RISK = r"""With $K$ neurons $w_k$, samples $x_i$ and labels $y_i$ in $[0, 1]$, the risk is
\[ f(W) = \frac{1}{2n} \sum_{i=1}^{n} \Bigl( \frac{1}{K} \sum_{k=1}^{K} \varphi(w_k^\top x_i) - y_i \Bigr)^2 . \]"""
ENERGY = r"""With electrons at $\theta_i$ and protons at $w_j$, given by the output weights $a_i$ and $b_j$, and the potential $\Phi$, the loss is $L = 2F$,
\[ F = \tfrac12 \sum_{i,j} a_i a_j \Phi(\theta_i, \theta_j) - \sum_{i,j} a_i b_j \Phi(\theta_i, w_j) + \tfrac12 \sum_{i,j} b_i b_j \Phi(w_i, w_j) , \]
and each electron moves along $-\nabla F$."""


def loss_formula(problem: Problem) -> str:
    """Return the loss of a problem in LaTeX, after the words that name its parts; empty for one without a formula here."""
    if isinstance(problem, TwoLayer):
        return _two_layer(problem)
    if isinstance(problem, Convolutional):
        return CONVOLUTIONAL
    if isinstance(problem, Charges):
        return ENERGY
    return RISK if isinstance(problem, Data | Logistic) else ""


def _two_layer(problem: TwoLayer) -> str:
    """Return the loss of two layers, with output weights where they are not all 1, and the function by its sign for ReLU."""
    relu, student = problem.activation.name == "relu", problem.student_output_weights
    neuron = r"[%s^\top x]_+" if relu else r"\varphi(%s^\top x)"
    outer = r"a_i\, " if problem.trainable_output or student is not None else ""
    target = r"b_j\, " if problem.output_weights is not None else ""
    first, second = rf"\sum_{{i=1}}^{{n}} {outer}{neuron % 'w_i'}", rf"\sum_{{j=1}}^{{k}} {target}{neuron % 'v_j'}"
    phi = "" if relu else r" The function $\varphi$ is that of the activation."
    return (
        r"With student neurons $w_i$ and teacher neurons $v_j$, the loss is"
        "\n"
        rf"\[ F(W) = \tfrac12 \mathbb{{E}}_{{x \sim \mathcal{{N}}(0, I)}} \Bigl( {first} - {second} \Bigr)^2 . \]{phi}"
    )
