"""A plan goes through JSON into a fresh process, which gets the path of a manifest and nothing else, and gives the same bytes."""

import os
import subprocess
import sys

import numpy as np
import pytest

from earnshaw.descent import Stopping, optimizer
from earnshaw.errors import InputError
from earnshaw.experiments import Plan, run, work_of
from earnshaw.problems import RandomConvNets, TwoLayer
from earnshaw.starts import FourSigns, Given, Normal

MINE = """
import jax.numpy as jnp
import optax

optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(0.02))


def swish(x):
    return x * (0.5 + 0.5 * jnp.tanh(0.5 * x))
"""
PROGRAM = """
import sys
from pathlib import Path
from earnshaw.experiments import run, work_of
for manifest in map(Path, sys.argv[1:]):
    run(work_of(manifest.parent, functions=True), manifest.parent.with_suffix(".again"), workers=1)
"""
TWO = TwoLayer(np.array([[1.0, 0.2], [0.1, 0.7]]))


def plans():
    own = TwoLayer(np.eye(2), students=1, activation="mine.py:swish")
    points = np.random.default_rng(0).normal(size=(3, 2, 2))
    conv = RandomConvNets(filter_size=2, patches=3, ratio=0.5)
    two = {"batch": 2}  # one shape of block, so one program
    return {
        "adam": Plan.of(TWO, runs=5, descent=optimizer("adam:0.01"), start=Normal(scale=0.3), seed=2**40, **two),
        "lbfgs": Plan.of(TWO, runs=5, descent=optimizer("lbfgs"), stopping=Stopping(max_steps=5000), **two),
        "own-activation": Plan.of(own, runs=3, **two),
        "own-optimiser": Plan.of(TWO, runs=3, descent=optimizer("mine.py:optimizer"), start=Given(points), **two),
        "several": Plan.of(TWO, runs=3, descent={"a": optimizer("gd:0.1"), "b": optimizer("gd:0.07")}, **two),
        "conv": Plan.of(conv, runs=4, start=FourSigns()),
    }


def results(path):
    kept = ("manifest.json", "*.npz", "*-n*.json", "p*.json")
    return {file.name: file.read_bytes() for name in kept for file in sorted(path.glob(name))}


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory):
    """A folder with the runs of this process, and beside each those of another process."""
    place, here = tmp_path_factory.mktemp("rebuild"), os.getcwd()
    (place / "mine.py").write_text(MINE)
    os.chdir(place)
    try:
        for name, plan in plans().items():
            run(plan, place / name, workers=1)
        manifests = [str(place / name / "manifest.json") for name in plans()]
        subprocess.run([sys.executable, "-c", PROGRAM, *manifests], cwd=place, check=True, timeout=300)
        yield place
    finally:
        os.chdir(here)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adam", "lbfgs", "own-activation", "own-optimiser", "several", "conv"])
def test_a_fresh_process_gives_the_same_bytes(rebuilt, name):
    found = results(rebuilt / name)
    assert len(found) >= 3
    assert found == results(rebuilt / f"{name}.again")
    again = work_of(rebuilt / name, functions=True)
    assert (again.common, again.parts) == (plans()[name].common, plans()[name].parts)
    assert again.hash == plans()[name].hash


@pytest.mark.slow
@pytest.mark.parametrize("name", ["own-activation", "own-optimiser"])
def test_code_of_a_user_is_loaded_only_where_that_is_allowed(rebuilt, name):
    with pytest.raises(InputError, match=r"mine\.py:\w+'? .*(was not allowed|allow)"):
        work_of(rebuilt / name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["own-activation", "own-optimiser"])
def test_an_edited_file_is_refused_in_a_sentence(rebuilt, name):
    (rebuilt / "mine.py").write_text(MINE.replace("0.02", "0.03").replace("0.5 *", "0.4 *"))
    try:
        with pytest.raises(InputError, match=r"mine\.py:.* changed"):
            work_of(rebuilt / name, functions=True)
        with pytest.raises(InputError, match=r"another computation: k2-n.*digest"):
            run(plans()[name], rebuilt / name, workers=1)
    finally:
        (rebuilt / "mine.py").write_text(MINE)
    assert results(rebuilt / name) == results(rebuilt / f"{name}.again")
