import math

import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.experiments.dynamics import Integration, dynamics
from earnshaw.plots.charges import animate, energy_figure, trajectory_figure
from earnshaw.problems.charges import ChargeLaw, Charges, random_start
from earnshaw.store import read_json, read_npz

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
def test_every_electron_reaches_its_own_proton_and_the_files_say_so(tmp_path):
    charges, start = problem()
    path = dynamics(charges, start, HOW, tmp_path / "run")
    assert sorted(path.partner) == [0, 1, 2]
    assert (np.diff(path.times) >= 0).all()
    assert (np.diff(path.energies) < 1e-9).all()
    assert abs(path.energies[-1]) < 1e-12
    assert path.worst_pull < 1
    assert np.array_equal(path.positions[-1], charges.protons[path.partner])
    stored = read_npz(tmp_path / "run" / "trajectory.npz")
    assert np.array_equal(stored["positions"], path.positions)
    record = read_json(tmp_path / "run" / "trajectory.json")
    assert [c["electron"] for c in record["captures"]] == [c.electron for c in path.captures]

    pieces = sorted((tmp_path / "run" / "pieces").iterdir())
    assert len(pieces) == 3
    pieces[-1].unlink()  # as if it had been interrupted
    again = dynamics(charges, start, HOW, tmp_path / "run")
    assert np.array_equal(again.positions, path.positions)
    with pytest.raises(InputError, match="another computation"):
        dynamics(charges, start + 1, HOW, tmp_path / "run")

    trajectory_figure(path, tmp_path / "path")
    energy_figure(path, tmp_path / "energy")
    animate(path, tmp_path / "movie", frames=4)
    assert (tmp_path / "path.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (tmp_path / "energy.svg").read_bytes()
    assert (tmp_path / "movie.gif").read_bytes().startswith(b"GIF8")
    assert not list(tmp_path.glob(".*"))


@pytest.mark.slow
def test_electrons_that_are_too_slow_are_left_on_their_way():
    charges, start = problem()
    path = dynamics(charges, 30 + start, HOW)
    assert path.captures == ()
    assert (path.partner == -1).all()


def test_mistakes_are_explained():
    charges, start = problem()
    with pytest.raises(InputError, match="needs \\(3, 3\\)"):
        dynamics(charges, start[:2])
    with pytest.raises(InputError, match="fixed electron_charges"):
        dynamics(Charges(np.eye(3)), np.eye(3))
    with pytest.raises(InputError, match="lives on the sphere"):
        dynamics(Charges(np.eye(3), electron_charges=[1, 1, 1], law=ChargeLaw("sign")), np.eye(3))
    with pytest.raises(InputError, match="in order"):
        Integration(until=1e-9)
