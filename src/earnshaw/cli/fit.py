"""``earnshaw fit``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from earnshaw.cli.console import fail, json_line, note, progress_bar, say
from earnshaw.cli.helping import argument, options

if TYPE_CHECKING:
    from earnshaw.experiments.fit import Fit

EXAMPLES = (
    "earnshaw fit data.csv --neurons 3",
    "earnshaw fit data.npz --neurons 3 --start random --out fit3",
    "earnshaw fit x.npy y.npy --neurons 3 --json",
)
NETWORK, RUN, RESULTS = options("The network"), options("The descent"), options("Proof and results")
DATA_HELP = "An .npz with x (n, d) and y (n,), a .csv with the label last, or x.npy with LABELS."
LABELS_HELP = "y.npy, when DATA is x.npy; both are memory-mapped."
ACTIVATION_HELP = "sigmoid, unit-tanh for (1 + tanh)/2, unit-erf for (1 + erf)/2, or module:function."
START_HELP = "tensor: from moments of the data. random: the best of several."
PROVE_HELP = "Try to prove that the solution is isolated, on small data."


def fit(
    data: Annotated[Path, argument("DATA", DATA_HELP)],
    labels: Annotated[Path | None, argument("LABELS", LABELS_HELP)] = None,
    neurons: Annotated[int, NETWORK("Neurons of the network.", "--neurons", "-k", metavar="K")] = 3,
    activation: Annotated[str, NETWORK(ACTIVATION_HELP, metavar="NAME")] = "sigmoid",
    start: Annotated[Literal["tensor", "random"], RUN(START_HELP)] = "tensor",
    starts: Annotated[int, RUN("How many random starts.")] = 10,
    step: Annotated[float | None, RUN("Step of gradient descent (default: from the curvature).")] = None,
    max_steps: Annotated[int, RUN("Gradient steps before Newton's method takes over.")] = 300,
    seed: Annotated[int, RUN("Root of all random numbers.")] = 0,
    prove: Annotated[bool, RESULTS(PROVE_HELP, "--prove/--no-prove")] = True,
    folder: Annotated[Path, RESULTS("Where the results go.", "--out", metavar="DIR")] = Path("fit"),
    as_json: Annotated[bool, RESULTS("One JSON object, and nothing else.", "--json")] = False,
) -> None:
    """Fit a network (1/K) sum of phi(w_k.x) to your own data: inputs x, and labels in [0, 1] or classes 0 and 1.

    Writes weights.npy (one neuron a row), curve.npz and a figure of the training curve, and fit.json with the risk, the
    Hessian's extreme eigenvalues and whether the solution is isolated. Exit code 1 says that no isolated solution was
    reached.
    """
    from earnshaw.experiments.data import looks_standard_normal, read_data
    from earnshaw.experiments.fit import fit as run_fit
    from earnshaw.plots.logistic import training_curve

    rows = read_data(data, labels)
    if start == "tensor" and not looks_standard_normal(rows):
        note(
            "the inputs are not close to standard normal (mean 0, covariance I), which the tensor start assumes; "
            "standardise them, or use --start random"
        )
    with progress_bar("fit", folder) as progress:
        result = run_fit(
            rows,
            neurons=neurons,
            activation=activation,
            start=start,
            starts=starts,
            step=step,
            max_steps=max_steps,
            seed=seed,
            prove=prove,
            out=folder,
            progress=progress,
        )
    curve = result.curve
    training_curve(curve.step, curve.value, curve.gradient_norm, max_steps, folder / "curve")
    if as_json:
        json_line(result.to_json())
    else:
        _show(result, folder)
    if not result.isolated:
        fail(
            f"no isolated solution was reached (gradient {result.gradient_norm:.1e}, smallest eigenvalue "
            f"{result.spectrum[0]:.1e}): use more data or fewer neurons"
        )


def _show(result: Fit, folder: Path) -> None:
    from earnshaw.proof.trusted.balls import shown

    record, proved = result.to_json(), result.proved
    norms = ", ".join(f"{norm:.4g}" for norm in record["norms"])
    say(f"[bold]{result.samples} samples, {record['neurons']} neurons[/] of norms {norms}", markup=True)
    say(f"  risk {result.value:.6g}, gradient {result.gradient_norm:.1e}: {result.outcome.value}")
    say(f"  Hessian's eigenvalues from {record['hessian_min']:.4g} to {record['hessian_max']:.4g}")
    say(f"  isolated: {'yes' if result.isolated else 'no'}")
    if proved is None:
        say(f"  not proved: {result.reason}")
    else:
        within = proved.minimiser_within
        more = "" if within is None else f", and holds the minimiser within {shown(within, up=True)}"
        say(f"  proved: the risk is strictly convex within {shown(proved.radius, up=False)} of the solution{more}")
    files = "weights.npy, curve.npz, curve.png, fit.json" + (", certificates/fit-convexity.json" if proved else "")
    say(f"{files} in {folder}")
