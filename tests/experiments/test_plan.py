"""A plan cuts the work into the same pieces for everybody, and its hash covers what determines the results."""

import dataclasses

import numpy as np
import pytest

from earnshaw.descent import GradientDescent, Stop, Stopping
from earnshaw.errors import InputError
from earnshaw.experiments import Plan, Setting
from earnshaw.problems import TwoLayer, standard_teacher

SIX, ONE = Setting(TwoLayer(standard_teacher(6))), Setting(TwoLayer(standard_teacher(1)))
PLAN = Plan(settings=(SIX, ONE), runs=640, batches={"k6-n6": 16, "k1-n1": 16})


def test_names_say_k_and_n():
    assert Setting(TwoLayer(standard_teacher(10), students=11)).name == "k10-n11"


def test_pieces_cover_every_run_once():
    for setting in PLAN.settings:
        pieces = PLAN.pieces(setting)
        assert len(pieces) > 1
        assert np.array_equal(np.concatenate([lanes for _, lanes in pieces]), np.arange(640))
        assert len({name for name, _ in pieces}) == len(pieces)
        assert all(name.startswith(setting.name) for name, _ in pieces)


def test_the_hash_covers_what_determines_the_results():
    others = [
        {"settings": (SIX,)},
        {"settings": (Setting(TwoLayer(2 * standard_teacher(6))), ONE)},
        {"runs": 641},
        {"seed": 1},
        {"descent": GradientDescent(step=0.05)},
        {"stopping": Stopping(rule=Stop.PAPER)},
        {"stopping": Stopping(max_steps=100)},
        {"stopping": Stopping(trace=10)},
    ]
    hashes = {dataclasses.replace(PLAN, **change).hash for change in others}
    assert len(hashes | {PLAN.hash}) == len(others) + 1
    assert dataclasses.replace(PLAN, batches={"k6-n6": 7}).hash == PLAN.hash, "how the work is cut is not what it is"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"runs": 0}, "0 runs"),
        ({"runs": 2**32}, "4294967296 runs"),
        ({"seed": -1}, "the seed is -1"),
        ({"seed": 2**63}, "the seed is"),
        ({"settings": ()}, "no .k, n. to run"),
        ({"settings": (SIX, SIX)}, "the same k and n"),
        ({"batches": {"k6-n6": 0}}, "the batch is 0"),
        ({"batches": {"k6-n6": -3}}, "the batch is -3"),
    ],
)
def test_bad_plans_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        dataclasses.replace(PLAN, **change)
