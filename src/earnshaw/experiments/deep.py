"""Train students of deep tanh teachers: all teachers of a setting in one program."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import jax
import numpy as np

from earnshaw.errors import InputError, checked_seed, is_whole
from earnshaw.experiments.engine import run
from earnshaw.experiments.work import Context, Piece, Progress, Work, finished, quiet
from earnshaw.landscapes import deep
from earnshaw.numerics import compiled, lane_keys
from earnshaw.problems import DeepTanh, problem_from_json
from earnshaw.records import decode, encode, pack, unpack
from earnshaw.store import Arrays


@dataclass(frozen=True, kw_only=True)
class DeepTraining:
    """How students are trained: Adam on fresh samples, for so many teachers at once."""

    teachers: int = 16  #: random teachers, each with a student of its own
    steps: int = 8000  #: of Adam, for each student
    samples: int = 128  #: fresh inputs of each step
    rate: float = 1e-2
    last: float = 1.0  #: the factor of the rate for the last fifth of the steps
    dimension: int = 10  #: of the inputs, the same for every width
    balanced: bool = False  #: whether students start from N(0, 1/inputs), not from N(0, 1)
    tests: int = 4096  #: fresh inputs on which the error is measured
    records: int = 20  #: how many times on the way it is
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("teachers", "steps", "samples", "dimension", "tests", "records"):
            if not is_whole(getattr(self, name), 1):
                raise InputError(f"{name} is {getattr(self, name)!r}; use a whole number from 1")
            object.__setattr__(self, name, int(getattr(self, name)))
        object.__setattr__(self, "seed", checked_seed(self.seed))
        if self.steps % self.records:
            raise InputError(f"{self.steps} steps do not divide into {self.records} records; choose a divisor")


@dataclass(frozen=True)
class DeepResult:
    """The test errors (records, teachers) of one depth and width, after ``steps`` (records,)."""

    depth: int
    width: int
    steps: np.ndarray
    errors: np.ndarray

    @property
    def final(self) -> np.ndarray:
        """The errors at the end, one a teacher."""
        return self.errors[-1]

    def to_json(self) -> dict[str, Any]:
        """Return what a record says of it."""
        return {"depth": self.depth, "width": self.width, "mean_test_error": float(self.final.mean())}


@dataclass(frozen=True)
class DeepGrid(Work):
    """Students of several depths and widths, trained alike."""

    kind: ClassVar[str] = "deep"
    result: ClassVar[type] = DeepResult

    settings: tuple[DeepTanh, ...]
    training: DeepTraining

    @property
    def common(self) -> dict[str, Any]:
        """How they are trained."""
        return encode(self.training)

    @property
    def parts(self) -> dict[str, dict[str, Any]]:
        """One setting for each network, with its teachers as runs."""
        runs = self.training.teachers
        return {x.name: {"identity": {"problem": x.to_json()}, "runs": runs, "plan": {}} for x in self.settings}

    @classmethod
    def from_json(cls, common: Mapping[str, Any], parts: Mapping[str, Any], functions: bool = False) -> Self:
        """Rebuild the grid from its manifest."""
        networks = tuple(problem_from_json(part["identity"]["problem"]) for part in parts.values())
        return cls(networks, decode(DeepTraining, common))

    def pieces(self, name: str) -> list[Piece]:
        """Return the one piece: all teachers share a program."""
        network = self.by_name[name]
        return [Piece(name, 0, self.training.teachers, network.depth * (network.width + 5.0) ** 2)]

    def compute(self, piece: Piece, context: Context) -> Arrays:
        """Train one student for each teacher; lane i depends on the seed and i alone."""
        network, training = self.by_name[piece.setting], self.training
        split = jax.vmap(jax.random.split)(lane_keys(training.seed, np.arange(training.teachers)))
        draw = functools.partial(deep.random_weights, network)
        teachers = jax.vmap(draw)(split[:, 0])
        weights = jax.vmap(functools.partial(draw, balanced=training.balanced))(split[:, 1])
        moments = _adam(training).init(weights)
        errors = []
        for record in range(training.records):
            inputs, tests = _inputs(network, training, record)
            weights, moments, error = _stretch(training, (weights, moments), teachers, inputs, tests)
            errors.append(np.asarray(error, dtype=np.float64))
            context.progress((record + 1) / training.records, network.name)
        steps = training.steps // training.records * np.arange(1, training.records + 1)
        return pack(DeepResult(network.depth, network.width, steps, np.stack(errors)))

    @classmethod
    def load(cls, folder: Path, functions: bool = False) -> list[DeepResult]:
        """Return the finished depths and widths of a folder."""
        return [unpack(DeepResult, done.arrays) for done in finished(folder)]


def train_grid(
    sizes: Sequence[tuple[int, int]],
    training: DeepTraining,
    out: Path,
    progress: Progress = quiet,
    cluster: str | None = None,
) -> list[DeepResult]:
    """Train every (depth, width) into a folder, or what is left of it; each finished one is kept.

    ``cluster`` is that of :func:`earnshaw.experiments.run`; here one is trained after the other.
    """
    grid = DeepGrid(tuple(DeepTanh(depth, width, training.dimension) for depth, width in sizes), training)
    trained = run(grid, out, workers=1, progress=progress, cluster=cluster)
    return [unpack(DeepResult, done.arrays) for done in trained.values()]


def _inputs(network: DeepTanh, training: DeepTraining, record: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the inputs of a stretch of steps (steps, teachers, samples, d) and those of its test (teachers, tests, d).

    Drawn by NumPy, whose generator need not be compiled; a function of the seed, the lane and the stretch, on any device.
    """
    steps, d = training.steps // training.records, network.dimension
    inputs = np.empty((steps, training.teachers, training.samples, d), network.dtype)
    tests = np.empty((training.teachers, training.tests, d), network.dtype)
    for lane in range(training.teachers):
        rng = np.random.default_rng([training.seed, lane, record])
        inputs[:, lane] = rng.standard_normal((steps, training.samples, d), np.float32)
        tests[lane] = rng.standard_normal((training.tests, d), np.float32)
    return inputs, tests


def _adam(training: DeepTraining) -> Any:
    import optax

    return optax.adam(optax.piecewise_constant_schedule(training.rate, {training.steps * 4 // 5: training.last}))


@functools.partial(compiled, static_argnums=(0,))
def _stretch(training: DeepTraining, state: Any, teachers: Any, inputs: jax.Array, tests: jax.Array) -> Any:
    """Train all students over a stretch of steps, and measure."""
    import optax

    adam = _adam(training)
    slopes = jax.vmap(jax.grad(deep.error))

    def step(carry: Any, sample: jax.Array) -> Any:
        weights, moments = carry
        change, moments = adam.update(slopes(weights, teachers, sample), moments)
        return (optax.apply_updates(weights, change), moments), None

    (weights, moments), _ = jax.lax.scan(step, state, inputs)
    return weights, moments, jax.vmap(deep.error)(weights, teachers, tests)
