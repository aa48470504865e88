"""The fates of runs: codes that files rely on, sentences, and which of them are clear."""

from earnshaw.descent import Outcome


def test_the_codes_of_outcomes_never_change():
    names = ["GLOBAL", "SPURIOUS", "SADDLE", "DEGENERATE", "DIVERGED", "UNDECIDED", "CONVERGED", "FLAT"]
    assert [outcome.name for outcome in sorted(Outcome, key=lambda outcome: outcome.code)] == names
    assert all(Outcome.from_code(outcome.code) is outcome for outcome in Outcome)
    assert all(len(outcome.value.split()) > 3 for outcome in Outcome), "an outcome carries its sentence"


def test_where_second_derivatives_do_not_decide_no_fate_is_clear():
    assert {outcome.name for outcome in Outcome if not outcome.decides} == {"UNDECIDED", "FLAT"}
