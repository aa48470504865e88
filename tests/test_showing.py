"""Objects show themselves: one short line, a table in a notebook, words where there are some, and frames."""

import re

import numpy as np
import pytest

import earnshaw as es
from earnshaw.proof.certificate import shipped_certificate
from earnshaw.showing import heat

PROBLEMS = {
    "TwoLayer(k=3, n=4, d=3, relu)": lambda: es.TwoLayer(np.eye(3), students=4),
    "TwoLayer(k=2, n=2, d=2, erf, output weights, trainable output)": lambda: es.TwoLayer(
        np.eye(2), activation="erf", output_weights=[1.0, 2.0], trainable_output=True
    ),
    "ConvNet(p=2, k=2, ratio=0, relu)": lambda: es.ConvNet([1.0, 0.0], [1.0, -1.0]),
    "RandomConvNets(p=3, k=4, ratio=0.5, relu)": lambda: es.RandomConvNets(filter_size=3, patches=4, ratio=0.5),
    "Charges(k=2, n=2, d=3, yukawa)": lambda: es.Charges(np.eye(2, 3), law=es.ChargeLaw("yukawa")),
    "Data(neurons=1, d=2, samples=4, sigmoid)": lambda: es.Data(np.ones((4, 2)), np.ones(4), 1),
}


@pytest.mark.parametrize("line", [line for line in PROBLEMS])
def test_a_problem_is_one_short_line(line):
    problem = PROBLEMS[line]()
    assert repr(problem) == line
    shown = problem._repr_html_()
    assert line in shown
    assert problem.network in shown


@pytest.fixture(scope="module")
def certificate():
    with shipped_certificate() as path:
        return es.Certificate.load(path)


@pytest.fixture(scope="module")
def proof(certificate):
    weights = [[float.fromhex(entry) for entry in row] for row in certificate.document["center"]]
    return es.prove(es.TwoLayer(np.eye(6)), np.array(weights))


def test_a_proof_and_its_certificate_say_what_is_proved(proof, certificate):
    assert repr(proof).startswith("Proof(PROVED_MINIMUM, k=6, n=6, d=6: smallest eigenvalue >= 0.00470035, loss >= ")
    assert "proved: a spurious local minimum lies here" in proof._repr_html_()
    assert repr(certificate) == "Certificate(minimum, two-layer/relu, d=6, k=6, n=6)"
    shown = certificate._repr_html_()
    assert re.search("F_ge</th><td[^>]*>0.02508", shown)
    assert "checked" in shown, "nothing is claimed that nobody has checked"
    assert repr(es.Certificate("odd", {"problem": 3})) == "Certificate(odd)"


def test_an_explanation_prints_its_words(certificate):
    found = es.explain(certificate)
    assert repr(found) == "Explanation(minimum, verified)"
    assert str(found) == found.words
    assert "strict local minimum" in found._repr_html_()


def test_a_family_is_a_line_and_a_matrix():
    problem = es.TwoLayer(np.eye(2))
    weights = np.array([[1.0, -0.5], [0.0, 1.0]])
    family = es.Family(
        count=3,
        objective=0.25,
        min_eigenvalue=0.125,
        weights=weights,
        members=np.arange(3),
        alignments=None,
        problem=problem,
    )
    assert repr(family) == "Family(k2-n2: 3 runs, loss 0.25, smallest eigenvalue 0.125)"
    shown = family._repr_html_()
    assert re.findall(r"smaller\">(-?\d\.\d\d)</td>", shown) == ["1.00", "-0.50", "0.00", "1.00"]


def test_colours_of_a_matrix_follow_its_signs():
    shown = heat([[2.0, -2.0, 0.0]])
    assert re.findall(r"rgb\(([\d,]+)\)", shown) == ["178,24,43", "33,102,172", "255,255,255"]
    assert heat(np.zeros((21, 20))) == "", "too large"
    assert heat(None) == ""


def test_runs_and_what_a_folder_holds(tmp_path):
    runs = es.sweep(es.TwoLayer(np.eye(2)), runs=4, out=tmp_path / "run")
    assert repr(runs) == "Runs(k2-n2: 4 runs, 4 GLOBAL)"
    assert "4 (100.0%), loss " in runs._repr_html_()
    sweep = es.load(tmp_path / "run")
    assert repr(sweep) == f"Sweep({tmp_path / 'run'}: 1 of 1 settings finished)"
    assert repr(sweep[0]) == "SweepResult(k2-n2, gd:0.1: 4 runs, 4 GLOBAL, 0 families)"
    assert "4 GLOBAL" in sweep._repr_html_()
    for frame in (sweep.to_frame(), sweep[0].to_frame()):
        assert frame["outcome"].tolist() == ["GLOBAL"] * 4
        assert frame["k"].tolist() == [2] * 4


def test_frames_need_pandas(tmp_path, monkeypatch):
    import sys

    es.sweep(es.TwoLayer(np.eye(2)), runs=4, out=tmp_path / "run")
    sweep = es.load(tmp_path / "run")
    monkeypatch.setitem(sys.modules, "pandas", None)
    for thing in (sweep, sweep[0]):
        with pytest.raises(es.InputError, match="to_frame needs pandas"):
            thing.to_frame()


def test_a_fit_says_its_risk():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    found = es.fit(x, 1 / (1 + np.exp(-x[:, 0])), neurons=1)
    assert re.fullmatch(
        r"Fit\(1 neurons, sigmoid, 200 samples: risk \S+, \w+(, proved convex within \S+)?\)", repr(found)
    )
    assert "hessian_min" in found._repr_html_()
