"""``earnshaw grow``, and the figure of a minimum that every n has."""

import json

import pytest

pytestmark = pytest.mark.usefixtures("tiny")


def test_a_ladder_of_the_smallest_teacher_from_a_file_and_from_a_certificate(earnshaw, tmp_path):
    code, out, _ = earnshaw("grow", "--teacher", "tiny.npy", "--neurons", 1, "--out", "ladder")
    assert code == 0
    assert "every n" in out
    assert "n = 4: 5 candidates: 5 GLOBAL" in out
    assert (tmp_path / "ladder" / "ladder.png").exists()
    (held,) = (tmp_path / "ladder" / "certificates").glob("*-every_n.json")
    code, out, _ = earnshaw("check", "ladder")
    assert (code, out.count("VERIFIED")) == (0, 2)
    code, out, _ = earnshaw("grow", held, "--neurons", 1, "--json")
    first, second = map(json.loads, out.splitlines())
    assert (code, first["n"], second["n"]) == (0, 3, 4)
    assert first["minima"][0]["stable"] is True
    assert second["proved"] == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "one of the three"),
        (("-k", 3, "--teacher", "tiny.npy"), "one of the three"),
        (("tiny.npz", "-k", 3), "one of the three"),
        (("none.npz",), "none.npz"),
        (("-k", 2, "--neurons", 0), "neurons"),
    ],
)
def test_mistakes(earnshaw, arguments, says):
    code, out, err = earnshaw("grow", *arguments)
    assert (code, out) == (2, "")
    assert says in err


def test_where_there_is_no_minimum_a_sentence_says_so_and_the_figure_is_empty(earnshaw, tmp_path):
    code, out, err = earnshaw("grow", "-k", 2, "--neurons", 1, "--out", "ladder")
    assert (code, "2 candidates: 2 GLOBAL" in out) == (1, True)
    assert "no spurious minimum was proved with more than 2 neurons" in " ".join(err.split())
    assert (tmp_path / "ladder" / "ladder.png").exists()


def test_the_figure_of_a_minimum_that_every_n_has(earnshaw, tmp_path):
    code, _, _ = earnshaw("prove", "tiny.npz", "--every-n", "--out", "certs", "--figure", "smallest")
    assert code == 0
    assert (tmp_path / "smallest.png").read_bytes().startswith(b"\x89PNG")
    code, _, err = earnshaw("prove", "tiny.npz", "--out", "certs", "--figure", "smallest")
    assert (code, "add one of them" in err) == (2, True)
