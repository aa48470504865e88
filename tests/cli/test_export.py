"""Runs as rows: CSV and Parquet hold the same, for every kind of sweep."""

import csv
import math
import sys

import pytest
from typer.testing import CliRunner

from earnshaw.cli.app import app

pytestmark = pytest.mark.slow  # two sweeps, compiled
COLUMNS = ["k", "n", "run", "outcome", "value", "gradient_norm", "min_eigenvalue", "steps"]


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
    assert heading == table.column_names == COLUMNS
    assert len(text) == table.num_rows == count
    for line, record in zip(text, table.to_pylist(), strict=True):
        assert record["outcome"] == line[3]
        assert record["outcome"].isupper()
        for column, word in zip(COLUMNS, line, strict=True):
            if column != "outcome":
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


def test_a_page_about_a_convolutional_sweep_is_refused_in_one_sentence(place):
    result = CliRunner().invoke(app, ["report", str(place / "conv")])
    assert result.exit_code == 2
    assert "runs export" in result.stderr
    assert not (place / "conv" / "report.html").exists()
