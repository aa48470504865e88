"""``earnshaw fit``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earnshaw.cli.console import CLAIM_FAILED, json_line, note, out, progress_bar, user_errors
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
            help="sigmoid, tanh for (1 + tanh)/2, erf for (1 + erf)/2, or module:function.",
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
        from earnshaw.experiments.data import check_size, looks_standard_normal, read_data
        from earnshaw.experiments.fit import Begin, FitPlan, check_folder
        from earnshaw.experiments.fit import fit as run_fit
        from earnshaw.numerics import remember_programs
        from earnshaw.plots.logistic import training_curve
        from earnshaw.potentials.bounded import bounded_activation

        remember_programs()
        check_folder(out_folder)
        bounded_activation(activation)
        rows = read_data(data, labels)
        check_size(rows, neurons)
        if start is StartKind.tensor and not looks_standard_normal(rows):
            note(
                "the inputs are not close to standard normal (mean 0, covariance I), which the tensor start assumes; "
                "standardise them, or use --start random"
            )
        plan = FitPlan(
            neurons=neurons,
            activation=activation,
            begin=Begin[start.name.upper()],
            starts=starts,
            step=step,
            max_steps=max_steps,
            seed=seed,
            prove=prove,
        )
        with progress_bar("fit") as progress:
            result = run_fit(rows, plan, progress)
        result.save(out_folder)
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
    from earnshaw.proof.trusted.balls import shown

    record = result.to_json()
    norms = ", ".join(f"{norm:.4g}" for norm in record["norms"])
    out.print(f"[bold]{result.samples} samples, {record['neurons']} neurons[/] of norms {norms}", soft_wrap=True)
    out.print(f"  risk {result.value:.6g}, gradient {result.gradient_norm:.1e}: {result.outcome.value}", soft_wrap=True)
    out.print(
        f"  Hessian's eigenvalues from {record['hessian_min']:.4g} to {record['hessian_max']:.4g}", soft_wrap=True
    )
    claim = result.claim
    if claim is not None:
        within = (
            ""
            if claim.minimiser_within is None
            else f", and holds the minimiser within {shown(claim.minimiser_within, up=True)}"
        )
        text = f"  proved: the risk is strictly convex within {shown(claim.radius, up=False)} of the solution{within}"
    elif result.proof is not None:
        text = f"  not proved: {result.proof.reason}"
    else:
        text = "  no proof was tried (the solution is not isolated, the data are large, or the activation is your own)"
    out.print(f"  isolated: {'yes' if result.isolated else 'no'}\n{text}", soft_wrap=True, markup=False)
    out.print(f"weights.npy, curve.npz, curve.png and fit.json in [bold]{folder}[/]", soft_wrap=True)
