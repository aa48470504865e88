"""``earnshaw sweep --network conv``."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from earnshaw.cli.console import CLAIM_FAILED, INTERRUPTED, json_line, note, out, progress_bar, show_table
from earnshaw.errors import InputError

if TYPE_CHECKING:
    from earnshaw.experiments.convnet import ConvSummary


class Network(StrEnum):
    """The choices of ``--network``."""

    two_layer = "two-layer"
    conv = "conv"


class Starts(StrEnum):
    """The choices of ``--starts``."""

    one = "one"
    four = "four"


def only_for(network: Network, given: Mapping[str, object]) -> None:
    """Refuse options (name -> something true if it was given) that mean something for this network alone."""
    names = [name for name, present in given.items() if present]
    if names:
        raise InputError(
            f"{', '.join(names)} is for --network {network.value} only; leave it out, or give that network"
        )


def conv_sweep(
    k: str | None,
    p: int,
    ratio: float,
    runs: int,
    seed: int,
    step: float | None,
    starts: Starts,
    max_steps: int,
    out_folder: Path | None,
    as_json: bool,
) -> None:
    """Sweep random teachers of the convolutional network into a run folder, and print the line or the table."""
    from earnshaw.descent import GradientDescent, Stopping
    from earnshaw.experiments.convnet import ConvPlan, Tries, run_conv_plan
    from earnshaw.numerics import remember_programs
    from earnshaw.starts import RandomTeachers

    if k is None or not k.isdecimal():
        raise InputError(f"-k {k} was given; the convolutional network needs one number of patches, for example -k 25")
    remember_programs()
    plan = ConvPlan(
        teachers=RandomTeachers(filter_size=p, patches=int(k), ratio=ratio),
        runs=runs,
        seed=seed,
        tries=Tries[starts.name.upper()],
        descent=GradientDescent() if step is None else GradientDescent(step=step),
        stopping=Stopping(max_steps=max_steps),
    )
    folder = out_folder or Path("runs") / plan.hash[:16]
    try:
        with progress_bar("sweep") as progress:
            result = run_conv_plan(plan, folder, progress)
    except KeyboardInterrupt:
        note(f"interrupted; what is finished is in {folder}: run the same command again to go on")
        raise typer.Exit(INTERRUPTED) from None
    if as_json:
        json_line(result.timed())
    else:
        _show(result)
        out.print(f"\nresults in [bold]{folder}[/]", soft_wrap=True)
    undecided = result.runs - sum(result.outcomes.get(name, 0) for name in ("GLOBAL", "SPURIOUS"))
    if undecided:
        note(f"{undecided} runs were undecided after {max_steps} steps; raise --max-steps and sweep again")
        raise typer.Exit(CLAIM_FAILED)


def _show(result: ConvSummary) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("p", "k", "S/|a*|", "starts", "runs", "spurious", "95%", "F there", "steps", "s"):
        table.add_column(title, justify="right")
    low, high = result.interval
    table.add_row(
        str(result.p),
        str(result.k),
        f"{result.ratio:g}",
        result.starts.name.lower(),
        str(result.runs),
        f"{100 * result.spurious / result.runs:.1f}%",
        f"{100 * low:.1f}-{100 * high:.1f}",
        "" if result.objective is None else f"{result.objective:.6f}",
        str(round(result.steps / result.runs)),
        f"{result.seconds:.1f}",
    )
    show_table(table)
