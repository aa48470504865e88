"""Job arrays: parts of a sweep or an arena, each in its folder, and one command that joins them."""

import pytest


def files(folder):
    """All results of a folder."""
    names = [file for file in folder.rglob("*") if file.is_file() and file.name not in ("record.json", ".lock")]
    return {file.relative_to(folder): file.read_bytes() for file in names}


def test_parts_of_a_sweep_become_the_undivided_one(earnshaw, tmp_path):
    sweep = ("sweep", "-k", 2, "--runs", 300)
    code, out, _ = earnshaw(*sweep, "--part", "1/2", "--out", "runs/mine")
    assert code == 0
    assert "part 1/2 is in runs/mine-part1of2; when all are there: earnshaw runs merge runs/mine-part*of2" in out
    code, _, err = earnshaw("runs", "merge", "runs/mine-part1of2", "--out", "runs/mine")
    assert code == 2
    assert "1 of 2 pieces are in none of these folders: k2-n2 runs 256 to 299; one folder was given" in err
    assert earnshaw(*sweep, "--part", "2/2", "--out", "runs/mine", "--json")[:2] == (0, "")
    code, out, _ = earnshaw("runs", "merge", "runs/mine-part1of2", "runs/mine-part2of2", "--out", "runs/mine")
    assert (code, out) == (0, "runs/mine: 1 setting with 300 runs, from 2 folders\n")
    assert earnshaw(*sweep, "--out", "runs/whole")[0] == 0
    assert files(tmp_path / "runs" / "mine") == files(tmp_path / "runs" / "whole")


def test_mistakes_with_parts(earnshaw, tmp_path):
    for words, said in (
        (("sweep", "-k", 2, "--part", "3/2"), "the part is 3/2; i goes from 1 to N"),
        (("arena", "-k", 2, "--part", "half"), "the part is 'half'; give i/N, for example 2/8"),
        (("sweep", "-k", 2, "--part", "1/2", "--prove"), "merge the parts first"),
    ):
        code, _, err = earnshaw(*words)
        assert code == 2
        assert said in err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.nightly
def test_parts_of_an_arena_are_compared_when_merged(earnshaw, tmp_path):
    arena = ("arena", "-k", 2, "--runs", 5, "--optimizers", "gd:0.1,gd:0.05", "--no-prove")
    for index in (1, 2):
        assert earnshaw(*arena, "--part", f"{index}/2", "--out", "a")[0] == 0
    assert earnshaw("runs", "merge", "a-part1of2", "a-part2of2", "--out", "a")[0] == 0
    assert earnshaw(*arena, "--out", "a")[0] == 0
    assert earnshaw(*arena, "--out", "b")[0] == 0
    merged, whole = files(tmp_path / "a"), files(tmp_path / "b")
    same = [file for file in whole if file.suffix == ".npz" or file.name.startswith("k2")]
    assert len(same) == 4
    assert all(merged[file] == whole[file] for file in same)
    assert {"arena.json", "arena.png"} <= {file.name for file in merged}
