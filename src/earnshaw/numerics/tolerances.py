"""Every number that decides an outcome, in one table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Tolerances:
    """Thresholds of the numerical verdicts; ``scale`` below is the sum of the teacher's squared norms.

    Attributes
    ----------
    global_value : a value below this times ``scale`` is the global minimum 0.
    paper_value : the value test of Safran & Shamir; valid for an orthonormal teacher with at most ``paper_neurons``.
    paper_gradient : their stop rule: every neuron's gradient is at most this (times the root of scale / k).
    divergence : a gradient above this (same units) means that the step was too long.
    dead_neuron : a neuron shorter than this (same units) has died.
    strict : a smallest eigenvalue above this is positive, below minus this negative.
    family : two polished points closer than this, under a declared symmetry, are one.
    anchor : entries of a teacher, or protons' coordinates, closer than this are equal.
    copy : a share of a teacher neuron in a student neuron below this is none, and shares closer than this are equal.
    leaves : so many candidates are tried, of each kind, before two points count as different.
    """

    global_value: float = 1e-10
    paper_value: float = 1e-3
    paper_neurons: int = 40
    paper_gradient: float = 1e-9
    divergence: float = 1e4
    dead_neuron: float = 1e-6
    strict: float = 1e-9
    family: float = 1e-6
    anchor: float = 1e-12
    copy: float = 1e-6
    leaves: int = 2000


TOLERANCES = Tolerances()
