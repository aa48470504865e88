"""Table 1: the potential of each activation, and whether descent converges."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np

from earnshaw.experiments.charges import power_descent, recover
from earnshaw.experiments.circle import node_minima
from earnshaw.papers.comparison import Comparison, Item, Source
from earnshaw.papers.electrostatics import PAPER
from earnshaw.papers.reproduction import Reproduction
from earnshaw.plots import Proportion, bars
from earnshaw.potentials import potential, quadrature, value_at
from earnshaw.potentials.radial import AlmostYukawa, Realisation

ITEM = Item(PAPER, "table1")
ALMOST = "almost lambda-harmonic"
CLOSED = {
    "sign": "sign",
    "hermite:3": "polynomial, m=3",
    "hermite:5": "polynomial, m=5",
    "relu": "ReLU (not in the table)",
    "erf": "erf (not in the table)",
}


def _against_quadrature(name: str, unit: bool) -> float:
    """Return the largest difference of a closed potential from quadrature over pairs of vectors."""
    phi = potential(name)
    rng = np.random.default_rng(1)
    worst = 0.0
    for _ in range(6):
        first, second = rng.normal(size=(2, 3))
        if unit:
            first, second = first / np.linalg.norm(first), second / np.linalg.norm(second)
        ours = float(value_at(phi, jnp.asarray(first), jnp.asarray(second)))
        worst = max(worst, abs(ours - quadrature(phi, first, second)))
    return worst


def _potentials(how: Reproduction) -> list[Comparison]:
    """Compare each potential with an independent computation, and with the formula of the table."""
    radial = AlmostYukawa(3)
    activation = Realisation(radial)
    errors = [abs(activation.convolved(r) - float(radial.value(jnp.asarray(r)))) for r in (0.2, 0.5, 1.0, 3.0)]
    rows = [ITEM.at_most(ALMOST, "potential_error", max(errors), 1e-3, "the activation convolved with itself")]
    mean, error = activation.sampled(0.6, how.count(full=400_000, quick=100_000), how.seed)
    exact = float(radial.value(jnp.asarray(0.6)))
    test = f"at r = 0.6: {abs(mean - exact) / error:.1f} standard errors, limit 5"
    rows.append(ITEM.within(ALMOST, "potential_by_sampling", mean, exact, Source.CLOSED_FORM, 5 * error, test))
    how.progress(0.3, "potentials")
    for name, title in CLOSED.items():
        error = _against_quadrature(name, unit=name.startswith("hermite"))
        rows.append(ITEM.at_most(title, "potential_error", error, 1e-12, "quadrature"))
    cosine = 0.3
    unit = jnp.array([[1.0, 0.0], [cosine, math.sqrt(1 - cosine**2)]])
    for name, formula in (("sign", 1 - 2 / math.pi * math.acos(cosine)), ("hermite:3", cosine**3)):
        ours, test = float(value_at(potential(name), *unit)), "the printed formula, to 1e-14"
        quantity = "potential_at_cosine_0.3"
        rows.append(ITEM.within(CLOSED[name], quantity, ours, formula, Source.CLOSED_FORM, 1e-14, test))
    return rows


def _convergence(how: Reproduction) -> list[Comparison]:
    """Count where descent ends, for the three activations that the table says converge."""
    count, nodes = how.count(full=100, quick=50), how.count(full=128, quick=64)
    found = recover(3, 4, 1.0, count, how.seed).found()
    minima = node_minima(nodes, 4, how.seed)
    powers = power_descent(3, nodes, how.seed)
    return [
        ITEM.share(setting, "converges", good, of, test)
        for setting, good, of, test in (
            (ALMOST, found, count, "Theorem 17: every proton found, d=3, k=4, c=1 (log domain)"),
            ("sign, d=2", minima.at_teacher, minima.found, "Lemma 29: local minima of one neuron at plus or minus w_j"),
            ("polynomial, m=3", powers.at_teacher, powers.ends, "Theorem 30: ends of one neuron at plus or minus w_j"),
        )
    ]


def table1(how: Reproduction) -> list[Comparison]:
    """Table 1: the potential of each activation against an independent computation, and whether descent converges."""
    rows = _potentials(how)
    how.progress(0.5, "convergence")
    counted = _convergence(how)
    drawn = [Proportion(row.setting, row.ours or 0.0, row.interval) for row in counted]
    title = "Table 1: convergence"
    bars({"converges as the table says": drawn}, title, how.out / "table1", axis="instances (%)")
    return how.write(ITEM, rows + counted)
