"""How a command ends when it is stopped, or when nobody can read what it says: an exit code, and never a traceback."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import earnshaw
from earnshaw.cli import console, stopping
from earnshaw.experiments.engine import _heard

CERTIFICATE = str(next((Path(earnshaw.__file__).parent / "data").glob("*.json")))
# Ctrl-C is ignored by what a shell starts in the background, these tests perhaps.
MAIN = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from earnshaw.cli import main; main()"
NEVER = """
import threading, time
from pathlib import Path
import jax, jax.numpy as jnp

def python(x):
    Path("begun").touch()
    while True:
        pass

def touched(x):
    Path("begun").touch()
    return x

@jax.jit
def compiled(x):
    begin = jax.pure_callback(touched, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    return jax.lax.while_loop(lambda y: jnp.all(y < 100), lambda y: y / 2, begin)

def thread(x):
    if threading.current_thread() is not threading.main_thread():
        Path("begun").touch()
        while True:
            time.sleep(0.1)
    return jnp.tanh(x)
"""


def command(*words, **more):
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | more
    return subprocess.Popen([sys.executable, "-c", MAIN, *words], **more)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    Path("never.py").write_text(NEVER)
    return tmp_path


def begun(place, words):
    """Start a sweep with a function that never returns; return when it has been called."""
    process = command("sweep", "-k", "2", "--runs", "2", "--activation", *words)
    while not (place / "begun").exists() and process.poll() is None:
        time.sleep(0.02)
    return process


def test_one_signal_ends_a_function_that_never_returns(place):
    process = begun(place, ["never.py:python"])
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (143, "", "interrupted\n")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["compiled", pytest.param("thread", marks=pytest.mark.nightly)])
def test_a_second_signal_ends_what_the_first_cannot(place, name):
    """Compiled code keeps Python from hearing it, and a thread cannot be interrupted."""
    process = begun(place, [f"never.py:{name}"])
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline() == stopping.WAITING
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 143
    assert "Traceback" not in out + err


def test_a_signal_that_is_sent_twice_at_once_is_one(monkeypatch):
    """As GNU timeout does: the command still ends in its own way."""
    monkeypatch.setattr(stopping, "_heard", [])
    with pytest.raises(KeyboardInterrupt):
        stopping._first(signal.SIGTERM, None)
    assert stopping._first(signal.SIGTERM, None) is None
    assert stopping.exit_code() == 143
    ended, over = [], threading.Event()
    monkeypatch.setattr(stopping.os, "_exit", lambda code: ended.append(code) or over.set())
    monkeypatch.setattr(stopping, "_say", lambda: None)
    ours, theirs = os.pipe()
    threading.Thread(target=stopping._second, args=(ours,), daemon=True).start()
    os.write(theirs, bytes([signal.SIGTERM, signal.SIGTERM, signal.SIGCHLD]))
    time.sleep(1.2 * stopping.APART)
    assert ended == []
    os.write(theirs, bytes([signal.SIGINT]))
    assert over.wait(60)
    assert ended == [130]


def test_a_swallowed_signal_is_heard_again(monkeypatch):
    """What a callback of the garbage collector swallows, as one of JAX does, stops the next step of the bar."""
    monkeypatch.setattr(stopping, "_heard", [])
    swallowed = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: swallowed.append(found.exc_type))

    def callback(phase, info):
        gc.callbacks.remove(callback)
        stopping._first(signal.SIGINT, None)

    gc.callbacks.append(callback)
    gc.collect()
    assert KeyboardInterrupt in swallowed
    with console.progress_bar("here") as progress, pytest.raises(KeyboardInterrupt):
        progress(0.5, "")


def test_the_engine_hears_a_signal_that_is_swallowed():
    """Its handler stops the workers before it raises."""
    stop = threading.Event()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with _heard(stop):
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            assert stop.is_set()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("words", [("check", CERTIFICATE, "--json"), ("explain", CERTIFICATE), ("sweep", "--help")])
def test_output_that_nobody_reads(place, words):
    ours, theirs = os.pipe()
    os.close(ours)
    process = command(*words, stdout=theirs)
    os.close(theirs)
    assert (process.communicate()[1], process.returncode) == ("", 141)


def test_output_that_has_no_place(place):
    with open("/dev/full", "w") as full:
        process = command("check", CERTIFICATE, stdout=full)
        assert process.communicate()[1] == "error: the output cannot be written (No space left on device)\n"
        assert process.returncode == 2
        process = command("check", CERTIFICATE, stdout=full, stderr=full)
        process.communicate()
        assert process.returncode == 2
    closed = subprocess.run(["sh", "-c", f"{sys.executable} -m earnshaw check {CERTIFICATE} >&- 2>&-"], check=False)
    assert closed.returncode == 0, "the certificate is verified, and that is all there is to know"
