import dataclasses
import math
import sys

import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.experiments import Interrupted
from earnshaw.experiments.dynamics import Integration, dynamics, energy_left
from earnshaw.plots.charges import animate, energy_figure, trajectory_figure
from earnshaw.problems.charges import ChargeLaw, Charges, random_start
from earnshaw.store import read_json, read_npz

module = sys.modules[dynamics.__module__]
HOW = Integration(until=1e4, stored=60)


def problem(law="almost-yukawa", seed=0):
    places, start, moving = random_start(3, 3, None, 0.25, seed)
    return Charges(places, electron_charges=moving, law=ChargeLaw(law)), start


@pytest.mark.slow
def test_one_electron_falls_into_one_proton_at_the_right_time():
    """Coulomb in R^3: dr/dt = -1/r^2, so r^3 = r0^3 - 3t."""
    one = Charges(np.zeros((1, 3)), electron_charges=[1.0], law=ChargeLaw("coulomb"))
    path = dynamics(one, np.array([[0.0, 0.0, 2.0]]), Integration(until=100.0, stored=60))
    (capture,) = path.captures
    assert (capture.electron, capture.proton) == (0, 0)
    assert math.isclose(capture.time, (2.0**3 - 1e-9) / 3, rel_tol=1e-6)
    early = path.times < 2.6
    assert np.allclose(path.positions[early, 0, 2], (8 - 3 * path.times[early]) ** (1 / 3), rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("law", ["almost-yukawa", "coulomb"])
def test_electrons_that_arrive_together_are_captured_at_one_time(law):
    """Four on their ways to the corners of a square; and one that is at its proton from the beginning."""
    square = np.array([[2.0, 2, 0], [2, -2, 0], [-2, 2, 0], [-2, -2, 0]])
    charges = Charges(square, electron_charges=np.ones(4), law=ChargeLaw(law))
    together = dynamics(charges, 0.6 * square, Integration(until=100.0, stored=60))
    assert sorted((c.electron, c.proton) for c in together.captures) == [(i, i) for i in range(4)]
    assert np.ptp([c.time for c in together.captures]) < 1e-6
    start = 0.6 * square
    start[0] = square[0] + [5e-4, 0, 0]
    first, *others = dynamics(charges, start, Integration(until=100.0, stored=60)).captures
    assert (first.electron, first.proton, first.time) == (0, 0, 0.0)
    assert others[0].proton == 3, "the next is the one across, then two at the same time"
    assert others[1].time == pytest.approx(others[2].time, rel=1e-6)


@pytest.mark.slow
def test_electrons_that_begin_on_their_protons_are_drawn_there(tmp_path):
    charges = Charges(np.eye(3), electron_charges=np.ones(3))
    path = dynamics(charges, np.eye(3) + 1e-4, HOW)
    assert (len(path.captures), path.times.tolist()) == (3, [0.0])
    trajectory_figure(path, tmp_path / "path")
    energy_figure(path, tmp_path / "energy")
    animate(path, tmp_path / "movie", frames=4)


@pytest.mark.slow
def test_under_coulombs_law_the_energy_goes_on_after_a_capture():
    """It is that of the charges that are left, falls between captures, and is 0 when all have found a partner."""
    charges, start = problem("coulomb")
    path = dynamics(charges, start, HOW)
    assert len(path.captures) == 3
    assert np.isfinite(path.energies).all()
    assert path.energies[-1] == 0
    first = path.times < path.captures[0].time
    np.testing.assert_allclose(energy_left(charges, path.positions[first], []), path.energies[first], rtol=1e-12)
    at = np.array([capture.time for capture in path.captures])
    within = np.searchsorted(at, path.times[1:], side="right") == np.searchsorted(at, path.times[:-1], side="right")
    assert (np.diff(path.energies)[within] <= 1e-9).all()


@pytest.mark.slow
def test_every_electron_reaches_its_own_proton_and_the_files_say_so(tmp_path):
    charges, start = problem()
    path = dynamics(charges, start, HOW, tmp_path / "run")
    partner = np.full(3, -1)
    for capture in path.captures:
        partner[capture.electron] = capture.proton
    assert sorted(partner) == [0, 1, 2]
    assert (np.diff(path.times) >= 0).all()
    assert (np.diff(path.energies) < 1e-9).all()
    assert abs(path.energies[-1]) < 1e-12
    assert path.worst_pull < 1
    assert np.array_equal(path.positions[-1], charges.protons[partner])
    stored = read_npz(tmp_path / "run" / "trajectory.npz")
    assert np.array_equal(stored["positions"], path.positions)
    record = read_json(tmp_path / "run" / "trajectory.json")
    assert [c["electron"] for c in record["captures"]] == [c.electron for c in path.captures]
    assert path.problem == charges
    assert np.array_equal(dynamics(charges, start, HOW, tmp_path / "run").positions, path.positions), "it is there"
    with pytest.raises(InputError, match="another computation: start"):
        dynamics(charges, start + 1, HOW, tmp_path / "run")

    trajectory_figure(path, tmp_path / "path")
    energy_figure(path, tmp_path / "energy")
    animate(path, tmp_path / "movie", frames=4)
    assert (tmp_path / "path.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (tmp_path / "energy.svg").read_bytes()
    assert (tmp_path / "movie.gif").read_bytes().startswith(b"GIF8")
    assert not list(tmp_path.glob(".*"))


@pytest.mark.slow
def test_an_interrupted_motion_goes_on_from_the_last_capture(tmp_path, monkeypatch):
    charges, start = problem()
    segment, begun = module._segment, []

    def dies(*arguments):
        begun.append(float(arguments[3]))
        if len(begun) == 3:
            raise KeyboardInterrupt
        return segment(*arguments)

    monkeypatch.setattr(module, "_segment", dies)
    with pytest.raises(Interrupted):
        dynamics(charges, start, HOW, tmp_path / "run")
    assert len(list((tmp_path / "run" / "pieces").iterdir())) == 2, "the stretches before are kept"
    path = dynamics(charges, start, HOW, tmp_path / "run")
    assert begun[3:] == [begun[2]], "only the last stretch is computed again"
    monkeypatch.setattr(module, "_segment", segment)
    whole = dynamics(charges, start, HOW, tmp_path / "whole")
    assert np.array_equal(whole.positions, path.positions)
    assert not list((tmp_path / "run" / "pieces").iterdir())
    names = ("trajectory.npz", "trajectory.json", "manifest.json")
    assert all((tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes() for name in names)


@pytest.mark.slow
def test_electrons_that_are_too_slow_are_left_on_their_way():
    charges, start = problem()
    path = dynamics(charges, 30 + start, HOW)
    assert path.captures == ()
    assert len(path.positions) > 2
    assert path.to_json()["captures"] == []


@pytest.mark.slow
def test_when_the_steps_are_used_up_that_is_said_and_nothing_is_kept(tmp_path):
    charges, start = problem()
    with pytest.raises(InputError, match="could not be solved from time 0 on with 20 steps"):
        dynamics(charges, start, dataclasses.replace(HOW, max_steps=20), tmp_path / "run")
    assert len(dynamics(charges, start, HOW, tmp_path / "run").captures) == 3


def test_mistakes_are_explained():
    charges, start = problem()
    with pytest.raises(InputError, match="needs finite numbers \\(3, 3\\)"):
        dynamics(charges, start[:2])
    with pytest.raises(InputError, match="fixed electron_charges"):
        dynamics(Charges(np.eye(3)), np.eye(3))
    with pytest.raises(InputError, match="lives on the sphere"):
        dynamics(Charges(np.eye(3), electron_charges=[1, 1, 1], law=ChargeLaw("sign")), np.eye(3))
    with pytest.raises(InputError, match="in order"):
        Integration(until=1e-9)
