"""Runs as rows: CSV and Parquet hold the same, for every kind of sweep."""

import csv
import io
import math
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from earnshaw.cli.app import app

pytestmark = pytest.mark.slow  # two sweeps, compiled
NUMBERS = ["value", "gradient_norm", "min_eigenvalue", "steps", "gradients", "hessians", "halvings", "by_value"]
COLUMNS = {
    "two": ["optimizer", "k", "n", "d", "run", "outcome", "family", "label", "proved", *NUMBERS],
    "conv": ["optimizer", "p", "k", "ratio", "run", "outcome", "family", "label", "proved", *NUMBERS],
}
WORDS = ("optimizer", "outcome", "label", "proved", "by_value")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder with a two-layer sweep and a convolutional one in it."""
    folder = tmp_path_factory.mktemp("export")
    sweeps = ["-k 2..3 --runs 6 --out {}/two", "--network conv -p 2 -k 3 --ratio 0.5 --runs 8 --out {}/conv"]
    for words in sweeps:
        assert CliRunner().invoke(app, ["sweep", *words.format(folder).split()]).exit_code == 0
    return folder


def export(*words):
    result = CliRunner().invoke(app, ["runs", "export", *map(str, words)])
    return result.exit_code, result.stdout, result.stderr


def rows(path):
    with path.open() as stream:
        return list(csv.reader(stream))


@pytest.mark.parametrize(("name", "count"), [("two", 12), ("conv", 8)])
def test_csv_and_parquet_hold_the_same_rows(place, name, count):
    parquet = pytest.importorskip("pyarrow.parquet")
    code, printed, _ = export(place / name)
    assert code == 0
    assert export(place / name, "--out", place / "runs.csv")[0] == 0
    assert (place / "runs.csv").read_text() == printed
    assert export(place / name, "--out", place / "runs.parquet")[0] == 0
    heading, *text = rows(place / "runs.csv")
    table = parquet.read_table(place / "runs.parquet")
    assert heading == table.column_names == COLUMNS[name]
    assert len(text) == table.num_rows == count
    for line, record in zip(text, table.to_pylist(), strict=True):
        read = dict(zip(heading, line, strict=True))
        assert (
            (record["optimizer"], record["outcome"])
            == (read["optimizer"], read["outcome"])
            == ("gd:0.1", read["outcome"])
        )
        assert record["outcome"].isupper()
        assert (record["proved"], read["proved"]) == (None, ""), "nobody tried"
        assert (record["family"] >= 0) == (record["outcome"] == "SPURIOUS")
        assert str(record["by_value"]) == read["by_value"] == "False"
        for column, word in read.items():
            if column not in WORDS:
                assert record[column] == float(word) or (math.isnan(record[column]) and word == "nan")


def test_parquet_without_pyarrow_is_one_sentence_that_ends_with_the_line_to_run(place, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    code, out, err = export(place / "two", "--format", "parquet", "--out", place / "no.parquet")
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == "pip install 'earnshaw[parquet]'"
    assert not (place / "no.parquet").exists()


def test_parquet_goes_to_a_file_only(place):
    pytest.importorskip("pyarrow.parquet")
    code, out, err = export(place / "two", "--format", "parquet")
    assert (code, out) == (2, "")
    assert "--out runs.parquet" in err


def test_a_folder_that_is_none_prints_no_heading(tmp_path):
    code, out, err = export(tmp_path)
    assert (code, out) == (2, "")
    assert "not a run folder" in err


def test_families_and_what_is_proved_of_them_are_columns(tmp_path):
    weights = np.full((6, 6), -0.0504)
    np.fill_diagonal(weights, 0.9867)
    weights[0, 1:], weights[1:, 0], weights[0, 0] = 0.2245, 0.3080, -0.6015
    np.save(tmp_path / "points.npy", np.stack([0.9 * np.eye(6), weights]))
    words = [
        "sweep",
        "-k",
        "6",
        "--runs",
        "2",
        "--start",
        tmp_path / "points.npy",
        "--prove",
        "--out",
        tmp_path / "run",
    ]
    assert CliRunner().invoke(app, list(map(str, words))).exit_code == 0
    code, printed, _ = export(tmp_path / "run")
    assert code == 0
    first, second = csv.DictReader(io.StringIO(printed))
    assert (first["outcome"], first["family"], first["proved"]) == ("GLOBAL", "-1", "")
    assert (second["outcome"], second["family"], second["proved"]) == ("SPURIOUS", "0", "PROVED_MINIMUM")
    (certificate,) = (tmp_path / "run" / "certificates").glob("*-minimum.json")
    certificate.unlink()
    code, printed, said = export(tmp_path / "run")
    assert (code, printed) == (2, "")
    assert f"{certificate} is missing" in said


def test_the_page_of_a_sweep_has_its_command(place):
    assert CliRunner().invoke(app, ["report", str(place / "two")]).exit_code == 0
    assert f"--out {place / 'two'} --prove" in (place / "two" / "report.html").read_text()
