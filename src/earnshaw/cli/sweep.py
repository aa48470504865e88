"""``earnshaw sweep``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from earnshaw.cli import settings
from earnshaw.cli.console import BAD_USAGE, CLAIM_FAILED, FINE, json_line, note, progress_bar, say, show_table, spelled
from earnshaw.cli.helping import begins
from earnshaw.cli.settings import CONV, PROBLEM, RESULTS, RUNS
from earnshaw.errors import InputError

if TYPE_CHECKING:
    from earnshaw.descent import Descent
    from earnshaw.experiments import Proved, SweepResult

EXAMPLES = (
    "earnshaw sweep -k 10                                  # 1000 runs",
    "earnshaw sweep -k 6..12 -n k+1 --prove --json",
    "earnshaw sweep --teacher mine.npy -n 5 --out runs/mine",
    "earnshaw sweep -k 4 --activation erf --optimizer lbfgs --runs 100",
    "earnshaw sweep --network conv -p 20 -k 25 --ratio 0.5",
)
OFTEN = "most often"
CONV_HELP = "conv: one filter seen through k patches, trained output weights, a new random teacher for every run."
OPTIMIZER_HELP = (
    "gd:0.1 (gradient descent with step 0.1, the default), momentum:0.05:0.9, adam:0.01 or another of optax, "
    "lbfgs, newton-tr, perturbed-gd, flow, stochastic:0.1:64, or your own: FILE.py:OBJECT, MODULE:OBJECT."
)
STOP_HELP = "early: once the fate is clear. paper: when every neuron's gradient is at most 1e-9."
TRACE_HELP = "Store value, gradient norm and weights every M steps (0: never)."
STARTS_HELP = "One start as drawn, or the best of its four signs (default: one)."
PROVE_HELP = "Prove every family found, and say which runs ended in a proved basin."
KERNEL_HELP = "What takes the steps (default: native, on a GPU pool, where they cover the problem)."
MIXED_HELP = "Go on in a folder that was begun with another kernel; last bits are then of two kinds."
DEVICE_HELP = "What JAX computes on (default: a GPU, if it sees one)."
WORKERS_HELP = "Worker threads (default: one a core). Never changes a result."

OptimizerName = Annotated[str | None, RUNS(OPTIMIZER_HELP, metavar="NAME", autocompletion=begins(settings.OPTIMIZERS))]


def sweep(
    k: settings.Teachers = None,
    n: settings.Students = "k",
    d: settings.Dimension = None,
    teacher: settings.TeacherFile = None,
    grid: Annotated[settings.Grid | None, PROBLEM("paper: all 1 <= k <= n <= 20, in place of -k and -n.")] = None,
    activation: settings.ActivationName = "relu",
    output_weights: settings.Outputs = "fixed",
    network: Annotated[settings.Network, PROBLEM(CONV_HELP)] = "two-layer",
    runs: Annotated[int, RUNS("Random starts for each (k, n).")] = 1000,
    seed: settings.Seed = 0,
    start: settings.StartName = None,
    optimizer: OptimizerName = None,
    step: Annotated[float | None, RUNS("Step of gradient descent, short for --optimizer gd:STEP.")] = None,
    stop: Annotated[Literal["early", "paper"], RUNS(STOP_HELP)] = "early",
    max_steps: Annotated[int, RUNS("Steps after which a run is given up as undecided.")] = 200_000,
    trace: Annotated[int, RUNS(TRACE_HELP, metavar="M")] = 0,
    p: Annotated[int | None, CONV("Size of the filter and of a patch.", "-p", metavar="P")] = None,
    ratio: Annotated[float | None, CONV("S/|a*|, sum over norm of the teacher's output weights.")] = None,
    starts: Annotated[Literal["one", "four"] | None, CONV(STARTS_HELP)] = None,
    prove: Annotated[bool, RESULTS(PROVE_HELP, "--prove")] = False,
    out_folder: Annotated[Path | None, RESULTS("Run folder (default: runs/HASH).", "--out", metavar="DIR")] = None,
    as_json: Annotated[bool, RESULTS("One JSON object per (k, n), and nothing else.", "--json")] = False,
    workers: Annotated[int | None, RESULTS(WORKERS_HELP)] = None,
    batch: Annotated[int | None, RESULTS("Runs computed together (default: what suits the device).")] = None,
    kernel: Annotated[Literal["native", "pool", "xla"] | None, RESULTS(KERNEL_HELP)] = None,
    mixed: Annotated[bool, RESULTS(MIXED_HELP, "--mixed")] = False,
    device: Annotated[Literal["cpu", "gpu"] | None, RESULTS(DEVICE_HELP)] = None,
    cluster: settings.ClusterName = None,
    part: settings.PartName = None,
    time_limit: settings.TimeLimit = None,
    log_file: settings.LogFile = None,
) -> None:
    """Run an optimiser from many random starts, and count where it ends.

    For each (k, n): how many runs reach the teacher, how many end at spurious minima, and which families of minima
    those are. Everything goes to a run folder. Interrupt it with Ctrl-C: the same command resumes.
    """
    from earnshaw.descent import Stopping
    from earnshaw.experiments import Plan, prove_sweep, run_plan
    from earnshaw.experiments.proving import require_provable
    from earnshaw.numerics import compute_on

    if device is not None:
        compute_on(device)
    if network == "conv":
        two = {"-n": n != "k", "-d": d is not None, "--teacher": teacher, "--grid": grid}
        two |= {"--activation": activation != "relu", "--output-weights": output_weights != "fixed", "--prove": prove}
        settings.only_for("two-layer", two)
        problems = settings.convolutional(k, p, ratio)
        start = "four-signs" if starts == "four" else start
    else:
        settings.only_for("conv", {"-p": p is not None, "--ratio": ratio is not None, "--starts": starts})
        problems = settings.two_layers(k, n, teacher, grid, d, activation, output_weights)
    if prove:
        require_provable(problems[0])
    if prove and part is not None:
        raise InputError(
            f"--prove was asked for part {part} of the runs; merge the parts first, then give the same command with --prove "
            "and the merged folder as --out"
        )
    if batch is not None and batch < 1:
        raise InputError(f"--batch {batch} was given; use a whole number from 1")
    plan = Plan.of(
        problems,
        runs=runs,
        descent=_descent(optimizer, step),
        batch=batch or 0,
        kernel=kernel or "",
        seed=seed,
        start=settings.named_start(start),
        stopping=Stopping(rule=stop, max_steps=max_steps, trace=trace),  # type: ignore[arg-type]
    )
    whole = out_folder or Path("runs") / plan.hash[:16]
    folder, share = settings.part_folder(whole, part)
    with progress_bar("sweep", folder) as progress:
        results = run_plan(plan, folder, workers, progress, part=share, cluster=cluster, mixed=mixed)
    proofs = None
    if prove:
        with progress_bar("prove") as progress:
            proofs = prove_sweep(results, folder, workers, progress, cluster)
    if as_json:
        for index, result in enumerate(results):
            json_line(result.to_json() | (proofs[index].to_json() if proofs else {}))
    else:
        if results:
            show(results)
        for result, proved in zip(results, proofs or [], strict=False):
            show_proofs(result, proved)
        if share is None:
            say(f"\nresults in {folder}")
        else:
            settings.say_part(folder, whole, share)
    code = FINE
    for result in results:
        code = _warn(result, max_steps) or code
    raise typer.Exit(code)


def _descent(optimizer: str | None, step: float | None) -> Descent:
    from earnshaw.descent import GradientDescent

    if optimizer is not None and step is not None:
        raise InputError(
            f"--optimizer {optimizer} and --step {step:g} were both given; put the step into the optimiser"
        )
    if optimizer is not None:
        return settings.named_optimizer(optimizer)
    return GradientDescent() if step is None else GradientDescent(step=step)


def show(results: list[SweepResult]) -> None:
    """Print a table of results."""
    from rich.table import Column

    sizes = [name for name in results[0].summary.sizes if name != "d"]
    named = any(family.label for result in results for family in result.summary.families[:1])
    titles = ("spurious", "95%", "mean F", spelled("λmin", "lmin"), "families", *[OFTEN] * named, "steps", "s")
    columns = [
        Column(title, justify="right", no_wrap=title != OFTEN, overflow="fold") for title in (*sizes, "runs", *titles)
    ]
    rows = []
    for result in results:
        summary = result.summary
        unknown = "CONVERGED" in summary.outcomes or summary.spurious_interval is None  # none can be called spurious
        others = [f"{count} {name}" for name, count in summary.outcomes.items() if name not in ("GLOBAL", "SPURIOUS")]
        row = [f"{summary.sizes[name]:g}" for name in sizes]
        row += [str(summary.runs), "-" if unknown else f"{summary.spurious_percent:.1f}%"]
        row += ["-" if unknown else "{:.1f}-{:.1f}".format(*summary.spurious_interval or ())]
        row += ["" if mean is None else f"{mean:.4f}" for mean in (summary.mean_objective, summary.mean_min_eigenvalue)]
        often = summary.families[0].label or "" if summary.families else ""
        row += [str(len(summary.families)), *[often] * named]
        row += [str(round(summary.steps / summary.runs)), f"{result.seconds:.1f}" if result.seconds else "-"]
        rows.append([*row, ", ".join(others)])
    show_table([*columns, Column("other", overflow="fold")], rows, pad_edge=False, header_style="bold")


def show_proofs(result: SweepResult, proved: Proved) -> None:
    """Print how far the proofs of one setting reach."""
    say(
        f"{result.summary.name}: families proved minima {proved.proved}, saddles {proved.saddles}, inconclusive "
        f"{proved.inconclusive}; {proved.runs_in_proved_basins} of {result.summary.spurious} spurious runs ended in a proved basin"
    )


def _warn(result: SweepResult, max_steps: int) -> int:
    """Say what a reader of the percentages must know; return the exit code."""
    summary = result.summary
    diverged, stopped, flat = (summary.outcomes.get(name, 0) for name in ("DIVERGED", "UNDECIDED", "FLAT"))
    of, values = f"of {summary.runs} runs", summary.decided_by_value_test
    restarted = 0 if diverged else summary.restarted
    remedy = "raise --max-steps, or use a smaller step"
    for count, words in (
        (diverged, f"{diverged} {of} diverged, also with every halving of the step; use a smaller one"),
        (restarted, f"{restarted} {of} diverged and were restarted with half the step, as often as needed"),
        (values, f"{values} runs reached {max_steps} steps and were decided by the value test F < 1e-3"),
        (stopped, f"{stopped} {of} are undecided at the limit of {max_steps} steps; {remedy}"),
        (flat, f"{flat} {of} ended where second derivatives do not decide (flat directions)"),
        (summary.undecided, f"percentages are of the {summary.decided} decided runs"),
    ):
        if count:
            note(f"{summary.name}: {words}")
    return FINE if not diverged else CLAIM_FAILED if diverged < summary.runs else BAD_USAGE
