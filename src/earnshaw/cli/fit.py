"""``earnshaw fit``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earnshaw.cli.console import CLAIM_FAILED, json_line, note, out, progress_bar, resumable, say, user_errors
from earnshaw.cli.helping import examples

if TYPE_CHECKING:
    from earnshaw.experiments.fit import Fit

EXAMPLES = examples(
    "earnshaw fit data.csv --neurons 3",
    "earnshaw fit data.npz --neurons 3 --start random --out fit3",
    "earnshaw fit x.npy y.npy --neurons 3 --json",
)
NETWORK, RUN, RESULTS = "The network", "The descent", "Proof and results"


class StartKind(StrEnum):
    """The choices of ``--start``."""

    tensor = "tensor"
    random = "random"


def fit(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA", help="An .npz with x (n, d) and y (n,), a .csv with the label last, or x.npy with LABELS."
        ),
    ],
    labels: Annotated[
        Path | None, typer.Argument(metavar="LABELS", help="y.npy, when DATA is x.npy; both are memory-mapped.")
    ] = None,
    neurons: Annotated[
        int, typer.Option("--neurons", "-k", rich_help_panel=NETWORK, metavar="K", help="Neurons of the network.")
    ] = 3,
    activation: Annotated[
        str,
        typer.Option(
            rich_help_panel=NETWORK,
            metavar="NAME",
            help="sigmoid, unit-tanh for (1 + tanh)/2, unit-erf for (1 + erf)/2, or module:function.",
        ),
    ] = "sigmoid",
    start: Annotated[
        StartKind,
        typer.Option(rich_help_panel=RUN, help="tensor: from moments of the data. random: the best of several."),
    ] = StartKind.tensor,
    starts: Annotated[int, typer.Option(rich_help_panel=RUN, help="How many random starts.")] = 10,
    step: Annotated[
        float | None, typer.Option(rich_help_panel=RUN, help="Step of gradient descent (default: from the curvature).")
    ] = None,
    max_steps: Annotated[
        int, typer.Option(rich_help_panel=RUN, help="Gradient steps before Newton's method takes over.")
    ] = 300,
    seed: Annotated[int, typer.Option(rich_help_panel=RUN, help="Root of all random numbers.")] = 0,
    prove: Annotated[
        bool,
        typer.Option(
            "--prove/--no-prove",
            rich_help_panel=RESULTS,
            help="Try to prove that the solution is isolated, on small data.",
        ),
    ] = True,
    out_folder: Annotated[
        Path, typer.Option("--out", rich_help_panel=RESULTS, metavar="DIR", help="Where the results go.")
    ] = Path("fit"),
    as_json: Annotated[
        bool, typer.Option("--json", rich_help_panel=RESULTS, help="One JSON object, and nothing else.")
    ] = False,
) -> None:
    """Fit a network (1/K) sum of phi(w_k.x) to your own data: inputs x, and labels in [0, 1] or classes 0 and 1.

    Writes weights.npy (one neuron a row), curve.npz and a figure of the training curve, and fit.json with the risk, the
    Hessian's extreme eigenvalues and whether the solution is isolated. Exit code 1 says that no isolated solution was
    reached.
    """
    with user_errors():
        from earnshaw.experiments.data import looks_standard_normal, read_data
        from earnshaw.experiments.fit import fit as run_fit
        from earnshaw.numerics import remember_programs
        from earnshaw.plots.logistic import training_curve

        remember_programs()
        rows = read_data(data, labels)
        if start is StartKind.tensor and not looks_standard_normal(rows):
            note(
                "the inputs are not close to standard normal (mean 0, covariance I), which the tensor start assumes; "
                "standardise them, or use --start random"
            )
        with resumable(out_folder), progress_bar("fit") as progress:
            result = run_fit(
                rows,
                neurons=neurons,
                activation=activation,
                start=start.value,
                starts=starts,
                step=step,
                max_steps=max_steps,
                seed=seed,
                prove=prove,
                out=out_folder,
                progress=progress,
            )
        training_curve(
            result.curve.step, result.curve.value, result.curve.gradient_norm, max_steps, out_folder / "curve"
        )
        if as_json:
            json_line(result.to_json())
        else:
            _show(result, out_folder)
        if not result.isolated:
            note(
                f"no isolated solution was reached (gradient {result.gradient_norm:.1e}, smallest eigenvalue "
                f"{result.spectrum[0]:.1e}): use more data or fewer neurons"
            )
            raise typer.Exit(CLAIM_FAILED)


def _show(result: Fit, folder: Path) -> None:
    from earnshaw.proof.trusted.relu_claims import shown

    record = result.to_json()
    norms = ", ".join(f"{norm:.4g}" for norm in record["norms"])
    out.print(f"[bold]{result.samples} samples, {record['neurons']} neurons[/] of norms {norms}", soft_wrap=True)
    out.print(f"  risk {result.value:.6g}, gradient {result.gradient_norm:.1e}: {result.outcome.value}", soft_wrap=True)
    out.print(
        f"  Hessian's eigenvalues from {record['hessian_min']:.4g} to {record['hessian_max']:.4g}", soft_wrap=True
    )
    proved = result.proved
    if proved is not None:
        within = proved.minimiser_within
        more = "" if within is None else f", and holds the minimiser within {shown(within, up=True)}"
        text = f"  proved: the risk is strictly convex within {shown(proved.radius, up=False)} of the solution{more}"
    else:
        text = f"  not proved: {result.reason}"
    say(f"  isolated: {'yes' if result.isolated else 'no'}\n{text}")
    files = "weights.npy, curve.npz, curve.png, fit.json" + (", certificates/fit-convexity.json" if proved else "")
    say(f"{files} in {folder}")
