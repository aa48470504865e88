"""Parts of the work, each in a folder of its own, and what joins them."""

from contextlib import nullcontext

import pytest
from squares import COMPUTED, TROUBLE, Squares, interrupt, pieces_computed, results, squares  # noqa: F401

from earnshaw.errors import AccuracyWarning, DamageWarning, InputError
from earnshaw.experiments import Interrupted, merge, repair, run, verify
from earnshaw.experiments.parts import Part
from earnshaw.experiments.work import Piece
from earnshaw.store import read_json, read_manifest, write_json


def in_parts(path, count, work=None):
    for index in range(1, count + 1):
        run(work or Squares((1, 2, 3)), path / f"part{index}", 1, part=f"{index}/{count}")
    return [path / f"part{index}" for index in range(1, count + 1)]


def files(path):
    return {file: file.read_bytes() for file in path.rglob("*") if file.is_file() and file.name != "record.json"}


@pytest.mark.parametrize("count", [1, 2, 4, 30])
def test_every_piece_is_of_one_part_and_parts_are_neighbours_of_like_weight(count):
    pieces = [Piece("s", low, low + 1, 1.0 + low % 3) for low in range(20)]
    shares = [list(Part(index, count).share(pieces)) for index in range(1, count + 1)]
    assert [piece for share in shares for piece in share] == pieces
    weights = [sum(piece.weight for piece in share) for share in shares]
    assert max(weights) <= sum(weights) / count + 3.0, "no part is heavier by more than a piece"


@pytest.mark.parametrize("count", [1, 2, 4, 12])
def test_merged_parts_are_the_bytes_of_the_whole(tmp_path, count):
    folders = in_parts(tmp_path, count)
    assert sorted(pieces_computed()) == [(f"s{s}", low, min(low + 4, 10)) for s in (1, 2, 3) for low in (0, 4, 8)]
    COMPUTED.clear()
    before = {file: file.read_bytes() for folder in folders for file in folder.rglob("*") if file.is_file()}
    done = merge(folders, tmp_path / "merged")
    assert not COMPUTED, "merging computes nothing anew"
    assert {file: file.read_bytes() for folder in folders for file in folder.rglob("*") if file.is_file()} == before
    assert list(done) == ["s1", "s2", "s3"]
    run(Squares((1, 2, 3)), tmp_path / "whole", 1)
    assert results(tmp_path / "merged") == results(tmp_path / "whole")
    spent = [read_json(folder / "record.json")["times"] for folder in folders if (folder / "record.json").exists()]
    assert read_json(tmp_path / "merged" / "record.json")["tools"] == {f"s{s}": ["by hand"] for s in (1, 2, 3)}
    merged = read_json(tmp_path / "merged" / "record.json")["times"]
    assert merged["s2"]["seconds"] == pytest.approx(sum(times.get("s2", {"seconds": 0})["seconds"] for times in spent))


def test_a_part_returns_what_is_whole_there_and_resumes(tmp_path):
    TROUBLE["s1", 8] = interrupt
    with pytest.raises(Interrupted):
        run(Squares((1, 2)), tmp_path / "run", 1, part="1/2")
    TROUBLE.clear()
    COMPUTED.clear()
    assert list(run(Squares((1, 2)), tmp_path / "run", 1, part="1/2")) == ["s1"]
    assert pieces_computed() == [("s1", 8, 10)]
    assert list(run(Squares((1, 2)), tmp_path / "run", 1, part="2/2")) == ["s1", "s2"], "the rest, there"


def test_parts_that_were_extended_are_merged(tmp_path):
    in_parts(tmp_path, 2, Squares((1, 2)))
    folders = in_parts(tmp_path, 2, Squares((1, 2), runs=17))
    merge(folders, tmp_path / "merged")
    run(Squares((1, 2), runs=17), tmp_path / "whole", 1)
    assert results(tmp_path / "merged") == results(tmp_path / "whole")


def test_what_cannot_be_merged_is_said_and_nothing_is_written(tmp_path):
    folders = in_parts(tmp_path, 3)
    run(Squares((1, 2, 3), seed=1), tmp_path / "seed", 1, part="2/3")
    run(Squares((1, 2)), tmp_path / "fewer", 1)
    place = tmp_path / "merged"
    for given, words in (
        ([], "there is nothing to merge"),
        (
            folders[:2],
            r"3 of 9 pieces are in none of these folders: s3 runs 0 to 3, s3 runs 4 to 7, s3 runs 8 to 9; 2 ",
        ),
        ([folders[0], tmp_path / "seed"], r"seed is 0 in \S*part1, and 1 in \S*seed"),
        ([folders[0], tmp_path / "fewer"], r"s3 is another value in \S*part1, and nothing in \S*fewer"),
        ([tmp_path / "none"], "is not a folder"),
    ):
        with pytest.raises(InputError, match=words):
            merge(given, place)
    with pytest.raises(InputError, match="is to be merged into itself"):
        merge(folders, folders[0])
    for part in ("0/2", "3/2", "1/0", "1", "1/x", "1/200000"):
        with pytest.raises(InputError, match=f"the part is '?{part}"):
            run(Squares((1,)), place, 1, part=part)
    with pytest.raises(InputError, match="part 1/2 was asked for without a folder"):
        run(Squares((1,)), part="1/2")
    assert not place.exists()


def test_a_damaged_piece_or_result_is_not_merged(tmp_path):
    folders = in_parts(tmp_path, 2)  # the second setting is in both
    for file in (folders[0] / "pieces" / "s2-00000000.npz", folders[1] / "s3.npz", folders[1] / "s3.json"):
        content = file.read_bytes()
        file.write_bytes(content[:-10])
        with pytest.raises(InputError, match=file.name):
            merge(folders, tmp_path / "merged")
        assert not (tmp_path / "merged").exists()
        file.write_bytes(content)
    merge(folders, tmp_path / "merged")


def test_a_part_knows_what_it_lacks_and_is_repaired_alone(tmp_path):
    folders = in_parts(tmp_path, 4)
    assert [verify(folder) for folder in folders] == [[]] * 4
    assert [read_manifest(folder)["part"] for folder in folders] == ["1/4", "2/4", "3/4", "4/4"]
    before = files(folders[1])
    first = folders[1] / "pieces" / "s1-00000008.npz"
    for damage, told in (
        (first.unlink, nullcontext()),
        (lambda: first.write_bytes(b"x"), pytest.warns(DamageWarning)),
    ):
        damage()
        COMPUTED.clear()
        found = verify(folders[1])
        assert f"{folders[1]} is not finished (1 of the pieces of part 2/4 are missing)" in found[-1]
        with told:
            assert repair(folders[1]) == []
        assert len(pieces_computed()) == 1, "that piece, and none of another part"
        assert files(folders[1]) == before
    TROUBLE["s3", 8] = interrupt
    with pytest.raises(Interrupted):
        run(Squares((1, 2, 3)), tmp_path / "stopped", 1, part="4/4")
    TROUBLE.clear()
    assert len(verify(tmp_path / "stopped")) == 1
    run(Squares((1, 2, 3)), tmp_path / "stopped", 1)
    assert "part" not in read_manifest(tmp_path / "stopped"), "all of it was asked for"
    assert verify(tmp_path / "stopped") == []


def test_merging_again_changes_nothing(tmp_path):
    folders, place = in_parts(tmp_path, 3), tmp_path / "merged"
    merge(folders, place)
    before = files(place)
    merge(folders, place)
    assert files(place) == before
    assert not any((place / "pieces").iterdir())


def test_parts_of_other_versions_are_named(tmp_path):
    folders = in_parts(tmp_path, 2)
    how = read_json(folders[1] / "record.json")
    write_json(folders[1] / "record.json", how | {"versions": how["versions"] | {"jax": "0.9.9"}})
    with pytest.warns(AccuracyWarning, match=r"versions.jax is \S+ in one, and 0.9.9 in another"):
        merge(folders, tmp_path / "merged")
