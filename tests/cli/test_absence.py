"""``absence``, and ``check`` and ``explain`` of what it writes."""

import json
from pathlib import Path

import numpy as np
import pytest


def test_two_neurons_are_proved_checked_and_explained(earnshaw):
    code, out, _ = earnshaw("absence", "-k", 2, "--out", "certs", "--figure")
    assert code == 0
    assert sum(Path("certs", f"k2-n2-cells.{kind}").stat().st_size > 1000 for kind in ("png", "svg")) == 2
    assert "proved: there is no bad minimum" in out
    code, out, _ = earnshaw("check", "certs")
    assert code == 0
    assert "VERIFIED no bad minimum" in out
    code, out, _ = earnshaw("explain", "certs")
    assert code == 0
    assert "Every local minimum of F is a global one" in out


def test_a_teacher_of_ones_own_and_json(earnshaw):
    np.save("two.npy", [[1.0, 0.2, 0.0], [-0.3, 0.8, 0.4]])
    code, out, _ = earnshaw("absence", "--teacher", "two.npy", "--out", "certs", "--json")
    row = json.loads(out)
    assert code == 0
    assert row["verdict"] == "PROVED_ABSENT"
    assert row["certificate"].startswith("certs/two-k2-n2")
    assert earnshaw("check", row["certificate"])[0] == 0


def test_cells_in_space_are_drawn_on_the_sphere(earnshaw):
    code, _, _ = earnshaw("absence", "-k", 3, "-n", 1, "--smallest", 0.05, "--out", "certs", "--figure")
    assert code == 1
    assert sum(Path("certs", f"k3-n1-cells.{kind}").stat().st_size > 1000 for kind in ("png", "svg")) == 2


def test_what_is_not_proved_says_so(earnshaw):
    code, out, err = earnshaw("absence", "-k", 2, "-n", 1, "--smallest", 0.01)
    assert code == 1
    assert "left open" in out
    assert "not proved" in err
    code, out, err = earnshaw("absence", "-k", 2, "-n", 1, "--smallest", 0.01, "--json")
    assert code == 1
    assert json.loads(out)["open"] >= 1


@pytest.mark.parametrize(
    "given",
    [
        (),
        ("-k", 2, "--teacher", "x.npy"),
        ("-k", 9),
        ("--teacher", "absent.npy"),
        ("-k", 1),
        ("-k", 2, "--figure"),
        ("-k", 2, "-n", 1, "--figure", "--out", "x"),
        ("--map",),
        ("--map", "-k", 2, "--out", "x"),
        ("--map", "--out", "x", "--time-limit", "10m"),
    ],
)
def test_mistakes_are_one_sentence(earnshaw, given):
    code, out, err = earnshaw("absence", *given)
    assert code == 2
    assert out == ""
    assert err.startswith("error: ")
    assert len(err.splitlines()) == 1
