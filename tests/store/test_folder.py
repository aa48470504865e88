"""A run folder belongs to one computation and to one process at a time, can be extended, and believes no foreign piece."""

import hashlib
import json

import numpy as np
import pytest
from filelock import FileLock

from earnshaw.errors import DamageWarning, InputError
from earnshaw.store import RunFolder, read_manifest, write_json
from earnshaw.store.folder import FORMAT, difference

COMMON = {"seed": 0, "start": {"kind": "xavier"}}
SETTING = {"identity": {"problem": {"k": 2}}, "runs": 600, "plan": {"batch": 32}}
ARRAYS = {"x": np.arange(3), "y": np.array([[0.5, np.nan]])}


def folder(path, common=COMMON, kind="sweep", **settings):
    return RunFolder(path, kind, common, settings or {"a": SETTING})


def snapshot(path):
    return {
        str(file.relative_to(path)): file.read_bytes() if file.is_file() else None for file in sorted(path.rglob("*"))
    }


def refused(path, match, **more):
    """Assert that opening is refused with these words, and that nothing is touched."""
    before = snapshot(path)
    with pytest.raises(InputError, match=match), folder(path, **more):
        pass
    assert snapshot(path) == before


def test_a_new_folder_gets_a_manifest(tmp_path):
    with folder(tmp_path / "deep" / "run") as run:
        assert run.get("a", 0, 3) is None
        run.put("a", 0, 3, ARRAYS)
        found = run.get("a", 0, 3)
        assert found is not None
        assert all(np.array_equal(found[name], ARRAYS[name], equal_nan=True) for name in ARRAYS)
    manifest = json.loads((tmp_path / "deep" / "run" / "manifest.json").read_text())
    seal = manifest.pop("sha256")
    assert manifest == {"format": FORMAT, "kind": "sweep", "common": COMMON, "settings": {"a": SETTING}}
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":"))
    assert seal == hashlib.sha256(text.encode()).hexdigest()
    assert read_manifest(tmp_path / "deep" / "run") == manifest


def test_the_same_computation_resumes_with_the_plan_it_began_with(tmp_path):
    with folder(tmp_path) as run:
        run.put("a", 0, 3, ARRAYS)
    with folder(tmp_path, a=SETTING | {"plan": {"batch": 7}}) as run:
        assert run.settings["a"]["plan"] == {"batch": 32}
        assert run.get("a", 0, 3) is not None


def test_settings_and_runs_can_be_added(tmp_path):
    with folder(tmp_path) as run:
        run.put("a", 0, 3, ARRAYS)
    with folder(tmp_path, b=SETTING | {"runs": 5}):
        pass
    assert list(read_manifest(tmp_path)["settings"]) == ["a", "b"]
    with folder(tmp_path, a=SETTING | {"runs": 1200}) as run:
        assert run.get("a", 0, 3) is not None, "more runs do not change those that are there"
    assert read_manifest(tmp_path)["settings"]["a"]["runs"] == 1200
    refused(tmp_path, "a has 1200 runs there, and 600 were asked for")


def test_another_computation_is_refused_by_what_differs(tmp_path):
    with folder(tmp_path / "run") as run:
        run.put("a", 0, 3, ARRAYS)
    run = tmp_path / "run"
    refused(run, "seed is 0 there, and 1 was asked for", common=COMMON | {"seed": 1})
    refused(run, "start.kind is xavier there, and sphere", common=COMMON | {"start": {"kind": "sphere"}})
    refused(run, "the kind of work is sweep there, and fit", kind="fit")
    refused(run, "a.problem.k is 2 there, and 3", a=SETTING | {"identity": {"problem": {"k": 3}}})


def test_differences_are_named_in_words():
    assert difference({"a": [1, 2]}, {"a": [1, 2]}) is None
    assert difference({"step": (0.1).hex()}, {"step": (0.2).hex()}) == "step is 0.1 there, and 0.2 was asked for"
    assert difference({"a": {"b": 1}}, {}) == "a is {'b': 1} there, and nothing was asked for"
    assert "another value" in str(difference({"x": "y", "v": list(range(99))}, {"x": "y", "v": [1]}))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"format": "earnshaw-run-1"}, "earnshaw-run-1, this one reads earnshaw-run-3"),
        ({"settings": 5}, "manifest.json is not as it was written"),
        ({"common": COMMON | {"seed": 5}}, "manifest.json is not as it was written"),
        ({"sha256": None}, "manifest.json is not as it was written"),
    ],
)
def test_an_old_or_edited_manifest_is_refused(tmp_path, change, match):
    with folder(tmp_path):
        pass
    file = tmp_path / "manifest.json"
    write_json(file, json.loads(file.read_text()) | change)
    refused(tmp_path, match)
    refused(tmp_path, match, common=COMMON | {"seed": 5})


@pytest.mark.parametrize("content", ["[]", "{", "3"])
def test_a_damaged_manifest_is_refused(tmp_path, content):
    (tmp_path / "manifest.json").write_text(content)
    refused(tmp_path, "manifest")


@pytest.mark.parametrize("damage", ["flip", "truncate", "other lanes", "other setting", "other seed"])
def test_a_piece_that_is_not_what_it_should_be_counts_as_missing(tmp_path, damage):
    with folder(tmp_path / "other", common=COMMON | {"seed": 1}) as run:
        run.put("a", 0, 3, ARRAYS)
    with folder(tmp_path / "run", a=SETTING, b=SETTING) as run:
        run.put("a", 0, 3, ARRAYS)
        run.put("a", 3, 6, ARRAYS)
        run.put("b", 0, 3, ARRAYS)
        file = tmp_path / "run" / "pieces" / "a-00000000.npz"
        content = bytearray(file.read_bytes())
        if damage == "flip":
            content[len(content) // 2] ^= 1
        elif damage == "truncate":
            del content[-20:]
        else:
            source = {"other lanes": "run/pieces/a-00000003.npz", "other setting": "run/pieces/b-00000000.npz"}
            content = (tmp_path / source.get(damage, "other/pieces/a-00000000.npz")).read_bytes()
        file.write_bytes(content)
        with pytest.warns(DamageWarning, match=r"pieces/a-00000000\.npz is .*; it is not used, and computed anew"):
            assert run.get("a", 0, 3) is None
        with pytest.raises(InputError, match=r"pieces/a-00000000\.npz .*runs repair, to compute it anew"):
            run.read("a", 0, 3)
        assert [path for path, span in run.pieces().items() if span is None] == [file]
        assert [span for span in run.pieces().values() if span] == [("a", 3, 6), ("b", 0, 3)]
        assert run.get("a", 3, 6) is not None


def test_dropping_the_pieces_of_a_setting_leaves_those_of_others(tmp_path):
    with folder(tmp_path, **{"k1-n1": SETTING, "k1-n1-adam-0.01": SETTING}) as run:
        for name in ("k1-n1", "k1-n1-adam-0.01"):
            run.put(name, 0, 3, ARRAYS)
            run.put(name, 0, 3, ARRAYS, "-stage0001")
        run.drop_pieces("k1-n1")
        assert sorted(file.name for file in (tmp_path / "pieces").iterdir()) == [
            "k1-n1-adam-0.01-00000000-stage0001.npz",
            "k1-n1-adam-0.01-00000000.npz",
        ]


def test_a_folder_in_use_is_refused_and_free_afterwards(tmp_path):
    with folder(tmp_path / "run"):
        for _ in range(2):
            with pytest.raises(InputError, match="another process"), folder(tmp_path / "run"):
                pass
    with folder(tmp_path / "run"):
        pass


def test_the_lock_is_released_when_the_work_fails(tmp_path):
    def work():
        with folder(tmp_path / "run"):
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        work()
    with folder(tmp_path / "run"):
        pass


def test_somebody_elses_folder_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    refused(tmp_path, "not a run folder")


def test_pieces_of_unknown_origin_are_not_taken_over(tmp_path):
    """Without its manifest nobody knows which computation a piece belongs to."""
    with folder(tmp_path / "run") as run:
        run.put("a", 0, 3, ARRAYS)
    (tmp_path / "run" / "manifest.json").unlink()
    refused(tmp_path / "run", "not a run folder")


def test_a_folder_abandoned_before_its_manifest_is_begun_again(tmp_path):
    """A process may be killed after making the folder, or while the manifest still has its temporary name."""
    (tmp_path / "run" / "pieces").mkdir(parents=True)
    (tmp_path / "run" / ".lock").touch()
    (tmp_path / "run" / ".manifest.json.abc123.tmp").write_text("{")
    with folder(tmp_path / "run"):
        assert not list((tmp_path / "run").glob(".manifest*"))


def test_an_unwritable_place_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot write to"), folder(tmp_path / "file" / "run"):
        pass
    with pytest.raises(InputError, match="not a run folder"), folder(tmp_path / "file"):
        pass
    assert (tmp_path / "file").read_text() == "x"


def test_a_new_folder_in_which_the_work_was_refused_holds_no_work(tmp_path):
    """Then nothing came to be there, and the next command may ask for something else."""

    def work(put):
        with folder(tmp_path / "run") as run:
            if put:
                run.put("a", 0, 3, ARRAYS)
            raise InputError("no")

    with pytest.raises(InputError, match="no"):
        work(put=False)
    other = {"b": SETTING}
    with folder(tmp_path / "run", {"seed": 1}, **other):
        pass
    refused(tmp_path / "run", "another computation: seed is 1 there, and 0")
    (tmp_path / "run" / "manifest.json").unlink()
    with pytest.raises(InputError, match="no"):
        work(put=True)
    assert read_manifest(tmp_path / "run")["common"] == COMMON


def test_a_last_piece_that_was_short_is_none_of_more_runs_and_nothing_is_wrong_with_it(tmp_path):
    with folder(tmp_path) as run:
        run.put("a", 0, 3, ARRAYS)
        assert run.get("a", 0, 6) is None  # a warning is an error
        with pytest.raises(InputError, match="ends at run 3, not 6"):
            run.read("a", 0, 6)
        with pytest.warns(DamageWarning, match="other runs"):
            assert run.get("a", 0, 2) is None  # fewer than there are were never asked for


def test_results_beside_their_pieces_were_never_finished(tmp_path):
    """A process that was killed has written the arrays, and not yet the record."""
    with folder(tmp_path) as run:
        run.put("a", 0, 3, ARRAYS)
        assert not run.begun("a")
        run.put("a", 0, 3, ARRAYS, "")
        assert not run.begun("a")
        run.drop_pieces("a")
        assert run.begun("a"), "the record is lost"


def test_an_extension_that_was_refused_changes_nothing(tmp_path):
    """Fewer runs than it would have had may be asked for next, and nothing is unfinished."""
    with folder(tmp_path) as run:
        run.put("a", 0, 3, ARRAYS)
    before = (tmp_path / "manifest.json").read_bytes()
    longer = SETTING | {"runs": SETTING["runs"] + 60}

    def work(put):
        with folder(tmp_path, a=longer) as run:
            if put:
                run.put("a", 3, 6, ARRAYS)
            raise InputError("no")

    with pytest.raises(InputError, match="no"):
        work(put=False)
    assert (tmp_path / "manifest.json").read_bytes() == before
    with folder(tmp_path):
        pass
    with pytest.raises(InputError, match="no"):
        work(put=True)
    assert read_manifest(tmp_path)["settings"]["a"]["runs"] == longer["runs"]


def test_two_that_begin_at_the_same_time_do_not_write_over_each_other(tmp_path, monkeypatch):
    """One has looked, finds nothing, and waits; another begins and leaves meanwhile."""
    acquire = FileLock.acquire

    def late(lock, *args, **more):
        monkeypatch.setattr(FileLock, "acquire", acquire)
        with folder(tmp_path / "run", {"seed": 1}):
            pass
        return acquire(lock, *args, **more)

    monkeypatch.setattr(FileLock, "acquire", late)
    with pytest.raises(InputError, match="another computation: seed is 1 there, and 0"), folder(tmp_path / "run"):
        pass
    assert read_manifest(tmp_path / "run")["common"] == {"seed": 1}
    with folder(tmp_path / "run", {"seed": 1}):
        pass
