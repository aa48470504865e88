"""The theorems and lemmas as experiments with counts."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from earnshaw.experiments.charges import compare_flows, coulomb_trace, power_descent, reach_one, recover, saddles
from earnshaw.experiments.circle import circle_ends, node_minima
from earnshaw.numerics import percentage
from earnshaw.papers.comparison import Comparison, Item, Source
from earnshaw.papers.electrostatics import PAPER
from earnshaw.papers.reproduction import Reproduction
from earnshaw.plots import Proportion, bars
from earnshaw.plots.charges import potential_figure
from earnshaw.potentials.radial import AlmostYukawa, Realisation, Variant, Yukawa, laplacian, realisability

ITEM = Item(PAPER, "theorems")


def lemma13(how: Reproduction) -> list[Comparison]:
    """Lemma 13 and Theorem 3: lambda-harmonic outside the ball, signs of the derivatives, realisable, and realised."""
    rows, radius = [], 0.5
    distances = jnp.linspace(0.0, 12.0, 6001)
    away = jnp.linspace(radius, 12.0, 2000)
    for d in (3, 7):
        potential = AlmostYukawa(d, 1.0, radius, Variant.T)
        setting = f"Lemma 13, d={d}, variant T"
        error = float(jnp.max(jnp.abs(laplacian(potential, away) / potential.value(away) - 1)))
        wrong = sum(int(((-1) ** n * potential.derivative(distances, n) < 0).sum()) for n in range(d))
        smallest = realisability(potential).smallest
        activation = Realisation(potential)
        errors = [abs(activation.convolved(r) - float(potential.value(jnp.asarray(r)))) for r in (0.1, 0.4, 0.6, 1.5)]
        rows += [
            ITEM.at_most(setting, "laplacian_error_outside_eps", error, 1e-12),
            ITEM.at_most(setting, "wrong_signs_of_derivatives", wrong, 0),
            ITEM.compare(setting, "fourier_smallest", smallest, 0.0, Source.LIMIT, "not negative", smallest >= 0),
            ITEM.at_most(setting, "norm_of_activation_error", abs(activation.norm() - 1), 1e-4),
            ITEM.at_most(setting, "activation_convolved_error", max(errors), 1e-3),
        ]
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
    quantity, ratio = "speed_under_2_Phi_over_flow_on_half_L", flows.speed_ratio
    test = "to 1e-9: an erratum, the printed 2 Phi is twice as fast and not the same"
    ok = abs(ratio - 2) < 1e-9 and flows.doubled_difference > 1e-3
    return [
        ITEM.at_most("Theorem 5", "flow_on_half_L_minus_dynamics_under_Phi", flows.difference, 1e-8),
        ITEM.compare("Theorem 5", quantity, ratio, 2.0, Source.CLOSED_FORM, test, ok),
    ]


def theorems_9_11(how: Reproduction) -> list[Comparison]:
    """Theorems 9 and 11: the trace of an electron's block of the Hessian, at critical points in empty space."""
    rows = [
        ITEM.at_most(f"Theorem 9, d={d}", "trace_over_norm", coulomb_trace(d, 200, how.seed), 1e-12) for d in (2, 3, 5)
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
    setting, ok = f"Theorem 11, {found} critical points", found >= 20 and negative == found
    return [
        *rows,
        ITEM.share(setting, "with_a_negative_direction", negative, found, "all, of 20 or more", ok),
        ITEM.at_most(setting, "relative_error_of_the_trace", worst, 1e-9),
    ]


def theorem12(how: Reproduction) -> list[Comparison]:
    """Theorem 12: Algorithm 2 on G puts some electron within eps of a proton."""
    rows = []
    for factor in (0.25, 1.0):
        reach = reach_one(3, 4, factor, 8, how.seed)
        close = int((reach.distances < 0.5).sum())
        setting = f"Theorem 12, d=3, k=4, c={factor:g} (median {np.median(reach.steps):.0f} steps)"
        rows.append(ITEM.share(setting, "algorithm_2_within_eps", close, 8, "8 of 8"))
    return rows


def theorem17(how: Reproduction) -> list[Comparison]:
    """Theorem 17: node-wise descent finds every proton; in the log domain it does, as printed it does not."""
    count = how.count(full=100, quick=50)
    sizes = [(3, k) for k in ((2, 5) if how.quick else (2, 3, 4, 5))]
    sizes += [(7, k) for k in ((3,) if how.quick else (2, 3, 4, 5))]
    rows: list[Comparison] = []
    drawn: dict[str, list[Proportion]] = {"node-wise descent in the log domain": [], "Algorithm 3 as printed": []}
    for d, k in sizes:
        for factor in (0.25, 1.0, 4.0):
            setting = f"Theorem 17, d={d}, k={k}, c={factor:g}"
            mine = recover(d, k, factor, count, how.seed)
            found = mine.found()
            test = f"all; {mine.steps:.0f} steps a node, worst distance {mine.distances.max():.1e}"
            rows.append(ITEM.share(setting, "log_domain_found_all", found, count, test))
            if d == 3:
                theirs = recover(d, k, factor, count, how.seed, printed=True).found()
                test = "printed algorithm, for comparison: not above the log domain's"
                rows.append(ITEM.share(setting, "algorithm_3_found_all", theirs, count, test, theirs <= found))
                for proportions, number in zip(drawn.values(), (found, theirs), strict=True):
                    proportions.append(Proportion(f"k={k}, c={factor:g}", *percentage(number, count)))
    title = f"Every proton found, d = 3 ({count} instances each)"
    bars(drawn, title, how.out / "theorem17", axis="instances (%)")
    return rows


def lemmas_28_29(how: Reproduction) -> list[Comparison]:
    """Lemmas 28 and 29: sign neurons on the circle."""
    rows: list[Comparison] = []
    drawn: dict[str, list[Proportion]] = {"global minimum": [], "flat antipodal pairs": []}
    runs = how.count(full=1000, quick=300)
    for k in (2, 3, 4, 5):
        end = circle_ends(k, runs, how.seed)
        settled = end.at_global + end.flat_pairs
        share, limit = "global_or_flat_antipodal_pairs", Source.LIMIT
        test, ok = "99% or more (the rest is not recognised as either)", settled >= 0.99 * runs
        rows.append(ITEM.share(f"Lemma 28, k={k}", share, settled, runs, test, ok, reference=99, source=limit))
        test = "below 100: the lemma rules out strict minima, not these flat ones"
        ok = 0 < end.at_global < runs and end.flat_pairs > 0
        rows.append(ITEM.share(f"Lemma 28, k={k}", "global", end.at_global, runs, test, ok, source=limit))
        for proportions, number in zip(drawn.values(), (end.at_global, end.flat_pairs), strict=True):
            proportions.append(Proportion(f"k={k}", *percentage(number, runs)))
    bars(drawn, f"Sign neurons on the circle: where descent ends ({runs} runs each)", how.out / "lemma28")
    found = at_teacher = 0
    for k in (2, 3, 5, 8):
        minima = node_minima(how.count(full=128, quick=64), k, how.seed)
        found, at_teacher = found + minima.found, at_teacher + minima.at_teacher
    setting, ok = f"Lemma 29, {found} local minima", at_teacher == found and found > 100
    return [*rows, ITEM.share(setting, "at_plus_or_minus_w", at_teacher, found, "all", ok)]


def theorem30(how: Reproduction) -> list[Comparison]:
    """Theorem 30: powers of the inner product, orthonormal teacher."""
    rows = []
    count = how.count(full=128, quick=64)
    for degree in (3, 4, 5):
        powers = power_descent(degree, count, how.seed)
        setting, test = f"Theorem 30, l={degree}", f"all; worst 1 - |cosine| {powers.worst:.0e}"
        rows.append(ITEM.share(setting, "ends_at_plus_or_minus_w", powers.at_teacher, powers.ends, test))
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
    for inner, part in zip(how.parts([1] * len(PARTS)), PARTS, strict=True):
        inner.progress(0.0, part.__name__)
        compared += part(inner)
    how.progress(1.0, "")
    return how.write(ITEM, compared)
