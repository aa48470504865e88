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
ENDINGS = (".csv", ".parquet")


class Format(StrEnum):
    """The choices of ``--format``."""

    csv = "csv"
    parquet = "parquet"


def export_run(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The run folder of a sweep or an arena.")],
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
    """Write one row for each run: optimiser, sizes, run, outcome, family, what is proved of that, and every number."""
    with user_errors():
        if out_file is not None and form is None and out_file.suffix not in ENDINGS:
            raise InputError(f"--out {out_file} was given; end it with {' or '.join(ENDINGS)}, or say --format")
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
    from earnshaw.cli.runs import sweep_of

    tables = [result.table() for result in sweep_of(folder)]
    if not tables:
        raise InputError(f"{folder} has no finished setting yet; run the same command again to go on")
    names = list(dict.fromkeys(name for table in tables for name in table))
    blank = [None] * max(len(table["run"]) for table in tables)
    return {
        name: [
            entry
            for table in tables
            for entry in (table[name].tolist() if name in table else blank[: len(table["run"])])
        ]
        for name in names
    }


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

    arrays = {name: pyarrow.array(values) for name, values in table.items()}
    arrays["proved"] = arrays["proved"].cast(pyarrow.string())
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table(arrays), sink)
    return sink.getvalue().to_pybytes()
