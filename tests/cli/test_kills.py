"""Kills: whatever ends a command, at whatever moment, the same command again ends with the same bytes and loses nothing."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from earnshaw.cli.app import app
from earnshaw.experiments.engine import RECORD

SIGNALS = [signal.SIGKILL, signal.SIGINT, signal.SIGTERM]
STOPPED = {  # the exit status: an interpreter that is on its way out dies of the signal itself
    signal.SIGKILL: {-signal.SIGKILL},
    signal.SIGINT: {130, -signal.SIGINT},
    signal.SIGTERM: {143, -signal.SIGTERM},
}
SWEEP = (
    "sweep",
    "-k",
    "6",
    "--runs",
    "600",
    "--seed",
    "3",
    "--prove",
    "--json",
)  # three pieces, then the proof of a family
OTHERS = {
    "several sizes": ("sweep", "-k", "5..7", "-n", "k", "--runs", "300", "--seed", "3", "--prove"),
    "conv": ("sweep", "--network", "conv", "-k", "4", "-p", "3", "--ratio", "0.5", "--runs", "600"),
    "arena": ("arena", "-k", "3", "--optimizers", "gd:0.1,gd:0.05,adam:0.01", "--runs", "300"),
    "fit": ("fit", "data.npz", "--neurons", "2"),
    "dynamics": ("dynamics", "--protons", "3", "--seed", "1"),
    "prove": ("prove", "points.npz", "--workers", "2"),
}


# Ctrl-C is ignored by what a shell starts in the background, these tests perhaps.
MAIN = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from earnshaw.cli import main; main()"


def start(words, folder):
    command = [sys.executable, "-c", MAIN, *words, "--out", str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(process, happened):
    """Wait until this has happened, or the process has ended; return when that was."""
    while not happened() and process.poll() is None:
        time.sleep(0.01)
    return time.monotonic()


def contents(folder):
    """Return every file but the record of times, by its path; a file of another process that was killed is there as well."""
    files = {file.relative_to(folder): file for file in folder.rglob("*") if file.is_file()}
    return {name: file.read_bytes() for name, file in files.items() if name.name not in (RECORD, ".lock")}


class Kills:
    """A command, what it leaves when nobody stops it, and how many seconds it works for that."""

    def __init__(self, words, place):
        self.words, self.place, self.count = words, place, 0
        whole = place / "whole"
        process = start(words, whole)
        begun = wait_for(process, whole.exists)
        _, err = process.communicate()
        assert process.returncode == 0, err
        self.seconds, self.whole = time.monotonic() - begun, contents(whole)

    def kill(self, number, share):
        """Kill the command once in a folder of its own and finish it there; return whether it was still at work."""
        self.count += 1
        folder = self.place / f"killed{self.count}"
        alive = self.stop(folder, number, folder.exists, share * self.seconds)
        self.finish(folder)
        return alive

    def stop(self, folder, number, happened, seconds=0.0):
        """Send a signal some seconds after this has happened; return whether the command was still at work."""
        process = start(self.words, folder)
        wait_for(process, happened)
        time.sleep(seconds)
        alive = process.poll() is None
        process.send_signal(number)
        _, err = process.communicate()
        assert "Traceback" not in err
        done = process.returncode == 0  # also one that came to its end as the signal came
        assert process.returncode in STOPPED[number] or done, err
        if process.returncode in (130, 143):
            assert "interrupted" in err
        return alive and not done

    def finish(self, folder):
        """Run the command to its end, here; what was there is not computed again, and all is as if nobody had stopped it."""
        # Arrays without their record are written again, from the pieces.
        arrays = {file: file.stat() for file in folder.glob("*.npz") if file.with_suffix(".json").exists()}
        again = CliRunner().invoke(app, [*self.words, "--out", str(folder)])
        assert again.exit_code == 0, again.output
        assert contents(folder) == self.whole
        for file, before in arrays.items():
            after = file.stat()
            assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns), "it was computed again"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Return a folder with what the commands read."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setattr("earnshaw.numerics.remember_programs", lambda: None)
    x = np.random.default_rng(0).normal(size=(2000, 3))
    np.savez("data.npz", x=x, y=np.mean(1 / (1 + np.exp(-x @ np.array([[1.0, -0.5], [0.3, 1.0], [0, 0.5]]))), axis=1))
    weights = np.full((6, 6), -0.0504)
    np.fill_diagonal(weights, 0.9867)
    weights[0, 1:], weights[1:, 0], weights[0, 0] = 0.2245, 0.3080, -0.6015
    np.savez("points.npz", weights=np.stack([weights[np.random.default_rng(i).permutation(6)] for i in range(40)]))
    return tmp_path


@pytest.mark.slow
def test_a_sweep_that_is_killed_goes_on(place):
    """One of each kind, in one folder, each as soon as one more piece is there; sixty are in the next test."""
    kills, folder = Kills(("sweep", "-k", "3", "--runs", "2000", "--workers", "1"), place), place / "killed"
    for number in SIGNALS:
        before = len([*folder.rglob("*.npz")])
        assert kills.stop(folder, number, lambda before=before: len([*folder.rglob("*.npz")]) > before)
    kills.finish(folder)


@pytest.mark.slow
@pytest.mark.nightly
def test_sixty_kills(place):
    kills, random = Kills(SWEEP, place), np.random.default_rng(1)
    hits = {number.name: sum(kills.kill(number, random.uniform()) for _ in range(20)) for number in SIGNALS}
    print(hits)
    assert min(hits.values()) >= 10


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("name", OTHERS)
def test_other_commands_that_are_killed_go_on(place, name):
    kills, random = Kills(OTHERS[name], place), np.random.default_rng(2)
    assert sum(kills.kill(number, random.uniform(0, 0.8)) for number in SIGNALS) >= 2
