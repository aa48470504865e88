"""``earnshaw demo``: one size and one item of a paper, the page about them, and what the exit codes say."""

import dataclasses

import pytest
from typer.testing import CliRunner

from earnshaw.cli import demo
from earnshaw.cli.app import app
from earnshaw.experiments import Interrupted
from earnshaw.papers import ERRATA, PAPERS
from earnshaw.report import Story


def test_every_piece_is_an_item_of_its_paper():
    assert {piece.paper for piece in demo.PIECES} | {"spurious"} == set(PAPERS)
    assert all(piece.item in PAPERS[piece.paper].items for piece in demo.PIECES)
    assert {erratum.paper for erratum in ERRATA} == set(PAPERS)


@pytest.mark.slow
def test_one_size_and_one_item(tmp_path, capsys):
    (piece,) = (piece for piece in demo.PIECES if piece.paper == "convnet")
    assert demo.tour(tmp_path, runs=40, sizes=[8], pieces=[piece], workers=2)
    said = capsys.readouterr().out
    assert "for k = n = 8" in said
    assert "table 1 of Safran & Shamir (2018): " in said
    assert "2 of 2 compared numbers agree; 2 more are context" in said
    certificates = list((tmp_path / "demo" / "sweep-40" / "certificates").glob("*.json"))
    assert certificates
    assert f"{len(certificates)} of {len(certificates)} certificates are accepted" in said
    page = (tmp_path / "report.html").read_text()
    for words in ("Where the runs ended", "Beside table 1 of the paper", piece.title, piece.captions[piece.item]):
        assert words in page
    assert "Du, Lee, Tian, Poczos &amp; Singh (2018). With weight" in page
    assert "earnshaw reproduce convnet figure1b" in page
    assert all(erratum.place in page for erratum in ERRATA)
    assert (tmp_path / "demo" / "convnet" / "figure1b.svg").exists()


@pytest.mark.slow
def test_an_item_that_does_not_agree_is_told(tmp_path, monkeypatch):
    item = demo.Piece("logistic", "figure2", "Curvature", "Words.", {"figure2": "A caption."})
    monkeypatch.setattr("earnshaw.papers.logistic.TOP", 1.3)
    monkeypatch.setattr(demo, "_minima", lambda *_: (Story("", []), True))
    assert not demo.tour(tmp_path, runs=1, pieces=[item])
    assert "9 of 10 compared numbers agree" in (tmp_path / "report.html").read_text()
    monkeypatch.setattr("earnshaw.papers.logistic.TOP", 1.45)
    assert demo.tour(tmp_path, runs=1, pieces=[dataclasses.replace(item, title="Again")])


@pytest.mark.parametrize(
    ("outcome", "code", "words"),
    [(True, 0, ""), (False, 1, "does not agree"), (Interrupted(), 130, "run the same command again to go on")],
)
def test_exit_codes(tmp_path, monkeypatch, outcome, code, words):
    asked = []

    def tour(folder, *, runs, workers):
        asked.append((folder, runs, workers))
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(demo, "tour", tour)
    done = CliRunner().invoke(app, ["demo", "--runs", "40", "--out", str(tmp_path)])
    assert done.exit_code == code
    assert words in done.output
    assert asked == [(tmp_path, 40, None)]
