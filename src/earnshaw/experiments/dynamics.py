"""Electron-proton dynamics: electrons drift in the field of all charges until each has reached a proton."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from earnshaw.errors import InputError
from earnshaw.experiments.engine import run
from earnshaw.experiments.work import Context, Piece, Progress, Work, quiet
from earnshaw.landscapes import PairEnergy
from earnshaw.landscapes.charges import charge_energy, law_potential
from earnshaw.potentials.radial import Radial
from earnshaw.problems import Charges
from earnshaw.problems.base import whole
from earnshaw.records import encode, pack, unpack
from earnshaw.store import Arrays

SAME = 1e-6  # distances that differ by less, relatively, are equal


@dataclass(frozen=True, kw_only=True)
class Integration:
    """How the equations are solved, and which times are stored: 0, and others spaced geometrically from ``first`` on."""

    until: float = 1e5
    first: float = 1e-3
    stored: int = 1000
    capture: float = 1e-3  #: an electron as near as this to a proton that attracts it has reached it, and stays there
    tolerance: float = 1e-9  #: the relative and absolute error allowed in each step
    max_steps: int = 200_000  #: the most steps between two captures

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not 0 < self.first < self.until < math.inf:
            raise InputError(f"times from {self.first} to {self.until} were asked for; both must be positive, in order")
        whole("stored times", self.stored, 2)
        whole("steps", self.max_steps, 1)
        if not (self.capture > 0 and 0 < self.tolerance < 1):
            raise InputError("the capture distance and the tolerance must be positive, the tolerance below 1")

    @property
    def times(self) -> np.ndarray:
        """The stored times, 0 first."""
        return np.concatenate([[0.0], np.geomspace(self.first, self.until, self.stored - 1)])


@dataclass(frozen=True)
class Capture:
    """An electron reached a proton."""

    electron: int
    proton: int
    time: float


@dataclass(frozen=True)
class Trajectory:
    """The motion of the electrons."""

    problem: Charges
    times: np.ndarray  #: (T,), the captures' times included
    positions: np.ndarray  #: (T, n, d)
    #: (T,), the loss L = 2 F along the way; under an unbounded law from a capture on that of the charges that are left
    energies: np.ndarray
    captures: tuple[Capture, ...]  #: who reached whom, in order
    #: the largest force by other charges on an electron that sits on its proton, as a share of what holds it there (the
    #: slope of the cone); below 1 it stays
    worst_pull: float

    def to_json(self) -> dict[str, Any]:
        """Return the record ``trajectory.json``: captures, in words and numbers."""
        return {
            "law": encode(self.problem.law),
            "electrons": self.problem.electrons,
            "protons": len(self.problem.protons),
            "dimension": self.problem.dimension,
            "end": float(self.times[-1]),
            "energy_at_start": _finite(self.energies[0]),
            "energy_at_end": _finite(self.energies[-1]),
            "worst_pull": _finite(self.worst_pull),
            "captures": [dataclasses.asdict(c) for c in self.captures],
        }


@dataclass(frozen=True, eq=False)
class Motion(Work):
    """Charges in motion: one setting, one piece, whose stages are the stretches between captures."""

    kind: ClassVar[str] = "trajectory"
    result: ClassVar[type] = Trajectory

    problem: Charges
    start: np.ndarray
    integration: Integration

    def __post_init__(self) -> None:
        """Refuse what cannot be integrated."""
        problem = self.problem
        if not isinstance(problem, Charges):
            raise InputError(f"the problem is {problem!r:.60}; the dynamics are those of Charges")
        if problem.electron_charges is None:
            raise InputError("the dynamics need fixed electron_charges; give them to Charges (1 each, for electrons)")
        if problem.law.on_sphere:
            raise InputError(f"the dynamics run in R^d; the law {problem.law.name} lives on the sphere")
        start = np.asarray(self.start, dtype=np.float64)
        if start.shape != problem.shape or not np.isfinite(start).all():
            needed = f"this problem needs finite numbers ({problem.electrons}, {problem.dimension})"
            raise InputError(f"the start has shape {start.shape}; {needed}")
        charge_energy(problem)  # a law that this dimension does not have raises here, before a folder is made
        object.__setattr__(self, "start", start)

    def compute(self, piece: Piece, context: Context) -> Arrays:
        """Integrate from capture to capture; each stretch is a stage that the context keeps."""
        problem, integration = self.problem, self.integration
        landscape, electrons = charge_energy(problem), problem.electrons
        end, stage, captures = 0.0, 0, list[Capture]()
        near, first = integration.capture, 2 * integration.capture
        positions = _reached(problem, self.start, captures, end, near)
        times, path = [np.zeros(1)], [positions[None]]
        while end < integration.until and len(captures) < electrons:
            begin = end

            def stretch_on(now: tuple = (positions, begin, *_open(problem, captures))) -> Arrays:
                found = _segment(landscape, integration, *map(jnp.asarray, now))
                stretch = {name: np.asarray(x) for name, x in found.items()}
                end, last = float(stretch["end"]), stretch["last"]
                solved = np.isfinite(end) and np.isfinite(last).all()
                if solved and end < integration.until:  # then somebody has arrived, or the steps are used up
                    _reached(problem, last, arrived := captures.copy(), end, near, first)
                    solved = len(arrived) > len(captures)
                if not solved:  # and nothing is kept of it
                    failed = f"could not be solved from time {now[1]:g} on with {integration.max_steps} steps"
                    raise InputError(f"the equations {failed}; allow more steps, a larger tolerance or an earlier end")
                return stretch

            if context.cancelled():
                raise InterruptedError("the motion was cancelled")
            stretch = context.keep(stage, stretch_on)
            end, last, stage = float(stretch["end"]), stretch["last"], stage + 1
            keep = np.isfinite(stretch["times"]) & (stretch["times"] > begin) & (stretch["times"] < end)
            positions = _reached(problem, last, captures, end, near, first)
            times += [stretch["times"][keep], [end]]
            path += [stretch["positions"][keep], positions[None]]
            share = max(len(captures) / electrons, math.log1p(end) / math.log1p(integration.until))
            context.progress(share, f"{len(captures)} reached")
        moments, everywhere = np.concatenate(times), np.concatenate(path)
        energies = 2 * np.array(landscape.value(jnp.asarray(everywhere)))
        if not problem.law.bounded:
            for index, capture in enumerate(captures):
                later = moments >= capture.time
                energies[later] = energy_left(problem, everywhere[later], captures[: index + 1])
        energies = np.where(np.isfinite(energies), energies, np.nan)
        worst = _worst_pull(landscape, moments, everywhere, captures)
        return pack(Trajectory(problem, moments, everywhere, energies, tuple(captures), worst))


def _open(problem: Charges, captures: Sequence[Capture]) -> tuple[np.ndarray, np.ndarray]:
    """Return which electrons (n,) are free, and which protons (n, k) each of them may still reach."""
    free, site = np.ones(problem.electrons, dtype=bool), problem.proton_charges.copy()
    moving = np.asarray(problem.electron_charges)
    for c in captures:
        free[c.electron] = False
        site[c.proton] -= moving[c.electron]
    return free, free[:, None] & (moving[:, None] * site > 1e-12)


def _reached(
    problem: Charges, positions: np.ndarray, captures: list[Capture], time: float, near: float, first: float = 0.0
) -> np.ndarray:
    """Return positions with every electron that is ``near`` a proton on it, and add these captures, the nearest first.

    The ``first`` one may be further away: it is the one that the integration stopped for, and then others that are no further are
    there at the same time.
    """
    positions = positions.copy()
    while len(captures) < problem.electrons:
        reachable = _open(problem, captures)[1]
        distance = np.where(reachable, np.linalg.norm(positions[:, None] - problem.protons, axis=-1), np.inf)
        electron, proton = np.unravel_index(np.argmin(distance), distance.shape)
        least = float(distance[electron, proton])
        if not least <= max(near, first):
            break
        near, first = max(near, least * (1 + SAME)), 0.0
        positions[electron] = problem.protons[proton]
        captures.append(Capture(int(electron), int(proton), time))
    return positions


def energy_left(problem: Charges, positions: np.ndarray, captures: Sequence[Capture]) -> np.ndarray:
    r"""Return the energy (T,) of the charges that are left when electrons have been captured, at positions (T, n, d).

    .. math:: L = \sum_{i \ne j} q_i q_j \Phi(|x_i - x_j|),

    over the free electrons, with their charges, and the protons, each with minus its charge and what it has captured. Under
    an unbounded law a pair that touches has no finite energy; without it what is left has.
    """
    taken, site = [c.electron for c in captures], problem.proton_charges.copy()
    moving = np.asarray(problem.electron_charges)
    for c in captures:
        site[c.proton] -= moving[c.electron]
    free, full = np.setdiff1d(np.arange(problem.electrons), taken), np.abs(site) > 1e-12
    protons = np.broadcast_to(problem.protons[full], (len(positions), full.sum(), problem.dimension))
    places, charges = np.concatenate([positions[:, free], protons], 1), np.concatenate([moving[free], -site[full]])
    first, second = np.triu_indices(len(charges), 1)
    distance = np.linalg.norm(places[:, first] - places[:, second], axis=-1)
    law = law_potential(problem.law, problem.dimension)
    assert isinstance(law, Radial)
    pairs = np.asarray(law.value(jnp.asarray(distance)))
    return 2 * pairs @ (charges[first] * charges[second])


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


def solve(velocity: Callable, start: Any, begin: Any, end: Any, tolerance: float, max_steps: int, **more: Any) -> Any:
    """Return diffrax's solution of an autonomous equation; ``tolerance`` is the relative and absolute error of a step."""
    import diffrax

    term, accuracy = diffrax.ODETerm(lambda t, y, args: velocity(y)), diffrax.PIDController(tolerance, tolerance)
    times = {"t0": begin, "t1": end, "dt0": None}
    return diffrax.diffeqsolve(
        term, diffrax.Tsit5(), y0=start, stepsize_controller=accuracy, max_steps=max_steps, **times, **more
    )


@functools.partial(jax.jit, static_argnames="integration")
def _segment(
    landscape: PairEnergy,
    integration: Integration,
    start: jax.Array,
    begin: jax.Array,
    free: jax.Array,
    open_: jax.Array,
) -> dict[str, jax.Array]:
    """Integrate from one capture to the next; return stored times and positions, and where and when it ended.

    ``free`` (n,) are the electrons that move, ``open_`` (n, k) the protons that each of them may still reach.
    """
    import diffrax
    import optimistix

    def velocity(positions: jax.Array) -> jax.Array:
        return jnp.where(free[:, None], landscape.velocity(positions), 0.0)

    def gap(t: Any, y: jax.Array, args: Any, **_: Any) -> jax.Array:
        distance = jnp.linalg.norm(y[:, None] - landscape.teacher, axis=-1)
        return jnp.min(jnp.where(open_, distance, jnp.inf)) - integration.capture

    times = jnp.clip(jnp.asarray(integration.times), begin, integration.until)
    saveat = diffrax.SaveAt(subs=[diffrax.SubSaveAt(ts=times), diffrax.SubSaveAt(t1=True)])
    event = diffrax.Event(gap, optimistix.Bisection(1e-10, 1e-10, flip="detect"))
    options = {"saveat": saveat, "event": event, "throw": False}
    until, tolerance, most = integration.until, integration.tolerance, integration.max_steps
    solution = solve(velocity, start, begin, until, tolerance, most, **options)
    (times, (end,)), (positions, (last,)) = solution.ts, solution.ys
    return {"times": times, "positions": positions, "end": end, "last": last}


def dynamics(
    problem: Charges,
    start: np.ndarray,
    integration: Integration | None = None,
    out: str | Path | None = None,
    progress: Progress | bool = quiet,
) -> Trajectory:
    """Follow the electrons from ``start`` (n, d) until all have reached a proton, or the last time.

    With ``out`` each stretch between two captures is stored as it is finished, and the same call goes on where an
    interrupted one stopped.
    """
    motion = Motion(problem, start, integration or Integration())
    return unpack(Trajectory, run(motion, out, workers=1, progress=progress)["trajectory"].arrays)


def _worst_pull(landscape: PairEnergy, times: np.ndarray, positions: np.ndarray, captures: list[Capture]) -> float:
    """Return the largest pull on a captured electron, relative to the slope of the cone that holds it; 0 if unbounded."""
    potential = landscape.potential
    if not (isinstance(potential, Radial) and potential.bounded and captures):
        return 0.0
    pull = np.linalg.norm(np.asarray(landscape.velocity(jnp.asarray(positions))), axis=-1)
    hold = abs(float(potential.slope(jnp.asarray(0.0))))
    charges = np.asarray(landscape.student_charges)

    def worst(c: Capture) -> float:
        capacity = abs(charges[c.electron] * float(landscape.teacher_charges[c.proton])) * hold
        return float(pull[times >= c.time, c.electron].max()) / capacity if capacity > 1e-12 else math.inf

    return max([0.0, *map(worst, captures)])
