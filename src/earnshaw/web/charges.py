"""The view Charges: electrons that look for protons, by gradient descent or by the dynamics of charges."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from earnshaw.errors import InputError
from earnshaw.web.api import Asked
from earnshaw.web.limits import LIMITS
from earnshaw.web.streams import events

if TYPE_CHECKING:
    import numpy as np

    from earnshaw.experiments.watching import Arrival, Moment, Watched
    from earnshaw.problems import ChargeLaw, Charges, TwoLayer

router = APIRouter(prefix="/api/charges")
# What the page offers; any other name of an activation with its number will do as well.
POTENTIALS = {
    "coulomb": "Coulomb's law",
    "yukawa": "Yukawa's law (odd d)",
    "almost-yukawa": "almost Yukawa T (odd d)",
    "almost-yukawa:B": "almost Yukawa B (odd d)",
    "almost-yukawa:S": "almost Yukawa S (odd d)",
    "sphere-sign": "sign, on the sphere",
    "sphere-power:3": "third power, on the sphere",
    "sphere-power:4": "fourth power, on the sphere",
    **{name: f"{name} neurons" for name in ("relu", "leaky:0.1", "erf", "tanh", "sigmoid", "softplus", "gelu")},
    **{name: f"{name} neurons" for name in ("sign", "hermite:2", "hermite:3", "hermite:4", "unit-tanh", "unit-erf")},
}
FRAMES = 400  # of the dynamics, at equal distances of travel
EVERY = 2  # steps of descent between two snapshots
FINE = 1 / 150  # of the picture's size: a charge that has moved by this is shown anew
AWAY = 3.0  # times the picture's size: a charge farther away has left
PAUSE = 0.05  # seconds between two parcels of moments


class Scene(Asked):
    """What moves, among what, and how."""

    potential: str = Field("coulomb", max_length=40)
    motion: Literal["dynamics", "descent"] = "dynamics"
    protons: Literal["random", "orthonormal"] = "random"
    k: int = Field(6, ge=1, le=LIMITS.k)
    n: int = Field(6, ge=1, le=LIMITS.n)
    d: int = Field(2, ge=2, le=LIMITS.d)
    spread: float = Field(0.25, ge=0.01, le=10)
    step: float = Field(0.1, ge=1e-4, le=10)
    steps: int = Field(5000, ge=1, le=LIMITS.watched_steps)
    until: float = Field(1e4, ge=0.01, le=1e6)
    seed: int = Field(0, ge=0, le=LIMITS.seed)
    start: list[list[float]] | None = Field(None, max_length=LIMITS.n)


@dataclass(frozen=True, eq=False)
class Setting:
    """A scene as the library knows it: with an optimiser it is a descent, without one the dynamics."""

    problem: Charges | TwoLayer
    protons: np.ndarray
    start: np.ndarray
    optimizer: str | None
    command: str


@router.get("/potentials")
def potentials() -> dict[str, Any]:
    """Return the potentials that the page offers: a name and words for each."""
    return {"potentials": list(POTENTIALS.items())}


@router.post("/run")
def run(scene: Scene) -> Response:
    """Stream a run: the scene, moments as they come, and which electron has found which proton."""
    setting = setting_of(scene)
    return events(lambda stopped: _run(scene, setting, stopped))


def law_of(name: str) -> ChargeLaw | None:
    """Return the law of charges that has this name here; None if it is the name of an activation."""
    from earnshaw.problems import ChargeLaw

    kind, _, rest = name.partition(":")
    if name in ("coulomb", "yukawa", "almost-yukawa"):
        return ChargeLaw(name)
    if kind == "almost-yukawa":
        return ChargeLaw(kind, variant=rest)
    if name == "sphere-sign":
        return ChargeLaw("sign")
    if kind != "sphere-power":
        return None
    if not (rest.isascii() and rest.isdigit() and 1 <= int(rest) <= 9):
        raise InputError(f"the potential {name!r} was given; use sphere-power:1 to sphere-power:9")
    return ChargeLaw("polynomial", degree=int(rest))


def setting_of(scene: Scene) -> Setting:
    """Return problem, start, optimiser and command of a scene; what makes no sense raises :class:`InputError`."""
    import numpy as np

    from earnshaw.problems import Charges, TwoLayer, standard_teacher
    from earnshaw.problems.activations import is_function_name, recorded_activation
    from earnshaw.problems.charges import random_start

    law, swept = law_of(scene.potential), False
    if scene.protons == "orthonormal":
        protons = standard_teacher(scene.k, scene.d)
        start = random_start(scene.d, scene.k, scene.n, scene.spread, scene.seed)[1]
    else:
        protons, start, _ = random_start(scene.d, scene.k, scene.n, scene.spread, scene.seed)
    if law is None:
        if is_function_name(scene.potential):
            raise InputError(f"the potential {scene.potential!r} was given; functions of your own are for Python alone")
        activation = recorded_activation(scene.potential, None, functions=False)
        problem = TwoLayer(protons, students=scene.n, activation=activation)
        optimizer = f"{'flow' if scene.motion == 'dynamics' else 'gd'}:{scene.step!r}"
        if scene.protons == "orthonormal":  # run 0 of the sweep with this seed
            from earnshaw.starts import Xavier

            start, swept = Xavier().draw(problem, scene.seed, np.arange(1))[0], True
    else:
        if law.on_sphere:
            if scene.motion == "dynamics":
                raise InputError(f"the dynamics run in R^d; {scene.potential} lives on the sphere: choose descent")
            protons, start = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (protons, start))
        problem = Charges(protons, electrons=scene.n, electron_charges=np.ones(scene.n), law=law)
        descent = f"{'projected' if law.on_sphere else 'gd'}:{scene.step!r}"
        optimizer = None if scene.motion == "dynamics" else descent
    if scene.start is not None:
        start = _given(scene, law)
    return Setting(problem, protons, start, optimizer, _command(scene, law, optimizer, swept))


def _given(scene: Scene, law: ChargeLaw | None) -> np.ndarray:
    import numpy as np

    if len(scene.start or ()) != scene.n or any(len(row) != scene.d for row in scene.start or ()):
        raise InputError(
            f"start holds other numbers than n = {scene.n} rows of d = {scene.d}; leave it out, or give those"
        )
    start = np.array(scene.start)
    if np.abs(start).max() > LIMITS.coordinate:
        raise InputError(f"start holds {np.abs(start).max():g}; coordinates may be up to {LIMITS.coordinate:g}")
    if law is not None and law.on_sphere:
        lengths = np.linalg.norm(start, axis=1, keepdims=True)
        if not lengths.all():
            raise InputError("start holds an electron at the centre of the sphere; move it")
        start = start / lengths
    return start


def _command(scene: Scene, law: ChargeLaw | None, optimizer: str | None, swept: bool) -> str:
    """Return the command line that computes the run again, or the lines of Python where no command does."""
    stopped = f"--stop paper --max-steps {scene.steps}"
    if scene.start is None and swept:
        size = f"-k {scene.k} -n {scene.n}" + (f" -d {scene.d}" if scene.d != scene.k else "")
        named = "" if scene.potential == "relu" else f" --activation {scene.potential}"
        return f"earnshaw sweep {size}{named} --runs 1 --seed {scene.seed} --optimizer {optimizer} {stopped} --trace {EVERY}"
    if scene.start is None and optimizer is None and scene.protons == "random":
        assert law is not None
        variant = f" --variant {law.variant}" if law.name == "almost-yukawa" else ""
        places = f"--protons {scene.k} --electrons {scene.n} -d {scene.d} --spread {scene.spread!r} --seed {scene.seed}"
        return f"earnshaw dynamics {places} --potential {law.name}{variant} --until {scene.until!r}"
    numbers = f"{scene.d}, {scene.k}, {scene.n}, {scene.spread!r}, {scene.seed}"
    lines = [
        "import numpy as np, earnshaw as es",
        "from earnshaw.problems.charges import random_start",
        f"protons, start, ones = random_start({numbers})",
    ]
    if scene.protons == "orthonormal":
        lines += [f"protons = es.standard_teacher({scene.k}, {scene.d})"]
    if scene.start is not None:
        lines += [f"start = np.array({scene.start})"]
    if law is not None and law.on_sphere:
        lines += ["protons, start = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (protons, start))"]
    if law is None:
        lines += [f"problem = es.TwoLayer(protons, {scene.n}, {scene.potential!r})"]
    else:
        more = {"almost-yukawa": f", variant={law.variant!r}", "polynomial": f", degree={law.degree}"}.get(law.name, "")
        lines += [
            f"law = es.ChargeLaw({law.name!r}{more})",
            f"problem = es.Charges(protons, electrons={scene.n}, electron_charges=ones, law=law)",
        ]
    if optimizer is None:
        lines += [
            "from earnshaw.experiments.dynamics import Integration",
            f"trajectory = es.dynamics(problem, start, Integration(until={scene.until!r}))",
            "print(trajectory.captures, trajectory.energies[-1])",
        ]
    else:
        how = f'optimizer="{optimizer}", stop="paper", max_steps={scene.steps}, trace={EVERY}'
        lines += [f"runs = es.sweep(problem, runs=1, start=start[None], {how})", "print(runs.outcomes, runs.value)"]
    return "\n".join(lines)


def view_of(protons: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the centre (d,) and the two directions (2, d) of the plane in which charges are drawn.

    In the plane it is that plane. Orthonormal protons :math:`e_j` go to the corners of a regular polygon,
    :math:`\sqrt{2/k}\,(\cos 2\pi j/k, \sin 2\pi j/k)`; others are seen where all charges are spread most.
    """
    import numpy as np

    from earnshaw.plots.charges import plane_of_spread

    (k, d), centre = protons.shape, np.zeros(protons.shape[1])
    if d == 2:
        return centre, np.eye(2)
    if k > 2 and np.array_equal(protons, np.eye(k, d)):
        angle = 2 * np.pi * np.arange(k) / k
        corners = np.sqrt(2 / k) * np.stack([np.cos(angle), np.sin(angle)])
        return centre, np.concatenate([corners, np.zeros((2, d - k))], 1)
    return plane_of_spread(np.concatenate([start, protons]))


def _run(scene: Scene, setting: Setting, stopped: Callable[[], bool]) -> Iterator[dict[str, Any]]:
    import numpy as np

    centre, directions = view_of(setting.protons, setting.start)
    size = float(np.abs(np.concatenate([setting.protons, setting.start])).max())
    dynamics, law = setting.optimizer is None, law_of(scene.potential)
    yield {
        "scene": {
            "protons": setting.protons,
            "start": setting.start,
            "centre": centre,
            "directions": directions,
            "sphere": law is not None and law.on_sphere,
            "unbounded": law is not None and not law.bounded,
            "clock": "time" if scene.motion == "dynamics" else "step",
            "unit": 1.0 if dynamics or scene.motion == "descent" else scene.step,
            "energy": "energy L" if dynamics else "loss F",
            "command": setting.command,
        }
    }
    with contextlib.suppress(InterruptedError):  # nobody watches any more
        yield from (_dynamics if dynamics else _descent)(scene, setting, size, stopped)


def _dynamics(scene: Scene, setting: Setting, size: float, stopped: Callable[[], bool]) -> Iterator[dict[str, Any]]:
    """Solve the equations, and show the whole way at equal distances of travel."""
    import jax.numpy as jnp
    import numpy as np

    from earnshaw.experiments.dynamics import Integration, dynamics
    from earnshaw.experiments.watching import arrivals
    from earnshaw.landscapes.charges import charge_energy
    from earnshaw.plots.charges import moments

    def heard(share: float, what: str) -> None:
        if stopped():
            raise InterruptedError("the motion was cancelled")

    problem: Any = setting.problem
    trajectory = dynamics(problem, setting.start, Integration(until=scene.until), progress=heard)
    places, times, energies = moments(trajectory, FRAMES, AWAY * size)
    forces = np.array(charge_energy(problem).velocity(jnp.asarray(places)))
    for capture in trajectory.captures:
        forces[times >= capture.time * (1 - 1e-9), capture.electron] = 0.0
    yield _parcel(times, places, np.where(np.isfinite(forces), forces, 0.0), energies)
    where = arrivals(setting.protons, trajectory.positions[-1], trajectory.captures)
    found, end = sum(one.found for one in where), float(trajectory.times[-1])
    words = f"{found} of {scene.n} electrons have reached a proton by time {end:.4g}"
    name = "FOUND" if found == scene.n else "LEFT"
    yield _ending(name, words, float(trajectory.energies[-1]), end, where)


def _descent(scene: Scene, setting: Setting, size: float, stopped: Callable[[], bool]) -> Iterator[dict[str, Any]]:
    """Run the descent, and show it as it goes on."""
    from earnshaw.descent import Stopping, optimizer
    from earnshaw.experiments.watching import Moment, watch

    descent = optimizer(setting.optimizer)
    stopping = Stopping(rule="paper", max_steps=scene.steps, trace=EVERY)  # pyright: ignore[reportArgumentType]
    waiting: list[Moment] = []
    sent, begun = time.monotonic(), False
    for one in watch(setting.problem, setting.start, descent, stopping, FINE * size, stopped):
        if not isinstance(one, Moment):
            yield from _sent(waiting)
            said = f"{one.outcome.value} ({one.steps} steps)"
            yield _ending(one.outcome.name, said, one.value, one.steps, one.arrivals, one)
            return
        if one.step == 0 and begun:
            waiting = []
            yield {"again": True}
        begun = True
        waiting.append(one)
        if time.monotonic() - sent > PAUSE:
            yield from _sent(waiting)
            waiting, sent = [], time.monotonic()


def _sent(moments: list[Moment]) -> Iterator[dict[str, Any]]:
    if moments:
        columns = zip(*((one.step, one.positions, one.forces, one.value) for one in moments), strict=True)
        yield _parcel(*columns)


def _parcel(times: Any, places: Any, forces: Any, energies: Any) -> dict[str, Any]:
    """Return some moments: times (T,), positions and forces (T, n d), rounded for the picture, and energies (T,)."""
    import numpy as np

    flat = [np.round(np.asarray(one).reshape(len(times), -1), 6) for one in (places, forces)]
    return {"moments": {"t": list(times), "x": flat[0], "f": flat[1], "e": list(energies)}}


def _ending(
    name: str, words: str, value: float, clock: float, arrived: tuple[Arrival, ...], run: Watched | None = None
) -> dict[str, Any]:
    found = [vars(one) for one in arrived]
    halved = run.halvings if run else 0
    return {
        "ending": {"name": name, "words": words, "value": value, "at": clock, "arrivals": found, "halvings": halved}
    }
