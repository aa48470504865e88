"""``earnshaw sweep``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earnshaw.cli.console import (
    BAD_USAGE,
    CLAIM_FAILED,
    json_line,
    note,
    progress_bar,
    resumable,
    say,
    show_table,
    spelled,
    user_errors,
)
from earnshaw.cli.helping import examples
from earnshaw.cli.settings import (
    CONV,
    OPTIMIZERS,
    PROBLEM,
    RESULTS,
    RUNS,
    ActivationName,
    Dimension,
    Grid,
    Network,
    Outputs,
    OutputWeights,
    Seed,
    StartName,
    Starts,
    Students,
    TeacherFile,
    Teachers,
    begins,
    convolutional,
    named_optimizer,
    named_start,
    only_for,
    two_layers,
)
from earnshaw.errors import InputError

if TYPE_CHECKING:
    from earnshaw.descent import Descent
    from earnshaw.experiments import Proved, SweepResult

EXAMPLES = examples(
    "earnshaw sweep -k 10                                  # 1000 runs",
    "earnshaw sweep -k 6..12 -n k+1 --prove --json",
    "earnshaw sweep --teacher mine.npy -n 5 --out runs/mine",
    "earnshaw sweep -k 4 --activation erf --optimizer lbfgs --runs 100",
    "earnshaw sweep --network conv -p 20 -k 25 --ratio 0.5",
)


class StopRule(StrEnum):
    """The choices of ``--stop``."""

    early = "early"
    paper = "paper"


def sweep(
    k: Teachers = None,
    n: Students = "k",
    d: Dimension = None,
    teacher: TeacherFile = None,
    grid: Annotated[
        Grid | None,
        typer.Option(rich_help_panel=PROBLEM, help="paper: all 1 <= k <= n <= 20, in place of -k and -n."),
    ] = None,
    activation: ActivationName = "relu",
    output_weights: Outputs = OutputWeights.fixed,
    network: Annotated[
        Network,
        typer.Option(
            rich_help_panel=PROBLEM,
            help="conv: one filter seen through k patches, trained output weights, a new random teacher for every run.",
        ),
    ] = Network.two_layer,
    runs: Annotated[int, typer.Option(rich_help_panel=RUNS, help="Random starts for each (k, n).")] = 1000,
    seed: Seed = 0,
    start: StartName = None,
    optimizer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            rich_help_panel=RUNS,
            autocompletion=begins(OPTIMIZERS),
            help="gd:0.1 (gradient descent with step 0.1, the default), momentum:0.05:0.9, adam:0.01 or another of optax, "
            "lbfgs, newton-tr, perturbed-gd, flow, stochastic:0.1:64, or your own: FILE.py:OBJECT, MODULE:OBJECT.",
        ),
    ] = None,
    step: Annotated[
        float | None,
        typer.Option(rich_help_panel=RUNS, help="Step of gradient descent, short for --optimizer gd:STEP."),
    ] = None,
    stop: Annotated[
        StopRule,
        typer.Option(
            rich_help_panel=RUNS,
            help="early: once the fate is clear. paper: when every neuron's gradient is at most 1e-9.",
        ),
    ] = StopRule.early,
    max_steps: Annotated[
        int, typer.Option(rich_help_panel=RUNS, help="Steps after which a run is given up as undecided.")
    ] = 200_000,
    trace: Annotated[
        int,
        typer.Option(
            metavar="M",
            rich_help_panel=RUNS,
            help="Store value, gradient norm and weights every M steps (0: never).",
        ),
    ] = 0,
    p: Annotated[
        int | None, typer.Option("-p", metavar="P", rich_help_panel=CONV, help="Size of the filter and of a patch.")
    ] = None,
    ratio: Annotated[
        float | None,
        typer.Option(rich_help_panel=CONV, help="S/|a*|, sum over norm of the teacher's output weights."),
    ] = None,
    starts: Annotated[
        Starts | None,
        typer.Option(rich_help_panel=CONV, help="One start as drawn, or the best of its four signs (default: one)."),
    ] = None,
    prove: Annotated[
        bool,
        typer.Option(
            "--prove",
            rich_help_panel=RESULTS,
            help="Prove every family found, and say which runs ended in a proved basin.",
        ),
    ] = False,
    out_folder: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", rich_help_panel=RESULTS, help="Run folder (default: runs/HASH)."),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", rich_help_panel=RESULTS, help="One JSON object per (k, n), and nothing else."),
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(rich_help_panel=RESULTS, help="Worker threads (default: one a core). Never changes a result."),
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(rich_help_panel=RESULTS, help="Runs computed together (default: what suits the device)."),
    ] = None,
) -> None:
    """Run an optimiser from many random starts, and count where it ends.

    For each (k, n): how many runs reach the teacher, how many end at spurious minima, and which families of minima
    those are. Everything goes to a run folder. Interrupt it with Ctrl-C: the same command resumes.
    """
    with user_errors():
        from earnshaw.descent import Stopping
        from earnshaw.experiments import Plan, prove_sweep, run_plan
        from earnshaw.experiments.proving import require_provable
        from earnshaw.numerics import remember_programs

        if network is Network.conv:
            trained = output_weights is not OutputWeights.fixed
            two = {"-n": n != "k", "-d": d is not None, "--teacher": teacher, "--grid": grid}
            two |= {"--activation": activation != "relu", "--output-weights": trained, "--prove": prove}
            only_for(Network.two_layer, two)
            problems = convolutional(k, p, ratio)
            start = "four-signs" if starts is Starts.four else start
        else:
            only_for(Network.conv, {"-p": p is not None, "--ratio": ratio is not None, "--starts": starts})
            problems = two_layers(k, n, teacher, grid, d, activation, output_weights)
        if prove:
            require_provable(problems[0])
        if batch is not None and batch < 1:
            raise InputError(f"--batch {batch} was given; use a whole number from 1")
        remember_programs()
        plan = Plan.of(
            problems,
            runs=runs,
            descent=_descent(optimizer, step),
            batch=batch or 0,
            seed=seed,
            start=None if start is None else named_start(start),
            stopping=Stopping(rule=stop.value, max_steps=max_steps, trace=trace),  # type: ignore[arg-type]
        )
        folder = out_folder or Path("runs") / plan.hash[:16]
        with resumable(folder), progress_bar("sweep") as progress:
            results = run_plan(plan, folder, workers, progress)
        proofs = None
        if prove:
            with progress_bar("prove") as progress:
                proofs = prove_sweep(results, folder, workers, progress)
        if as_json:
            for index, result in enumerate(results):
                json_line(result.to_json() | (proofs[index].to_json() if proofs else {}))
        else:
            show(results)
            for result, proved in zip(results, proofs or [], strict=False):
                show_proofs(result, proved)
            say(f"\nresults in {folder}")
        raise typer.Exit(_warn(results, max_steps))


def _descent(optimizer: str | None, step: float | None) -> Descent:
    from earnshaw.descent import GradientDescent

    if optimizer is not None and step is not None:
        raise InputError(
            f"--optimizer {optimizer} and --step {step:g} were both given; put the step into the optimiser"
        )
    if optimizer is not None:
        return named_optimizer(optimizer)
    return GradientDescent() if step is None else GradientDescent(step=step)


def show(results: list[SweepResult]) -> None:
    """Print a table of results."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    sizes = [name for name in results[0].summary.sizes if name != "d"]
    titles = ("spurious", "95%", "mean F", spelled("λmin", "lmin"), "families", "steps", "s")
    for title in (*sizes, "runs", *titles):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("other")
    for result in results:
        summary = result.summary
        unknown = "CONVERGED" in summary.outcomes or summary.spurious_interval is None  # none can be called spurious
        other = ", ".join(
            f"{count} {name}" for name, count in summary.outcomes.items() if name not in ("GLOBAL", "SPURIOUS")
        )
        table.add_row(
            *(f"{summary.sizes[name]:g}" for name in sizes),
            str(summary.runs),
            "-" if unknown else f"{summary.spurious_percent:.1f}%",
            "-" if unknown else "{:.1f}-{:.1f}".format(*summary.spurious_interval or ()),
            "" if summary.mean_objective is None else f"{summary.mean_objective:.4f}",
            "" if summary.mean_min_eigenvalue is None else f"{summary.mean_min_eigenvalue:.4f}",
            str(len(summary.families)),
            str(round(summary.steps / summary.runs)),
            f"{result.seconds:.1f}",
            other,
        )
    show_table(table)


def show_proofs(result: SweepResult, proved: Proved) -> None:
    """Print how far the proofs of one setting reach."""
    say(
        f"{result.summary.name}: families proved minima {proved.proved}, saddles {proved.saddles}, inconclusive "
        f"{proved.inconclusive}; {proved.runs_in_proved_basins} of {result.summary.spurious} spurious runs ended in a proved basin"
    )


def _warn(results: list[SweepResult], max_steps: int) -> int:
    """Say what a reader of the percentages must know; return the exit code."""
    code = 0
    for result in results:
        summary = result.summary
        where = summary.name
        diverged = summary.outcomes.get("DIVERGED", 0)
        if diverged:
            note(
                f"{where}: {diverged} of {summary.runs} runs diverged, also with every halving of the step; use a smaller one"
            )
            code = CLAIM_FAILED if diverged < summary.runs else BAD_USAGE
        elif summary.restarted:
            note(
                f"{where}: {summary.restarted} of {summary.runs} runs diverged and were restarted with half the step, as often as needed"
            )
        if summary.decided_by_value_test:
            note(
                f"{where}: {summary.decided_by_value_test} runs reached {max_steps} steps and were decided by the value test F < 1e-3"
            )
        if stopped := summary.outcomes.get("UNDECIDED", 0):
            note(
                f"{where}: {stopped} of {summary.runs} runs are undecided at the limit of {max_steps} steps; raise --max-steps, "
                "or use a smaller step"
            )
        if flat := summary.outcomes.get("FLAT", 0):
            note(
                f"{where}: {flat} of {summary.runs} runs ended where second derivatives do not decide (flat directions)"
            )
        if summary.undecided:
            note(f"{where}: percentages are of the {summary.decided} decided runs")
    return code
