"""A run folder belongs to one computation and to one process at a time."""

import json

import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.store import RunFolder, digest, write_json

IDENTITY = {"kind": "sweep", "seed": 0}
PLAN = {"batch": 32}


def snapshot(path):
    return {
        str(file.relative_to(path)): file.read_bytes() if file.is_file() else None for file in sorted(path.rglob("*"))
    }


def test_a_new_folder_gets_a_manifest(tmp_path):
    with RunFolder(tmp_path / "deep" / "run", IDENTITY, PLAN) as folder:
        assert not folder.resumed
        assert not folder.has("piece")
        folder.put("piece", {"x": np.arange(3)})
        assert folder.has("piece")
        assert np.array_equal(folder.get("piece")["x"], np.arange(3))
    manifest = json.loads((tmp_path / "deep" / "run" / "manifest.json").read_text())
    assert manifest["hash"] == digest(IDENTITY)
    assert (manifest["identity"], manifest["plan"]) == (IDENTITY, PLAN)


def test_the_same_computation_resumes_with_the_plan_it_began_with(tmp_path):
    with RunFolder(tmp_path / "run", IDENTITY, PLAN) as folder:
        folder.put("piece", {"x": np.arange(3)})
    with RunFolder(tmp_path / "run", IDENTITY, {"batch": 7}) as folder:
        assert folder.resumed
        assert folder.plan == PLAN
        assert folder.has("piece")


def test_another_computation_is_refused_and_nothing_is_touched(tmp_path):
    with RunFolder(tmp_path / "run", IDENTITY, PLAN) as folder:
        folder.put("piece", {"x": np.arange(3)})
    before = snapshot(tmp_path)
    with pytest.raises(InputError, match="holds another computation"), RunFolder(tmp_path / "run", {"seed": 1}, PLAN):
        pass
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("change", [{"format": "other-1"}, {"identity": {"seed": 5}}, {"hash": "0" * 64}])
def test_an_edited_manifest_is_refused(tmp_path, change):
    with RunFolder(tmp_path / "run", IDENTITY, PLAN):
        pass
    manifest = tmp_path / "run" / "manifest.json"
    write_json(manifest, json.loads(manifest.read_text()) | change)
    before = snapshot(tmp_path)
    with pytest.raises(InputError, match="holds"), RunFolder(tmp_path / "run", IDENTITY, PLAN):
        pass
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("content", ["[]", "{", "3"])
def test_a_damaged_manifest_is_refused(tmp_path, content):
    (tmp_path / "manifest.json").write_text(content)
    before = snapshot(tmp_path)
    with pytest.raises(InputError), RunFolder(tmp_path, IDENTITY, PLAN):
        pass
    assert snapshot(tmp_path) == before


def test_a_folder_in_use_is_refused_and_free_afterwards(tmp_path):
    with RunFolder(tmp_path / "run", IDENTITY, PLAN):
        with pytest.raises(InputError, match="another process"), RunFolder(tmp_path / "run", IDENTITY, PLAN):
            pass
        with pytest.raises(InputError, match="another process"), RunFolder(tmp_path / "run", IDENTITY, PLAN):
            pass
    with RunFolder(tmp_path / "run", IDENTITY, PLAN) as folder:
        assert folder.resumed


def test_the_lock_is_released_when_the_work_fails(tmp_path):
    def work():
        with RunFolder(tmp_path / "run", IDENTITY, PLAN):
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        work()
    with RunFolder(tmp_path / "run", IDENTITY, PLAN):
        pass


def test_somebody_elses_folder_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    before = snapshot(tmp_path)
    with pytest.raises(InputError, match="not a run folder"), RunFolder(tmp_path, IDENTITY, PLAN):
        pass
    assert snapshot(tmp_path) == before


def test_pieces_of_unknown_origin_are_not_taken_over(tmp_path):
    """Without its manifest nobody knows which computation a piece belongs to."""
    with RunFolder(tmp_path / "run", IDENTITY, PLAN) as folder:
        folder.put("piece", {"x": np.arange(3)})
    (tmp_path / "run" / "manifest.json").unlink()
    with pytest.raises(InputError, match="not a run folder"), RunFolder(tmp_path / "run", {"seed": 1}, PLAN):
        pass


def test_a_folder_abandoned_before_its_manifest_is_begun_again(tmp_path):
    """A process may be killed after making the folder, or while the manifest still has its temporary name."""
    (tmp_path / "run" / "pieces").mkdir(parents=True)
    (tmp_path / "run" / ".lock").touch()
    (tmp_path / "run" / ".manifest.json.abc123.tmp").write_text("{")
    with RunFolder(tmp_path / "run", IDENTITY, PLAN) as folder:
        assert not folder.resumed


def test_an_unwritable_place_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot write to"), RunFolder(tmp_path / "file" / "run", IDENTITY, PLAN):
        pass
    with pytest.raises(InputError, match="not a run folder"), RunFolder(tmp_path / "file", IDENTITY, PLAN):
        pass
    assert (tmp_path / "file").read_text() == "x"
