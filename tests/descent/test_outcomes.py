"""When a run ends: names, limits, and the way through JSON; and the fates: codes that files rely on, and their sentences."""

import json

import pytest

from earnshaw.descent import Outcome, Stop, Stopping
from earnshaw.errors import InputError


def test_a_rule_may_be_named_and_nothing_else_is_taken_for_one():
    assert Stopping(rule="early") == Stopping()
    assert Stopping(rule="paper").rule is Stop.PAPER
    for wrong in ("late", "EARLY", "", None, 3):
        with pytest.raises(InputError, match="choose 'early' or 'paper'"):
            Stopping(rule=wrong)


def test_limits_go_through_json():
    for stopping in (Stopping(), Stopping(rule=Stop.PAPER, max_steps=7, max_halvings=0, trace=3)):
        assert Stopping.from_json(json.loads(json.dumps(stopping.to_json()))) == stopping


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rule": "late"}, "the stop rule is 'late'"),
        ({"max_steps": 0}, "the step limit is 0"),
        ({"max_steps": "9"}, "no whole number"),
        ({"trace": True}, "no whole number"),
        ({"more": 1}, "needs the keys"),
    ],
)
def test_a_bad_record_is_one_sentence(change, message):
    with pytest.raises(InputError, match=message):
        Stopping.from_json(Stopping().to_json() | change)
    with pytest.raises(InputError, match="needs the keys"):
        Stopping.from_json({"rule": "early"})


def test_the_codes_of_outcomes_never_change():
    names = ["GLOBAL", "SPURIOUS", "SADDLE", "DEGENERATE", "DIVERGED", "UNDECIDED", "CONVERGED", "FLAT"]
    assert [outcome.name for outcome in sorted(Outcome, key=lambda outcome: outcome.code)] == names
    assert all(Outcome.from_code(outcome.code) is outcome for outcome in Outcome)
    assert all(len(outcome.value.split()) > 3 for outcome in Outcome), "an outcome carries its sentence"


def test_where_second_derivatives_do_not_decide_no_fate_is_clear():
    assert {outcome.name for outcome in Outcome if not outcome.decides} == {"UNDECIDED", "FLAT"}
