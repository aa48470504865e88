"""Worker processes by Dask: the same bytes, whoever computes, and whoever dies on the way."""

import contextlib
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import Executor, Future
from types import SimpleNamespace

import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.experiments import Plan, atlas_map, build_atlas, prove_sweep, prove_targets, run, run_plan, targets
from earnshaw.experiments.cluster import Cluster, Job, _ready, check_where, tasks, versions
from earnshaw.papers.spurious import EXAMPLES
from earnshaw.problems import TwoLayer

psutil = pytest.importorskip("psutil")
distributed = pytest.importorskip("distributed")
dumps = pytest.importorskip("distributed.protocol.pickle").dumps
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def files(folder):
    """All results of a folder."""
    names = [file for file in folder.rglob("*") if file.is_file() and file.name not in ("record.json", ".lock")]
    return {file.relative_to(folder): file.read_bytes() for file in names}


def processes():
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):  # one that ends at this moment, also as a zombie
            found += [child] if "spawn_main" in " ".join(child.cmdline()) else []
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "runs"), [(1, 500), pytest.param(2, 1500, marks=pytest.mark.nightly)])
def test_a_killed_worker_loses_and_changes_nothing(tmp_path, workers, runs):
    plan, killed, others = Plan.of(TwoLayer(np.eye(2)), runs=runs), [], processes()  # of other tests

    def kill(share, what):
        if not killed and share > 0:
            killed.append(next(one.pid for one in processes() if one not in others))
            os.kill(killed[0], signal.SIGKILL)

    run_plan(plan, tmp_path / "cluster", progress=kill, cluster=f"local:{workers}")
    assert killed
    assert set(processes()) <= set(others), "no process is left behind"
    run_plan(plan, tmp_path / "threads")
    assert files(tmp_path / "cluster") == files(tmp_path / "threads")


def test_a_task_is_plain_data_with_the_hash_of_its_content():
    plan = Plan.of([TwoLayer(np.eye(2)), TwoLayer(np.eye(3))], runs=300, seed=4)
    first, second = tasks(plan, plan.pieces("k3-n3")).values()
    (again,) = tasks(Plan.of([TwoLayer(np.eye(3))], runs=300, seed=4), plan.pieces("k3-n3")[:1]).values()
    (other,) = tasks(Plan.of([TwoLayer(np.eye(3))], runs=300, seed=5), plan.pieces("k3-n3")[:1]).values()
    assert first.key == again.key
    assert len({first.key, second.key, other.key}) == 3
    alone = first.sent.work
    assert list(alone.parts) == ["k3-n3"]
    assert alone.parts["k3-n3"] == plan.parts["k3-n3"]
    assert alone.common == plan.common


@pytest.mark.parametrize(
    ("mine", "threads", "words"),
    [
        (
            {"earnshaw": "0.0.9"},
            1,
            r"the worker tcp://there has earnshaw 0.1.0 \(source \w{8}\), and this process 0.0.9; install",
        ),
        ({"numpy": "1.0"}, 1, r"has numpy \S+, and this process 1.0"),
        ({}, 4, r"the worker tcp://there has 4 threads; start workers with one each"),
    ],
)
def test_a_worker_that_would_give_other_bits_refuses(monkeypatch, mine, threads, words):
    state = SimpleNamespace(nthreads=threads, tasks={})
    monkeypatch.setattr(distributed, "get_worker", lambda: SimpleNamespace(address="tcp://there", state=state))
    monkeypatch.setattr("dask.context.thread_state.key", "x", raising=False)
    with pytest.raises(InputError, match=words):
        _ready(tuple((dict(versions()) | mine).items()))


def test_a_task_that_nobody_wants_any_more_stops(monkeypatch):
    task = SimpleNamespace(state="executing")
    state = SimpleNamespace(nthreads=1, tasks={"x": task})
    monkeypatch.setattr(distributed, "get_worker", lambda: SimpleNamespace(address="tcp://there", state=state))
    monkeypatch.setattr("dask.context.thread_state.key", "x", raising=False)
    cancelled = _ready(versions())
    assert not cancelled()
    task.state = "cancelled"
    assert cancelled()
    state.tasks.clear()
    assert cancelled()


def test_mistakes_with_clusters(tmp_path, monkeypatch):
    assert check_where("local:4") == 4
    assert check_where("tcp://host:8786") == 0
    plan = Plan.of(TwoLayer(np.eye(2)), runs=3)
    asked = (
        lambda where: run(plan, tmp_path / "run", cluster=where),
        lambda where: build_atlas(tmp_path / "run", ["II"], [7], cluster=where),
        lambda where: atlas_map([(7, 7)], tmp_path / "run", cluster=where),
        lambda where: prove_targets([], cluster=where),
    )
    for where, ask in itertools.product(("local", "local:0", "local:1001", "host:8786", "4", 4), asked):
        with pytest.raises(InputError, match=f"the cluster is {where!r}; use local:4 for four processes here .*, or"):
            ask(where)
    assert not (tmp_path / "run").exists()
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"the cluster local:2 needs distributed.*\n.*earnshaw\[cluster\]"):
        Cluster("local:2")


def test_addresses_at_which_no_scheduler_answers(monkeypatch):
    monkeypatch.setattr("earnshaw.experiments.cluster.PATIENCE", 0.5)
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        for where, why in (
            ("tcp://127.0.0.1:1", "Timed out"),
            ("tcp://127.0.0.1", "missing port"),
            (f"tcp://127.0.0.1:{mute.getsockname()[1]}", "what is there says nothing that Dask understands"),
            ("tls://127.0.0.1:1", r"Dask has no certificates for tls://, see docs/cluster\.md"),
        ):
            with pytest.raises(InputError, match=rf"no Dask scheduler answers at {where} \({why}"):
                Cluster(where)


def test_a_worker_can_read_a_task_without_this_library_and_then_says_what_it_lacks():
    """What is sent is a function that is taken as it stands, and bytes."""
    sent = []
    there = object.__new__(Cluster)
    there._executor = SimpleNamespace(submit=lambda function, content, **key: sent.append((function, content)))  # type: ignore[assignment]
    there.submit(Job(max, (1, 2), versions()))
    code = (
        "import sys, pickle; sys.modules['earnshaw'] = None\n"
        "function, content = pickle.load(sys.stdin.buffer)\n"
        "assert type(content) is bytes\n"
        "try: function(content)\n"
        "except ModuleNotFoundError as error: print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], input=dumps(sent[0]), capture_output=True, check=True)
    assert b"earnshaw" in ran.stdout


class Here(Executor):
    """A cluster that is none: it counts what it is given, and does it."""

    workers, given = 1, 0

    def submit(self, fn, /):
        type(self).given += 1
        future = Future()
        future.set_result(fn())
        return future

    map_in_order = Cluster.map_in_order


@pytest.fixture
def here(monkeypatch):
    monkeypatch.setattr(Here, "given", 0)
    monkeypatch.setattr("earnshaw.experiments.cluster._ready", lambda versions: lambda: False)
    for user in ("cluster", "engine"):
        monkeypatch.setattr(f"earnshaw.experiments.{user}.Cluster", lambda where: Here())


def test_proofs_of_points_and_places_of_the_map_go_there_too(tmp_path, here):
    np.savez(tmp_path / "points.npz", weights=EXAMPLES[0].weights[None])
    points = targets(tmp_path / "points.npz")
    (there,), given = prove_targets(points, cluster="tcp://there:8786"), Here.given
    assert given == 1
    assert there.certificates == prove_targets(points)[0].certificates
    found = atlas_map([(6, 6), (7, 7), (7, 8)], tmp_path / "there", cluster="tcp://there:8786")
    assert Here.given == given + 3
    assert list(found) == list(atlas_map([(6, 6), (7, 7), (7, 8)], tmp_path / "here"))
    assert files(tmp_path / "there") == files(tmp_path / "here")
    assert Here.given == given + 3


@pytest.fixture
def scheduler(tmp_path):
    """A scheduler with two workers, each a process of its own, as on a cluster."""
    file = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    program = [sys.executable, "-c", "from dask.__main__ import main; main()"]
    place = ["--scheduler-file", str(file)]
    started = [subprocess.Popen([*program, "scheduler", "--port", "0", "--no-dashboard", *place], **quiet)]
    worker = [*program, "worker", *place, "--nthreads", "1", "--no-dashboard", "--local-directory", str(tmp_path)]
    started += [subprocess.Popen(worker, **quiet) for _ in range(2)]
    deadline = time.monotonic() + 60
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    yield json.loads(file.read_text())["address"], started
    for process in started:
        process.terminate()
    for process in started:
        process.wait(30)


@pytest.mark.slow
@pytest.mark.nightly
def test_a_scheduler_with_workers_somewhere_sweeps_and_proves(tmp_path, scheduler):
    plan, (address, started) = Plan.of([TwoLayer(np.eye(2)), TwoLayer(np.eye(6))], runs=300, seed=3), scheduler
    results = run_plan(plan, tmp_path / "cluster", cluster=address)
    prove_sweep(results, tmp_path / "cluster", cluster=address)
    prove_sweep(run_plan(plan, tmp_path / "threads"), tmp_path / "threads")
    assert files(tmp_path / "cluster") == files(tmp_path / "threads")
    atlas = build_atlas(tmp_path / "atlas", ["II"], range(7, 9), cluster=address)
    assert [point.kind for point in atlas] == ["minimum", "minimum"]

    def lose(share, what):
        if share > 0:
            started[0].kill()

    again = Plan.of(TwoLayer(np.eye(3)), runs=3000)
    with pytest.raises(InputError, match=f"the Dask scheduler at {address} is gone"):
        run_plan(again, tmp_path / "lost", progress=lose, cluster=address)
    run_plan(again, tmp_path / "lost")
    run_plan(again, tmp_path / "whole")
    assert files(tmp_path / "lost") == files(tmp_path / "whole")


def test_a_function_of_ones_own_goes_by_its_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("import jax.numpy as jnp\n\ndef bent(x):\n    return jnp.tanh(x)\n")
    plan = Plan.of(TwoLayer(np.eye(2), activation="mine.py:bent"), runs=3)
    (task,) = tasks(plan, plan.pieces(plan.settings[0].name)[:1]).values()
    assert task.sent.work.parts == plan.parts
