"""``earnshaw draw``: a picture of every point of what is given, and one sentence where there is none."""

import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from earnshaw.cli.app import app
from earnshaw.experiments.scenes import shipped_minimum
from earnshaw.experiments.views import places_in
from earnshaw.plots import plot
from earnshaw.problems import TwoLayer
from earnshaw.proof import prove
from earnshaw.proof.certificate import shipped_certificate


@pytest.fixture
def drawn(monkeypatch):
    """What is drawn, in place of pictures."""
    seen = []

    def draw(place, path, *, towards=None, neuron=0):
        seen.append((path.name, towards, neuron))
        return [path.with_suffix(".png")]

    monkeypatch.setattr(plot, "draw", draw)
    return seen


def run(*arguments):
    return CliRunner().invoke(app, ["draw", *map(str, arguments)])


def test_points_of_a_file_are_drawn(tmp_path, drawn):
    np.savez(tmp_path / "mine.npz", weights=np.stack([shipped_minimum(), np.eye(6)]))
    np.save(tmp_path / "teacher.npy", np.eye(6))
    done = run(tmp_path / "mine.npz", "--out", tmp_path, "--towards", tmp_path / "teacher.npy", "--split", 3)
    assert done.exit_code == 0, done.output
    assert [name for name, _, _ in drawn] == ["mine-point000", "mine-point001"]
    np.testing.assert_array_equal(drawn[0][1], np.eye(6))
    assert drawn[0][2] == 2
    assert "k=6, n=6, d=6, loss 0.025080581, smallest eigenvalue 0.00470035" in done.output


def test_the_certificates_of_one_point_are_one_picture(tmp_path):
    proof = prove(TwoLayer(np.eye(6)), shipped_minimum())
    proof.save_all(tmp_path, "six")
    assert len(list(tmp_path.glob("*.json"))) == 3
    ((name, place),) = places_in(tmp_path).items()
    assert name == "six-basin"
    np.testing.assert_array_equal(place.weights, proof.point.weights)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty", None, "holds neither runs nor certificates about points"),
        ("bad.json", b"{}", "is not a certificate"),
        ("bad.npz", b"", "bad.npz"),
    ],
)
def test_what_has_no_point_is_one_sentence(tmp_path, drawn, name, content, said):
    if content is None:
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).write_bytes(content)
    done = run(tmp_path / name)
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())
    assert drawn == []


@pytest.mark.slow
@pytest.mark.nightly
def test_a_certificate_becomes_three_files(tmp_path):
    with shipped_certificate() as path:
        shutil.copy(path, tmp_path / "six.json")
    done = run(tmp_path / "six.json", "--out", tmp_path / "pictures")
    assert done.exit_code == 0, done.output
    assert {file.name for file in (tmp_path / "pictures").iterdir()} == {"six.png", "six.svg", "six.pdf"}
