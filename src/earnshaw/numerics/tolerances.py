"""Every number that decides an outcome, in one table: what is a minimum, what is the same point, when a test is made.

Sizes of programs and limits of work are where the work is; what makes a teacher orthonormal, a plain fact of the problem,
is in ``problems``; the tests of reproduced tables name their own limits row by row.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Tolerances:
    """Thresholds of the numerical verdicts, in the units of a problem: ``scale`` below is its square scale (the sum of a
    ReLU teacher's squared norms), ``unit`` the root of scale / k.
    """

    # values and stationary points
    global_value: float = 1e-10  #: a value below this times ``scale`` is the global minimum 0
    tip_value: float = 1e-7  #: the same at a tip (sign): an angle is known to 1e-8 from its cosine, and so is the loss
    paper_value: float = 1e-3  #: the value test of Safran & Shamir; valid for an orthonormal teacher of few neurons
    paper_neurons: int = 40  #: teacher neurons up to which ``paper_value`` is valid
    paper_gradient: float = 1e-9  #: their stop rule: every neuron's gradient is at most this times ``unit``
    divergence: float = 1e4  #: a gradient above this times ``unit`` means that the step was too long
    dead_neuron: float = 1e-6  #: a neuron shorter than this times ``unit`` has died
    strict: float = 1e-9  #: a smallest eigenvalue above this is positive, below minus this negative
    null_direction: float = 1e-8  #: Newton's method on the host leaves directions of a smaller eigenvalue alone
    polish_floor: float = 1e-12  #: a gradient below this times :math:`1 + |x|` is rounding: Newton's method is there
    tip_curvature: float = 1e3  #: of a loss with tips, an eigenvalue above this times ``scale`` is a tip's: no verdict

    # the Newton test
    test_gradient: float = 1e-4  #: no test while a neuron's gradient is above this times ``unit``
    test_patience: int = 500  #: steps to wait after a test that met negative curvature
    contraction: float = 0.9  #: a strict minimum's ball has the radius R, R L(R) = this times the smallest eigenvalue
    ball: float = 0.95  #: a lane is expected in the ball when its distance is this times R
    long_wait: int = 10_000  #: steps to the ball that are too many to wait for
    kept_curvature: float = 0.5  #: then a smallest eigenvalue above this share of that at the minimum is enough
    creep_steps: int = 50_000  #: at multiples of so many steps a lane that creeps is followed by an implicit method
    near_global: float = 1e-2  #: at the step limit, and at a tip, the global minimum is within this share of the length
    near_minimum: float = 1e-1  #: where the paper's value test decided, a minimum is within this share of the length
    barrier_margin: float = 1e-9  #: a loss is below the ConvNet's barrier by more than this share: room for rounding

    # fits
    risk_gradient: float = 1e-8  #: a fit's descent stops at this gradient: thousandths at a start, 1e-18 after Newton's
    zero_risk: float = 1e-24  #: an empirical risk below this is 0
    same_minimiser: float = 1e-4  #: two ends closer than this, relative to their size, are one minimiser
    consensus: float = 1e-2  #: the paper's limit for the spread of ends that are one

    # symmetry
    family: float = 1e-6  #: two polished points closer than this, under a declared symmetry, are one
    copy: float = 1e-6  #: relative to the largest entry, a neuron this near a multiple of a sum of teacher's is one
    equal_entries: float = 1e-12  #: entries of a teacher closer than this are equal
    equal_eigenvalues: float = (
        1e-7  #: eigenvalues closer than this, relative to the largest, are one with a multiplicity
    )
    leaves: int = 2000  #: how many candidates of a symmetry are tried before two points are called different

    # charges
    credible_field: float = 1e-10  #: a field below this share of its terms may be rounding
    critical_gradient: float = 1e-12  #: a gradient's norm below this is that of a critical point
    at_teacher: float = 1e-8  #: an end whose cosine with a teacher neuron is within this of 1 is there
    circle_reach: float = 1e-9  #: angles on the circle that differ by this more than a step may be equal
    circle_rise: float = 1e-12  #: energies on the circle that differ by less are equal; angles too


TOLERANCES = Tolerances()
