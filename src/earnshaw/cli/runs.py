"""``earnshaw runs`` and ``earnshaw report``: look at run folders."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.text import Text

from earnshaw.cli.console import CLAIM_FAILED, bold, fail, json_line, note, out, progress_bar, say, show_table, spelled
from earnshaw.cli.helping import Command, argument, option
from earnshaw.errors import InputError, need

if TYPE_CHECKING:
    from collections.abc import Mapping

    from earnshaw.experiments import MetFamily, SweepResult
    from earnshaw.store import RunFolder

REPORT_EXAMPLES = (
    "earnshaw sweep -k 6..8 --prove --out runs/mine",
    "earnshaw report runs/mine        # then open runs/mine/report.html",
)
EXPORT_EXAMPLES = (
    "earnshaw runs export runs/mine > runs.csv\nearnshaw runs export runs/mine --out runs.parquet\n"
    "earnshaw runs export runs/mine --out table.tex"
)
MERGE_EXAMPLES = (
    "earnshaw sweep -k 6..8 --part 1/2 --out runs/mine\nearnshaw sweep -k 6..8 --part 2/2 --out runs/mine\n"
    "earnshaw runs merge runs/mine-part*of2 --out runs/mine"
)
ARENA = "arena.json"
NETWORKS = {"data-sets": ("logistic/sigmoid",)}
DESCENTS = {  # of work whose optimiser is not the user's choice
    "fit": ("gd", "newton"),
    "data-sets": ("gd", "newton"),
    "growth": ("gd", "newton"),
    "follow": ("newton",),
    "deep": ("adam",),
    "trajectory": ("flow",),
}
FUNCTIONS_HELP = "Load a function of your own that the folders name, which runs its code."
FAMILIES_EXAMPLES = "earnshaw runs families runs/mine\nearnshaw runs families runs/* --json"
CHECKED_HELP = "Check also certificates that take more than about ten seconds each."
FOLDER_HELP = "A folder that earnshaw sweep, arena, fit or dynamics wrote."
PAGE_HELP = "The page (default: RUN_FOLDER/report.html)."
FORMATS = {".csv": "csv", ".parquet": "parquet", ".tex": "latex"}
FORMAT_HELP = (
    "Default: what --out ends with, .csv, .parquet or .tex, or csv. Parquet needs the extra earnshaw[parquet]; latex is a table of "
    "settings and families."
)
FILE_HELP = "Where to write (default, not for Parquet: standard output)."
app = typer.Typer(
    no_args_is_help=True,
    help="List, show, compare, export, verify, repair and merge the folders that sweeps wrote.",
    epilog="earnshaw runs list\nearnshaw runs show runs/mine\nearnshaw runs export runs/mine > runs.csv\n"
    "earnshaw runs verify runs/*",
)


def report(
    folder: Annotated[Path, argument("RUN_FOLDER", FOLDER_HELP)],
    page: Annotated[Path | None, option(PAGE_HELP, "--out", metavar="FILE.html")] = None,
    checked: Annotated[bool, option(CHECKED_HELP, "--check")] = False,
) -> None:
    """Write one self-contained web page about a run folder: the result, figures, tables, what is proved, how it was made.

    Certificates are checked first: one that is false stands on the page as REJECTED, and proves nothing there.
    """
    from earnshaw.report import folder_page, write_page

    path = page or folder / "report.html"
    write_page(folder_page(folder, path, checked), path)
    say(f"written: {bold(path)}", markup=True)


@app.command("list", cls=Command, epilog="earnshaw runs list\nearnshaw runs list old/runs --json")
def list_runs(
    root: Annotated[Path, argument("DIR", "Where the run folders are.")] = Path("runs"),
    as_json: Annotated[bool, option("One JSON object per folder, and nothing else.", "--json")] = False,
) -> None:
    """List the run folders under a folder: what they compute, and how far they are."""
    from earnshaw.store import RunFolder

    if not root.is_dir():
        raise InputError(f"{root} is not a folder; sweeps go to runs/ unless --out says otherwise")
    rows = []
    for folder in sorted({file.parent for name in ("manifest.json", "pieces") for file in root.glob(f"*/{name}")}):
        try:
            run = RunFolder.open(folder)
        except InputError as error:
            note(f"{error}")
            continue
        kind, seed, names = run.kind, run.common.get("seed"), list(run.settings)
        runs, done = sorted({part["runs"] for part in run.settings.values()}), 0
        for name in filter(run.begun, names):
            try:
                done += run.record(name)["runs"] == run.settings[name]["runs"]
            except InputError as error:
                note(f"{error}")
        about = _about(run)
        if as_json:
            line = {"folder": str(folder), "kind": kind, "part": run.part, "settings": len(names), "finished": done}
            json_line(line | {"runs": runs[-1] if runs else None, "seed": seed} | about)
        seeded = "-" if seed is None else str(seed)
        what = (", ".join(about["networks"]) or "-", ", ".join(about["optimizers"]) or "-")
        proved = "-" if about["proved"] is None else str(about["proved"])
        shown = "arena" if kind == "sweep" and (folder / ARENA).exists() else kind
        shown += f", part {run.part}" if run.part else ""
        rows.append(
            map(Text, (str(folder), shown, *what, _span(names), _span(runs), seeded, f"{done}/{len(names)}", proved))
        )
    if rows and not as_json:
        titles = ("folder", "kind", "network", "optimiser", "settings", "runs each", "seed", "finished", "proved")
        show_table(titles, rows, pad_edge=False, header_style="bold")
    elif not as_json:
        say(f"no run folders in {root}")


def _about(run: RunFolder) -> dict[str, Any]:
    """Return what a folder is about: networks with their activations, optimisers, and how many minima or claims are proved.

    An optimiser of the user's choice is there once a setting is finished; proofs are counted as they are listed, and not
    checked.
    """
    about: dict[str, Any] = {
        "networks": list(NETWORKS.get(run.kind, ())),
        "optimizers": list(DESCENTS.get(run.kind, ())),
        "proved": _proved_arena(run),
    }
    for said in (run.common, *(part["identity"] for part in run.settings.values())):
        problem = said.get("problem")
        if isinstance(problem, dict) and problem.get("objective") not in (None, *about["networks"]):
            about["networks"].append(problem["objective"])
    for name in filter(run.begun, run.settings):
        try:
            record = run.record(name)
        except InputError:
            continue  # which list says already
        try:
            proofs = run.proofs(name)
        except InputError as error:
            note(f"{error}")
            continue
        if run.kind == "fit":
            record = record | {"objective": f"data/{record.get('activation')}"}
        for key, entry in (("networks", "objective"), ("optimizers", "optimizer")):
            if isinstance(said := record.get(entry), str) and said not in about[key]:
                about[key].append(said)
        if proofs is not None:
            found = sum(row["verdict"] == "PROVED_MINIMUM" for row in proofs["families"])
        elif isinstance(record.get("certificates"), dict):
            found = len(record["certificates"])
        else:
            continue
        about["proved"] = (about["proved"] or 0) + found
    return about


def _proved_arena(run: RunFolder) -> int | None:
    """Return how many families an arena proved to be minima, as its list says; None where that is not to be read."""
    from earnshaw.store import read_json

    try:
        rows = [row["verdict"] for entry in read_json(run.path / ARENA) for row in entry["families"]]
    except (InputError, KeyError, TypeError):
        return None
    return sum(verdict == "PROVED_MINIMUM" for verdict in rows) if any(rows) else None


def _span(values: list[Any]) -> str:
    """Return the first and the last of some values."""
    return " .. ".join(str(value) for value in (values if len(values) < 2 else (values[0], values[-1]))) or "-"


@app.command("show", cls=Command, epilog="earnshaw runs show runs/mine")
def show_run(
    folder: Annotated[Path, argument("DIR", "A run folder.")],
    as_json: Annotated[bool, option("One JSON object per setting, and nothing else.", "--json")] = False,
) -> None:
    """Show the results of a run folder: of a sweep family by family, of other work number by number."""
    from earnshaw.experiments import finished_records, sweep_in
    from earnshaw.experiments.work import unfinished
    from earnshaw.store import read_manifest

    records, missing, part = finished_records(folder), unfinished(folder), read_manifest(folder).get("part")
    if missing and part is not None:
        note(
            f"{folder} is part {part}: of its settings {len(records)} are whole here; earnshaw runs merge joins the parts"
        )
    elif not records:
        note(f"{folder} has no finished setting yet; run the same command again to go on")
    elif missing:
        note(f"{folder} is not finished ({', '.join(missing)} missing); run the same command again to go on")
    if as_json:
        for record in records.values():
            json_line({key: value for key, value in record.items() if key != "files"})
    elif read_manifest(folder)["kind"] == "sweep":
        for result in sweep_in(folder):
            _show_result(result)
    else:
        for name, record in records.items():
            out.print(Text(name, style="bold"))
            for key, value in record.items():
                if isinstance(value, str | int | float):
                    say(f"  {key}: {value:.10g}" if isinstance(value, float) else f"  {key}: {value}")


def _show_result(result: SweepResult) -> None:
    summary = result.summary
    outcomes = ", ".join(f"{count} {name}" for name, count in summary.outcomes.items())
    heading = f"{summary.name.replace(',', '')} {summary.objective} {summary.optimizer}"
    out.print(Text(heading, style="bold"), f"  {summary.runs} runs: {outcomes}", soft_wrap=True)
    if "CONVERGED" in summary.outcomes:
        say("  the global minimum is not known, so no minimum can be called spurious")
    elif summary.spurious_interval is not None:
        low, high = summary.spurious_interval
        of = f", of {summary.decided} decided" if summary.undecided else ""
        say(f"  spurious {summary.spurious_percent:.1f}% (95%: {low:.1f} - {high:.1f}){of}")
    named = any(family.label for family in summary.families)
    rows = []
    for index, family in enumerate(summary.families):
        row = [str(index), *([family.label or ""] * named), str(family.count)]
        rows.append([*row, f"{family.objective:.10f}", f"{family.min_eigenvalue:.6g}"])
    if rows:
        titles = ("family", *(["name"] * named), "runs", "objective", "smallest eigenvalue")
        show_table(titles, rows, header_style="bold")


@app.command("families", cls=Command, epilog=FAMILIES_EXAMPLES)
def show_families(
    folders: Annotated[list[Path], argument("DIR", "Run folders of sweeps or arenas.")],
    as_json: Annotated[bool, option("One JSON object per family, and nothing else.", "--json")] = False,
) -> None:
    """List every family of minima that sweeps met: its name by symmetry, how often it was met, and whether it is proved.

    Folders of the same setting are counted together, and families that a symmetry takes to each other are one. Verdicts are
    those of sweep --prove.
    """
    from earnshaw.experiments import families_met

    found = families_met(*folders)
    if as_json:
        for family in found:
            json_line(family.to_json())
    elif found:
        _show_met(found)
    else:
        say("no run ended at a minimum that is not global")


def _show_met(found: list[MetFamily]) -> None:
    """Print a table of families; what is the same for all of them is left out."""
    from rich.table import Column

    words = {"PROVED_MINIMUM": "a minimum", "PROVED_SADDLE": "a saddle", "INCONCLUSIVE": "no: inconclusive"}
    several = [name for name in ("network", "optimizer", "start") if len({getattr(met, name) for met in found}) > 1]
    several += ["what its neurons do"] * any(met.name for met in found)
    sizes = [name for name in dict.fromkeys(name for met in found for name in met.sizes) if name != "d"]
    sizes += ["d"] * any(met.sizes.get("d") != met.sizes.get("k") for met in found if "d" in met.sizes)
    rows = []
    for met in found:
        share = f"{met.percent:.1f}% ({met.interval[0]:.1f}-{met.interval[1]:.1f})"
        told = {"what its neurons do": met.name or ""}
        row = [f"{met.sizes[name]:g}" if name in met.sizes else "" for name in sizes]
        row += [str(told.get(name, getattr(met, name, ""))) for name in several]
        row += [met.label or "", str(met.count), share, f"{met.objective:.8f}", f"{met.min_eigenvalue:.6f}"]
        rows.append([*row, words.get(met.verdict or "", "not tried")])
    numbers = ("runs", "of those decided (95%)", "F", spelled("λmin", "lmin"))
    titles = [Column(name, justify="right", no_wrap=True) for name in numbers]
    show_table([*sizes, *several, Column("name", no_wrap=True), *titles, "proved"], rows, header_style="bold")


@app.command("compare", cls=Command, epilog="earnshaw runs compare runs/gd runs/adam")
def compare_runs(
    first: Annotated[Path, argument("FIRST", "The run folder of a sweep.")],
    second: Annotated[Path, argument("SECOND", "Another one, of the same problems.")],
    as_json: Annotated[bool, option("One JSON object per setting, and nothing else.", "--json")] = False,
) -> None:
    """Compare two sweeps, setting by setting: spurious runs, and every family of minima, matched by symmetry.

    z is the two-sample statistic of both shares, of the decided runs: beyond 2 in absolute value in one of twenty comparisons
    of equal chances. Settings that only one folder has are left out.
    """
    from earnshaw.experiments import compare

    found = compare(first, second)
    if as_json:
        for one in found:
            json_line(one.to_json())
        return
    rows = []
    for one in found:
        shares = [("all spurious", "", one.spurious)]
        shares += [(family.label or "family", f"{family.objective:.8f}", family.share) for family in one.families]
        for place, (what, loss, share) in enumerate(shares):
            percents = ("-" if percent is None else f"{percent:.1f}%" for percent in share.percent)
            z = "-" if share.z is None else f"{share.z:+.2f}"
            runs = map(str, share.counts)
            rows.append(("" if place else one.name, what, loss, *runs, *percents, z))
    optimizers = {pair for one in found for pair in zip(("first", "second"), one.optimizers, strict=True)}
    for which, folder in (("first", first), ("second", second)):
        names = ", ".join(sorted(name for side, name in optimizers if side == which))
        say(f"{which}: {folder} ({names})")
    show_table(("setting", "minima", "F", "first", "second", "first %", "second %", "z"), rows, header_style="bold")


@app.command("verify", cls=Command, epilog="earnshaw runs verify runs/mine\nearnshaw runs verify runs/* --json")
def verify_runs(
    folders: Annotated[list[Path], argument("DIR", "Run folders.")],
    functions: Annotated[bool, option(FUNCTIONS_HELP, "--functions")] = False,
    as_json: Annotated[bool, option("One JSON object per folder, and nothing else.", "--json")] = False,
) -> None:
    """Say which files of run folders are damaged, of other work, or missing; exit code 1 if any is.

    In the folder of a part (--part i/N), which files of that part.
    """
    from earnshaw.experiments import verify

    found = {folder: verify(folder, functions) for folder in folders}
    for folder, faults in found.items():
        if as_json:
            json_line({"folder": str(folder), "faults": faults})
        else:
            for line in faults or [f"{folder}: everything is there and as it was written"]:
                say(line)
    raise typer.Exit(CLAIM_FAILED if any(found.values()) else 0)


@app.command("repair", cls=Command, epilog="earnshaw runs repair runs/mine")
def repair_run(
    folder: Annotated[Path, argument("DIR", "A run folder.")],
    workers: Annotated[int | None, option("Worker threads (default: one a core).")] = None,
    functions: Annotated[bool, option(FUNCTIONS_HELP, "--functions")] = False,
) -> None:
    """Compute anew what runs verify finds wrong with a run folder, and just that; what it still finds is exit code 1."""
    from earnshaw.experiments import repair

    with progress_bar("repair", folder) as progress:
        left = repair(folder, workers, progress, functions)
    if left:
        fail("\n".join(left))
    say(f"{folder}: everything is there and as it was written")


@app.command("merge", cls=Command, epilog=MERGE_EXAMPLES)
def merge_runs(
    folders: Annotated[list[Path], argument("DIR", "The folders of the parts.")],
    out_folder: Annotated[Path, option("Where the whole goes.", "--out", metavar="DIR")],
    workers: Annotated[int | None, option("Worker threads (default: one a core).")] = None,
    functions: Annotated[bool, option(FUNCTIONS_HELP, "--functions")] = False,
) -> None:
    """Join the folders of all parts of a computation (--part i/N) into one, with the files of an undivided run.

    All pieces are checked first. If folders are of different computations, a file is damaged or pieces are missing, one
    sentence says so, and nothing is written.
    """
    from earnshaw.experiments import merge

    with progress_bar("merge", out_folder) as progress:
        done = merge(folders, out_folder, workers, progress, functions)
    runs = sum(result.record["runs"] for result in done.values())
    settings, parts = (f"{len(x)} {word}{'s' * (len(x) > 1)}" for x, word in ((done, "setting"), (folders, "folder")))
    say(f"{out_folder}: {settings} with {runs} runs, from {parts}")


@app.command("export", cls=Command, epilog=EXPORT_EXAMPLES)
def export_run(
    folder: Annotated[Path, argument("DIR", "The run folder of a sweep or an arena.")],
    form: Annotated[Literal["csv", "parquet", "latex"] | None, option(FORMAT_HELP, "--format")] = None,
    out_file: Annotated[Path | None, option(FILE_HELP, "--out", metavar="FILE")] = None,
) -> None:
    """Write one row for each run: optimiser, sizes, run, outcome, family and its name, what is proved of that, and every number.

    As LaTeX: a table of settings and families for a paper, with the package booktabs.
    """
    from earnshaw.experiments import sweep_in
    from earnshaw.store import write_bytes

    if out_file is not None and form is None and out_file.suffix not in FORMATS:
        raise InputError(f"--out {out_file} was given; end it with {' or '.join(FORMATS)}, or say --format")
    wanted = form or ("csv" if out_file is None else FORMATS[out_file.suffix])
    if wanted == "latex":
        from earnshaw.report import latex_table

        table = latex_table(folder)
        if out_file is None:
            sys.stdout.write(table)
        else:
            write_bytes(out_file, table.encode())
            note(f"a table in {out_file}; it needs the package booktabs")
        return
    parquet = wanted == "parquet"
    if parquet:
        need("pyarrow.parquet", extra="parquet", purpose="--format parquet")
        if out_file is None:
            raise InputError("--format parquet writes a file; say which, for example --out runs.parquet")
    table = sweep_in(folder).whole().table()
    text = io.StringIO()
    if not parquet:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    if out_file is None:
        sys.stdout.write(text.getvalue())
    else:
        write_bytes(out_file, _parquet(table) if parquet else text.getvalue().encode())
        note(f"{len(table['run'])} runs in {out_file}")


def _parquet(table: Mapping[str, list[Any]]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    arrays = {name: pyarrow.array(values) for name, values in table.items()}
    arrays |= {name: arrays[name].cast(pyarrow.string()) for name in ("label", "proved")}
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table(arrays), sink)
    return sink.getvalue().to_pybytes()
