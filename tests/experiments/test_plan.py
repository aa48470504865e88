"""A plan cuts the work into the same pieces for everybody, and its hash covers what determines the results."""

import json

import numpy as np
import pytest

from earnshaw.descent import GradientDescent, Stop, Stopping
from earnshaw.errors import InputError
from earnshaw.experiments import Plan, Setting
from earnshaw.problems import TwoLayer, standard_teacher
from earnshaw.starts import Normal

SIX, ONE = TwoLayer(standard_teacher(6)), TwoLayer(standard_teacher(1))
PLAN = Plan.of([SIX, ONE], runs=640, batch=16)


def changed(**change):
    return Plan.of(**{"problems": [SIX, ONE], "runs": 640, "batch": 16} | change)


def test_names_say_k_and_n():
    assert Setting(problem=TwoLayer(standard_teacher(10), students=11)).name == "k10-n11"
    assert Setting(problem=SIX, label="adam-0.01").name == "k6-n6-adam-0.01"


def test_pieces_cover_every_run_once():
    for setting in PLAN.settings:
        pieces = PLAN.pieces(setting.name)
        assert len(pieces) > 1
        assert np.array_equal(np.concatenate([np.arange(piece.low, piece.high) for piece in pieces]), np.arange(640))
        assert all(piece.setting == setting.name for piece in pieces)
        assert all(piece.weight == (piece.high - piece.low) * setting.problem.effort for piece in pieces)


@pytest.mark.parametrize("runs", [641, 700, 2000])
def test_more_runs_keep_the_whole_pieces(runs):
    before, after = PLAN.pieces("k6-n6"), changed(runs=runs).pieces("k6-n6")
    assert [(piece.low, piece.high) for piece in after[: len(before) - 1]] == [(x.low, x.high) for x in before[:-1]]


def test_a_plan_goes_through_json_and_back():
    descents = {"a": GradientDescent(step=0.05), "b": GradientDescent()}
    for plan in (PLAN, changed(descent=descents, seed=3, start=Normal(scale=0.1), stopping=Stopping(trace=7))):
        record = json.loads(json.dumps([plan.common, plan.parts]))
        again = Plan.from_json(*record)
        assert again == plan
        assert again.hash == plan.hash
        assert [setting.batch for setting in again.settings] == [setting.batch for setting in plan.settings]


def test_the_hash_covers_what_determines_the_results():
    others = [
        {"problems": [SIX]},
        {"problems": [TwoLayer(2 * standard_teacher(6)), ONE]},
        {"start": Normal(scale=0.1)},
        {"runs": 641},
        {"seed": 1},
        {"descent": GradientDescent(step=0.05)},
        {"stopping": Stopping(rule=Stop.PAPER)},
        {"stopping": Stopping(max_steps=100)},
        {"stopping": Stopping(trace=10)},
    ]
    hashes = {changed(**change).hash for change in others}
    assert len(hashes | {PLAN.hash}) == len(others) + 1
    assert changed(batch=7).hash == PLAN.hash, "how the work is cut is not what it is"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"runs": 0}, "0 runs"),
        ({"runs": 2**32}, "4294967296 runs"),
        ({"seed": -1}, "the seed is -1"),
        ({"seed": 2**63}, "the seed is"),
        ({"runs": 1e3}, "1000.0 runs"),
        ({"runs": True}, "True runs"),
        ({"seed": 0.5}, "the seed is 0.5"),
        ({"problems": []}, "no .k, n. to run"),
        ({"problems": [SIX, SIX]}, "the same sizes"),
        ({"problems": [np.eye(3)]}, "the problem is of type ndarray; give a problem"),
        ({"batch": 0.5}, "the batch is 0.5"),
        ({"batch": -3}, "the batch is -3"),
        ({"descent": {}}, "several optimisers need different names"),
    ],
)
def test_bad_plans_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        changed(**change)
