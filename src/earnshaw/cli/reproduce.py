"""``earnshaw reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from earnshaw.cli.console import bold, fail, json_line, note, progress_bar, say, show_table
from earnshaw.cli.helping import argument, begins, meant, option
from earnshaw.cli.settings import ClusterOption, LogOption, TimeOption
from earnshaw.errors import InputError
from earnshaw.papers import PAPERS, Comparison, Reproduction, tally, unexplained

EXAMPLES = (
    "earnshaw reproduce spurious table1 --quick",
    "earnshaw reproduce convnet                    # all items",
    "earnshaw reproduce all --quick --json         # all papers",
    "earnshaw reproduce electrostatics theorems --json",
)
ITEMS_HELP = " ".join(f"{name}: {', '.join(paper.items)}." for name, paper in PAPERS.items())
RUNS_HELP = "Runs (or data sets) for each setting, instead of the item's own number."
OUT_HELP = "Where files go (default: out/PAPER; of all papers each has its folder there)."
PAPERS_HELP = "all, or one paper. " + " ".join(f"{name}: {paper.cited}." for name, paper in PAPERS.items())


def _items(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete a half-typed item of the paper before it."""
    paper = PAPERS.get(ctx.params.get("paper", ""))
    return begins((*(paper.items if paper else ()), "all"))(incomplete)


def reproduce(
    paper: Annotated[str, argument("PAPER", PAPERS_HELP, show_default=False, autocompletion=begins((*PAPERS, "all")))],
    item: Annotated[str, argument("ITEM", f"all, or one of the paper's. {ITEMS_HELP}", autocompletion=_items)] = "all",
    quick: Annotated[bool, option("Fewer settings and runs: minutes at most.", "--quick")] = False,
    runs: Annotated[int | None, option(RUNS_HELP)] = None,
    seed: Annotated[int, option("Root of all random numbers.")] = 0,
    workers: Annotated[int | None, option("Worker threads (default: one a core).")] = None,
    cluster: ClusterOption = None,
    time_limit: TimeOption = None,
    log_file: LogOption = None,
    out_folder: Annotated[Path | None, option(OUT_HELP, "--out", metavar="DIR")] = None,
    as_json: Annotated[bool, option("One JSON object per compared number, and nothing else.", "--json")] = False,
) -> None:
    """Recompute a paper's tables and figures: ours beside a reference, what that is, and a test for each number.

    A reference is printed in the paper, read off a figure, computed from a closed form, measured by us in other runs, or
    the limit of a test. A row whose test could not fail is marked "context" and not counted; "notices" is the smallest error
    of the reference that would fail. Writes a PNG, an SVG and a JSON file for each item, and keeps the sweeps, so that an
    interrupted reproduction goes on where it stopped. Exit code 1 says that some number does not agree. "NO, erratum" does
    not agree either, but is explained in docs/errata.md, and is no reason for exit code 1.
    """
    chosen = _chosen(paper, item)
    folders = {name: _folder(paper, name, out_folder) for name in chosen}
    if not quick and runs is None:
        _estimate(chosen)
    compared: list[Comparison] = []
    for name, items in chosen.items():
        for one in items:
            with progress_bar(one, folders[name]) as progress:
                how = Reproduction(
                    out=folders[name],
                    runs=runs,
                    seed=seed,
                    quick=quick,
                    workers=workers,
                    progress=progress,
                    cluster=cluster,
                )
                rows = PAPERS[name].function(one)(how)
            compared += rows
            if as_json:
                for row in rows:
                    json_line(row.to_json())
            else:
                _show(one if paper != "all" else f"{name} {one}", rows)
    if not as_json:
        say(f"{tally(compared)}; files in {bold(', '.join(map(str, folders.values())))}", markup=True)
    failed = unexplained(compared)
    if failed:
        fail(f"{len(failed)} of {sum(row.counts for row in compared)} numbers do not agree with their reference")


def _chosen(paper: str, item: str) -> dict[str, list[str]]:
    """Return the items that are meant, by paper."""
    if paper == "all":
        if item != "all":
            raise InputError(
                f"all papers have no {item} in common; leave the item out, or name the paper: {', '.join(PAPERS)}"
            )
        return {name: list(some.items) for name, some in PAPERS.items()}
    if paper not in PAPERS:
        raise InputError(f"{paper} is none of the papers; choose {', '.join(PAPERS)} or all.{meant(paper, PAPERS)}")
    items = list(PAPERS[paper].items)
    if item != "all" and item not in items:
        raise InputError(f"{paper} has no {item}; choose {', '.join(items)} or all.{meant(item, items)}")
    return {paper: items if item == "all" else [item]}


def _folder(paper: str, name: str, given: Path | None) -> Path:
    """Return where the files of a paper go; of all papers each has its own folder."""
    return Path("out") / name if given is None else given / name if paper == "all" else given


def _estimate(chosen: dict[str, list[str]]) -> None:
    """Say before it begins what the whole will take, and that it need not be in one go."""
    costs = {name: sum(PAPERS[name].minutes[one] for one in items) for name, items in chosen.items()}
    whole, each = sum(costs.values()), ", ".join(f"{name} {_time(cost)}" for name, cost in costs.items())
    shares, quick = f" ({each})" * (len(costs) > 1), " --quick takes minutes." * (whole > 10)
    note(
        f"in full this takes about {_time(whole)} of CPU time{shares}, less what is finished already; interrupt it at will: the "
        f"same command goes on.{quick}"
    )


def _time(minutes: float) -> str:
    if minutes < 1:
        return "a minute"
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def _show(name: str, compared: list[Comparison]) -> None:
    from rich.table import Column
    from rich.text import Text

    titles = ("setting", "quantity", "ours", "95% interval", "reference", "which is", "test", "notices", "ok")
    columns = [Column(title, overflow="fold", min_width=14 if title == "test" else None) for title in titles]
    rows = []
    for row in compared:
        ours = "-" if row.ours is None else f"{row.ours:.4g}"
        interval = "" if row.interval is None else "{:.1f} - {:.1f}".format(*row.interval)
        detects = "" if row.detects is None or not row.counts else f"{row.detects:.2g}"
        agrees = Text(row.answer, style="bold red" if row.failed else "" if row.counts else "dim")
        beside = f"{row.reference:.4g}", row.source.word, row.words, detects, agrees
        rows.append((row.setting, row.quantity, ours, interval, *beside))
    show_table(columns, rows, title=name, title_justify="left")
