"""Fit a network of probabilities to data: a start, gradient descent, Newton's finish, and what can be said of the end."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earnshaw.descent import GradientDescent, Lanes, Outcome, Stopping, run_lanes
from earnshaw.descent.judges.budget import BudgetJudge
from earnshaw.descent.newton.dense import NewtonEnd, dense_newton
from earnshaw.descent.outcomes import Trace
from earnshaw.errors import InputError
from earnshaw.experiments.data import check_size
from earnshaw.landscapes.empirical import EmpiricalRisk
from earnshaw.landscapes.rows import Rows
from earnshaw.landscapes.streamed import StreamedRisk
from earnshaw.numerics import TOLERANCES
from earnshaw.proof.convexity import ConvexBall, prove_convexity
from earnshaw.starts.logistic import random_starts
from earnshaw.starts.tensor import TensorStart
from earnshaw.store import write_bytes, write_json, write_npz
from earnshaw.threads import one_blas_thread

Array = NDArray[np.float64]
Progress = Callable[[float, str], None]
MEMORY_ROWS = 200_000  # more rows than this are first fitted on so many, then finished by streamed Newton steps
PROOF_NUMBERS = 300_000  # a proof is tried up to this many rows times neurons
PROOF_DIMENSION = 60
STATIONARY = 1e-8  # gradients of this risk are thousandths at a start, and 1e-18 where Newton's method ends
ZERO_RISK = 1e-24
TOO_LONG = 100
TRACE_EVERY = 10


class Begin(Enum):
    """Where the fit starts; the value is the sentence."""

    TENSOR = "from moments of the data, by the tensor method"
    RANDOM = "from several random points, of which the best end is kept"


@dataclass(frozen=True, kw_only=True)
class FitPlan:
    """What to fit and how.

    Attributes
    ----------
    neurons, activation : the network.
    begin : where to start.
    starts : how many random starts.
    step : the step of gradient descent; one over the largest curvature at the start when None.
    max_steps : steps of gradient descent before Newton's method takes over.
    seed : root of all random numbers.
    prove : whether to try a proof of strict convexity at the end.
    """

    neurons: int
    activation: str = "sigmoid"
    begin: Begin = Begin.TENSOR
    starts: int = 10
    step: float | None = None
    max_steps: int = 300
    seed: int = 0
    prove: bool = True

    def __post_init__(self) -> None:
        """Check what no later code checks."""
        if self.starts < 1:
            raise InputError(f"{self.starts} starts were asked for; use at least 1")
        if self.seed < 0:
            raise InputError(f"the seed {self.seed} was given; use a whole number from 0")

    def to_json(self) -> dict[str, Any]:
        """Return the settings with their defaults."""
        return {
            "neurons": self.neurons,
            "activation": self.activation,
            "start": self.begin.name.lower(),
            "starts": self.starts if self.begin is Begin.RANDOM else 1,
            "step": self.step,
            "max_steps": self.max_steps,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class Curve:
    """The way down of the start that was kept: step, risk and gradient norm at each recorded moment."""

    step: NDArray[np.int64]
    value: Array
    gradient_norm: Array


@dataclass(frozen=True)
class Fit:
    """The fitted network and what is known of it.

    Attributes
    ----------
    weights, start : (K, d) arrays, the end and where it came from.
    value, gradient_norm : the risk and its gradient's norm at the end.
    spectrum : the Hessian's eigenvalues there, ascending.
    outcome : CONVERGED at a strict minimum, GLOBAL where the risk is 0, UNDECIDED when the weights were still moving.
    ends : (starts,) array, the risk at the end of each start.
    ball : the proved ball of convexity; None when no proof was tried.
    step : the step of gradient descent that was used.
    """

    plan: FitPlan
    samples: int
    weights: Array
    start: Array
    value: float
    gradient_norm: float
    spectrum: Array
    outcome: Outcome
    ends: Array
    curve: Curve
    ball: ConvexBall | None
    step: float

    @property
    def isolated(self) -> bool:
        """Whether the end is a strict minimum: its gradient vanishes to rounding and its Hessian is positive definite."""
        return bool(self.gradient_norm <= STATIONARY and self.spectrum[0] > TOLERANCES.strict)

    def to_json(self) -> dict[str, Any]:
        """Return the record that ``fit.json`` and ``earnshaw fit --json`` show; bounds are on the safe side."""
        ball = self.ball
        return {
            **self.plan.to_json(),
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
            "proved_radius": ball.radius if ball is not None and ball.proved else None,
            "proved_hessian_min": ball.curvature_ge if ball is not None and ball.proved else None,
            "proved_minimiser_within": ball.minimiser_within if ball is not None else None,
            "risk_of_each_start": self.ends.tolist(),
        }

    def save(self, folder: Path) -> None:
        """Write ``weights.npy``, ``curve.npz`` and ``fit.json`` into a folder, each whole or not at all."""
        buffer = io.BytesIO()
        np.save(buffer, self.weights)
        write_bytes(folder / "weights.npy", buffer.getvalue())
        write_npz(
            folder / "curve.npz",
            {"step": self.curve.step, "value": self.curve.value, "gradient_norm": self.curve.gradient_norm},
        )
        write_json(folder / "fit.json", self.to_json())


def check_folder(folder: Path) -> None:
    """Refuse a folder that holds something else than an earlier fit."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "fit.json").exists():
        raise InputError(f"{folder} is not empty and holds no earlier fit; choose another --out")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; choose a folder for --out")


def fit(rows: Rows, plan: FitPlan, progress: Progress = lambda share, what: None) -> Fit:
    """Fit a network to rows; the rows should have been validated (:meth:`~earnshaw.landscapes.rows.Rows.validate`)."""
    check_size(rows, plan.neurons)
    with one_blas_thread():
        progress(0.0, "start")
        starts = _starts(rows, plan)
        progress(0.2, "gradient descent")
        near = rows if len(rows) <= MEMORY_ROWS else rows.part(0, MEMORY_ROWS)
        risk = EmpiricalRisk.of(near, plan.neurons, plan.activation)
        safe = safe_step(risk, starts)
        step = safe if plan.step is None else plan.step
        if step > TOO_LONG * safe:
            raise InputError(
                f"the step {step:.3g} is more than {TOO_LONG} times one over the largest curvature at the start ({safe:.3g}), "
                "and gradient descent would only jump about; use a smaller --step, or none"
            )
        ends, trace = descend_risk(near, risk, plan, step, starts, progress)
        best = int(np.argmin([end.value for end in ends]))
        end, values = ends[best], np.array([end.value for end in ends])
        curve = _joined(_curve(trace, best), end)
        if near is not rows:
            streamed = StreamedRisk(rows, plan.neurons, plan.activation)
            end = dense_newton(streamed, end.point, progress=lambda share, what: progress(0.7 + 0.2 * share, what))
            curve = _joined(curve, end)
        point = end.point
        progress(0.9, "proof")
        small = len(rows) * plan.neurons <= PROOF_NUMBERS and rows.dimension <= PROOF_DIMENSION
        isolated = name_end(end) in (Outcome.GLOBAL, Outcome.CONVERGED) and end.spectrum[0] > TOLERANCES.strict
        provable = plan.prove and isolated and small and plan.activation in ("sigmoid", "tanh", "erf")
        ball = prove_convexity(np.asarray(rows.x), np.asarray(rows.y), point, plan.activation) if provable else None
        progress(1.0, "done")
    return Fit(
        plan,
        len(rows),
        point,
        starts[best],
        end.value,
        end.gradient_norm,
        end.spectrum,
        name_end(end),
        values,
        curve,
        ball,
        step,
    )


def _starts(rows: Rows, plan: FitPlan) -> Array:
    if plan.begin is Begin.TENSOR:
        return TensorStart(seed=plan.seed).guess(rows, plan.neurons, plan.activation).weights[None]
    return random_starts(plan.neurons, rows.dimension, plan.seed, np.arange(plan.starts))


def safe_step(risk: EmpiricalRisk, starts: Array) -> float:
    """Return one over the largest curvature at the first start: gradient descent is stable with up to twice that."""
    largest = float(np.asarray(risk.spectrum(starts[0]))[-1])
    return 1.0 / max(largest, 1e-12)


def descend_risk(
    rows: Rows,
    risk: EmpiricalRisk,
    plan: FitPlan,
    step: float,
    starts: Array,
    progress: Progress = lambda share, what: None,
) -> tuple[list[NewtonEnd], Trace]:
    """Run gradient descent from every start, all lanes on the same rows, then Newton's method with the whole Hessian.

    A lane whose descent left the finite numbers, also with halved steps, goes to Newton's method from its start.
    """
    lanes = np.arange(len(starts))
    stopping = Stopping(max_steps=plan.max_steps, trace=TRACE_EVERY)
    judge = BudgetJudge(stopping, STATIONARY)
    descent = GradientDescent(step=step)
    work = Lanes(
        landscape=risk, descent=descent, judge=judge, starts=starts, indices=lanes, batch=len(lanes), seed=plan.seed
    )
    ledger, trace = run_lanes(work)
    assert trace is not None
    exact = StreamedRisk(rows, plan.neurons, plan.activation)
    ends = []
    for lane in lanes:
        progress(0.4 + 0.3 * lane / len(lanes), "Newton's method")
        point = ledger.points[lane]
        ends.append(dense_newton(exact, point if np.isfinite(point).all() else starts[lane]))
    return ends, trace


def name_end(end: NewtonEnd) -> Outcome:
    """Return what became of a start, from where Newton's method ended."""
    if not end.gradient_norm <= STATIONARY:
        return Outcome.UNDECIDED
    if end.value < ZERO_RISK:
        return Outcome.GLOBAL
    if end.spectrum[0] > TOLERANCES.strict:
        return Outcome.CONVERGED
    return Outcome.SADDLE if end.spectrum[0] < -TOLERANCES.strict else Outcome.UNDECIDED


def _curve(trace: Trace, lane: int) -> Curve:
    """Return the recorded way of one start."""
    own = trace.run == lane
    return Curve(trace.step[own], trace.value[own], trace.gradient_norm[own])


def _joined(curve: Curve, end: NewtonEnd) -> Curve:
    """Append the steps of Newton's method, the first of which is where the curve ended."""
    steps = curve.step[-1] + 1 + np.arange(len(end.values) - 1)
    return Curve(
        np.concatenate([curve.step, steps]),
        np.concatenate([curve.value, end.values[1:]]),
        np.concatenate([curve.gradient_norm, end.gradient_norms[1:]]),
    )
