"""Run folders that are not as they were written: said by name, and made so again, byte for byte, by two ways."""

import contextlib
import json
import shutil
import warnings

import numpy as np
import pytest

import earnshaw as es
from earnshaw.errors import DamageWarning, InputError
from earnshaw.experiments import Plan, prove_sweep, run_plan, work_of
from earnshaw.experiments.work import Context, Piece
from earnshaw.problems import TwoLayer, standard_teacher
from earnshaw.starts import Given
from earnshaw.store import RunFolder, write_json
from earnshaw.store.folder import BEFORE

PLAN = Plan.of(TwoLayer(standard_teacher(1)), runs=600, batch=16)  # three pieces
NAME = "k1-n1"
WAYS = {
    "again": lambda folder: run_plan(work_of(folder), folder, workers=1),
    "repair": lambda folder: es.repair(folder, 1),
}


def results(path):
    """The bytes of every file but the times and the lock."""
    files = [file for file in sorted(path.rglob("*")) if file.is_file() and file.name not in ("record.json", ".lock")]
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def computed(plan, low, high):
    return plan.compute(Piece(NAME, low, high), Context())


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The finished folder, and the pieces of the plan and of another seed, by where they begin."""
    path = tmp_path_factory.mktemp("whole") / "run"
    run_plan(PLAN, path, workers=1)
    other = Plan.of(TwoLayer(standard_teacher(1)), runs=600, batch=16, seed=4)
    return path, {low: computed(PLAN, low, low + 256) for low in (0, 256)}, computed(other, 0, 256), other


@pytest.fixture
def stopped(whole, tmp_path):
    """A folder in which two of three pieces are there."""
    with RunFolder(tmp_path / "run", PLAN.kind, PLAN.common, PLAN.parts) as folder:
        for low, arrays in whole[1].items():
            folder.put(NAME, low, low + 256, arrays)
    return tmp_path / "run"


# ---- pieces ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("damage", ["another seed", "short", "long", "duplicated", "rows cut off", "zeros"])
def test_a_foreign_short_long_or_duplicated_piece_is_named_and_computed_anew(
    whole, stopped, tmp_path, monkeypatch, damage, way
):
    finished, _, foreign, other = whole
    file = stopped / "pieces" / f"{NAME}-00000000.npz"
    store = RunFolder.open(stopped)
    if damage == "another seed":
        with RunFolder(tmp_path / "other", other.kind, other.common, other.parts) as there:
            there.put(NAME, 0, 256, foreign)
        shutil.copy(tmp_path / "other" / "pieces" / file.name, file)
    elif damage in ("short", "long"):
        high = 100 if damage == "short" else 300
        store.put(NAME, 0, high, computed(PLAN, 0, high))
    elif damage == "duplicated":
        shutil.copy(stopped / "pieces" / f"{NAME}-00000256.npz", file)
    elif damage == "zeros":
        file.write_bytes(bytes(file.stat().st_size))
    else:
        with np.load(file) as arrays:
            np.savez_compressed(file, **{name: array[:100] if array.ndim else array for name, array in arrays.items()})
    assert any(str(file) in fault for fault in es.verify(stopped))
    asked, compute = [], Plan.compute
    monkeypatch.setattr(
        Plan, "compute", lambda plan, piece, context: asked.append(piece.low) or compute(plan, piece, context)
    )
    told = pytest.warns(DamageWarning, match=f"{file.name} is damaged, or of another computation or other runs")
    with contextlib.nullcontext() if damage == "short" else told:  # it is as it was when fewer runs were asked for
        WAYS[way](stopped)
    assert sorted(asked) == [0, 512], "the damaged and the missing one, and not the whole one"
    assert results(stopped) == results(finished)
    assert es.verify(stopped) == []


def test_a_piece_that_nobody_asked_for_is_removed_by_repair(whole, tmp_path):
    shutil.copytree(whole[0], tmp_path / "run")
    (tmp_path / "run" / "pieces" / f"{NAME}-00001024.npz").write_text("?")
    assert [fault.rpartition("/")[2] for fault in es.verify(tmp_path / "run")] == [
        f"{NAME}-00001024.npz is damaged, or of another computation or other runs"
    ]
    assert es.repair(tmp_path / "run", 1) == []
    assert results(tmp_path / "run") == results(whole[0])


# ---- results ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_a_record_is_made_from_its_arrays_and_no_run_is_made_again(whole, tmp_path, monkeypatch, way):
    folder = shutil.copytree(whole[0], tmp_path / "run")
    (folder / f"{NAME}.json").write_text('{"runs": 600, "outcomes": {"GLOBAL": 1}}')
    monkeypatch.setattr(Plan, "compute", lambda *_: pytest.fail("a run was made again"))
    with pytest.warns(DamageWarning, match=rf"{NAME}\.json"):
        WAYS[way](folder)
    assert results(folder) == results(whole[0])


def test_a_folder_removed_while_work_goes_on_is_an_error_and_does_not_come_back(tmp_path):
    folder = tmp_path / "run"
    with pytest.raises(InputError, match="was removed or emptied while the work was going on"):
        run_plan(PLAN, folder, workers=1, progress=lambda share, what: shutil.rmtree(folder, ignore_errors=True))
    assert not folder.exists()


@pytest.mark.parametrize("content", ["", "{}", "[1", '{"times": {"k1-n1": {"seconds": "x"}}, "versions": []}', "\0"])
def test_a_damaged_record_of_times_never_blocks(whole, tmp_path, content):
    folder = shutil.copytree(whole[0], tmp_path / "run")
    (folder / "record.json").write_text(content)
    with pytest.warns(DamageWarning, match=r"record\.json .*; it says only how long the work took"):
        assert es.load(folder).runs == es.load(whole[0]).runs
    (fault,) = es.verify(folder)
    assert "record.json" in fault
    again = shutil.copytree(folder, tmp_path / "again")
    assert es.repair(folder, 1) == []
    with pytest.warns(DamageWarning, match=r"record\.json"):
        run_plan(PLAN, again, workers=1)
    for place in (folder, again):
        assert results(place) == results(whole[0])
        assert not (place / "record.json").exists(), "nobody knows any more how it was computed"


# ---- manifests -------------------------------------------------------------------------------------------------------


def refused(folder, match):
    before = results(folder)
    with pytest.raises(InputError, match=match):
        es.repair(folder, 1)
    assert results(folder) == before, "nothing was changed"


@pytest.mark.parametrize("state", ["finished", "stopped"])
def test_repair_does_not_believe_the_manifest_of_another_folder(whole, stopped, tmp_path, state):
    """It would replace all results by those of other work."""
    folder = shutil.copytree(whole[0], tmp_path / "copy") if state == "finished" else stopped
    for kind, plan in (("another seed", whole[3]), ("other sizes", Plan.of(TwoLayer(standard_teacher(2)), runs=600))):
        with RunFolder(tmp_path / kind, plan.kind, plan.common, plan.parts):
            pass
        shutil.copy(tmp_path / kind / "manifest.json", folder / "manifest.json")
        refused(folder, r"manifest\.json is that of another computation than k1-n1")


def test_repair_refuses_a_manifest_of_another_kind_by_a_sentence(whole, tmp_path):
    folder = shutil.copytree(whole[0], tmp_path / "run")
    for place, (kind, common, match) in enumerate(
        (
            ("trajectory", PLAN.common, "cannot be repaired: a record of Motion needs exactly the keys"),
            ("cooking", PLAN.common, "work of the kind 'cooking'; this version knows"),
            ("sweep", {}, "does not describe work of the kind 'sweep'"),
        )
    ):
        with RunFolder(tmp_path / str(place), kind, common, PLAN.parts):
            pass
        refused(tmp_path / str(place), match)
        shutil.copy(tmp_path / str(place) / "manifest.json", folder / "manifest.json")
        refused(folder, r"manifest\.json is that of another computation than k1-n1\.npz")
    (folder / "manifest.json").unlink()
    refused(folder, "is not a run folder")


# ---- the version before ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def proved(tmp_path_factory):
    """A small sweep with a proved minimum, and the same as the version before wrote it."""
    weights = np.full((6, 6), -0.0504)
    np.fill_diagonal(weights, 0.9867)
    weights[0, 1:], weights[1:, 0], weights[0, 0] = 0.2245, 0.3080, -0.6015
    start = Given(np.stack([weights, 0.9 * np.eye(6)]))
    now = tmp_path_factory.mktemp("version") / "now"
    plan = Plan.of(TwoLayer(standard_teacher(6)), runs=2, batch=8, start=start)
    prove_sweep(run_plan(plan, now, workers=1), now)
    before = shutil.copytree(now, now.parent / "before")
    for file in before.glob("*.json"):
        record = json.loads(file.read_text())
        record = {key: value for key, value in record.items() if key not in ("sha256", "certificates")}
        write_json(file, record | ({"format": BEFORE} if file.name == "manifest.json" else {}))
    return plan, now, before


def test_a_folder_of_the_version_before_is_refused_by_readers_and_keeps_its_runs(proved, tmp_path, monkeypatch):
    plan, now, before = proved
    (fault,) = es.verify(before)
    assert fault.endswith(f"earnshaw runs repair {before}: the runs are kept, what is made from them is new")
    with pytest.raises(InputError, match="written by an earlier version"):
        es.load(before)
    monkeypatch.setattr(Plan, "compute", lambda *_: pytest.fail("a run was made again"))
    for way in ("repair", "again"):
        folder = shutil.copytree(before, tmp_path / way)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if way == "repair":
                assert es.repair(folder, 1) == []
            else:
                prove_sweep(run_plan(plan, folder, workers=1), folder)
        assert results(folder) == results(now)


@pytest.mark.parametrize("damage", ["seed", "array"])
def test_a_damaged_folder_of_the_version_before_is_not_given_checksums(proved, tmp_path, damage):
    plan, now, before = proved
    folder = shutil.copytree(before, tmp_path / "run")
    manifest = json.loads((folder / "manifest.json").read_text())
    if damage == "seed":
        manifest["common"]["seed"] = 7
        write_json(folder / "manifest.json", manifest)
        refused(folder, r"manifest\.json is that of another computation than k6-n6\.npz")
        with pytest.raises(InputError, match="seed is 7 there, and 0 was asked for"):
            run_plan(plan, folder)
        return
    (folder / "k6-n6.npz").write_bytes((folder / "k6-n6.npz").read_bytes()[:-30])
    with pytest.warns(DamageWarning, match=r"k6-n6\.npz"):
        assert es.repair(folder, 1) == []
    assert results(folder) == results(now)


# ---- shapes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change", [{"runs": None}, {"runs": "600"}, {"files": 5}, {"families": 5}, {"outcomes": None}, {"files": ["-odd"]}]
)
def test_a_record_of_another_shape_is_a_sentence_also_with_a_right_checksum(whole, tmp_path, change):
    folder = shutil.copytree(whole[0], tmp_path / "run")
    store = RunFolder.open(folder)
    store.put_record(NAME, store.record(NAME) | change)
    with contextlib.suppress(InputError):
        es.load(folder).runs.outcomes  # noqa: B018
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)
        with contextlib.suppress(InputError):
            es.repair(folder, 1)
