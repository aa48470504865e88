"""Train students of deep tanh teachers: all teachers of a setting in one program, settings as pieces of a run folder."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from earnshaw.errors import InputError
from earnshaw.landscapes.deep import DeepTanh
from earnshaw.numerics import compiled, lane_keys
from earnshaw.store import RunFolder


@dataclass(frozen=True, kw_only=True)
class DeepTraining:
    """How students are trained: Adam on fresh samples, for so many teachers at once.

    Attributes
    ----------
    teachers : how many random teachers, each with its own student.
    steps : steps of Adam.
    samples : fresh inputs for each step.
    rate : the rate of Adam.
    last : what the rate is multiplied with for the last fifth of the steps.
    dimension : the dimension of the inputs, the same for every width.
    balanced : whether students start from N(0, 1/inputs) in place of N(0, 1).
    tests : fresh inputs on which the error is measured.
    records : how often on the way the test error is measured.
    """

    teachers: int = 16
    steps: int = 8000
    samples: int = 128
    rate: float = 1e-2
    last: float = 1.0
    dimension: int = 10
    balanced: bool = False
    tests: int = 4096
    records: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        """Validate."""
        for name in ("teachers", "steps", "samples", "dimension", "tests", "records"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; use a whole number from 1")
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


def _inputs(network: DeepTanh, training: DeepTraining, record: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the inputs of a stretch of steps (steps, teachers, samples, d) and those of its test (teachers, tests, d).

    Drawn by NumPy: JAX's generator takes longer to compile than most students to train. A lane's inputs depend on the
    seed, the lane and the stretch alone, and are the same on every device.
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


@functools.partial(compiled, static_argnums=(0, 1))
def _stretch(
    network: DeepTanh, training: DeepTraining, state: Any, teachers: Any, inputs: jax.Array, tests: jax.Array
) -> tuple[Any, Any, jax.Array]:
    """Train all students over a stretch of steps, and measure."""
    import optax

    adam = _adam(training)
    slopes = jax.vmap(jax.grad(network.error))

    def step(carry: Any, sample: jax.Array) -> Any:
        weights, moments = carry
        change, moments = adam.update(slopes(weights, teachers, sample), moments)
        return (optax.apply_updates(weights, change), moments), None

    (weights, moments), _ = jax.lax.scan(step, state, inputs)
    return weights, moments, jax.vmap(network.error)(weights, teachers, tests)


def train(
    network: DeepTanh, training: DeepTraining, progress: Callable[[float], None] = lambda share: None
) -> DeepResult:
    """Train one student for each teacher and return the errors on the way; lane i depends on the seed and i alone."""
    lanes = lane_keys(training.seed, np.arange(training.teachers))
    split = jax.vmap(lambda key: jax.random.split(key))(lanes)
    teachers = jax.vmap(network.random)(split[:, 0])
    weights = jax.vmap(functools.partial(network.random, balanced=training.balanced))(split[:, 1])
    moments = _adam(training).init(weights)
    errors = []
    for record in range(training.records):
        inputs, tests = _inputs(network, training, record)
        weights, moments, error = _stretch(network, training, (weights, moments), teachers, inputs, tests)
        errors.append(np.asarray(error, dtype=np.float64))
        progress((record + 1) / training.records)
    count = training.steps // training.records
    return DeepResult(network.depth, network.width, count * np.arange(1, training.records + 1), np.stack(errors))


def train_grid(
    sizes: Sequence[tuple[int, int]],
    training: DeepTraining,
    out: Path,
    progress: Callable[[float, str], None] = lambda share, what: None,
) -> list[DeepResult]:
    """Train every (depth, width) into a folder, or what is left of it; each finished one is kept."""
    identity = {
        "kind": "deep-tanh",
        "training": {**asdict(training), "rate": float(training.rate).hex(), "last": float(training.last).hex()},
    }
    cost = np.array([depth * (width + 5.0) ** 2 for depth, width in sizes])
    done, results = 0.0, []
    with RunFolder(out, identity, {}) as folder:
        for index, (depth, width) in enumerate(sizes):
            name = f"depth{depth}-width{width}"
            if not folder.has(name):
                base, mine = done, cost[index]

                def report(share: float, base: float = base, mine: float = mine, name: str = name) -> None:
                    progress((base + share * mine) / cost.sum(), name)

                network = DeepTanh(depth, width, training.dimension)
                result = train(network, training, report)
                folder.put(name, {"steps": result.steps, "errors": result.errors})
            stored = folder.get(name)
            results.append(DeepResult(depth, width, stored["steps"], stored["errors"]))
            done += cost[index]
            progress(done / cost.sum(), name)
    return results
