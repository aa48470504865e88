"""Figure 2 and the theorems in numbers: how convex the risk is at the truth, and how far around it."""

from __future__ import annotations

import math

import numpy as np

from earnshaw.experiments.logistic import curvature_over_ball, estimate
from earnshaw.landscapes.empirical import EmpiricalRisk
from earnshaw.landscapes.logistic_data import draw
from earnshaw.landscapes.logistic_theory import rho
from earnshaw.landscapes.logistic_theory import theory as theorems
from earnshaw.papers.comparison import Comparison, Item, Source
from earnshaw.papers.logistic import NEURONS, PAPER
from earnshaw.papers.reproduction import Reproduction
from earnshaw.plots.logistic import Ball, ball_figure, rho_figure
from earnshaw.problems import Data, activation
from earnshaw.problems.logistic import Labels, Logistic, gaussian_weights, orthogonal_weights
from earnshaw.proof import ConvexityClaim, check, prove

# rho of the sigmoid, computed apart from this code; the paper has a curve without numbers.
RHO = {0.1: 7.66e-7, 0.5: 3.18e-4, 1.0: 2.14e-3, 1.5: 3.56e-3, 2.0: 3.07e-3, 3.0: 1.75e-3, 5.0: 5.60e-4, 10.0: 8.2e-5}
TOP, RHO_AT_TOP = 1.45, 3.57e-3


def figure2(how: Reproduction) -> list[Comparison]:
    """Figure 2: rho(sigma) of the sigmoid, with the other activations beside it."""
    item = Item(PAPER, "figure2")
    scale = np.geomspace(0.1, 20, 120)
    curves = {name: rho(activation(name), scale) for name in ("sigmoid", "unit-tanh", "unit-erf")}
    rho_figure(scale, curves, RHO, how.out / "figure2")
    compared = []
    for sigma, known in RHO.items():
        ours = float(rho(activation("sigmoid"), sigma))
        room = 0.5 * 10 ** (math.floor(math.log10(known)) - (1 if sigma == 10 else 2))
        test = f"equal in the digits given, to {room:.1g}"
        compared.append(item.within(f"sigma={sigma:g}", "rho", ours, known, Source.MEASURED, room, test))
    fine = np.linspace(1.2, 1.7, 501)
    values = rho(activation("sigmoid"), fine)
    top, highest = float(fine[values.argmax()]), float(values.max())
    compared += [
        item.within("maximum", "sigma", top, TOP, Source.MEASURED, 0.01),
        item.within("maximum", "rho", highest, RHO_AT_TOP, Source.MEASURED, 5e-6),
    ]
    return how.write(item, compared)


def theory(how: Reproduction) -> list[Comparison]:
    """Theorems 1 and 2 in numbers, beside the curvature sampled over balls and the radius proved for the data set."""
    item = Item(PAPER, "theory")
    settings = (
        ("orthonormal, regression", Logistic(orthogonal_weights(NEURONS, 20, how.seed), 20_000, Labels.REGRESSION)),
        ("normal entries, classification", Logistic(gaussian_weights(NEURONS, 20, how.seed), 20_000)),
    )
    balls, compared = [], []
    for index, (label, problem) in enumerate(settings):
        said, data = theorems(problem), draw(problem)
        proof = prove(Data(data.x, data.y, NEURONS), problem.weights)
        verified = proof.main is not None and check(proof.main).verified
        radius = proof.claim.radius if verified and isinstance(proof.claim, ConvexityClaim) else 0.0
        radii = np.concatenate([[0.0], np.geomspace(1e-4, 10.0, 11 if how.quick else 21)])
        risk = EmpiricalRisk.of(data, NEURONS)
        sampled = curvature_over_ball(risk, problem.weights, radii, 3 if how.quick else 10, how.seed)
        least, most = float(sampled.least[0]), float(sampled.most[0])
        positive = radii[: int(np.argmax(sampled.least <= 0)) or len(radii)]
        convex = bool(np.all(sampled.least[radii <= radius] > 0))
        curve = radii[1:].tolist(), sampled.least[1:].tolist()
        balls.append(Ball(label, *curve, radius, said.radius, said.radius_of_the_proof))
        error = estimate(problem).error * float(np.linalg.norm(problem.weights))
        beside = f"proved, beside Theorem 1's with c = 1 (c of its proof: {said.radius_of_the_proof:.2g})"
        step = "one over the curvature, beside Theorem 2's step"
        inside = "convex at every point tried within the proved radius"
        formula, found = Source.CLOSED_FORM, Source.MEASURED
        compared += [
            item.compare(label, quantity, ours, reference, source, test, ok)
            for quantity, ours, reference, source, test, ok in (
                ("least_curvature", least, said.least_curvature, formula, "Theorem 1's H_min, constant 1", least > 0),
                ("most_curvature", most, said.most_curvature, formula, "at most Theorem 1's H_max", most <= said.most_curvature),
                ("proved_radius", radius, said.radius, formula, beside, verified),
                ("sampled_convex_radius", float(positive[-1]), radius, found, inside, convex),
                ("samples", problem.samples, said.samples, formula, "far fewer than Theorem 1 asks for", problem.samples < said.samples),
                ("error", error, said.error, formula, "below Theorem 2's bound", error < said.error),
                ("step", said.practical_step, said.step, formula, step, said.practical_step > said.step),
            )
        ]  # fmt: skip
        how.progress((index + 1) / len(settings), label)
    ball_figure(balls, how.out / "theory")
    return how.write(item, compared)
