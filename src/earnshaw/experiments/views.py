"""What pictures of a point show, computed: which point it is, its spectrum with multiplicities, the loss on a plane."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from earnshaw.descent import Outcome, Stopping, Trace
from earnshaw.errors import InputError
from earnshaw.experiments.fit import Fit
from earnshaw.experiments.plan import Plan
from earnshaw.experiments.proving import Target, points_of
from earnshaw.experiments.runs import Runs
from earnshaw.experiments.summary import families
from earnshaw.experiments.sweep import SweepResult, sweep_in
from earnshaw.experiments.work import Context, Piece
from earnshaw.landscapes import Landscape, landscape
from earnshaw.numerics import TOLERANCES, compiled
from earnshaw.numerics.statistics import two_proportions
from earnshaw.problems import ConvNet, Problem, TwoLayer, problem_from_json, standard_teacher
from earnshaw.problems.base import unhexed
from earnshaw.proof import Certificate, Proof
from earnshaw.proof.claims import PatternPoint
from earnshaw.showing import sized
from earnshaw.symmetry import Family, canonical, named
from earnshaw.symmetry.assignment import matching
from earnshaw.symmetry.graphs import clusters

Array = NDArray[np.float64]
HALVINGS = 5  # of the way to where a descent begins, so that it comes home
EVERY = 10  # steps between the moments of a descent that is shown


@dataclass(frozen=True, eq=False)
class Place:
    """A point, and the problem whose landscape it lies in."""

    problem: Problem
    weights: Array

    @property
    def sizes(self) -> dict[str, Any]:
        """What tables show of the problem."""
        return self.problem.sizes

    @property
    def loss(self) -> float:
        """The loss there."""
        return float(landscape(self.problem).value(jnp.asarray(self.weights)))

    @property
    def words(self) -> str:
        """The sizes, the loss and the smallest eigenvalue, in a line."""
        smallest = float(Spectrum.at(self).values[0])
        return f"{sized(self.problem.sizes)}, loss {self.loss:.8g}, smallest eigenvalue {smallest:.6g}"

    def is_at(self, other: Place) -> bool:
        """Say whether this is exactly another point."""
        return self.problem == other.problem and np.array_equal(self.weights, other.weights)

    def ordered(self) -> Array:
        """Return the weights in the order that shows their pattern."""
        symmetry = self.problem.symmetry
        return self.weights if symmetry is None else canonical(symmetry, self.weights)


@dataclass(frozen=True, eq=False)
class Fitted:
    """The end of a fit, of which a folder has everything that is seen and not the data."""

    fit: Fit

    @property
    def sizes(self) -> dict[str, Any]:
        """Neurons, dimension and samples."""
        neurons, d = self.fit.weights.shape
        return {"neurons": neurons, "d": d, "samples": self.fit.samples}

    @property
    def loss(self) -> float:
        """The risk there."""
        return self.fit.value

    def ordered(self) -> Array:
        """Return the weights as they were found: neurons have no other order."""
        return self.fit.weights


def seen_of(given: Any) -> Place | Fitted:
    """Return what the weights and the spectrum are drawn of: the point of :func:`place_of`, or the end of a fit."""
    return Fitted(given) if isinstance(given, Fit) else place_of(given)


def place_of(given: Any) -> Place:
    """Return the point that a family, a proof, a certificate or a target is about."""
    if isinstance(given, Place):
        return given
    if isinstance(given, Family | Target):
        if given.problem is None:
            raise InputError(
                "this family does not know its problem, whose function is your own; allow it to be loaded: "
                "load(folder, functions=True)"
            )
        return Place(given.problem, given.weights)
    if isinstance(given, Proof):
        given = given.certificate
    if not isinstance(given, Certificate):
        what = type(given).__name__
        raise InputError(f"an object of type {what} was given; give a family, a proof or a certificate")
    center = given.document.get("center")
    if center is None or given.kind == "every_k":
        raise InputError(
            f"a certificate of the kind {given.kind!r} is about no single point, and there is none to draw"
        )
    if "pattern" in given.document:
        return _patterned(given)
    problem, weights = problem_from_json(given.document["problem"]), np.array(unhexed(center))
    if isinstance(
        problem, ConvNet
    ):  # the certificate has the output weights of the spurious point, whose filter is -w*
        weights = np.concatenate([-problem.filter, weights])
    return Place(problem, weights)


def _patterned(given: Certificate) -> Place:
    """Return the point of a certificate of kind blocks or blocks_saddle, in all its weights."""
    try:
        pattern, pairs = given.document["pattern"], unhexed(given.document["center"])
        point = PatternPoint(tuple(pattern["sizes"]), tuple(pattern["rows"]), tuple((high, low) for high, low in pairs))
        weights = point.weights
    except (KeyError, TypeError, ValueError, StopIteration, IndexError):
        raise InputError("the certificate's point cannot be read; give a file that prove wrote") from None
    return Place(TwoLayer(standard_teacher(weights.shape[1]), len(weights)), weights)


def family_place(family: str, k: int) -> Place:
    """Return the critical point of a named family for k teacher neurons, in doubles: computed, not proved."""
    pattern, numbers = named(family, k)
    weights = pattern.weights(numbers)
    return Place(TwoLayer(standard_teacher(k), len(weights)), weights)


def global_minimum_near(place: Place) -> Array:
    """Return a network of n >= k neurons that computes what the teacher does, its rows matched to those of a point.

    Each teacher neuron is given to one student, so that the sum of scalar products is largest; a student that is left over
    shares the teacher neuron with which it has the largest one, in equal parts.
    """
    problem = place.problem
    if not isinstance(problem, TwoLayer) or problem.unprovable is not None or not problem.is_realisable:
        raise InputError("the teacher lies in the landscape of ReLU networks with n >= k and output weights 1 alone")
    teacher, products = problem.teacher, place.weights @ problem.teacher.T
    owner = np.argmax(products, axis=1)
    owner[matching(place.weights, teacher)] = np.arange(len(teacher))
    return teacher[owner] / np.bincount(owner)[owner, None]


def places_in(source: Path) -> dict[str, Place]:
    """Return the points of a certificate, a folder of certificates, a run folder or an ``.npz`` file, by names for files.

    Of a sweep these are the families of minima, then those of saddles. Of a folder of certificates each point counts once,
    and certificates that are about no single point are left out.
    """
    if source.suffix == ".json":
        return {source.stem: place_of(Certificate.load(source))}
    if not source.is_dir():
        problem, points = points_of(source)
        landscape(problem).point(points)
        return {f"{source.stem}-point{index:03d}": Place(problem, point) for index, point in enumerate(points)}
    if (source / "manifest.json").exists():
        return {name: place_of(family) for result in sweep_in(source).whole() for name, family in ends(result)}
    found: dict[str, Place] = {}
    for file in sorted(source.glob("*.json")):
        certificate = Certificate.load(file)
        if "center" in certificate.document and certificate.kind != "every_k":
            place = place_of(certificate)
            if not any(place.is_at(other) for other in found.values()):
                found[file.stem] = place
    if not found:
        raise InputError(f"the folder {source} holds neither runs nor certificates about points; give some")
    return found


def ends(result: SweepResult) -> list[tuple[str, Family]]:
    """Return the families of minima of a setting, then those of saddles, with names for files."""
    saddles = (
        families(result.runs.where(Outcome.SADDLE), result.summary.seed) if "SADDLE" in result.summary.outcomes else []
    )
    return [(f"{result.name}-family{index:03d}", family) for index, family in enumerate([*result.families, *saddles])]


def traced_run(problem: Problem, seed: int, index: int, every: int = EVERY) -> Runs:
    """Return one run of a sweep with gradient descent, computed alone, with what was recorded on its way.

    Its start depends on the problem, the seed and the index alone. Its end is that of the sweep up to rounding: the last bits
    of a run depend on those that are computed together with it.
    """
    plan = Plan.of(problem, runs=index + 1, seed=seed, stopping=Stopping(trace=every))
    arrays = plan.compute(Piece(plan.settings[0].name, index, index + 1), Context())
    trace = {name.removeprefix("trace_"): array for name, array in arrays.items() if name.startswith("trace_")}
    plain = {name: array for name, array in arrays.items() if not name.startswith("trace_")}
    return dataclasses.replace(Runs.of_arrays(problem, plain), trace=Trace(**trace))


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues of a Hessian, ascending."""

    values: Array

    @classmethod
    def at(cls, place: Place | Fitted) -> Spectrum:
        """Return the spectrum of the Hessian at a point."""
        if isinstance(place, Fitted):
            return cls(place.fit.spectrum)
        return cls(np.asarray(landscape(place.problem).spectrum(jnp.asarray(place.weights))))

    @property
    def levels(self) -> list[tuple[float, int]]:
        """The distinct eigenvalues, ascending, with their multiplicities."""
        equal = clusters(self.values, TOLERANCES.equal_eigenvalues * float(np.abs(self.values).max(initial=0.0)))
        starts = np.flatnonzero(np.append(True, np.diff(equal) > 0))
        counts = np.diff(np.append(starts, len(self.values)))
        return [(float(self.values[a : a + m].mean()), int(m)) for a, m in zip(starts, counts, strict=True)]


@dataclass(frozen=True, eq=False)
class Descended:
    """A run seen in a plane."""

    steps: NDArray[np.int64]  #: (T,)
    losses: Array  #: (T,)
    places: Array  #: (T, 2), its two coordinates there


@dataclass(frozen=True, eq=False)
class Slice:
    """The loss on a plane through a point, which is at (0, 0)."""

    loss: float  #: the loss at the point
    across: Array  #: the coordinates of the map's columns
    along: Array  #: of its rows
    values: Array  #: (rows, columns), the loss
    curvatures: tuple[float, float]  #: the second derivatives along the two axes at the point
    labels: tuple[str, str]  #: what the two axes are
    path: Descended  #: gradient descent from a point of the plane, as its shadow on it
    target: tuple[float, float] | None = None  #: where the other point is, if the plane was to hold one


def slice_of(
    place: Place,
    towards: ArrayLike | None = None,
    *,
    directions: tuple[int, int] | None = None,
    run: Trace | None = None,
    reach: float | None = None,
    resolution: int = 61,
    steps: int = 2000,
) -> Slice:
    r"""Return the loss on a plane through a point, :math:`F(W + x\,u + y\,v)` with orthonormal u and v.

    u and v are eigenvectors of the Hessian: of its smallest eigenvalue, and of the next one that differs; where the first
    is negative, of its smallest and of its smallest positive one; or those at two places of the spectrum, ``directions``,
    counted from 0. Or u leads ``towards`` another point, and v is the softest direction at right angles to it. Gradient descent,
    with the step 1 / (largest eigenvalue at the point), starts on the diagonal at 0.7 of the ``reach``, or at the first
    half, quarter, ... of that from which it comes home; at a saddle it starts beside the point, along u. In its place a
    ``run`` that was recorded can be shown, such as the one that ended at the point; the plane then reaches as far.
    """
    energy, point = landscape(place.problem), np.asarray(place.weights, dtype=np.float64)
    hessian = np.asarray(energy.hessian(jnp.asarray(point)))
    values, vectors = np.linalg.eigh(hessian)
    soft = _signed(vectors[:, 0]).reshape(point.shape)
    target = None
    if towards is None:
        one, other = (0, _second(values)) if directions is None else _two(directions, len(values))
        first, second = (_signed(vectors[:, place]).reshape(point.shape) for place in (one, other))
        labels = (
            f"along an eigenvector of {_number(values[one])}",
            f"along an eigenvector of {_number(values[other])}",
        )
        far = reach or 0.5 * float(np.linalg.norm(point)) / np.sqrt(len(point))
        if run is not None and reach is None:
            far = max(
                far, 1.1 * max(float(np.abs(_along(run.weights - point, axis)).max()) for axis in (first, second))
            )
        across = along = np.linspace(-far, far, resolution)
    else:
        end = np.asarray(towards, dtype=np.float64)
        if end.shape != point.shape or not np.linalg.norm(end - point) > 0:
            raise InputError(f"towards has shape {end.shape}; give another point of shape {point.shape}")
        length = float(np.linalg.norm(end - point))
        first = (end - point) / length
        if directions is not None:
            raise InputError("the plane was to hold another point and two eigenvectors; ask for one of them")
        second = unit(beside(soft, first))
        labels, target = ("towards the other point", "the softest direction beside it"), (length, 0.0)
        far = reach or 0.5 * length
        across = np.linspace(-0.5 * length, 1.5 * length, resolution)
        along = np.linspace(-far, far, resolution)
    if run is None:
        step, saddle = 1.0 / max(float(np.abs(values).max()), 1e-12), values[0] < -TOLERANCES.strict
        push = 1e-2 * far * first if saddle else 0.7 * far * (first + second)
        points = _homeward(energy, point, push, steps, step, 0 if saddle else HALVINGS)
        path = seen(energy, points, points - point, first, second)
    else:
        places = np.stack([_along(run.weights - point, axis) for axis in (first, second)], -1)
        path = Descended(run.step, run.value, places)
    flat, beside_it = first.ravel(), second.ravel()
    return Slice(
        loss=place.loss,
        across=across,
        along=along,
        values=plane(energy, point, first, second, across, along),
        curvatures=(float(flat @ hessian @ flat), float(beside_it @ hessian @ beside_it)),
        labels=labels,
        path=path,
        target=target,
    )


def _homeward(energy: Landscape, point: Array, push: Array, steps: int, step: float, halvings: int) -> Array:
    """Return gradient descent from a push away from a point, or from the first of some halves of it that leads back."""
    points = descend(energy, point + push, steps, step)
    for _ in range(halvings):
        if np.linalg.norm(points[-1] - point) < 0.3 * np.linalg.norm(points[0] - point):
            break
        push = push / 2
        points = descend(energy, point + push, steps, step)
    return points


def _two(directions: tuple[int, int], count: int) -> tuple[int, int]:
    """Return two places in a spectrum, which differ and exist."""
    one, other = directions
    if one == other or not 0 <= min(directions) <= max(directions) < count:
        raise InputError(
            f"the directions are the eigenvectors {one} and {other}; give two different ones from 0 to {count - 1}"
        )
    return one, other


def _second(values: Array) -> int:
    """Return which eigenvector, beside the first, shows most: that of the next level, or at a saddle of the first above 0."""
    if values[0] < -TOLERANCES.strict and values[-1] > TOLERANCES.strict:
        return int(np.argmax(values > TOLERANCES.strict))
    size = TOLERANCES.equal_eigenvalues * float(np.abs(values).max())
    others = np.flatnonzero(values > values[0] + size)
    return int(others[0]) if others.size else min(1, len(values) - 1)


def _number(value: float) -> str:
    return f"{value:.4f}".replace("-", "\N{MINUS SIGN}")


def _signed(vector: Array) -> Array:
    """Return a vector or its opposite, so that its largest entry is positive."""
    return vector * (np.sign(vector[np.argmax(np.abs(vector))]) or 1.0)


def plane(energy: Landscape, point: Array, first: Array, second: Array, across: Array, along: Array) -> Array:
    """Return the loss (rows, columns) on the plane of two directions through a point."""
    columns = across.reshape(-1, *(1,) * point.ndim) * first
    return np.stack([np.asarray(energy.value(jnp.asarray(point + columns + y * second))) for y in along])


def _stretch(energy: Landscape, point: jax.Array, step: jax.Array, moments: jax.Array) -> jax.Array:
    def some(point: jax.Array, _: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jax.lax.fori_loop(0, EVERY, lambda _, p: p - step * energy.gradient(p), point), point

    return jax.lax.scan(some, point, moments)[1]


_walk = compiled(_stretch)


def descend(energy: Landscape, start: Array, steps: int, step: float) -> Array:
    """Return the iterates of plain gradient descent at every tenth step."""
    moments = jnp.arange(steps // EVERY + 1)
    return np.asarray(_walk(energy, jnp.asarray(start), jnp.asarray(step), moments))


def beside(direction: Array, other: Array) -> Array:
    """Return the part of a direction that is at right angles to another."""
    return direction - np.vdot(direction, other) / np.vdot(other, other) * other


def unit(direction: Array) -> Array:
    """Return a direction with length 1."""
    return direction / np.linalg.norm(direction)


def _along(moves: Array, axis: Array) -> Array:
    """Return how far moves (T, ...) go along an axis."""
    return np.tensordot(moves, axis, axis.ndim)


def seen(energy: Landscape, points: Array, moves: Array, *axes: Array) -> Descended:
    """Return a run whose moves (T, ...) from the plane's centre are seen along the two axes."""
    places = np.stack([_along(moves, axis) for axis in axes], -1)
    return Descended(EVERY * np.arange(len(points)), np.asarray(energy.value(jnp.asarray(points))), places)


def spurious_shares(*several: Runs) -> tuple[list[float | None], float | None]:
    """Return the percentage of spurious runs of each sweep, of the decided ones, and of two the statistic z.

    None where no run is decided, or no minimum can be called spurious.
    """
    shares, counts = [], []
    for runs in several:
        decided = sum(count for name, count in runs.outcomes.items() if Outcome[name].decides)
        known = decided and Outcome.CONVERGED.name not in runs.outcomes
        shares.append(100 * len(runs.spurious) / decided if known else None)
        counts.append(decided)
    if len(several) != 2 or None in shares:
        return shares, None
    first, second = (share / 100 for share in shares if share is not None)
    return shares, two_proportions(first, counts[0], second, counts[1])
