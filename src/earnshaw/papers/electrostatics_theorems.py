"""Panigrahy et al. (2018): the theorems and lemmas as experiments with counts."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from earnshaw.experiments.charges import coulomb_trace, power_descent, reach_one, recover, saddles
from earnshaw.experiments.circle import circle_ends, node_minima
from earnshaw.experiments.flows import compare_flows
from earnshaw.numerics import proportion_interval
from earnshaw.papers.comparison import Comparison
from earnshaw.papers.reproduction import Reproduction
from earnshaw.plots.charges import Bars, potential_figure, share_figure
from earnshaw.potentials.radial import AlmostYukawa, Realisation, Variant, Yukawa, laplacian, realisability

PAPER = "electrostatics"
ITEM = "theorems"


def row(
    item: str,
    setting: str,
    quantity: str,
    ours: float,
    printed: float,
    test: str,
    ok: bool,
    interval: tuple[float, float] | None = None,
) -> Comparison:
    """Return one compared number of this paper."""
    return Comparison(PAPER, item, setting, quantity, float(ours), float(printed), test, bool(ok), interval)


def share(item: str, setting: str, quantity: str, count: int, of: int, test: str, ok: bool) -> Comparison:
    """Return a percentage that the paper says is 100, with its interval."""
    low, high = proportion_interval(count, of)
    return row(item, setting, quantity, 100 * count / of, 100.0, test, ok, (100 * low, 100 * high))


def _at_most(item: str, setting: str, quantity: str, ours: float, limit: float) -> Comparison:
    return row(item, setting, quantity, ours, 0.0, f"at most {limit:g}", ours <= limit)


def lemma13(how: Reproduction) -> list[Comparison]:
    """Lemma 13 and Theorem 3: lambda-harmonic outside the ball, signs of the derivatives, realisable, and realised."""
    rows, radius = [], 0.5
    distances = jnp.linspace(0.0, 12.0, 6001)
    away = jnp.linspace(radius, 12.0, 2000)
    for d in (3, 7):
        potential = AlmostYukawa(d, 1.0, radius, Variant.T)
        setting = f"Lemma 13, d={d}, variant T"
        error = float(jnp.max(jnp.abs(laplacian(potential, away) / potential.value(away) - 1)))
        rows.append(_at_most(ITEM, setting, "laplacian_error_outside_eps", error, 1e-12))
        wrong = sum(int(((-1) ** n * potential.derivative(distances, n) < 0).sum()) for n in range(d))
        rows.append(_at_most(ITEM, setting, "wrong_signs_of_derivatives", wrong, 0))
        test = realisability(potential)
        rows.append(row(ITEM, setting, "fourier_smallest", test.smallest, 0.0, "not negative", test.smallest >= 0))
        activation = Realisation(potential)
        rows.append(_at_most(ITEM, setting, "norm_of_activation_error", abs(activation.norm() - 1), 1e-4))
        errors = [abs(activation.convolved(r) - float(potential.value(jnp.asarray(r)))) for r in (0.1, 0.4, 0.6, 1.5)]
        rows.append(_at_most(ITEM, setting, "activation_convolved_error", max(errors), 1e-3))
    r = np.linspace(0.02, 3.0, 600)
    curves = {"Yukawa / 5, d = 3": (r, np.asarray(Yukawa(3).value(jnp.asarray(r))) / 5)}
    curves |= {
        f"almost Yukawa {v.name}, d = 3": (r, np.asarray(AlmostYukawa(3, 1.0, radius, v).value(jnp.asarray(r))))
        for v in Variant
    }
    potential_figure(curves, radius, how.out / "potentials")
    return rows


def theorem5(how: Reproduction) -> list[Comparison]:
    """Theorem 5: gradient flow on L/2 and the dynamics of charges, integrated apart."""
    flows = compare_flows(how.seed)
    return [
        _at_most(ITEM, "Theorem 5", "flow_on_half_L_minus_dynamics_under_Phi", flows.difference, 1e-8),
        row(
            ITEM,
            "Theorem 5",
            "speed_under_2_Phi_over_flow_on_half_L",
            flows.speed_ratio,
            1.0,
            "an erratum: the printed 2 Phi is twice as fast; 2 to 1e-9",
            abs(flows.speed_ratio - 2) < 1e-9 and flows.doubled_difference > 1e-3,
        ),
    ]


def theorems_9_11(how: Reproduction) -> list[Comparison]:
    """Theorems 9 and 11: the trace of an electron's block of the Hessian, at critical points in empty space."""
    rows = [
        _at_most(ITEM, f"Theorem 9, d={d}", "trace_over_norm", coulomb_trace(d, 200, how.seed), 1e-12)
        for d in (2, 3, 5)
    ]
    count = how.count(full=400, quick=200)
    settings = [(1, 3, 1.0)] if how.quick else [(1, 3, 1.0), (2, 4, 1.0), (2, 4, 0.0)]
    found = negative = 0
    worst = 0.0
    for electrons, protons, regularisation in settings:
        points = saddles(electrons, protons, 0.25, count, how.seed, regularisation=regularisation)
        found += points.found
        negative += int((points.curvature < 0).sum())
        worst = max(worst, points.trace_error)
    ok = found >= 20 and negative == found
    rows.append(
        share(
            ITEM,
            f"Theorem 11, {found} critical points",
            "with_a_negative_direction",
            negative,
            found,
            "all, of 20 or more",
            ok,
        )
    )
    rows.append(_at_most(ITEM, f"Theorem 11, {found} critical points", "relative_error_of_the_trace", worst, 1e-9))
    return rows


def theorem12(how: Reproduction) -> list[Comparison]:
    """Theorem 12: Algorithm 2 on G puts some electron within eps of a proton."""
    rows = []
    for factor in (0.25, 1.0):
        reach = reach_one(3, 4, factor, 8, how.seed)
        close = int((reach.distances < 0.5).sum())
        setting = f"Theorem 12, d=3, k=4, c={factor:g} (median {np.median(reach.steps):.0f} steps)"
        rows.append(share(ITEM, setting, "algorithm_2_within_eps", close, 8, "8 of 8", close == 8))
    return rows


def theorem17(how: Reproduction) -> list[Comparison]:
    """Theorem 17: node-wise descent finds every proton; in the log domain it does, as printed it does not."""
    count = how.count(full=100, quick=50)
    sizes = [(3, k) for k in ((2, 5) if how.quick else (2, 3, 4, 5))] + [
        (7, k) for k in ((3,) if how.quick else (2, 3, 4, 5))
    ]
    rows: list[Comparison] = []
    works: list[Bars] = []
    printed: list[Bars] = []
    for d, k in sizes:
        for factor in (0.25, 1.0, 4.0):
            setting = f"Theorem 17, d={d}, k={k}, c={factor:g}"
            mine = recover(d, k, factor, count, how.seed)
            found = mine.found()
            test = f"all; {mine.steps:.0f} steps a node, worst distance {mine.distances.max():.1e}"
            rows.append(share(ITEM, setting, "log_domain_found_all", found, count, test, found == count))
            if d == 3:
                theirs = recover(d, k, factor, count, how.seed, printed=True).found()
                test = "printed algorithm, for comparison: not above the log domain's"
                rows.append(share(ITEM, setting, "algorithm_3_found_all", theirs, count, test, theirs <= found))
                label = f"k={k}, c={factor:g}"
                works.append(_bar(label, found, count))
                printed.append(_bar(label, theirs, count))
    groups = {"node-wise descent in the log domain": works, "Algorithm 3 as printed": printed}
    share_figure(groups, f"Every proton found, d = 3 ({count} instances each)", how.out / "theorem17")
    return rows


def _bar(label: str, count: int, of: int) -> Bars:
    low, high = proportion_interval(count, of)
    return Bars(label, 100 * count / of, (100 * low, 100 * high))


def lemmas_28_29(how: Reproduction) -> list[Comparison]:
    """Lemmas 28 and 29: sign neurons on the circle."""
    rows: list[Comparison] = []
    ends, flat = [], []
    runs = how.count(full=1000, quick=300)
    for k in (2, 3, 4, 5):
        end = circle_ends(k, runs, how.seed)
        setting = f"Lemma 28, k={k}"
        settled = end.at_global + end.flat_pairs
        test = "99% or more (the rest is not recognised as either)"
        rows.append(share(ITEM, setting, "global_or_flat_antipodal_pairs", settled, runs, test, settled >= 0.99 * runs))
        test = "below 100: the lemma rules out strict minima, not these flat ones"
        rows.append(
            share(ITEM, setting, "global", end.at_global, runs, test, 0 < end.at_global < runs and end.flat_pairs > 0)
        )
        ends.append(_bar(f"k={k}", end.at_global, runs))
        flat.append(_bar(f"k={k}", end.flat_pairs, runs))
    share_figure(
        {"global minimum": ends, "flat antipodal pairs": flat},
        f"Sign neurons on the circle: where descent ends ({runs} runs each)",
        how.out / "lemma28",
    )
    found = at_teacher = 0
    for k in (2, 3, 5, 8):
        minima = node_minima(how.count(full=128, quick=64), k, how.seed)
        found, at_teacher = found + minima.found, at_teacher + minima.at_teacher
    setting = f"Lemma 29, {found} local minima"
    rows.append(
        share(ITEM, setting, "at_plus_or_minus_w", at_teacher, found, "all", at_teacher == found and found > 100)
    )
    return rows


def theorem30(how: Reproduction) -> list[Comparison]:
    """Theorem 30: powers of the inner product, orthonormal teacher."""
    rows = []
    count = how.count(full=128, quick=64)
    for degree in (3, 4, 5):
        powers = power_descent(degree, count, how.seed)
        test = f"all; worst 1 - |cosine| {powers.worst:.0e}"
        ok = powers.at_teacher == powers.ends
        rows.append(
            share(ITEM, f"Theorem 30, l={degree}", "ends_at_plus_or_minus_w", powers.at_teacher, powers.ends, test, ok)
        )
    return rows


PARTS: tuple[Callable[[Reproduction], list[Comparison]], ...] = (
    lemma13,
    theorem5,
    theorems_9_11,
    theorem12,
    theorem17,
    lemmas_28_29,
    theorem30,
)


def theorems(how: Reproduction) -> list[Comparison]:
    """All theorems and lemmas, in the paper's order."""
    compared: list[Comparison] = []
    for index, part in enumerate(PARTS):
        inner = how.part(index, len(PARTS))
        inner.progress(0.0, part.__name__)
        compared += part(inner)
    how.progress(1.0, "")
    return how.write(ITEM, compared)
