"""``earnshaw follow``: tables, lines, certificates and figures, and mistakes as sentences."""

import json

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def files(tiny):
    """Other teachers beside the smallest one's files."""
    np.save("shorter.npy", [[1.0, 0.0], [0.0, 0.2], [0.0, -1.0]])
    np.save("two.npy", np.eye(2))


def test_a_minimum_is_followed_to_its_fold(earnshaw, tmp_path):
    code, out, _ = earnshaw("follow", "tiny.npz", "--to", "shorter.npy", "--steps", 10, "--out", "way")
    assert code == 0
    assert "fold" in out
    assert "0.30184475" in out
    assert "the global minimum" in out
    assert "4 of 4" in out
    assert (tmp_path / "way" / "follow.png").read_bytes().startswith(b"\x89PNG")
    code, out, _ = earnshaw("check", "way")
    assert (code, out.count("VERIFIED")) == (0, 4)
    code, out, _ = earnshaw(
        *("follow", "tiny.npz", "--to", "shorter.npy", "--steps", 10, "--out", "way", "--json", "--figure", "drawn.svg")
    )
    (line,) = map(json.loads, out.splitlines())
    assert (code, line["fate"], line["beyond"]) == (0, "FOLD", "GLOBAL")
    assert [station["t"] for station in line["stations"]] == pytest.approx([0, 0.1, 0.2, 0.3])
    assert all(station["proved"] for station in line["stations"])
    assert (tmp_path / "drawn.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("tiny.npz", "--to", "two.npy"), "as many neurons"),
        (("tiny.npz", "--to", "tiny.npy"), "give another"),
        (("tiny.npz", "--to", "none.npy"), "none.npy"),
        (("none.npz", "--to", "two.npy"), "none.npz"),
        (("tiny.npz",), "--to"),
        (("tiny.npz", "--to", "two.npy", "--steps", 0), "steps"),
    ],
)
def test_mistakes(earnshaw, arguments, says):
    code, out, err = earnshaw("follow", *arguments)
    assert (code, out) == (2, "")
    assert says in err
