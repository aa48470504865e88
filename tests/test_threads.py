import os
import signal
import subprocess
import sys
from contextlib import ExitStack

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from earnshaw import threads


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """Settings that nobody else in this process has taken, as a server does that other tests share."""
    for name in ("one_blas_thread", "brisk"):
        shared = getattr(threads, name)
        monkeypatch.setattr(threads, name, type(shared)(shared._take))


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_blas_has_one_thread_inside_and_what_it_had_outside():
    import numpy  # noqa: F401

    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        with threads.one_blas_thread():
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


def test_blas_has_one_thread_inside_whatever_was_set_since_somebody_took_it():
    with threads.one_blas_thread(), threadpool_limits(limits=2, user_api="blas"), threads.one_blas_thread():
        assert set(blas_threads()) == {1}


def test_libraries_are_looked_for_again_when_one_has_come():
    """A module of NumPy and one of SciPy, by which that is noticed, bring a library each."""
    code = (
        "import importlib; from threadpoolctl import threadpool_info; from earnshaw.threads import BRING, one_blas_thread\n"
        "def found(): return [one['num_threads'] for one in threadpool_info() if one['user_api'] == 'blas']\n"
        "for name in BRING:\n"
        "    importlib.import_module(name)\n"
        "    assert 2 in found(), (name, found())\n"
        "    with one_blas_thread():\n"
        "        assert set(found()) == {1}, (name, found())\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"OPENBLAS_NUM_THREADS": "2"})


def test_the_cores_are_those_that_this_process_may_use():
    from earnshaw.threads import cores

    assert 1 <= cores() <= (os.cpu_count() or 1)
    if not hasattr(os, "sched_setaffinity"):
        return
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert cores() == 1
    finally:
        os.sched_setaffinity(0, allowed)


ASKED = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be kept out here")
def test_processes_that_begin_inside_never_hear_ctrl_c_and_others_do():
    """Also the first one that multiprocessing begins."""

    def hears():
        return subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, check=True).stdout

    with threads.deaf_children():
        assert hears() == "True\n"
    assert hears() == "False\n"
    code = (
        "import multiprocessing, signal\n"
        "from earnshaw.threads import deaf_children\n"
        "if __name__ == '__main__':\n"
        "    with deaf_children(), multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(signal.SIGINT in pool.apply(signal.pthread_sigmask, (signal.SIG_BLOCK, [])))\n"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "True\n"


def test_what_several_threads_want_lasts_until_the_last_one_leaves():
    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads(), pytest.approx(sys.getswitchinterval(), abs=2e-6)  # whole microseconds, rounded down
        first, second = ExitStack(), ExitStack()
        for stack in (first, second):
            stack.enter_context(threads.one_blas_thread())
            stack.enter_context(threads.brisk())
        first.close()
        assert (set(blas_threads()), sys.getswitchinterval()) == ({1}, pytest.approx(threads.TURN))
        second.close()
        assert (blas_threads(), sys.getswitchinterval()) == before
