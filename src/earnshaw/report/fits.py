"""Pages about fits: the weights that were found, how isolated they are, what is proved around them, and the way there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from earnshaw.errors import InputError
from earnshaw.experiments import Fit, load
from earnshaw.landscapes.rows import Rows
from earnshaw.plots import plot
from earnshaw.plots.logistic import training_curve
from earnshaw.plots.style import canvas
from earnshaw.problems import Data, problem_from_json
from earnshaw.problems.base import unhexed
from earnshaw.proof import Certificate, Explanation
from earnshaw.proof.trusted.balls import shown
from earnshaw.report.families import LEAST
from earnshaw.report.losses import RISK
from earnshaw.report.origin import fit_command, fit_described
from earnshaw.report.page import Code, Figure, Folded, Part, Row, Section, Table, Tex, Text, figures_of, link
from earnshaw.report.proofs import said_of, theorem
from earnshaw.report.telling import Told
from earnshaw.report.words import many, share
from earnshaw.store import read_manifest, sealed_certificates

CERTIFICATE = "certificates/fit-convexity.json"
SAME = 1e-9  # relative distance of risks up to which starts end at the same


def tell_fit(folder: Path, out: Path, check: bool) -> Told:
    """Return what the page of a fit says."""
    fit: Fit = load(folder)
    place, plan, said = figures_of(out), fit.plan, fit_said(fit, folder, check)
    for name, draw in (("weights", plot.weights), ("spectrum", plot.spectrum)):
        with canvas(place / name, 6.0, 4.2) as sheet:
            draw(fit, sheet.add_subplot())
    curve = fit.curve
    training_curve(curve.step, curve.value, curve.gradient_norm, plan.max_steps, place / "curve")
    drawn = {
        "weights": "The weights, one neuron a row.",
        "spectrum": "The eigenvalues of the Hessian of the risk there.",
    }
    seen = Row([Figure(place / f"{name}.svg", words) for name, words in drawn.items()])
    way = Figure(place / "curve.svg", "The start that was kept: risk and gradient norm over the steps.")
    sections = [
        Section("The solution", [seen, _numbers(fit)]),
        _proof(fit, said, folder, out),
        Section("The way there", [way, *_starts(fit)]),
    ]
    lead = (
        f"{many(plan.neurons, 'neuron', 'neurons')} ({plan.activation}) fitted to {fit.samples:,} samples in dimension "
        f"{fit.weights.shape[1]}. Is the solution isolated, and is that proved?"
    )
    run: list[Part] = [Text(fit_described(fit)), Tex(RISK)]
    headline = _headline(fit, said)
    return Told(
        f"Fit to {fit.samples:,} samples: {folder.name}", headline, lead, sections, run, [fit_command(plan, folder)]
    )


def fit_said(fit: Fit, folder: Path, check: bool) -> Explanation | None:
    """Return what the trusted checker lets the certificate of a fit say, if it is of this fit; None where there is none.

    One that is missing, or not as it was written, raises :class:`InputError`.
    """
    if fit.certificate is None:
        return None
    for fault in filter(None, sealed_certificates(folder).values()):
        raise InputError(fault)
    rows = read_manifest(folder)["common"]["rows"]
    return said_of(folder / CERTIFICATE, lambda found: is_of(found, fit, rows), check)


def is_of(certificate: Certificate, fit: Fit, rows: Mapping[str, Any]) -> bool:
    """Say whether a verified certificate is of this fit: of its data, which the folder has as a hash, and its end."""
    document = certificate.document
    problem = problem_from_json(document["problem"])
    if certificate.kind != "convexity" or not isinstance(problem, Data):
        return False
    same = np.array_equal(np.array(unhexed(document["center"])), fit.weights)
    return same and Rows(problem.x, problem.y).to_json() == rows


def _headline(fit: Fit, said: Explanation | None) -> str:
    """Return in one sentence what was found, and what of it is proved."""
    risk = f"risk {fit.value:.6g}"
    if not fit.isolated:
        return f"No isolated solution was reached: {risk}, smallest eigenvalue {fit.spectrum[0]:.1e}"
    if fit.proved is None or said is None or not said.verified:
        return f"An isolated minimum with {risk}; nothing is proved of it"
    radius = shown(fit.proved.radius, up=False)
    if fit.proved.minimiser_within is None:
        return f"A minimum with {risk}: the risk is proved strictly convex within {radius} of it"
    return f"A minimum with {risk}, proved to be the only one within {radius}"


def _numbers(fit: Fit) -> Table:
    """Return the neurons and their lengths, and what is known of the end."""
    neurons = ", ".join(f"{norm:.4g}" for norm in np.linalg.norm(fit.weights, axis=1))
    return Table.of(
        [
            {
                "risk": f"{fit.value:.8f}",
                "gradient norm": f"{fit.gradient_norm:.1e}",
                LEAST: f"{fit.spectrum[0]:.6g}",
                "$λ_max$": f"{fit.spectrum[-1]:.6g}",
                "isolated": "yes" if fit.isolated else "no",
                "lengths of the neurons": neurons,
            }
        ]
    )


def _proof(fit: Fit, said: Explanation | None, folder: Path, out: Path) -> Section:
    """Return what is proved around the end, or why nothing is."""
    if said is None:
        return Section("What is not proved", [Text(f"Nothing is proved of the solution: {fit.reason}.")])
    file = folder / CERTIFICATE
    if not said.verified:
        return Section("What is not proved", [Text(f"{said.words} [certificate]({link(file, out)})")])
    where = "The trusted checker verified this certificate, which holds the data, when this page was written:"
    return Section(
        "What is proved", [*theorem(said, file, out), Text(where), Code(f"earnshaw check {quote(str(file))}")]
    )


def _starts(fit: Fit) -> list[Part]:
    """Return where the other starts ended, if there were some."""
    if len(fit.ends) < 2:
        return []
    same = int((fit.ends <= fit.ends.min() + SAME * max(abs(float(fit.ends.min())), 1e-12)).sum())
    words = f"{same} of {len(fit.ends)} starts end at the smallest risk: {share(same, len(fit.ends))}. The risks of all, smallest first:"
    rows = [{"place": str(place), "risk at the end": f"{risk:.10g}"} for place, risk in enumerate(np.sort(fit.ends), 1)]
    return [Text(words), Folded("All starts", [Table.of(rows)])]
