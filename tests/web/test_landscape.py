"""The view Landscape: its numbers are the library's, and the commands that it shows compute them again."""

import json

import numpy as np
import pytest

import earnshaw as es
from earnshaw.experiments.views import Spectrum, family_place, slice_of
from earnshaw.proof.certificate import shipped_certificate


@pytest.fixture(scope="module")
def shipped():
    with shipped_certificate() as path:
        return path.read_text()


def ask(client, **asked):
    answer = client.post("/api/landscape/slice", json=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def computed_again(answer):
    """Run the lines of Python that an answer shows; return what they found."""
    names = {}
    exec(answer["command"], names)
    return names


def test_a_slice_is_that_of_the_library(client, tmp_path):
    answer = ask(client, family="II", k=6, resolution=61)
    place = family_place("II", 6)
    found = slice_of(place, resolution=61)
    np.testing.assert_array_equal(answer["values"], found.values)
    np.testing.assert_array_equal(answer["path"]["places"][-1], found.path.places[-1])
    assert answer["loss"] == place.loss == pytest.approx(0.0250805810)
    assert answer["levels"] == [list(level) for level in Spectrum.at(place).levels]
    assert answer["label"] == "II (S_5)"
    assert answer["gradient"] < 1e-12
    weights = np.array(answer["weights"])
    assert (np.diag(weights)[:5] > 0.9).all(), "in the order that shows the pattern"
    assert weights[5, 5] < -0.5
    file = es.prove_family("II", 6).save_all(tmp_path, "II-k6")["blocks"].name
    assert answer["command"].splitlines() == [
        "earnshaw prove --family II -k 6 --out certs",
        f"earnshaw draw certs/{file}",
    ]


@pytest.mark.parametrize(
    "asked",
    [
        {"plane": "teacher", "resolution": 11},
        {"plane": "family", "second": "A", "resolution": 11, "reach": 0.5},
        {"x": 4, "y": 35, "resolution": 11},
        {"y": 0, "resolution": 11},
        {"point": "shipped", "resolution": 11},
        {"point": "run", "k": 6, "n": 6, "seed": 0, "run": 3, "resolution": 11},
    ],
)
def test_the_lines_that_are_shown_compute_it_again(client, asked):
    answer = ask(client, **asked)
    found = computed_again(answer)["found"]
    np.testing.assert_array_equal(answer["values"], found.values)
    assert answer["curvatures"] == list(found.curvatures)
    assert answer["target"] == (None if found.target is None else list(found.target))


def test_the_run_that_led_to_a_point_is_shown(client):
    answer = ask(client, point="run", k=6, n=6, seed=0, run=3, resolution=11)
    assert "it reached the global minimum" in answer["words"]
    swept = es.sweep(es.TwoLayer(np.eye(6)), runs=4, seed=0)
    assert answer["loss"] == pytest.approx(swept.value[3], rel=1e-9)
    path = answer["path"]
    assert path["steps"][0] == 0
    assert path["losses"][0] > 10 * path["losses"][-1]
    assert np.abs(path["places"]).max() < answer["across"][-1]


def test_a_certificate_can_be_looked_at_and_is_judged_apart(client, shipped):
    answer = ask(client, point="certificate", certificate=shipped, resolution=11)
    assert answer["loss"] == pytest.approx(0.0250805810)
    judged = client.post("/api/landscape/prove", json={"point": "shipped"}).json()
    assert judged["verified"] is True
    assert judged["statement"].startswith("spurious local minimum (n = 6, k = 6")
    document = json.loads(shipped)
    document["claims"]["lambda_min_ge"] = (1.0).hex()
    judged = client.post(
        "/api/landscape/prove", json={"point": "certificate", "certificate": json.dumps(document)}
    ).json()
    assert judged["verified"] is False
    assert judged["certificate"] is None
    assert judged["reason"]


def test_points_are_proved(client):
    for asked, words in (
        ({"family": "B", "k": 7}, "spurious local minimum (n = 8, k = 7"),
        ({"family": "B", "k": 6}, "saddle (n = 7, k = 6"),
    ):
        judged = client.post("/api/landscape/prove", json=asked).json()
        assert judged["verified"] is True
        assert judged["statement"].startswith(words)
        assert es.check(judged["certificate"]).verified
    assert judged["file"] == "B-k6-blocks_saddle.json"
    judged = client.post("/api/landscape/prove", json={"point": "run", "k": 6, "n": 6, "run": 3}).json()
    assert judged["verified"] is False
    assert judged["reason"], "a run that stopped near the teacher is at no spurious minimum"


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"k": 1000}, "less than or equal to 20"),
        ({"family": "Q"}, "the name of no family"),
        ({"family": "../II"}, "family"),
        ({"family": "P:1", "k": 20}, "at most 24"),
        ({"family": "II", "k": 3}, "from 4 to"),
        ({"x": 36}, "from 0 to 35"),
        ({"plane": "family", "second": "B"}, "give another point of shape (6, 6)"),
        ({"plane": "family", "second": "II"}, "give another point"),
        ({"point": "run", "k": 6, "n": 5}, "n >= k"),
        ({"point": "certificate"}, "choose a file"),
        ({"point": "certificate", "certificate": "[" * 50_000}, "no certificate about a point"),
        ({"point": "certificate", "certificate": '{"kind": "every_n", "problem": {}}'}, "about no single point"),
        (
            {"point": "certificate", "certificate": '{"kind": "minimum", "center": 3, "problem": []}'},
            "unknown objective",
        ),
        (
            {
                "point": "certificate",
                "certificate": '{"kind": "blocks", "center": [["nan", "0x0p+0"], ["0x1p+0", "0x0p+0"]],'
                ' "pattern": {"sizes": [4], "rows": [0]}}',
            },
            "not smooth",
        ),
        (
            {
                "point": "certificate",
                "certificate": '{"kind": "blocks", "center": [["0x0p+0", "0x0p+0"], ["0x0p+0", "0x0p+0"]],'
                ' "pattern": {"sizes": [4], "rows": [0]}}',
            },
            "not smooth",
        ),
        (
            {
                "point": "certificate",
                "certificate": '{"kind": "blocks", "center": [["0x1p+0", "0x0p+0"], ["0x0p+0", "0x0p+0"]],'
                ' "pattern": {"sizes": [40], "rows": [0]}}',
            },
            "at most 24",
        ),
        ({"resolution": 10**6}, "less than or equal to"),
        ({"depth": 1}, "none of the names"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(client, asked, sentence):
    answer = client.post("/api/landscape/slice", json=asked)
    assert answer.status_code == 422
    assert sentence in answer.json()["error"]
