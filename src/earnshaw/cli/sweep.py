"""``earnshaw sweep``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earnshaw.cli.console import BAD_USAGE, CLAIM_FAILED, INTERRUPTED, json_line, note, out, progress_bar, user_errors
from earnshaw.cli.sizes import paper_grid, student_sizes, teacher_sizes
from earnshaw.errors import InputError

if TYPE_CHECKING:
    from earnshaw.experiments import Proved, Setting, SweepResult

EXAMPLES = (
    "Examples: **earnshaw sweep -k 10 -n 10** (1000 runs); **earnshaw sweep -k 6..12 -n k+1 --json**; "
    "**earnshaw sweep --teacher mine.npy -n 5 --out runs/mine**. Interrupt it, and the same command resumes."
)


class StopRule(StrEnum):
    """The choices of ``--stop``."""

    early = "early"
    paper = "paper"


class Grid(StrEnum):
    """The choices of ``--grid``."""

    paper = "paper"


def sweep(
    k: Annotated[str | None, typer.Option("-k", help="Teacher neurons, orthonormal: 10, or a range 6..20.")] = None,
    n: Annotated[str, typer.Option("-n", help="Student neurons: 10, a range, or relative: k, k+1.")] = "k",
    runs: Annotated[int, typer.Option(help="Random starts for each (k, n).")] = 1000,
    seed: Annotated[int, typer.Option(help="Root of all random numbers.")] = 0,
    teacher: Annotated[
        Path | None, typer.Option(metavar="FILE.npy", help="Your own teacher, one neuron a row, in place of -k.")
    ] = None,
    grid: Annotated[Grid | None, typer.Option(help="paper: all 1 <= k <= n <= 20, in place of -k and -n.")] = None,
    step: Annotated[float, typer.Option(help="Step length of gradient descent.")] = 0.1,
    stop: Annotated[
        StopRule,
        typer.Option(help="early: once the fate is clear. paper: when every neuron's gradient is at most 1e-9."),
    ] = StopRule.early,
    max_steps: Annotated[int, typer.Option(help="Step limit of a run.")] = 200_000,
    batch: Annotated[int | None, typer.Option(help="Lanes computed together (default: what suits the device).")] = None,
    trace: Annotated[int, typer.Option(metavar="M", help="Store value, gradient norm and weights every M steps.")] = 0,
    workers: Annotated[
        int | None, typer.Option(help="Worker threads (default: one a core). Never changes a result.")
    ] = None,
    prove: Annotated[
        bool, typer.Option("--prove", help="Prove every family found, and say which runs ended in a proved basin.")
    ] = False,
    out_folder: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Run folder (default: runs/HASH).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per (k, n) on standard output.")] = False,
) -> None:
    """Run gradient descent from many random starts, and count where it ends.

    For each (k, n): how many runs reach the teacher, how many end at spurious minima, and which families of minima
    those are. Results go to a run folder, written so that nothing is lost when the sweep is interrupted.
    """
    with user_errors():
        settings = _settings(k, n, teacher, grid)
        from earnshaw.descent import GradientDescent, Stop
        from earnshaw.experiments import Interrupted, Plan, prove_sweep, run_plan
        from earnshaw.numerics import remember_programs

        remember_programs()
        descent = GradientDescent(step=step, stop=Stop[stop.name.upper()], max_steps=max_steps, trace=trace)
        if batch is not None and batch < 1:
            raise InputError(f"--batch {batch} was given; use a whole number from 1")
        batches = {setting.name: batch for setting in settings if batch is not None}
        plan = Plan(settings=tuple(settings), runs=runs, seed=seed, descent=descent, batches=batches)
        folder = out_folder or Path("runs") / plan.hash[:16]
        try:
            with progress_bar("sweep") as progress:
                results = run_plan(plan, folder, workers, progress)
        except Interrupted:
            note(f"interrupted; what is finished is in {folder}: run the same command again to go on")
            raise typer.Exit(INTERRUPTED) from None
        proofs = None
        if prove:
            with progress_bar("prove") as progress:
                proofs = prove_sweep(plan, folder, workers, progress)
        if as_json:
            for index, result in enumerate(results):
                json_line(result.to_json() | (proofs[index].to_json() if proofs else {}))
        else:
            show(results)
            for result, proved in zip(results, proofs or [], strict=False):
                show_proofs(result, proved)
            out.print(f"\nresults in [bold]{folder}[/]", soft_wrap=True)
        raise typer.Exit(_warn(results, step, max_steps))


def _settings(k: str | None, n: str, teacher: Path | None, grid: Grid | None) -> list[Setting]:
    from earnshaw.experiments import Setting
    from earnshaw.problems import TwoLayer, standard_teacher

    if sum(choice is not None for choice in (k, teacher, grid)) != 1:
        raise InputError("give exactly one of -k (for example -k 10), --teacher FILE.npy and --grid paper")
    if grid is not None:
        return [Setting(TwoLayer(standard_teacher(a), students=b)) for a, b in paper_grid()]
    if k is not None:
        sizes = [(a, b) for a in teacher_sizes(k) for b in student_sizes(n, a)]
        return [Setting(TwoLayer(standard_teacher(a), students=b)) for a, b in sizes]
    assert teacher is not None
    matrix = _load(teacher)
    rows = matrix.shape[0] if matrix.ndim else 0
    return [Setting(TwoLayer(matrix, students=b)) for b in student_sizes(n, rows)]


def _load(path: Path):
    import numpy as np

    try:
        matrix = np.load(path, allow_pickle=False)
    except OSError as error:
        raise InputError(f"cannot read the teacher {path} ({error.strerror or error})") from None
    except (ValueError, EOFError) as error:
        raise InputError(f"the teacher {path} is not a .npy array ({error}); save one with numpy.save") from None
    if not isinstance(matrix, np.ndarray):
        raise InputError(f"the teacher {path} is an archive of several arrays; save the one matrix with numpy.save")
    return matrix


def show(results: list[SweepResult]) -> None:
    """Print a table of results."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("k", "n", "runs", "spurious", "95%", "mean F", "λmin", "families", "steps", "s", "other"):
        table.add_column(title, justify="right")
    for result in results:
        summary = result.summary
        unknown = "CONVERGED" in summary.outcomes  # the global value is not known, so none can be called spurious
        other = ", ".join(
            f"{count} {name}" for name, count in summary.outcomes.items() if name not in ("GLOBAL", "SPURIOUS")
        )
        table.add_row(
            *(str(x) for x in (summary.k, summary.n, summary.runs)),
            "-" if unknown else f"{summary.spurious_percent:.1f}%",
            "-" if unknown else "{:.1f}-{:.1f}".format(*summary.spurious_interval),
            "" if summary.mean_objective is None else f"{summary.mean_objective:.4f}",
            "" if summary.mean_min_eigenvalue is None else f"{summary.mean_min_eigenvalue:.4f}",
            str(len(summary.families)),
            str(round(summary.steps / summary.runs)),
            f"{result.seconds:.1f}",
            other,
        )
    out.print(table)


def show_proofs(result: SweepResult, proved: Proved) -> None:
    """Print how far the proofs of one setting reach."""
    spurious = result.summary.outcomes.get("SPURIOUS", 0)
    out.print(
        f"k={result.summary.k}, n={result.summary.n}: families proved minima {proved.proved}, saddles {proved.saddles}, "
        f"inconclusive {proved.inconclusive}; {proved.runs_in_proved_basins} of {spurious} spurious runs ended in a proved basin",
        soft_wrap=True,
    )


def _warn(results: list[SweepResult], step: float, max_steps: int) -> int:
    """Say what a reader of the percentages must know; return the exit code."""
    code = 0
    for result in results:
        summary = result.summary
        where = f"k={summary.k}, n={summary.n}"
        diverged = summary.outcomes.get("DIVERGED", 0)
        if diverged:
            note(
                f"{where}: {diverged} of {summary.runs} runs diverged with step {step:g} and with every halving of it; use a smaller --step"
            )
            code = CLAIM_FAILED if diverged < summary.runs else BAD_USAGE
        elif summary.restarted:
            note(
                f"{where}: {summary.restarted} of {summary.runs} runs diverged with step {step:g} and were restarted with half of it, as often as needed"
            )
        if summary.decided_by_value_test:
            note(
                f"{where}: {summary.decided_by_value_test} runs reached {max_steps} steps and were decided by the value test F < 1e-3"
            )
        if undecided := summary.outcomes.get("UNDECIDED", 0):
            advice = "use a smaller --step" if summary.restarted else "raise --max-steps and sweep again"
            note(f"{where}: {undecided} runs were undecided after {max_steps} steps; {advice}")
    return code
