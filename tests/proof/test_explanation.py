"""The explanation names the theorem with the certificate's own numbers, rounded to the safe side."""

import numpy as np
import pytest

from earnshaw.proof import explain
from earnshaw.proof.trusted.balls import shown


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
    assert "0.0250805" in explain(minimum_proof.certificates["minimum"]).words
    assert "converges" in explain(minimum_proof.certificates["basin"]).words
    assert "every teacher" in explain(minimum_proof.certificates["robust"]).words
    assert "saddle" in explain(saddle_proof.main).words


def test_a_file_can_be_explained_and_a_bad_one_is_refused(minimum_proof, tmp_path):
    path = minimum_proof.save(tmp_path / "k6.json")
    assert explain(path) == explain(minimum_proof.main)
    path.write_text(path.read_text().replace("earnshaw.proof", "other"))
    with pytest.raises(ValueError, match="well-formed"):
        explain(path)
    path.write_text("[]")
    with pytest.raises(ValueError, match="kind"):
        explain(path)


def test_numbers_are_shown_on_the_safe_side():
    rng = np.random.default_rng(0)
    for number in [*(rng.standard_normal(200) * 10.0 ** rng.integers(-20, 20, 200)).tolist(), 0.0, 1.0, -2.5e-300]:
        assert float(shown(number, up=False)) <= number <= float(shown(number, up=True))
        assert float(shown(number, up=True)) == pytest.approx(number, rel=1e-5)
