"""The record of many runs: codes that files rely on, selection, joining."""

import numpy as np

from earnshaw.descent import Outcome, Runs
from earnshaw.problems import TwoLayer

PROBLEM = TwoLayer(np.eye(2))


def runs(*outcomes):
    count = len(outcomes)
    return Runs(
        problem=PROBLEM,
        run=np.arange(count),
        outcome=np.array([outcome.code for outcome in outcomes], dtype=np.int8),
        value=np.linspace(0, 1, count),
        gradient_norm=np.zeros(count),
        min_eigenvalue=np.full(count, np.nan),
        steps=np.full(count, 50),
        gradients=np.full(count, 50),
        hessians=np.zeros(count, dtype=np.int64),
        halvings=np.zeros(count, dtype=np.int64),
        by_value=np.zeros(count, dtype=bool),
        weights=np.arange(4.0 * count).reshape(count, 2, 2),
        last_weights=np.zeros((count, 2, 2)),
    )


def test_the_codes_of_outcomes_never_change():
    names = ["GLOBAL", "SPURIOUS", "SADDLE", "DEGENERATE", "DIVERGED", "UNDECIDED", "CONVERGED", "FLAT"]
    assert [outcome.name for outcome in sorted(Outcome, key=lambda outcome: outcome.code)] == names
    assert all(Outcome.from_code(outcome.code) is outcome for outcome in Outcome)
    assert all(len(outcome.value.split()) > 3 for outcome in Outcome), "an outcome carries its sentence"


def test_selection_counts_and_joining():
    some = runs(Outcome.GLOBAL, Outcome.SPURIOUS, Outcome.GLOBAL, Outcome.CONVERGED)
    assert some.outcomes == {"GLOBAL": 2, "SPURIOUS": 1, "CONVERGED": 1}
    assert some.spurious.run.tolist() == [1]
    assert some.where(Outcome.SPURIOUS, Outcome.CONVERGED).run.tolist() == [1, 3]
    assert np.array_equal(some.spurious.weights, some.weights[1:2])
    assert len(some[:3]) == 3
    again = Runs.join([some[:1], some[1:]])
    assert again.problem == PROBLEM
    for name in Runs.array_names():
        assert np.array_equal(getattr(again, name), getattr(some, name), equal_nan=True)
        assert getattr(again, name).dtype == getattr(some, name).dtype
