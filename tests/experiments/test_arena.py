"""The arena: the same starts for all, scores that add up, and every disagreement listed."""

import dataclasses
import json
import shutil

import numpy as np
import pytest

from earnshaw.descent import Outcome, optimizer
from earnshaw.errors import InputError
from earnshaw.experiments import Arena, Interrupted, Plan, Score, families, load, load_arena, run_arena, sweep
from earnshaw.plots.sweeps import arena_figure
from earnshaw.problems import TwoLayer, standard_teacher
from earnshaw.starts import Given, Xavier
from earnshaw.store import read_json, read_npz, write_json

SIX = TwoLayer(standard_teacher(6))
LANES = np.array([0, 544, 1, 592, 2, 633])  # gradient descent with step 0.1 is trapped from the big ones
START = Given(Xavier().draw(SIX, 0, LANES))
NAMES = ("gd:0.1", "newton-tr")


def hold(out, *names, **more):
    arguments = {"runs": 6, "start": START, "workers": 1} | more
    return run_arena([SIX], {name: optimizer(name) for name in names}, out, **arguments)


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    out = tmp_path_factory.mktemp("arena")
    (result,) = hold(out, *NAMES)
    return result, out


def arrays_of(out, label):
    return read_npz(out / f"k6-n6-{label}.npz")


@pytest.fixture
def computed(monkeypatch):
    """The kinds of the optimisers whose pieces were computed, as they are."""
    kinds, original = [], Plan.compute

    def compute(plan, piece, context):
        kinds.append(plan.by_name[piece.setting].descent.to_json()["kind"])
        return original(plan, piece, context)

    monkeypatch.setattr(Plan, "compute", compute)
    return kinds


def test_everyone_begins_at_the_same_points(held):
    _, out = held
    manifest = read_json(out / "manifest.json")
    assert list(manifest["settings"]) == ["k6-n6-gd-0.1", "k6-n6-newton-tr"]
    assert manifest["common"]["start"] == START.to_json(), "one start for all"
    # What one optimiser did in the arena is what it does alone.
    alone = sweep(SIX, runs=6, optimizer="gd:0.1", start=START)
    assert np.array_equal(arrays_of(out, "gd-0.1")["value"], alone.value)
    assert load(out)["k6-n6-gd-0.1"].runs == alone
    assert alone.outcomes == {"GLOBAL": 3, "SPURIOUS": 3}


def test_the_scores_add_up(held):
    result, out = held
    assert [score.optimizer for score in result.scores] == list(NAMES)
    for score, folder in zip(result.scores, ("gd-0.1", "newton-tr"), strict=True):
        arrays = arrays_of(out, folder)
        assert (score.sizes, score.runs, score.seed) == ({"k": 6, "n": 6, "d": 6}, 6, 0)
        assert {key: score.to_json()[key] for key in "knd"} == score.sizes
        assert sum(score.outcomes.values()) == score.runs
        assert score.global_percent == pytest.approx(100 * (arrays["outcome"] == Outcome.GLOBAL.code).mean())
        low, high = score.global_interval
        assert 0 <= low <= score.global_percent <= high <= 100
        assert sum(score.traps) == score.outcomes.get("SPURIOUS", 0)
        assert score.median_steps == np.median(arrays["steps"])
        assert score.median_gradients == np.median(arrays["gradients"])
        assert (score.median_hessians > 0) == (score.optimizer == "newton-tr")
    assert result.scores[0].outcomes == {"GLOBAL": 3, "SPURIOUS": 3}
    assert result.scores[0].agrees_percent == 100


def test_every_disagreement_is_listed_and_nothing_else(held):
    result, out = held
    first, other = (arrays_of(out, name)["outcome"].tolist() for name in ("gd-0.1", "newton-tr"))
    expected = [
        (run, "newton-tr")
        for run, (fate, reference) in enumerate(zip(other, first, strict=True))
        if fate != reference  # there is one family only, so that outcomes are all that can differ
    ]
    assert expected, "another optimiser escapes somewhere"
    assert [(row.run, row.optimizer) for row in result.disagreements] == expected
    assert {(row.fate, row.fate_of_first) for row in result.disagreements} <= {
        ("GLOBAL", "family 0"),
        ("family 0", "GLOBAL"),
    }
    for score in result.scores:
        listed = sum(row.optimizer == score.optimizer for row in result.disagreements)
        assert score.agrees_percent == pytest.approx(100 * (6 - listed) / 6)


def test_families_are_shared_and_proved(held):
    result, _ = held
    assert len(result.traps) == 1
    (trap,) = result.traps
    assert trap.objective == pytest.approx(0.0250806, abs=1e-7)
    assert trap.verdict == "PROVED_MINIMUM"
    assert len(families(sweep(SIX, runs=6, start=START).spurious)) == 1


def test_the_file_holds_what_was_returned(held):
    result, out = held
    (record,) = read_json(out / "arena.json")
    assert record["setting"] == "k6-n6"
    assert [score["optimizer"] for score in record["scores"]] == list(NAMES)
    assert not any("seconds" in score for score in record["scores"]), "results hold no times"
    assert record["families"] == [dataclasses.asdict(trap) for trap in result.traps]
    assert len(record["disagreements"]) == len(result.disagreements)
    json.dumps([score.to_json() for score in result.scores], allow_nan=False)


def test_a_finished_arena_computes_only_who_is_new(held, computed, tmp_path):
    result, out = held[0], shutil.copytree(held[1], tmp_path / "copy")
    before = (out / "arena.json").read_bytes()
    (again,) = hold(out, *NAMES)
    assert not computed
    assert (out / "arena.json").read_bytes() == before
    assert again.disagreements == result.disagreements
    (more,) = hold(out, "momentum:0.05:0.9", *NAMES)
    assert computed == ["optax"]
    assert more.scores[0].optimizer == "momentum:0.05:0.9"
    assert more.scores[0].agrees_percent == 100
    assert more.scores[1].traps == result.scores[0].traps


def test_an_interrupted_arena_resumes(held, tmp_path, monkeypatch):
    result, _ = held
    original = Plan.compute

    def compute(plan, piece, context):
        if piece.setting.endswith("newton-tr"):
            raise KeyboardInterrupt
        return original(plan, piece, context)

    with monkeypatch.context() as patch:
        patch.setattr(Plan, "compute", compute)
        with pytest.raises(Interrupted):
            hold(tmp_path, *NAMES)
    assert not (tmp_path / "arena.json").exists()
    assert (tmp_path / "k6-n6-gd-0.1.npz").exists(), "who was finished is kept"
    (again,) = hold(tmp_path, *NAMES)
    assert again.traps == result.traps
    assert again.disagreements == result.disagreements


def test_two_with_the_same_name_are_refused(tmp_path):
    for names in (("gd:0.1", "gd 0.1"), ()):  # files would have the same name
        with pytest.raises(InputError, match="different names"):
            run_arena([SIX], dict.fromkeys(names, optimizer("gd:0.1")), tmp_path, runs=6, start=START)
    assert not list(tmp_path.iterdir())


def test_another_arena_in_the_same_folder_is_refused(held):
    _, out = held
    before = (out / "arena.json").read_bytes()
    with pytest.raises(InputError, match="another computation: seed is 0 there, and 1 was asked for"):
        hold(out, *NAMES, seed=1)
    assert (out / "arena.json").read_bytes() == before


def made_up(k, n, percents):
    """Return an arena without runs: what each optimiser reached, by name."""
    scores = [
        Score(
            name,
            {"k": k, "n": n, "d": k},
            100,
            0,
            {},
            percent,
            (percent - 9, percent + 4),
            9.0,
            1200.0,
            hessians,
            (),
            100.0,
            0.0,
        )
        for (name, percent), hessians in zip(percents.items(), (0.0, 30.0), strict=True)
    ]
    return Arena(TwoLayer(standard_teacher(k), students=n), tuple(scores), (), ())


@pytest.mark.parametrize(
    ("sizes", "label", "marks"),
    [
        ([(6, 6)], "runs at the global minimum (%), and the median cost of a run", ["gd:0.1", "newton-tr"]),
        ([(6, 7), (7, 8)], "teacher neurons k (n = k + 1)", ["6", "7"]),
        ([(6, 6), (6, 8)], "student neurons n (k = 6)", ["6", "8"]),
        ([(6, 6), (7, 8)], "teacher neurons k, student neurons n", ["6, 6", "7, 8"]),
    ],
)
def test_figures_for_one_size_and_for_several(tmp_path, sizes, label, marks):
    arenas = [made_up(k, n, {"gd:0.1": 90.0, "newton-tr": 80.0}) for k, n in sizes]
    arena_figure(arenas, "100 common starts", tmp_path / "figure")
    text = (tmp_path / "figure.svg").read_text()
    for word in (label, *marks, "gd:0.1", "newton-tr"):
        assert f"<!-- {word} -->" in text
    assert ("<!-- 1,200 gradients, 30 Hessian products -->" in text) == (len(sizes) == 1)
    assert ("100 common starts, k = 6, n = 6" in text) == (len(sizes) == 1)


def test_an_arena_is_read_from_its_folder(held, tmp_path):
    result, out = held
    (found,) = load_arena(out)
    assert found.problem == SIX
    assert [dataclasses.replace(score, seconds=0.0) for score in found.scores] == [
        dataclasses.replace(score, seconds=0.0) for score in result.scores
    ]
    assert (found.traps, found.disagreements) == (result.traps, result.disagreements)
    folder = shutil.copytree(out, tmp_path / "copy")
    for damage, reason in (
        (lambda entry: entry["scores"][0].update(global_percent=100.0), "the runs of k6-n6-gd-0.1 say something else"),
        (lambda entry: entry["scores"][1]["traps"].append(1), "families"),
        (lambda entry: entry["scores"][1].update(optimizer="adam:0.01"), "KeyError"),
        (lambda entry: entry.pop("families"), "KeyError"),
        (lambda entry: entry.update(scores=[]), "IndexError"),
    ):
        (entry,) = read_json(out / "arena.json")
        damage(entry)
        write_json(folder / "arena.json", [entry])
        with pytest.raises(InputError, match="damaged or of other runs") as told:
            load_arena(folder)
        assert reason in str(told.value)
        assert "run the same arena again" in str(told.value)
