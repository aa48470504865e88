"""Growing: the moves, the ladder of the smallest cases, and that it resumes."""

import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.experiments import Growing, Interrupted, grow, load, verify, work_of
from earnshaw.experiments.grow import double, single, whole
from earnshaw.landscapes.growing import mirrored, parted
from earnshaw.problems import TwoLayer
from earnshaw.proof import check, splitting

TEACHER = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
STUDENT = np.array([[0.6334, 1.1758], [-0.3222, 0.0], [0.6334, -1.1758]])


def network(weights, x):
    return np.maximum(x @ weights.T, 0).sum(axis=1)


def test_splitting_changes_nothing_and_mirroring_loses_a_linear_function_that_the_others_get():
    rng = np.random.default_rng(0)
    weights, x = rng.normal(size=(5, 3)), rng.normal(size=(40, 3))
    directions = rng.normal(size=(2, 3))
    assert np.allclose(network(parted(weights, [1, 3], directions, 0.3, 0.0), x), network(weights, x))
    moved = parted(weights, [1, 3], directions, 0.3, 0.1)
    assert moved.shape == (7, 3)
    assert np.allclose(moved[[1, 3]] + moved[5:], weights[[1, 3]], atol=1e-15)
    for share, count in ((0.3, 6), (1.0, 5)):
        made = mirrored(weights, [2], share)
        assert len(made) == count
        others = [0, 1, 3, 4]
        assert np.allclose(made[others] - weights[others], share / 2 * weights[2])
        made[others] = weights[others]
        assert np.allclose(network(made, x) + share * x @ weights[2], network(weights, x))


def test_the_moves_are_of_every_kind_of_neuron():
    kinds = splitting(TwoLayer(TEACHER), STUDENT)
    assert [row.neurons for row in kinds] == [(0, 2), (1,)]
    names = [name for name, weights in single(STUDENT, TEACHER, kinds) if weights.shape == (4, 2)]
    assert names == [*(f"split 0 ({share}, direction 0)" for share in (0.5, 0.2, 0.8)), "mirror 0", "mirror 1"]
    assert [name for name, _ in double(STUDENT, TEACHER, kinds)] == ["mirror 0, 1", "split 0, mirror 1"]
    pairs = list(whole(STUDENT, TEACHER, kinds, 2))
    assert [name for name, _ in pairs][:2] == ["mirror 2 like 0", "split 2 like 0 (0.1)"]
    assert all(weights.shape == (5, 2) for _, weights in pairs)


@pytest.fixture(scope="module")
def seven(tmp_path_factory):
    out = tmp_path_factory.mktemp("ladder") / "seven"
    return grow(TwoLayer(np.eye(7)), neurons=1, beam=2, out=out), out


@pytest.mark.slow
def test_the_odd_neuron_of_seven_splits_into_family_b(seven):
    ladder, out = seven
    first, second = ladder.rungs
    assert first.minima[0].family == "II (S_6)"
    best = second.minima[0]
    assert (best.family, best.verdict, best.stable) == ("B (S_6)", "PROVED_MINIMUM", False)
    assert best.value == pytest.approx(0.022147, abs=1e-6)
    assert best.least == pytest.approx(0.00261, abs=1e-5)
    assert "split" in best.move
    assert first.minima[best.parent[1]].family == "II (S_6)"
    assert ladder.highest == 8
    assert second.tried == sum(second.fates.values())
    for name, text in ladder.files().items():
        assert (out / name).read_bytes() == text
        assert check(out / name).verified


@pytest.mark.slow
def test_a_ladder_is_read_back_and_another_one_is_refused(seven):
    ladder, out = seven
    again = grow(TwoLayer(np.eye(7)), neurons=1, beam=2, out=out)
    assert again.to_json() == ladder.to_json() == load(out).to_json()
    assert isinstance(work_of(out), Growing)
    with pytest.raises(InputError, match="another computation"):
        grow(TwoLayer(np.eye(7)), neurons=1, beam=3, out=out)


def test_a_minimum_that_every_n_has_and_an_interrupted_ladder_that_goes_on(tmp_path, monkeypatch):
    problem = TwoLayer(TEACHER)

    def stop(share, what):
        if what.startswith("n = 4"):
            raise KeyboardInterrupt

    monkeypatch.setattr(
        "earnshaw.experiments.engine.PAUSE", 0.0
    )  # the rung may take less than a pause between two reports
    with pytest.raises(Interrupted):
        grow(problem, STUDENT, neurons=1, out=tmp_path / "a", progress=stop)
    with monkeypatch.context() as patch:  # the rung that is there is not computed again, nor for a longer ladder
        rungs = []
        climb = Growing._rung
        patch.setattr(Growing, "_rung", lambda work, *given: rungs.append(len(given[0])) or climb(work, *given))
        ladder = grow(problem, STUDENT, neurons=1, out=tmp_path / "a")
        longer = grow(problem, STUDENT, neurons=2, out=tmp_path / "a")
        assert rungs == [1, 2]
    assert longer.to_json() == grow(problem, STUDENT, neurons=2).to_json() == load(tmp_path / "a").to_json()
    assert ladder.to_json()["rungs"] == longer.to_json()["rungs"][:2]
    assert verify(tmp_path / "a") == []
    with pytest.raises(InputError, match="has 2 runs there"):
        grow(problem, STUDENT, neurons=1, out=tmp_path / "a")
    assert ladder.rungs[0].minima[0].stable
    assert ladder.rungs[0].minima[0].move == "source 0"
    assert ladder.rungs[1].fates.keys() == {"GLOBAL"}
    assert ladder.highest == 3


@pytest.mark.parametrize(
    ("problem", "options", "says"),
    [
        (TwoLayer(TEACHER), {"neurons": 0}, "use whole numbers from 1"),
        (TwoLayer(TEACHER, students=2), {}, "n >= k"),
        (TwoLayer(TEACHER), {"sources": np.eye(2)}, "this problem needs"),
        (TwoLayer(TEACHER), {"sources": np.full((3, 2), np.nan)}, "finite"),
    ],
)
def test_what_cannot_grow_is_refused(problem, options, says):
    with pytest.raises(InputError, match=says):
        grow(problem, **options)


@pytest.mark.nightly
@pytest.mark.slow
def test_eleven_reaches_thirteen_and_fourteen():
    """The paper saw none beyond k + 1 in 1000 starts."""
    ladder = grow(TwoLayer(np.eye(11)), neurons=3, beam=8)
    assert ladder.highest == 14
    assert ladder.rungs[2].minima[0].lambda_ge == pytest.approx(0.00196, abs=1e-5)
    assert ladder.rungs[3].minima[0].lambda_ge == pytest.approx(0.00077, abs=1e-5)
