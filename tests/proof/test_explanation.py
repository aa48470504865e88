"""The explanation names the theorem with the certificate's own numbers, rounded to the safe side."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from earnshaw.proof import Certificate, check, explain, explanation
from earnshaw.proof.trusted.balls import shown
from earnshaw.proof.trusted.reading import seal


def test_words_and_latex_of_every_kind(minimum_proof, saddle_proof):
    for proof in (minimum_proof, saddle_proof):
        for kind, certificate in proof.certificates.items():
            explanation = explain(certificate)
            assert explanation.kind == kind
            assert "every D >= 6" in explanation.words
            assert explanation.latex.startswith("\\begin{theorem}")
            assert explanation.latex.rstrip().endswith("\\end{theorem}")
            assert explanation.latex.count("{") == explanation.latex.count("}")
            assert explanation.latex.count("$") % 2 == 0
            assert "e-" not in explanation.latex
            (rows,) = re.findall(r"W_0 \\approx \\begin{pmatrix} (.*?) \\end{pmatrix}", explanation.latex)
            matrix = np.array([[float(entry) for entry in row.split("&")] for row in rows.split(r"\\")])
            np.testing.assert_allclose(matrix, proof.point.weights, atol=5.1e-5)
    assert "0.0250805" in explain(minimum_proof.certificates["minimum"]).words
    assert "converges" in explain(minimum_proof.certificates["basin"]).words
    assert "every teacher" in explain(minimum_proof.certificates["robust"]).words
    assert "saddle" in explain(saddle_proof.main).words


def test_a_file_can_be_explained_and_a_bad_one_is_refused(minimum_proof, tmp_path):
    path = minimum_proof.save(tmp_path / "k6.json")
    assert explain(path) == explain(minimum_proof.main)
    path.write_text(path.read_text().replace("earnshaw.proof", "other"))
    rejected = explain(path)
    assert rejected.words.startswith("REJECTED sha256")
    assert (rejected.verified, rejected.latex) == (False, "")
    path.write_text("[]")
    with pytest.raises(ValueError, match="kind"):
        explain(path)


def test_a_false_certificate_is_not_explained_whoever_sealed_it(minimum_proof, tmp_path):
    """One step beyond what is true, and far beyond; in a file, as an object, and with ``check``."""
    document = dict(minimum_proof.certificates["minimum"].document)
    true = float.fromhex(document["claims"]["mu_ge"])
    for mu in (1.01 * true, 1e300):
        forged = {**document, "claims": {**document["claims"], "mu_ge": mu.hex()}}
        forged["sha256"] = seal(forged)
        certificate = Certificate("minimum", forged)
        for given in (certificate, certificate.save(tmp_path / "forged.json")):
            for long in (False, True):
                told = explain(given, check=long)
                assert told.verified is False
                assert told.words.startswith("REJECTED")
                assert "strict local minimum" not in told.words + told.latex
    (tmp_path / "twice.json").write_text(minimum_proof.main.to_text().replace("{", '{"kind": "minimum",', 1))
    assert "twice" in explain(tmp_path / "twice.json").words, "the file is checked, not what was read from it"


def test_a_long_check_is_made_only_when_asked_for(minimum_proof, monkeypatch):
    made = []
    monkeypatch.setattr(explanation, "run_checker", lambda *given: made.append(given) or check(*given))
    assert explain(minimum_proof).verified
    monkeypatch.setattr(explanation, "PATIENCE", 0.0)
    told = explain(minimum_proof)
    assert told.verified is None
    assert told.words.startswith("NOT CHECKED")
    assert "strict local minimum" not in told.words + told.latex
    assert len(made) == 1
    assert explain(minimum_proof, check=True).verified
    assert len(made) == 2


@pytest.mark.parametrize(("k", "long"), [(20, False), (28, False), (32, True), (40, True)])
def test_which_checks_are_long(k, long):
    """A check took 0.2 s at k = 16, 0.9 s at k = 20 and about a minute at k = 40, at 128 bits."""
    document = SimpleNamespace(center=[[0.0] * k] * k, target=[[0.0] * k] * k, precision=128)
    assert (explanation._relu_seconds(document) > explanation.PATIENCE) == long  # type: ignore[arg-type]


def test_numbers_are_shown_on_the_safe_side():
    rng = np.random.default_rng(0)
    for number in [*(rng.standard_normal(200) * 10.0 ** rng.integers(-20, 20, 200)).tolist(), 0.0, 1.0, -2.5e-300]:
        assert float(shown(number, up=False)) <= number <= float(shown(number, up=True))
        assert float(shown(number, up=True)) == pytest.approx(number, rel=1e-5)
