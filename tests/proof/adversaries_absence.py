"""Forged certificates of absence, and true ones at the edge."""

import copy
import json
from functools import cache

import numpy as np

from earnshaw.proof import absence
from earnshaw.proof.certificate import hexed
from earnshaw.proof.trusted.reading import seal


@cache
def document():
    """The true certificate of two orthonormal neurons."""
    return json.loads(absence(2).certificate.to_text())


def forged(**edits):
    """The true certificate with some sections changed, sealed again."""
    changed = {**copy.deepcopy(document()), **edits}
    changed = {key: value for key, value in changed.items() if value is not None}
    changed["sha256"] = seal(changed)
    return json.dumps(changed).encode()


def about(**edits):
    """The same claims about another problem."""
    return forged(problem={**document()["problem"], **edits})


def target(rows):
    return about(target=hexed(np.asarray(rows, dtype=float)))


def everything():
    """Return (bad, good), certificates by name."""
    true = document()
    radius = float.fromhex(true["claims"]["radius"])
    counts, rule = true["counts"], true["rule"]
    good = {
        "as made": forged(),
        "a smaller radius": forged(
            claims=hexed({"radius": radius / 2}), counts={**counts, "cells": 10 * counts["cells"]}
        ),
        "another pair, its numbers rotated": target([[0.6, 0.8], [-0.8, 0.6]]),
        "the order of rows": target([[0.0, 1.0], [1.0, 0.0]]),
        "other counts by test": forged(counts={**counts, "parallel": 0, "near": 999_999_999}),
        "cells as few as the walk allows": forged(counts={**counts, "cells": 0}),
    }
    bad = {
        "radius too large": forged(claims=hexed({"radius": radius * 1.001})),
        "radius beyond the neurons": forged(claims=hexed({"radius": 2.0})),
        "radius zero": forged(claims=hexed({"radius": 0.0})),
        "radius negative": forged(claims=hexed({"radius": -radius})),
        "radius null": forged(claims={"radius": None}),
        "radius tiny: cells at the teacher stay open": forged(claims=hexed({"radius": 2.0**-30})),
        "smallest so large that cells stay open": forged(rule=hexed({**rule, "smallest": 0.5})),
        "smallest zero": forged(rule=hexed({**rule, "smallest": 0.0})),
        "smallest negative": forged(rule=hexed({**rule, "smallest": -1.0})),
        "another rule": forged(rule={**rule, "name": "thinnest patch first/1"}),
        "rule without a name": forged(rule={"smallest": rule["smallest"]}),
        "too many cells for a check": forged(counts={**counts, "cells": 999_999_999}),
        "a count negative": forged(counts={**counts, "near": -1}),
        "a count missing": forged(counts={key: counts[key] for key in counts if key != "norms"}),
        "a count as a bool": forged(counts={**counts, "near": True}),
        "fewer students": about(n=1),
        "more students": about(n=3),
        "no students": about(n=0),
        "one teacher": about(k=1, n=1, target=hexed([[1.0, 0.0]])),
        "five teachers": about(k=5, n=5, d=5, target=hexed(np.eye(5))),
        "four teachers": about(k=4, n=4, d=4, target=hexed(np.eye(4))),
        "three teachers, with a bad minimum": forged(
            problem={**true["problem"], "n": 3, "k": 3, "target": hexed([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])},
            claims=hexed({"radius": 0.05}), rule=hexed({**rule, "smallest": 0.05}), counts={**counts, "cells": 20_000},
        ),
        "one dimension": about(d=1, target=hexed([[1.0], [-1.0]])),
        "a wrong dimension": about(d=3),
        "too many dimensions": about(d=10_001),
        "parallel teachers": target([[1.0, 0.0], [2.0, 0.0]]),
        "parallel teachers in space": about(d=3, target=hexed([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]])),
        "equal teachers": target([[1.0, 0.0], [1.0, 0.0]]),
        "a zero teacher": target([[1.0, 0.0], [0.0, 0.0]]),
        "teachers nearly parallel": target([[1.0, 0.0], [1.0, 0.001]]),
        "another objective": about(objective="two-layer/sigmoid"),
        "kind minimum": forged(kind="minimum"),
        "kind unknown": forged(kind="presence"),
        "an extra key": forged(center=[["0x0.0p+0"]]),
        "no counts": forged(counts=None),
        "no claims": forged(claims=None),
        "an extra claim": forged(claims=hexed({"radius": radius, "more": 1.0})),
        "not sealed again": forged().replace(b"earnshaw.proof", b"someone"),
        "truncated": forged()[:-9],
    }  # fmt: skip
    return bad, good
