"""``earnshaw animate``: files of the right kind and size, and words that come from the computation."""

import re
import shutil

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import earnshaw as es
from earnshaw.cli.app import app
from earnshaw.proof.certificate import shipped_certificate

WORDS = {
    "electrons": r"6 of 6 electrons reach a proton; loss 12\.4 to 0\b",
    "histogram": r"\d+\.\d% of 32 runs end at other minima, k = 8, n = 8; the paper has 12\.6%",
    "saddle": r"smallest eigenvalue \+0\.0047 with 6 neurons, -0\.2363 with 7, loss 0\.0251 in both; descent with 7 ends at \S+e-07",
    "overview": r"\d+\.\d% of 32 runs are spurious; a minimum proved, curvature at least 0\.00470; with one more neuron -0\.2363",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "scene",
    [*(pytest.param(name, marks=pytest.mark.nightly) for name in ("electrons", "histogram", "saddle")), "overview"],
)
def test_the_quick_form(scene, tmp_path):
    done = CliRunner().invoke(app, ["animate", scene, "--quick", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert re.search(WORDS[scene], done.output)
    names = {path.name for path in tmp_path.iterdir()}
    if scene == "overview":
        assert names == {"overview.png", "overview.svg"}
        said = (tmp_path / "overview.svg").read_text()
        assert "loss at least 0.02508" in said  # proved, and rounded down
        assert "in the paper: 12.6%" in said
        return
    assert names == {f"{scene}.gif", f"{scene}.png"}
    with Image.open(tmp_path / f"{scene}.gif") as film:
        assert film.n_frames >= 5
        assert 600 <= film.width <= 720
    assert (tmp_path / f"{scene}.gif").stat().st_size < 300_000


def test_an_unknown_scene_is_refused(tmp_path):
    done = CliRunner().invoke(app, ["animate", "nothing", "--out", str(tmp_path)])
    assert done.exit_code == 2
    assert "nothing is neither a scene (electrons, histogram, saddle, overview, all) nor a file" in done.output
    assert not list(tmp_path.iterdir())


def test_a_folder_of_ones_own_becomes_films(tmp_path):
    es.sweep(es.TwoLayer(np.eye(2)), runs=4, trace=20, out=tmp_path / "mine")
    done = CliRunner().invoke(app, ["animate", str(tmp_path / "mine"), "--quick", "--out", str(tmp_path / "films")])
    assert done.exit_code == 0, done.output
    assert "k2-n2: 0.0% of 4 runs end at other minima, k = 2, n = 2" in " ".join(done.output.split())
    assert {path.name for path in (tmp_path / "films").iterdir()} == {"k2-n2.gif", "k2-n2.png"}


@pytest.mark.slow
@pytest.mark.nightly
def test_a_certificate_of_ones_own_becomes_a_film(tmp_path):
    with shipped_certificate() as path:
        shutil.copy(path, tmp_path / "six.json")
    done = CliRunner().invoke(app, ["animate", str(tmp_path / "six.json"), "--quick", "--out", str(tmp_path / "films")])
    assert done.exit_code == 0, done.output
    assert re.search(r"smallest eigenvalue \+0\.0047 with 6 neurons, -0\.2363 with 7", done.output)
    assert {path.name for path in (tmp_path / "films").iterdir()} == {"six.gif", "six.png"}
