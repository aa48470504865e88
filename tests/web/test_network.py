"""The view Network: the four signs of one start, and counts with intervals."""

import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from earnshaw.cli.app import app
from earnshaw.landscapes.convnet_stationary import spurious_limit
from earnshaw.numerics import percentage

NETS = {"p": 4, "k": 5, "ratio": 0.5}


def test_one_start_has_two_fates(client):
    answer = client.post("/api/network/fates", json={**NETS, "steps": 100}).json()
    outcomes = [twin["outcome"] for twin in answer["twins"]]
    assert set(outcomes) == {"GLOBAL", "SPURIOUS"}
    for twin, outcome in zip(answer["twins"], outcomes, strict=True):
        assert (twin["product"][-1] > 0) == (outcome == "GLOBAL")
        assert np.sign(twin["across"]).min() == np.sign(twin["across"]).max() == twin["signs"][0]
        angle = np.arctan2(np.abs(twin["across"]), twin["along"])
        np.testing.assert_allclose(angle, twin["angle"], atol=1e-12)
        assert len(twin["loss"]) == len(answer["steps"]) == 101
    first, second = answer["twins"][0], answer["twins"][3]
    np.testing.assert_allclose(first["start_outputs"], np.negative(second["start_outputs"]))
    assert first["angle"][0] == pytest.approx(math.pi - second["angle"][0])
    names = {}
    exec(answer["command"], names)
    assert [outcome.name for outcome in names["found"].outcomes] == outcomes
    assert names["found"].path.value[-1].tolist() == [twin["loss"][-1] for twin in answer["twins"]]
    ends = np.stack([twin["end_outputs"] for twin in answer["twins"]])
    np.testing.assert_array_equal(ends, names["found"].ends[:, 4:])


def test_counts_have_intervals_and_the_command_that_counts_again(client, tmp_path):
    answer = client.post("/api/network/count", json={**NETS, "runs": 40, "all": True})
    events = [json.loads(block[6:]) for block in answer.text.split("\n\n") if block.startswith("data")]
    one, four, *shares = [next(iter(event.values())) for event in events if event]
    assert one["spurious"] > 0 == four["spurious"]
    assert (one["percent"], tuple(one["interval"])) == percentage(one["spurious"], 40)
    assert shares[0]["spurious"] > 0 == shares[-1]["spurious"]
    assert shares[-1]["ratio"] > spurious_limit(5) > shares[-2]["ratio"]
    done = CliRunner().invoke(app, [*one["command"].split()[1:], "--json", "--out", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["outcomes"] == one["outcomes"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"p": 10**6}, "p = 1000000"),
        ({"ratio": 6.0}, "impossible"),
        ({"step": 5.0}, "give a shorter step"),
        ({"run": -1}, "run"),
        ({"steps": 10**9}, "steps"),
    ],
)
def test_what_makes_no_sense_is_refused(client, asked, said):
    answer = client.post("/api/network/fates", json=asked)
    assert answer.status_code == 422
    assert said in answer.json()["error"]
