"""Forged certificates of the kind `every_n`: another neuron, a bound beyond what D allows, a point that is no minimum."""

import numpy as np
from adversaries import TINY, Forger, small_saddle
from flint import arb

from earnshaw.problems import TwoLayer
from earnshaw.proof import prove
from earnshaw.proof.doubles import down
from earnshaw.proof.trusted.balls import precision
from earnshaw.proof.trusted.relu import Point

TEACHER = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])  # relu(x1) + |x2|
STUDENT = np.array([[0.6334, 1.1758], [-0.3222, 0.0], [0.6334, -1.1758]])

SOLID = np.array([[-1.16, 1.12, 1.35], [-1.35, -0.08, -0.31], [0.45, -0.77, -1.05]])  # in three dimensions
IN_SOLID = np.array([[0.3164, 0.0398, 0.0916], [-2.1892, 1.2045, 1.3238], [-0.1108, -0.9633, -1.3942]])
STEEP = np.array([[-0.46, 0.1], [-0.09, -1.14], [-0.4, -0.32]])  # D = 2.17 across a neuron of length .019
IN_STEEP = np.array([[-0.7342, -0.016], [0.0136, 0.013], [-0.218, -1.3554]])


def smallest():
    """The spurious minimum of the smallest teacher that has them for every n, proved."""
    return prove(TwoLayer(TEACHER), STUDENT, every_n=True)


def everything():
    """Return (must be rejected, must be accepted)."""
    proof, saddle = smallest(), small_saddle()
    certificates = {**proof.certificates, **saddle.certificates}
    forger = Forger({kind: certificate.document for kind, certificate in certificates.items()})
    document, minimum = forger.documents["every_n"], forger.documents["minimum"]
    delta, beyond = (forger.number("every_n", f"every_n__{name}") for name in ("delta", "delta_ext"))
    problem, center = document["problem"], document["center"]
    target = [row[:] for row in problem["target"]]
    target[0][0] = (1.0 + 1e-9).hex()
    wide = _wide(forger, proof.point.weights)
    edits = {
        "another neuron": {"every_n__neuron": 0},
        "the last neuron": {"every_n__neuron": 2},
        "a neuron too many": {"every_n__neuron": 3},
        "many neurons too many": {"every_n__neuron": 10**6},
        "a negative neuron": {"every_n__neuron": -1},
        "a neuron as a bool": {"every_n__neuron": True},
        "a neuron as a number": {"every_n__neuron": "0x1.0000000000000p+0"},
        "no neuron": {"every_n__neuron": None},
        "delta too large": {"every_n__delta": delta * (1 + TINY)},
        "delta equal to the shift": {"every_n__delta": forger.number("every_n", "hint__shift_split")},
        "delta and shift too large": {"every_n__delta": delta * 1.01, "hint__shift_split": delta * 1.02},
        "delta zero": {"every_n__delta": 0.0},
        "delta negative": {"every_n__delta": -delta},
        "delta null": {"every_n__delta": None},
        "shift null": {"hint__shift_split": None},
        "delta_ext too large": {"every_n__delta_ext": beyond * (1 + TINY)},
        "delta_ext equal to delta": {"every_n__delta_ext": delta},
        "delta_ext zero": {"every_n__delta_ext": 0.0},
        "delta_ext negative": {"every_n__delta_ext": -beyond},
        "delta without its drift": wide | {"every_n__delta": delta},
        "delta_ext without its drift": wide | {"every_n__delta_ext": beyond},
        "in dimension d alone": {"claims__lambda_ext_ge": None, "hint__shift_ext": None},
        "the teacher moved": {"problem": {**problem, "target": target}},
        "another order of the neurons": {"center": [center[1], center[0], center[2]]},
        "claims of the minimum are checked too": {
            "claims__F_ge": forger.number("every_n", "claims__F_le") * (1 + TINY)
        },
    }
    bad = {name: forger.forged("every_n", **edit) for name, edit in edits.items()}
    whole = forger.edited("every_n")
    places = ("problem", "center")
    bad["a saddle"] = forger.sealed({**whole, **{key: forger.documents["saddle"][key] for key in places}})
    bad["an extra key"] = forger.sealed({**whole, "every_n": {**whole["every_n"], "n": 4}})
    bad["no neuron's key"] = forger.sealed({**whole, "every_n": {"delta": whole["every_n"]["delta"]}})
    bad["the keys of a minimum"] = forger.sealed({**minimum, "kind": "every_n"})
    bad["a minimum with the keys"] = forger.sealed({**whole, "kind": "minimum"})
    other = {
        "solid": Forger({"every_n": prove(TwoLayer(SOLID), IN_SOLID, every_n=True).certificates["every_n"].document}),
        "steep": Forger({"every_n": prove(TwoLayer(STEEP), IN_STEEP, every_n=True).certificates["every_n"].document}),
    }
    solid = other["solid"].number("every_n", "every_n__delta")
    bad["delta too large in three dimensions"] = other["solid"].forged("every_n", every_n__delta=solid * (1 + TINY))
    bad["delta beyond what the theorem can give"] = other["steep"].forged(
        "every_n", every_n__delta=1.5, hint__shift_split=1.6
    )
    good = {
        "as it is": forger.forged("every_n"),
        "a weaker delta": forger.forged("every_n", every_n__delta=delta / 2, every_n__delta_ext=beyond / 2),
        "in a wide ball": forger.forged("every_n", **wide),
        "in three dimensions": other["solid"].forged("every_n"),
        "D above 1": other["steep"].forged("every_n"),
        "permuted": forger.forged("every_n", center=[center[1], center[0], center[2]], every_n__neuron=0),
    }
    return bad, good


def _wide(forger, weights):
    """A radius so large that the two losses on the way to the minimum count."""
    with precision(128):
        point = Point(weights.tolist(), TEACHER.tolist())
        lam, lip = (arb(forger.number("every_n", f"claims__{name}")) for name in ("lambda_min_ge", "hess_lipschitz_le"))
        radius = arb(forger.number("every_n", "R_unique") / 2)
        drift, shift = lip * radius, arb(forger.number("every_n", "hint__shift_split"))
        room = arb(2) ** -45
        return {
            "R_enclosure": float(radius),
            "claims__mu_ge": down(lam - drift),
            "every_n__delta": down(shift - drift - radius * radius / point.square[1] - room),
            "every_n__delta_ext": down(point.extension()[1, 1] - arb(1) / 2 - drift),
        }
