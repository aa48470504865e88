"""Sweeps: the contract of the run folder, and the same bytes for every worker count, interruption and resume."""

import dataclasses
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from earnshaw.descent import Outcome, Runs, Stopping
from earnshaw.errors import InputError
from earnshaw.experiments import Interrupted, Plan, Setting, families, load_summaries, run_plan, sweep
from earnshaw.experiments import sweep as sweep_function
from earnshaw.experiments.sweep import _in_turn
from earnshaw.landscapes import landscape
from earnshaw.problems import TwoLayer, standard_teacher
from earnshaw.store import read_json, read_npz
from earnshaw.symmetry import align

SIX = TwoLayer(standard_teacher(6))
RUNS = 640  # several pieces, three of the runs spurious
PLAN = Plan(
    settings=(Setting(SIX), Setting(TwoLayer(standard_teacher(1)))), runs=RUNS, batches={"k6-n6": 16, "k1-n1": 16}
)
NAMES = ["k6-n6", "k1-n1"]


def results(path):
    """The bytes of all result files; the record of versions and times is none."""
    return {file.name: file.read_bytes() for pattern in ("*.npz", "k*-n*.json") for file in sorted(path.glob(pattern))}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """An uninterrupted sweep by two workers: its folder, its results, and the progress it reported."""
    path, told = tmp_path_factory.mktemp("sweep") / "run", []
    found = run_plan(PLAN, path, workers=2, progress=lambda share, what: told.append((share, what)))
    return path, found, told


# ---- the contract ------------------------------------------------------------------------------------------------


def test_the_folder_holds_what_it_should_and_nothing_else(finished):
    path, _, _ = finished
    names = {file.name for file in path.iterdir()}
    expected = {f"{name}.{kind}" for name in NAMES for kind in ("npz", "json")}
    assert names == expected | {"manifest.json", "record.json", "pieces", ".lock"}
    assert not list((path / "pieces").iterdir())
    assert read_json(path / "manifest.json")["hash"] == PLAN.hash


def test_the_summary_is_what_the_command_promises(finished):
    path, found, _ = finished
    record = read_json(path / "k6-n6.json")
    promised = {"k", "n", "d", "runs", "seed", "outcomes", "spurious_percent", "spurious_interval", "mean_objective"}
    promised |= {"mean_min_eigenvalue", "families", "steps"}
    assert promised <= set(record)
    assert (record["k"], record["n"], record["d"], record["runs"], record["seed"]) == (6, 6, 6, RUNS, 0)
    assert record["outcomes"] == {"GLOBAL": RUNS - 3, "SPURIOUS": 3}
    assert record["spurious_percent"] == pytest.approx(100 * 3 / RUNS)
    low, high = record["spurious_interval"]
    assert 0.05 < low < record["spurious_percent"] < high < 2
    assert record["mean_objective"] == pytest.approx(0.0250806, abs=1e-7)
    assert record["mean_min_eigenvalue"] == pytest.approx(0.0047, abs=5e-5)
    (family,) = record["families"]
    assert family["count"] == 3
    assert family["objective"] == pytest.approx(record["mean_objective"], abs=1e-12)
    assert family["min_eigenvalue"] == pytest.approx(record["mean_min_eigenvalue"], abs=1e-9)
    line = found[0].to_json()
    assert {**line, "seconds": 0, "compile_seconds": 0} == {**record, "seconds": 0, "compile_seconds": 0}
    assert line["seconds"] > 0
    assert line["compile_seconds"] >= 0
    assert not {"seconds", "compile_seconds"} & set(record), "times are no results"


def test_a_setting_without_spurious_runs_has_no_means(finished):
    record = read_json(finished[0] / "k1-n1.json")
    assert set(record["outcomes"]) == {"GLOBAL", "DEGENERATE"}
    assert 250 < record["outcomes"]["DEGENERATE"] < 390
    assert record["mean_objective"] is None
    assert record["mean_min_eigenvalue"] is None
    assert record["families"] == []
    assert record["spurious_interval"][0] == 0


def test_the_arrays_are_what_the_command_promises(finished):
    path, _, _ = finished
    arrays = read_npz(path / "k6-n6.npz")
    assert arrays["run"].tolist() == [544, 592, 633]
    assert arrays["family"].tolist() == [0, 0, 0]
    assert arrays["weights"].shape == arrays["last_weights"].shape == (3, 6, 6)
    assert np.array_equal(arrays["teacher"], np.eye(6))
    assert (arrays["outcome"] == "SPURIOUS").nonzero()[0].tolist() == [544, 592, 633]
    for name in ("outcome", "value", "gradient_norm", "steps"):
        assert arrays[name].shape == (RUNS,)
    energy = landscape(SIX)
    np.testing.assert_allclose(energy.value(arrays["weights"]), arrays["value"][arrays["run"]], atol=1e-15)
    assert np.abs(np.asarray(energy.gradient(arrays["weights"]))).max() < 1e-13
    assert arrays["family_weights"].shape == (1, 6, 6)
    assert all(align(SIX.symmetry, weights, arrays["family_weights"][0], 1e-6) is not None for weights in arrays["weights"])
    assert int(arrays["steps"].sum()) == read_json(path / "k6-n6.json")["steps"]


def test_the_record_says_how_it_was_computed(finished):
    record = read_json(finished[0] / "record.json")
    assert set(record["times"]) == set(NAMES)
    assert {"earnshaw", "jax", "jaxlib", "numpy"} <= set(record["versions"])
    assert record["dtype"] == "float64"


def test_progress_goes_from_nothing_to_everything(finished):
    shares = [share for share, _ in finished[2]]
    assert shares[0] == 0
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)
    assert len(shares) == 1 + sum(len(PLAN.pieces(setting)) for setting in PLAN.settings)


def test_summaries_are_read_back_with_their_times(finished):
    path, found, _ = finished
    assert load_summaries(path) == [result.to_json() for result in found]
    with pytest.raises(InputError, match="not a run folder"):
        load_summaries(path.parent)


def test_a_trace_is_stored_beside_the_results(tmp_path):
    plan = Plan(settings=PLAN.settings[1:], runs=150, stopping=Stopping(trace=100), batches={"k1-n1": 16})
    run_plan(plan, tmp_path / "run")
    trace = read_npz(tmp_path / "run" / "k1-n1-trace.npz")
    arrays = read_npz(tmp_path / "run" / "k1-n1.npz")
    assert set(trace) == {"run", "step", "value", "gradient_norm", "weights"}
    assert np.array_equal(np.unique(trace["run"]), np.arange(150))
    assert (trace["step"] % 100 == 0).all()
    for run, steps in enumerate(arrays["steps"]):
        assert trace["step"][trace["run"] == run].max() == steps // 100 * 100


def test_end_points_of_unknown_rank_are_kept_but_not_called_spurious(tmp_path):
    problem = TwoLayer(standard_teacher(2), students=1)
    run_plan(Plan(settings=(Setting(problem),), runs=8, batches={"k2-n1": 8}), tmp_path / "run")
    record = read_json(tmp_path / "run" / "k2-n1.json")
    assert record["outcomes"] == {"CONVERGED": 8}
    assert record["spurious_percent"] == 0
    assert record["mean_objective"] is None
    assert [family["count"] for family in record["families"]] == [8]
    assert read_npz(tmp_path / "run" / "k2-n1.npz")["weights"].shape == (8, 1, 2)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_workers_begin_with_settings_far_apart(workers):
    settings = tuple(Setting(TwoLayer(standard_teacher(k))) for k in range(1, 8))
    plan = Plan(settings=settings, runs=600)
    order = [name for _, name, _ in _in_turn(plan, list(settings), workers)]
    assert sorted(order) == sorted(name for setting in settings for name, _ in plan.pieces(setting))
    assert len({name.split("-")[0] for name in order[:workers]}) == workers


# ---- the same bytes ----------------------------------------------------------------------------------------------


def test_one_worker_gives_the_same_bytes(finished, tmp_path):
    run_plan(PLAN, tmp_path / "run", workers=1)
    assert results(tmp_path / "run") == results(finished[0])


@pytest.mark.parametrize("moment", [2, 4, 6])
def test_an_interrupted_sweep_resumes_to_the_same_bytes(finished, tmp_path, moment):
    calls = []

    def impatient(share, what):
        calls.append(share)
        if len(calls) == moment:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        run_plan(PLAN, tmp_path / "run", workers=1, progress=impatient)
    before = list((tmp_path / "run" / "pieces").iterdir())
    assert before or (tmp_path / "run" / "k6-n6.json").exists(), "nothing was kept"
    assert results(tmp_path / "run") != results(finished[0])
    shares = []
    found = run_plan(PLAN, tmp_path / "run", workers=2, progress=lambda share, what: shares.append(share))
    assert shares[0] >= calls[-1] - 1e-12, "finished pieces were computed again"
    assert results(tmp_path / "run") == results(finished[0])
    assert not list((tmp_path / "run" / "pieces").iterdir())
    assert [result.summary for result in found] == [result.summary for result in finished[1]]


def test_another_batch_does_not_change_a_sweep_that_has_begun(finished, tmp_path):
    def impatient(share, what):
        if what:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        run_plan(PLAN, tmp_path / "run", workers=1, progress=impatient)
    other = dataclasses.replace(PLAN, batches={"k6-n6": 7, "k1-n1": 7})
    run_plan(other, tmp_path / "run", workers=1)
    assert results(tmp_path / "run") == results(finished[0])


PROGRAM = """
import sys
from pathlib import Path
from earnshaw.experiments import Plan, Setting, run_plan
from earnshaw.problems import TwoLayer, standard_teacher
settings = (Setting(TwoLayer(standard_teacher(6))), Setting(TwoLayer(standard_teacher(1))))
run_plan(Plan(settings=settings, runs=int(sys.argv[2]), batches={"k6-n6": 16, "k1-n1": 16}), Path(sys.argv[1]), workers=1)
"""


@pytest.mark.slow
def test_a_killed_sweep_resumes_to_the_same_bytes(finished, tmp_path):
    """kill -9 as soon as a piece is there; another process finishes."""
    path = tmp_path / "run"
    command = [sys.executable, "-c", PROGRAM, str(path), str(RUNS)]
    process = subprocess.Popen(command)
    try:
        deadline = time.monotonic() + 120
        while not (path.exists() and any(path.glob("pieces/*.npz"))):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.002)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert process.returncode == -signal.SIGKILL
    assert results(path) != results(finished[0])
    run_plan(PLAN, path, workers=2)
    assert results(path) == results(finished[0])
    again = subprocess.run(command, timeout=120, check=False)
    assert again.returncode == 0
    assert results(path) == results(finished[0])


def test_a_finished_folder_is_not_computed_again(finished, monkeypatch):
    path, found, _ = finished
    before = {file: file.stat().st_mtime_ns for file in path.glob("*.npz")}

    def never(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr(sys.modules[sweep_function.__module__], "descend", never)
    again = run_plan(PLAN, path)
    assert again == found
    assert {file: file.stat().st_mtime_ns for file in path.glob("*.npz")} == before


def test_a_folder_of_another_plan_is_refused_untouched(finished):
    path, _, _ = finished
    before = {file: file.read_bytes() for file in path.iterdir() if file.is_file()}
    with pytest.raises(InputError, match="holds another computation"):
        run_plan(dataclasses.replace(PLAN, seed=1), path)
    assert {file: file.read_bytes() for file in path.iterdir() if file.is_file()} == before


def test_an_error_in_a_piece_is_raised_and_leaves_a_folder_that_resumes(finished, tmp_path, monkeypatch):
    module = sys.modules[sweep_function.__module__]
    real, calls = module.descend, []

    def failing(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise MemoryError("no memory")
        return real(*arguments)

    monkeypatch.setattr(module, "descend", failing)
    with pytest.raises(MemoryError, match="no memory"):
        run_plan(PLAN, tmp_path / "run", workers=1)
    monkeypatch.setattr(module, "descend", real)
    run_plan(PLAN, tmp_path / "run", workers=1)
    assert results(tmp_path / "run") == results(finished[0])


# ---- in memory ---------------------------------------------------------------------------------------------------


def test_a_sweep_in_memory_is_the_same_for_every_worker_count_and_equals_the_folder(finished):
    one, two = (sweep(SIX, runs=RUNS, seed=0, batch=32, workers=workers) for workers in (1, 2))
    for name in Runs.array_names():
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes(), name
    arrays = read_npz(finished[0] / "k6-n6.npz")
    assert np.array_equal(one.spurious.weights, arrays["weights"])
    assert np.array_equal(one.steps, arrays["steps"])
    spurious = one.outcome == Outcome.SPURIOUS.code
    assert one.min_eigenvalue[spurious] == pytest.approx(0.0047, abs=5e-5)
    assert np.isnan(one.min_eigenvalue[~spurious]).all()
    (family,) = families(one.spurious)
    assert family.count == 3
    assert np.array_equal(family.weights, arrays["family_weights"][0])
    assert family.min_eigenvalue == one.min_eigenvalue[544]


def test_sweep_takes_another_number_of_students():
    runs = sweep(TwoLayer(standard_teacher(2)), students=1, runs=8, batch=8)
    assert runs.problem.students == 1
    assert len(runs) == 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"runs": 0}, "0 runs"),
        ({"batch": 0}, "batch is 0"),
        ({"optimizer": "gd:-1"}, "step is -1"),
        ({"workers": -1}, "workers"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        sweep(SIX, **{"runs": 1, **arguments})
