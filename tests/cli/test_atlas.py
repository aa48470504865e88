"""``earnshaw atlas map``: the table, the JSON lines, the picture, the folder, and mistakes."""

import json

import pytest


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setattr("earnshaw.numerics.remember_programs", lambda: None)


def test_a_map_is_a_table_a_picture_and_certificates(earnshaw, tmp_path):
    words = ("atlas", "map", "-k", "6..7", "-n", "k..k+1", "--workers", 1)
    code, out, err = earnshaw(*words, "--figure", "here.png", "--all")
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    assert lines[1:5] == [
        ["6", "6", "proved", "II", "0.0250806", "0.00470035", "1"],
        ["6", "7", "not", "found", "4"],
        ["7", "7", "proved", "II", "0.0232027", "0.014059", "1"],
        ["7", "8", "proved", "B", "0.0221474", "0.00260854", "1"],
    ]
    assert "of 4 places (k, n) 3 proved, 0 found, 1 not found" in out
    assert "drawn: here.png" in err
    assert {path.suffix for path in tmp_path.glob("here.*")} == {".png", ".svg"}
    code, out, _ = earnshaw("check", "runs/map")
    assert (code, out.count("VERIFIED")) == (0, 3)
    code, out, _ = earnshaw(*words, "--json")  # nothing is computed again
    found = {(cell["k"], cell["n"]): cell for cell in map(json.loads, out.splitlines())}
    assert {place: (cell["status"], cell["family"]) for place, cell in found.items()} == {
        (6, 6): ("proved", "II"), (6, 7): ("not found", None), (7, 7): ("proved", "II"), (7, 8): ("proved", "B"),
    }  # fmt: skip
    assert found[7, 8]["lambda_ge"] == pytest.approx(0.00260853, abs=1e-8)
    assert found[6, 7]["tried"].keys() == {"B", "M:4", "M:3", "M:2"}
    assert (tmp_path / "runs" / "map" / "map.svg").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("-k", "7", "-n", "k-1"), "students for k = 7"),
        (("-k", "7", "-n", "k..3k-"), "k..2k"),
        (("-k", "7", "--workers", 0), "at least 1"),
        (("-k", "1..500"), "1 to 10000"),
    ],
)
def test_mistakes_are_answered_in_a_sentence(earnshaw, tmp_path, words, says):
    code, out, err = earnshaw("atlas", "map", *words)
    assert (code, out) == (2, "")
    assert says in err
    assert not (tmp_path / "runs").exists()


def test_sizes_relative_to_k():
    from earnshaw.cli.settings import student_sizes

    assert student_sizes("k..2k", 3) == [3, 4, 5, 6]
    assert student_sizes("2k-1", 7) == [13]
    assert student_sizes("k-2..k", 7) == [5, 6, 7]
