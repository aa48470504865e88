"""Fit a network of probabilities to data: a start, gradient descent, Newton's finish, and what can be said of the end."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from earnshaw.descent import GradientDescent, Lanes, Outcome, Stopping, run_lanes
from earnshaw.descent.judges.base import DenseJudge, name_end
from earnshaw.descent.newton.dense import NewtonEnd, dense_newton
from earnshaw.descent.outcomes import Trace
from earnshaw.errors import InputError, checked_seed
from earnshaw.experiments.engine import run
from earnshaw.experiments.work import Context, Piece, Progress, Work, quiet
from earnshaw.landscapes.empirical import EmpiricalRisk, StreamedRisk
from earnshaw.landscapes.rows import Rows
from earnshaw.numerics import TOLERANCES, lane_normals
from earnshaw.problems import Data, unit_activation
from earnshaw.problems.base import whole
from earnshaw.problems.logistic import check_neurons
from earnshaw.proof import ConvexityClaim, check, prove
from earnshaw.proof.convexity import too_large
from earnshaw.proof.trusted.balls import shown
from earnshaw.records import pack, unpack
from earnshaw.showing import Shown
from earnshaw.starts.tensor import TensorStart
from earnshaw.store import Arrays, npz_bytes

Array = NDArray[np.float64]
MEMORY_ROWS = 200_000  # more rows than this are first fitted on so many, then finished by streamed Newton steps
TOO_LONG = 100
BEGINNINGS = ("tensor", "random")
TRACE_EVERY = 10


@dataclass(frozen=True, kw_only=True)
class FitPlan:
    """What to fit and how; the arguments of :func:`fit`, and the digest of a user's activation."""

    neurons: int
    activation: str = "sigmoid"
    begin: str = "tensor"
    starts: int = 10
    step: float | None = None
    max_steps: int = 300
    seed: int = 0
    prove: bool = True
    activation_digest: str | None = None

    def __post_init__(self) -> None:
        """Check what no later code checks."""
        whole("starts", self.starts, 1)
        whole("steps", self.max_steps, 1)
        checked_seed(self.seed)
        if self.step is not None and not (math.isfinite(self.step) and self.step > 0):
            raise InputError(f"the step is {self.step}; give a positive number, or none")


@dataclass(frozen=True)
class Curve:
    """The way down of the start that was kept: step, risk and gradient norm at each recorded moment."""

    step: NDArray[np.int64]
    value: Array
    gradient_norm: Array


@dataclass(frozen=True, repr=False)
class Fit(Shown):
    """The fitted network and what is known of it."""

    plan: FitPlan
    samples: int
    weights: Array  #: (K, d), the end
    start: Array  #: (K, d), where it came from
    value: float  #: the risk at the end
    gradient_norm: float  #: its gradient's norm there
    spectrum: Array  #: the Hessian's eigenvalues there, ascending
    outcome: (
        Outcome  #: CONVERGED at a strict minimum, GLOBAL where the risk is 0, UNDECIDED when weights were still moving
    )
    ends: Array  #: (starts,), the risk at the end of each start
    curve: Curve
    step: float  #: the step of gradient descent that was used
    proved: ConvexityClaim | None = None  #: what is proved of the risk around the end, as the checker has accepted it
    reason: str = ""  #: why nothing is proved
    certificate: str | None = None  #: the certificate of what is proved, as text

    def _line(self) -> str:
        what = f"{self.plan.neurons} neurons, {self.plan.activation}, {self.samples} samples"
        proved = "" if self.proved is None else f", proved convex within {shown(self.proved.radius, up=False)}"
        return f"{what}: risk {self.value:.6g}, {self.outcome.name}{proved}"

    def _facts(self) -> Mapping[str, object]:
        return {name: value for name, value in self.to_json().items() if not isinstance(value, list)}

    def _matrix(self) -> Array:
        return self.weights

    @property
    def isolated(self) -> bool:
        """Whether the end is a strict minimum: its gradient vanishes to rounding and its Hessian is positive definite."""
        return bool(self.gradient_norm <= TOLERANCES.risk_gradient and self.spectrum[0] > TOLERANCES.strict)

    def to_json(self) -> dict[str, Any]:
        """Return the record that ``fit.json`` and ``earnshaw fit --json`` show; bounds are on the safe side."""
        plan, proved = self.plan, self.proved
        return {
            "neurons": plan.neurons,
            "activation": str(plan.activation),
            "start": plan.begin,
            "starts": len(self.ends),
            "max_steps": plan.max_steps,
            "seed": plan.seed,
            "step": self.step,
            "samples": self.samples,
            "dimension": int(self.weights.shape[1]),
            "risk": self.value,
            "gradient_norm": self.gradient_norm,
            "outcome": self.outcome.name,
            "steps": int(self.curve.step[-1]),
            "norms": np.linalg.norm(self.weights, axis=1).tolist(),
            "hessian_min": float(self.spectrum[0]),
            "hessian_max": float(self.spectrum[-1]),
            "isolated": self.isolated,
            "proved_radius": proved and proved.radius,
            "proved_hessian_min": proved and proved.curvature_ge,
            "proved_minimiser_within": proved and proved.minimiser_within,
            "risk_of_each_start": self.ends.tolist(),
        }

    def files(self) -> dict[str, bytes]:
        """Return the content of ``weights.npy``, ``curve.npz`` and the certificate, by their paths in a folder."""
        buffer = io.BytesIO()
        np.save(buffer, self.weights)
        files = {"weights.npy": buffer.getvalue(), "curve.npz": npz_bytes(asdict(self.curve))}
        if self.certificate is not None:
            files["certificates/fit-convexity.json"] = self.certificate.encode("ascii")
        return files


@dataclass(frozen=True)
class Fitting(Work):
    """One fit; its manifest has the hash of the data in place of the data."""

    kind: ClassVar[str] = "fit"
    result: ClassVar[type] = Fit

    rows: Rows
    plan: FitPlan

    @classmethod
    def beside(cls, arrays: Arrays) -> dict[str, bytes]:
        """Return the weights, the curve and the certificate."""
        return unpack(Fit, arrays).files()

    def compute(self, piece: Piece, context: Context) -> Arrays:
        """Fit the network to validated rows."""
        rows, plan, progress = self.rows, self.plan, context.progress
        progress(0.0, "start")
        starts = _starts(rows, plan)
        progress(0.2, "gradient descent")
        near = rows if len(rows) <= MEMORY_ROWS else rows.part(0, MEMORY_ROWS)
        risk = EmpiricalRisk.of(near, plan.neurons, plan.activation)
        safe = safe_step(risk, starts)
        step = safe if plan.step is None else plan.step
        if step > TOO_LONG * safe:
            long = f"{step:.3g} is more than {TOO_LONG} times one over the largest curvature at the start ({safe:.3g})"
            use = "and gradient descent would only jump about; use a smaller --step, or none"
            raise InputError(f"the step {long}, {use}")
        ends, trace = descend_risk(near, risk, plan, step, starts)
        values = np.array([end.value for end in ends])
        best = int(np.argmin(values))
        end, own = ends[best], trace.run == best
        curve = _joined(Curve(trace.step[own], trace.value[own], trace.gradient_norm[own]), end)
        if near is not rows:
            streamed = StreamedRisk(rows, plan.neurons, plan.activation)
            end = dense_newton(streamed, end.point, progress=lambda share, what: progress(0.7 + 0.2 * share, what))
            curve = _joined(curve, end)
        progress(0.9, "proof")
        proved, reason, certificate = _proof(rows, plan, end)
        progress(1.0, "done")
        begun, found = starts[best], (end.value, end.gradient_norm, end.spectrum, name_end(end))
        return pack(Fit(plan, len(rows), end.point, begun, *found, values, curve, step, proved, reason, certificate))


def fit(
    x: ArrayLike | Rows,
    y: ArrayLike | None = None,
    *,
    neurons: int,
    activation: str = "sigmoid",
    start: str = "tensor",
    starts: int = 10,
    step: float | None = None,
    max_steps: int = 300,
    seed: int = 0,
    prove: bool = True,
    out: str | Path | None = None,
    progress: Progress | bool = quiet,
) -> Fit:
    """Fit the network (1/K) sum of phi(w_k.x) to inputs and labels in [0, 1], or classes 0 and 1.

    Parameters
    ----------
    x, y : (n, d) and (n,) arrays, memory-mapped ones included; or rows that are both
    neurons, activation : the network: K, and a function with values in [0, 1]
    start, starts : ``tensor``: from moments of the data; ``random``: the best of so many random points
    step : the step of gradient descent; one over the largest curvature at the start when None
    max_steps : steps of gradient descent before Newton's method takes over
    seed, prove : the root of all random numbers; whether to try a proof of strict convexity at the end
    out : a folder that keeps the fit; the same call finds it there
    """
    if start not in BEGINNINGS:
        raise InputError(f"the start is {start!r}; choose {' or '.join(BEGINNINGS)}")
    if not isinstance(x, Rows):
        if y is None:
            raise InputError("only inputs were given; give the labels too: fit(x, y, neurons=3)")
        x = Rows.of(x, y)
    x.validate()
    check_neurons(len(x), x.dimension, neurons)
    phi = unit_activation(activation)
    how: dict[str, Any] = {"starts": starts, "step": step, "max_steps": max_steps, "seed": seed, "prove": prove}
    plan = FitPlan(neurons=neurons, activation=phi.name, activation_digest=phi.digest, begin=start, **how)
    return unpack(Fit, run(Fitting(x, plan), out, workers=1, progress=progress)["fit"].arrays)


def _proof(rows: Rows, plan: FitPlan, end: NewtonEnd) -> tuple[ConvexityClaim | None, str, str | None]:
    """Prove strict convexity at the end, if that makes sense; what is proved has been accepted by the checker."""
    if not plan.prove:
        return None, "no proof was asked for", None
    if not (name_end(end) in (Outcome.GLOBAL, Outcome.CONVERGED) and end.spectrum[0] > TOLERANCES.strict):
        return None, "the solution is not isolated", None
    if too_much := too_large(len(rows), plan.neurons, rows.dimension):
        return None, too_much, None
    problem = Data(np.asarray(rows.x), np.asarray(rows.y), plan.neurons, plan.activation)
    if problem.unprovable:
        return None, problem.unprovable, None
    proof = prove(problem, end.point)
    if proof.main is None:
        return None, proof.reason, None
    checked = check(proof.main)
    if not checked.verified:
        return None, f"the checker did not accept the certificate: {checked.reason}", None
    assert isinstance(proof.claim, ConvexityClaim)
    return proof.claim, "", proof.main.to_text()


def _starts(rows: Rows, plan: FitPlan) -> Array:
    if plan.begin == "tensor":
        return TensorStart(seed=plan.seed).guess(rows, plan.neurons, plan.activation).weights[None]
    numbers = lane_normals(plan.seed, np.arange(plan.starts), plan.neurons * rows.dimension)
    return numbers.reshape(-1, plan.neurons, rows.dimension) / np.sqrt(rows.dimension)


def safe_step(risk: EmpiricalRisk, starts: Array) -> float:
    """Return one over the largest curvature at the first start: gradient descent is stable with up to twice that."""
    return 1.0 / max(float(np.asarray(risk.spectrum(starts[0]))[-1]), 1e-12)


def descend_risk(
    rows: Rows, risk: EmpiricalRisk, plan: FitPlan, step: float, starts: Array
) -> tuple[list[NewtonEnd], Trace]:
    """Run gradient descent from every start, all lanes on the same rows, then Newton's method with the whole Hessian."""
    stopping = Stopping(max_steps=plan.max_steps, trace=TRACE_EVERY)
    judge = DenseJudge(stopping=stopping, risk=StreamedRisk(rows, plan.neurons, plan.activation))
    descent, indices = GradientDescent(step=step), np.arange(len(starts))
    work = Lanes(
        landscape=risk, descent=descent, judge=judge, starts=starts, indices=indices, batch=len(starts), seed=plan.seed
    )
    _, trace = run_lanes(work)
    assert trace is not None
    return [judge.ends[lane] for lane in range(len(starts))], trace


def _joined(curve: Curve, end: NewtonEnd) -> Curve:
    """Append the steps of Newton's method, the first of which is where the curve ended."""
    steps = curve.step[-1] + 1 + np.arange(len(end.values) - 1)
    before, after = (curve.step, curve.value, curve.gradient_norm), (steps, end.values[1:], end.gradient_norms[1:])
    return Curve(*map(np.concatenate, zip(before, after, strict=True)))
