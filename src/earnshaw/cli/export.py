"""``earnshaw runs export``: one row for each run, as CSV or Parquet."""

from __future__ import annotations

import csv
import io
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earnshaw.cli.console import note, user_errors
from earnshaw.cli.helping import examples
from earnshaw.errors import InputError, need

if TYPE_CHECKING:
    from collections.abc import Mapping

EXAMPLES = examples(
    "earnshaw runs export runs/mine > runs.csv",
    "earnshaw runs export runs/mine --out runs.parquet",
)
MEASURED = ("value", "gradient_norm", "min_eigenvalue")  # not a number where a run was stopped before it was measured


class Format(StrEnum):
    """The choices of ``--format``."""

    csv = "csv"
    parquet = "parquet"


def export_run(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.")],
    form: Annotated[
        Format | None,
        typer.Option(
            "--format", help="Default: csv, or parquet when --out ends so. Parquet needs the extra earnshaw[parquet]."
        ),
    ] = None,
    out_file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to write (default, CSV only: standard output).")
    ] = None,
) -> None:
    """Write one row for each run: k, n, run, outcome, value, gradient_norm, min_eigenvalue, steps."""
    with user_errors():
        chosen = form or (Format.parquet if out_file and out_file.suffix == ".parquet" else Format.csv)
        if chosen is Format.parquet:
            need("pyarrow.parquet", extra="parquet", purpose="--format parquet")
            if out_file is None:
                raise InputError("--format parquet writes a file; say which, for example --out runs.parquet")
        table = _table(folder)
        if out_file is None:
            _write_csv(table, sys.stdout)
            return
        from earnshaw.store import write_bytes

        write_bytes(out_file, _parquet(table) if chosen is Format.parquet else _csv(table))
        note(f"{len(table['run'])} runs in {out_file}")


def _table(folder: Path) -> dict[str, list[Any]]:
    """Return the columns of all finished settings of a run folder, one under the other."""
    from earnshaw.descent import Outcome
    from earnshaw.experiments import load_summaries
    from earnshaw.store import read_json, read_npz

    columns: dict[str, list[Any]] = {name: [] for name in ("k", "n", "run", "outcome", *MEASURED, "steps")}
    records = load_summaries(folder)
    names = [
        name
        for name in read_json(folder / "manifest.json")["identity"]["problems"]
        if (folder / f"{name}.json").exists()
    ]
    for name, record in zip(names, records, strict=True):
        arrays = read_npz(folder / f"{name}.npz")
        count = len(arrays["outcome"])
        columns["k"] += [record["k"]] * count
        columns["n"] += [record["n"]] * count
        columns["run"] += range(count)
        outcomes = arrays["outcome"].tolist()
        columns["outcome"] += [said if isinstance(said, str) else Outcome.from_code(said).name for said in outcomes]
        columns["steps"] += arrays["steps"].tolist()
        for measured in MEASURED:
            columns[measured] += arrays[measured].tolist() if measured in arrays else [float("nan")] * count
    return columns


def _write_csv(table: Mapping[str, list[Any]], stream: Any) -> None:
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))


def _csv(table: Mapping[str, list[Any]]) -> bytes:
    stream = io.StringIO()
    _write_csv(table, stream)
    return stream.getvalue().encode()


def _parquet(table: Mapping[str, list[Any]]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    whole = {"k", "n", "run", "steps"}
    kinds = {name: pyarrow.int64() if name in whole else pyarrow.float64() for name in table} | {
        "outcome": pyarrow.string()
    }
    arrays = {name: pyarrow.array(values, kinds[name]) for name, values in table.items()}
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table(arrays), sink)
    return sink.getvalue().to_pybytes()
