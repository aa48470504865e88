"""A folder goes on with the kernel it was begun with, unless somebody asks for two kinds of last bits."""

import json

import numpy as np
import pytest

from earnshaw import InputError, TwoLayer
from earnshaw.descent import native
from earnshaw.experiments import Plan, run_plan


def plan(runs: int, kernel: str) -> Plan:
    return Plan.of(TwoLayer(np.eye(2)), runs=runs, seed=0, kernel=kernel, batch=1)


def tools(folder):
    return json.loads((folder / "record.json").read_text())["tools"]


@pytest.fixture
def begun(tmp_path):
    if found := native.missing():
        pytest.skip(f"there is no native kernel: {found}")
    run_plan(plan(8, "xla"), tmp_path / "run", workers=1)
    return tmp_path / "run"


def test_another_kernel_is_refused_and_changes_nothing(begun):
    before = {file: file.read_bytes() for file in begun.rglob("*") if file.is_file()}
    with pytest.raises(InputError, match="begun with the kernel xla, and native was asked for"):
        run_plan(plan(8, "native"), begun)
    assert {file: file.read_bytes() for file in before} == before


def test_nobody_who_asks_for_none_changes_the_kernel(begun):
    run_plan(plan(300, ""), begun, workers=1)
    assert tools(begun) == {"k2-n2": ["xla"]}


def test_mixed_runs_have_both_and_say_so(begun):
    (result,) = run_plan(plan(300, "native"), begun, workers=1, mixed=True)
    assert tools(begun) == {"k2-n2": ["native", "xla"]}
    whole = {kernel: run_plan(plan(300, kernel))[0].runs for kernel in ("xla", "native")}
    assert np.array_equal(result.runs.outcome, whole["xla"].outcome)
    first, last = np.split(result.runs.last_weights, [256])
    assert np.array_equal(last, whole["native"].last_weights[256:])
    assert np.abs(first - whole["xla"].last_weights[:256]).max() < 1e-9
