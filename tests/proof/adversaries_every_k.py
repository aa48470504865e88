"""Forged certificates of the kind `every_k`: a gap, a piece out of order, an edited curve, a tube without room, another k0."""

import json
from functools import cache
from math import nextafter, sqrt

from adversaries import TINY, Forger

from earnshaw.proof import Certificate, prove_every_k
from earnshaw.proof.every_k import PLANS
from earnshaw.proof.trusted.reading import seal


def begin(family) -> int:
    """The first k of certificates that are quick to check."""
    return PLANS[family].start - 3


@cache
def short(family) -> Certificate:
    """A certificate whose head is of three points."""
    return prove_every_k(family, begin(family)).certificate


def hexed(numbers):
    return [float(number).hex() for number in numbers]


def everything(family="A"):
    """Return (must be rejected, must be accepted)."""
    forger, start = Forger({"every_k": dict(short(family).document)}), PLANS[family].start
    document = forger.documents["every_k"]
    tail, claims, center, curve = (document[name] for name in ("tail", "claims", "center", "curve"))
    ends = [float.fromhex(end) for end in tail["ends"]]
    tube = float.fromhex(tail["tube"])
    least, far, low, high = (
        float.fromhex(claims[name]) for name in ("lambda_head_ge", "lambda_tail_ge", "value_ge", "value_le")
    )

    def bent(row, place, by):
        rows = [list(coefficients) for coefficients in curve]
        rows[row][place] = (float.fromhex(rows[row][place]) + by).hex()
        return rows

    def moved(index, entry, by):
        points = json.loads(json.dumps(center))
        points[index][entry][0] = (float.fromhex(points[index][entry][0]) * (1 + by)).hex()
        return points

    def cut(**edits):
        return {"tail": {**tail, **edits}}

    swapped = [*ends[:50], ends[51], ends[50], *ends[52:]]
    edits = {
        "a gap at h0: the last piece is missing": cut(ends=hexed(ends[:-1])),
        "a gap at h0 of one unit in the last place": cut(ends=hexed([*ends[:-1], nextafter(1 / sqrt(start), 0)])),
        "a gap at 0: the first piece is missing": cut(ends=hexed(ends[1:])),
        "a piece out of order": cut(ends=hexed(swapped)),
        "an empty piece": cut(ends=hexed([*ends[:50], ends[49], *ends[50:]])),
        "pieces beyond 1": cut(ends=hexed([*ends, 1.0])),
        "too few pieces": cut(ends=hexed([0.0, ends[-1]])),
        "no pieces": cut(ends=[]),
        "k0 lowered by one": cut(**{"from": start - 1}),
        "k0 lowered by one with its point": cut(**{"from": start - 1}) | {"center": center[:-1]},
        "k0 raised by one": cut(**{"from": start + 1}),
        "a point too few": {"center": center[1:]},
        "a point too many": {"center": [*center, center[-1]]},
        "points in another order": {"center": center[::-1]},
        "first lowered by one": {"problem": {**document["problem"], "first": begin(family) - 1}},
        "another family": {"problem": {**document["problem"], "family": "I"}},
        "another target": {"problem": {**document["problem"], "target": "any"}},
        "another objective": {"problem": {**document["problem"], "objective": "any"}},
        "tube of radius 0": cut(tube=(0.0).hex()),
        "a negative tube": cut(tube=(-tube).hex()),
        "a tube too narrow": cut(tube=(tube / 1e6).hex()),
        "a tube too wide": cut(tube=(0.25).hex()),
        "an order too small": cut(order=8),
        "an order as a bool": cut(order=True),
        "lambda_head_ge too large": {"claims": {**claims, "lambda_head_ge": (least * 1.001).hex()}},
        "lambda_tail_ge too large": {"claims": {**claims, "lambda_tail_ge": (far * 1.02).hex()}},
        "lambda_head_ge zero": {"claims": {**claims, "lambda_head_ge": (0.0).hex()}},
        "lambda_tail_ge zero": {"claims": {**claims, "lambda_tail_ge": (0.0).hex()}},
        "value_ge too large": {"claims": {**claims, "value_ge": (low * (1 + TINY)).hex()}},
        "value_le too small": {"claims": {**claims, "value_le": (high * (1 - TINY)).hex()}},
        "value_ge zero": {"claims": {**claims, "value_ge": (0.0).hex()}},
        "value_ge negative": {"claims": {**claims, "value_ge": (-1.0).hex()}},
        "a point moved by 1e-3": {"center": moved(0, 0, 1e-3)},
        "the last point moved by 1e-3": {"center": moved(-1, -1, 1e-3)},
        "no points: the head is empty": {"problem": {**document["problem"], "first": start}, "center": []},
        "a curve too few": {"curve": curve[1:]},
        "a curve too long": {"curve": [[*curve[0], *hexed([0.0] * 40)], *curve[1:]]},
    }
    loose = {"claims": {**claims, "lambda_head_ge": (1e-3).hex(), "value_le": (1e3).hex()}}
    if family == "II":
        pairs = short("A").document["center"]
        edits["points of family A"] = {"center": [[a, b, b, b, a] for a, b in pairs], **loose}
    if family == "B":
        edits["single neurons in the other order"] = {
            "center": [[*row[:3], *row[5:], *row[3:5]] for row in center],
            **loose,
        }
    for row in range(len(curve)):
        edits |= {
            f"coefficient 0 of curve {row} moved by {by / tube:g} tubes": {"curve": bent(row, 0, by)}
            for by in (3 * tube, -3 * tube, 1e-2)
        }
        edits[f"coefficient 3 of curve {row} edited"] = {"curve": bent(row, 3, 1.0)}
    bad = {name: forger.forged("every_k", **edit) for name, edit in edits.items()}
    whole = forger.edited("every_k")
    bad["an extra key"] = forger.sealed({**whole, "tail": {**tail, "k": 40}})
    bad["no curve"] = forger.sealed({key: value for key, value in whole.items() if key != "curve"})
    bad["edited without resealing"] = json.dumps({**whole, "sha256": seal({**whole, "meta": {}})}).encode()
    good = {
        "as it is": forger.forged("every_k"),
        "weaker": forger.forged(
            "every_k",
            claims={
                "lambda_head_ge": (least / 2).hex(),
                "lambda_tail_ge": (far / 3).hex(),
                "value_ge": (low / 2).hex(),
                "value_le": (high * 2).hex(),
            },
        ),
        "a wider tube": forger.forged("every_k", claims__lambda_tail_ge=far / 2, **cut(tube=(4 * tube).hex()), claims__value_le=1.0, claims__value_ge=0.01),
    }  # fmt: skip
    return bad, good
