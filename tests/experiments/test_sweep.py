"""Sweeps: the contract of the run folder, and the same bytes for every worker count, interruption and resume."""

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import earnshaw.experiments.plan as module
from earnshaw.descent import Outcome, Stopping
from earnshaw.errors import DamageWarning, InputError
from earnshaw.experiments import (
    Interrupted,
    Plan,
    Runs,
    families,
    finished_records,
    load,
    load_sweep,
    run_plan,
    sweep,
    work_of,
)
from earnshaw.experiments.turns import in_turn
from earnshaw.landscapes import landscape
from earnshaw.problems import TwoLayer, problem_from_json, standard_teacher
from earnshaw.store import read_json, read_npz
from earnshaw.symmetry import align

SIX = TwoLayer(standard_teacher(6))
RUNS = 640  # several pieces, three of the runs spurious
ONE = TwoLayer(standard_teacher(1))
PLAN = Plan.of([SIX, ONE], runs=RUNS, batch=16)
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
    manifest = read_json(path / "manifest.json")
    assert (manifest["kind"], manifest["common"], manifest["settings"]) == ("sweep", PLAN.common, PLAN.parts)
    assert work_of(path) == PLAN
    assert work_of(path).hash == PLAN.hash


def test_the_summary_is_what_the_command_promises(finished):
    path, found, _ = finished
    record = read_json(path / "k6-n6.json")
    promised = {"k", "n", "d", "runs", "seed", "outcomes", "spurious_percent", "spurious_interval", "mean_objective"}
    promised |= {"mean_min_eigenvalue", "families", "steps", "objective", "optimizer", "undecided"}
    assert promised <= set(record)
    assert (record["k"], record["n"], record["d"], record["runs"], record["seed"]) == (6, 6, 6, RUNS, 0)
    assert (record["objective"], record["optimizer"], record["undecided"]) == ("two-layer/relu", "gd:0.1", 0)
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
    assert record.pop("files") == [""]
    assert len(record.pop("sha256")) == 64
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
    trapped = [544, 592, 633]
    assert arrays["run"].tolist() == list(range(RUNS))
    assert (arrays["family"] >= 0).nonzero()[0].tolist() == trapped
    assert arrays["family"][trapped].tolist() == [0, 0, 0]
    assert arrays["weights"].shape == arrays["last_weights"].shape == (RUNS, 6, 6), "every end point is kept"
    assert problem_from_json(json.loads(str(arrays["problem"]))) == SIX
    assert (arrays["outcome"] == Outcome.SPURIOUS.code).nonzero()[0].tolist() == trapped
    for name in ("outcome", "value", "gradient_norm", "min_eigenvalue", "steps", "gradients", "hessians", "halvings"):
        assert arrays[name].shape == (RUNS,)
    energy = landscape(SIX)
    np.testing.assert_allclose(energy.value(arrays["weights"]), arrays["value"], atol=1e-14)
    spurious = arrays["weights"][trapped]
    np.testing.assert_allclose(energy.value(spurious), arrays["value"][trapped], atol=1e-15)
    assert np.abs(np.asarray(energy.gradient(spurious))).max() < 1e-13
    assert arrays["family_weights"].shape == (1, 6, 6)
    assert all(align(SIX.symmetry, weights, arrays["family_weights"][0], 1e-6) is not None for weights in spurious)
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
    assert len(shares) >= 1 + sum(len(PLAN.pieces(name)) for name in NAMES)


def test_results_are_read_back_with_their_times(finished):
    path, found, _ = finished
    assert list(load(path)) == list(load_sweep(path)) == found
    records = finished_records(path)
    assert list(records) == NAMES
    assert [{**result.to_json(), "files": [""]} for result in found] == list(records.values())
    assert load(path).settings == tuple(NAMES)
    assert [result.name for result in load(path)] == NAMES
    again = load(path)["k6-n6"]
    assert again.runs == found[0].runs == Runs.load(path / "k6-n6.npz")
    (family,) = again.families
    assert family.members.tolist() == [544, 592, 633]
    with pytest.raises(InputError, match="no finished setting 'k2-n2'; it has k6-n6, k1-n1"):
        load(path)["k2-n2"]
    with pytest.raises(InputError, match="several settings"):
        _ = load(path).runs
    for read in (load, load_sweep, finished_records):
        with pytest.raises(InputError, match="not a run folder"):
            read(path.parent)


def test_the_alignment_of_a_run_takes_it_to_its_family(finished):
    result = load(finished[0])["k6-n6"]
    (family,) = result.families
    for alignment, run in zip(family.alignments, result.runs.of(family.members).weights, strict=True):
        assert np.abs(alignment.move(run) - family.weights).max() < 1e-9


@pytest.mark.parametrize(
    "damage", ["{", "[]", '{"runs": 640}', '{"runs": 640, "families": 5, "spurious_interval": null}']
)
def test_a_damaged_summary_is_one_sentence_until_it_is_computed_again(finished, tmp_path, damage):
    shutil.copytree(finished[0], tmp_path / "run")
    (tmp_path / "run" / "k1-n1.json").write_text(damage)
    with pytest.raises(InputError, match=r"k1-n1\.json is not .*runs repair, to compute it anew"):
        load(tmp_path / "run")
    with pytest.warns(DamageWarning, match=r"k1-n1\.json is damaged, or .*computed anew"):
        run_plan(Plan.of(ONE, runs=RUNS, batch=16), tmp_path / "run", workers=1)
    assert results(tmp_path / "run") == results(finished[0])


def test_a_trace_is_stored_beside_the_results(tmp_path):
    run_plan(Plan.of(ONE, runs=150, stopping=Stopping(trace=100), batch=16), tmp_path / "run")
    trace = read_npz(tmp_path / "run" / "k1-n1-trace.npz")
    arrays = read_npz(tmp_path / "run" / "k1-n1.npz")
    assert set(trace) == {"run", "step", "value", "gradient_norm", "weights", "header"}
    assert np.array_equal(np.unique(trace["run"]), np.arange(150))
    assert (trace["step"] % 100 == 0).all()
    for run, steps in enumerate(arrays["steps"]):
        assert trace["step"][trace["run"] == run].max() == steps // 100 * 100


def test_end_points_of_unknown_rank_are_kept_but_not_called_spurious(tmp_path):
    problem = TwoLayer(standard_teacher(2), students=1, activation="leaky:0.1")
    run_plan(Plan.of(problem, runs=8, batch=8), tmp_path / "run")
    record = read_json(tmp_path / "run" / "k2-n1.json")
    assert record["outcomes"] == {"CONVERGED": 8}
    assert record["spurious_percent"] == 0
    assert record["mean_objective"] is None
    assert [family["count"] for family in record["families"]] == [8]
    assert read_npz(tmp_path / "run" / "k2-n1.npz")["weights"].shape == (8, 1, 2)
    (result,) = load_sweep(tmp_path / "run")
    assert result.families[0].problem == problem, "leaky:0.1 has a colon, as a user's function has, and is none"


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_workers_begin_with_settings_far_apart(workers, few):
    plan = Plan.of([TwoLayer(standard_teacher(k)) for k in range(1, 8)], runs=600)
    pieces = {name: plan.pieces(name) for name in plan.by_name}
    order = in_turn(pieces, workers, few)
    assert sorted(order, key=repr) == sorted((piece for some in pieces.values() for piece in some), key=repr)
    assert len({piece.setting for piece in order[:workers]}) == workers
    for name, some in pieces.items():
        assert [piece for piece in order if piece.setting == name] == some, "each setting's in order"


# ---- the same bytes ----------------------------------------------------------------------------------------------


def test_one_worker_gives_the_same_bytes(finished, tmp_path):
    run_plan(PLAN, tmp_path / "run", workers=1)
    assert results(tmp_path / "run") == results(finished[0])


@pytest.mark.parametrize(("moment", "kept"), [(0.5, 0.38), (0.8, 0.77), (0.997, 0.995)])
def test_an_interrupted_sweep_resumes_to_the_same_bytes(finished, tmp_path, moment, kept):
    """Interrupted within the second and the third piece, and after all three of the first setting."""

    def impatient(share, what):
        if share >= moment:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        run_plan(PLAN, tmp_path / "run", workers=1, progress=impatient)
    before = list((tmp_path / "run" / "pieces").iterdir())
    assert before or (tmp_path / "run" / "k6-n6.json").exists(), "nothing was kept"
    assert results(tmp_path / "run") != results(finished[0])
    shares = []
    found = run_plan(PLAN, tmp_path / "run", workers=2, progress=lambda share, what: shares.append(share))
    assert shares[0] >= kept, "finished pieces were computed again"
    assert results(tmp_path / "run") == results(finished[0])
    assert not list((tmp_path / "run" / "pieces").iterdir())
    assert [result.summary for result in found] == [result.summary for result in finished[1]]


def test_another_batch_does_not_change_a_sweep_that_has_begun(finished, tmp_path):
    def impatient(share, what):
        if what:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        run_plan(PLAN, tmp_path / "run", workers=1, progress=impatient)
    other = Plan.of([SIX, ONE], runs=RUNS, batch=7)
    run_plan(other, tmp_path / "run", workers=1)
    assert results(tmp_path / "run") == results(finished[0])


PROGRAM = """
import sys
from pathlib import Path
from earnshaw.experiments import Plan, run_plan
from earnshaw.problems import TwoLayer, standard_teacher
problems = [TwoLayer(standard_teacher(6)), TwoLayer(standard_teacher(1))]
run_plan(Plan.of(problems, runs=int(sys.argv[2]), batch=16), Path(sys.argv[1]), workers=1)
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

    monkeypatch.setattr(module, "descend", never)
    again = run_plan(PLAN, path)
    assert again == found
    assert {file: file.stat().st_mtime_ns for file in path.glob("*.npz")} == before


def test_a_folder_of_another_plan_is_refused_untouched(finished):
    path, _, _ = finished
    before = {file: file.read_bytes() for file in path.iterdir() if file.is_file()}
    with pytest.raises(InputError, match="holds another computation: seed is 0 there, and 1 was asked for"):
        run_plan(dataclasses.replace(PLAN, seed=1), path)
    with pytest.raises(InputError, match="holds another computation: k6-n6 has 640 runs there, and 639 were asked for"):
        run_plan(Plan.of([SIX, ONE], runs=RUNS - 1, batch=16), path)
    with pytest.raises(InputError, match=r"holds another computation: k6-n6\.problem\.target is another value there"):
        run_plan(Plan.of(TwoLayer(2 * standard_teacher(6)), runs=RUNS, batch=16), path)
    assert {file: file.read_bytes() for file in path.iterdir() if file.is_file()} == before


def test_an_error_in_a_piece_is_raised_and_leaves_a_folder_that_resumes(finished, tmp_path, monkeypatch):
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
    assert one == two
    for name in Runs.names():
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes(), name
    arrays = read_npz(finished[0] / "k6-n6.npz")
    assert np.array_equal(one.spurious.weights, arrays["weights"][[544, 592, 633]])
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
        ({"runs": 1e3}, "1000.0 runs"),
        ({"runs": "5"}, "'5' runs"),
        ({"seed": "1"}, "seed is '1'"),
        ({"stop": "nonsense"}, "nonsense.*early.*paper|early.*paper.*nonsense"),
        ({"max_steps": 0}, "at least 1"),
        ({"students": 0}, "0 student"),
        (
            {"start": np.zeros((5, 6, 6)), "runs": 1000},
            "1000 runs need as many starts, but 5 are given; ask for 5 runs",
        ),
        ({"start": "four-signs"}, "the start four-signs is not one for the network two-layer; choose xavier"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        sweep(SIX, **{"runs": 1, **arguments})
