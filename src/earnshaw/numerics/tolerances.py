"""Every number that decides an outcome, in one table: what is a minimum, what is the same point, when a test is made.

Sizes of programs and limits of work are where the work is; what makes a teacher orthonormal, a plain fact of the problem,
is in ``problems``; the tests of reproduced tables name their own limits row by row.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Tolerances:
    r"""Thresholds of the numerical verdicts, in the units of a problem: ``scale`` below is its square scale (the sum of a
    ReLU teacher's squared norms), ``unit`` the root of scale / k.

    Attributes
    ----------
    global_value : a value below this times ``scale`` is the global minimum 0.
    paper_value : the value test of Safran & Shamir; valid for an orthonormal teacher with at most ``paper_neurons``.
    paper_gradient : their stop rule: every neuron's gradient is at most this times ``unit``.
    divergence : a gradient above this times ``unit`` means that the step was too long.
    dead_neuron : a neuron shorter than this times ``unit`` has died.
    strict : a smallest eigenvalue above this is positive, below minus this negative.
    null_direction : Newton's method on the host leaves directions with an eigenvalue smaller than this alone.
    polish_floor : a gradient below this times 1 + \|x\| is at rounding level: Newton's method has arrived.
    tip_curvature : an eigenvalue above this times ``scale``, of a loss with tips, is that of a tip: the spectrum says nothing.
    test_gradient : no test while a neuron's gradient is above this times ``unit``.
    test_patience : steps to wait after a test that met negative curvature.
    contraction : the ball of a strict minimum has the radius R with R L(R) = this times the smallest eigenvalue.
    ball : a lane is expected in the ball when its distance is this times R.
    long_wait : steps to the ball that are too many to wait for.
    kept_curvature : then it is enough that the smallest eigenvalue at the lane is more than this share of that at the minimum.
    creep_steps : at multiples of so many steps of gradient descent a lane that creeps is followed by an implicit method.
    near_global : at the step limit, and at a tip, the global minimum must be within this share of the point's length.
    near_minimum : a point that the paper's value test decided is polished to a minimum within this share of its length.
    barrier_margin : a loss is below the convolutional network's barrier by more than this share: room for rounding.
    risk_gradient : an empirical risk's gradient at which a descent stops; thousandths at a start, 1e-18 after Newton's method.
    zero_risk : an empirical risk below this is 0.
    same_minimiser : two ends closer than this, relative to their size, are one minimiser.
    consensus : the paper's limit for the spread of ends that are one.
    family : two polished points closer than this, under a declared symmetry, are one.
    copy : a neuron this close to a multiple of a sum of teacher neurons, relative to the largest entry, is one.
    equal_entries : entries of a teacher closer than this are equal.
    leaves : how many candidates of a symmetry are tried before two points are called different.
    credible_field : a field below this share of its terms may be rounding.
    critical_gradient : a gradient's norm below this is that of a critical point.
    at_teacher : an end whose cosine with a teacher neuron is within this of 1 is there.
    circle_reach : angles on the circle that differ by this more than a step may be equal.
    circle_rise : energies on the circle that differ by less are equal; angles too.
    """

    # values and stationary points
    global_value: float = 1e-10
    paper_value: float = 1e-3
    paper_neurons: int = 40
    paper_gradient: float = 1e-9
    divergence: float = 1e4
    dead_neuron: float = 1e-6
    strict: float = 1e-9
    null_direction: float = 1e-8
    polish_floor: float = 1e-12
    tip_curvature: float = 1e3

    # the Newton test
    test_gradient: float = 1e-4
    test_patience: int = 500
    contraction: float = 0.9
    ball: float = 0.95
    long_wait: int = 10_000
    kept_curvature: float = 0.5
    creep_steps: int = 50_000
    near_global: float = 1e-2
    near_minimum: float = 1e-1
    barrier_margin: float = 1e-9

    # fits
    risk_gradient: float = 1e-8
    zero_risk: float = 1e-24
    same_minimiser: float = 1e-4
    consensus: float = 1e-2

    # symmetry
    family: float = 1e-6
    copy: float = 1e-6
    equal_entries: float = 1e-12
    leaves: int = 2000

    # charges
    credible_field: float = 1e-10
    critical_gradient: float = 1e-12
    at_teacher: float = 1e-8
    circle_reach: float = 1e-9
    circle_rise: float = 1e-12


TOLERANCES = Tolerances()
