"""How a command ends when it is stopped, or when nobody can read what it says: an exit code, and never a traceback."""

import errno
import gc
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import earnshaw
from earnshaw.cli import console, stopping
from earnshaw.errors import Interrupted
from earnshaw.experiments.stopping import heard
from earnshaw.experiments.work import Standing

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

def called(x):
    threading.Timer(0.5, Path("begun").touch).start()  # when Python has returned, where it would hear the first signal
    return x

@jax.jit
def compiled(x):
    begin = jax.pure_callback(called, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
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


def test_a_time_limit_ends_it_as_a_signal_does(place):
    process = command("sweep", "-k", "2", "--activation", "never.py:python", "--time-limit", "2s", "--log", "log")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "the time limit is reached\n")
    lines = [line.split(" ", 1)[1] for line in (place / "log").read_text().splitlines()]
    assert lines[0].startswith("begin: earnshaw sweep -k 2 --activation never.py:python --time-limit 2s")
    assert lines[1:] == ["the time limit is reached", "end: exit code 130"]


SWALLOWED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from earnshaw.cli import stopping
stopping.listen()

class Callback:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

one = Callback()
del one
print("swallowed", flush=True)
try:
    while True:
        pass
except KeyboardInterrupt:
    print("raised again", stopping.exit_code())
"""


def test_what_a_callback_swallows_is_raised_again():
    end = subprocess.run([sys.executable, "-c", SWALLOWED], capture_output=True, text=True, timeout=60, check=False)
    assert (end.returncode, end.stdout, end.stderr) == (0, "swallowed\nraised again 130\n", "")


LEFT = """
import atexit, sys, threading, time
from earnshaw.cli import stopping
stopping.listen()
atexit.register(print, "cleaned up")

class Finalized:
    def __del__(self):
        print("finalized")

one = Finalized()
if {left}:
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
stopping.ends(7)
sys.exit(7)
"""


@pytest.mark.parametrize(("left", "said"), [(True, "cleaned up\n"), (False, "cleaned up\nfinalized\n")])
def test_a_thread_that_nobody_waits_for_is_not_broken_off_in_compiled_code(left, said):
    end = subprocess.run([sys.executable, "-c", LEFT.format(left=left)], capture_output=True, text=True, timeout=60)
    assert (end.returncode, end.stdout, end.stderr) == (7, said, "")


@pytest.mark.parametrize(
    ("given", "seconds"), [("90s", 90), ("10m", 600), ("1h30m", 5400), ("2d", 172800), ("1d1h1m1s", 90061)]
)
def test_times(given, seconds):
    assert stopping.seconds_of(given) == seconds


@pytest.mark.parametrize("given", ["", "10", "m", "0s", "-1m", "1m1h", "1.5h", "ten"])
def test_what_is_no_time(earnshaw, given):
    code, _, err = earnshaw("sweep", "-k", 2, "--time-limit", given)
    assert code == 2
    assert f"--time-limit {given} was given; use a time such as 90s, 10m, 1h30m or 2d" in err


def test_an_interruption_says_what_is_there_and_how_to_go_on(earnshaw, tmp_path, monkeypatch):
    def stopped(*given, **more):
        raise Interrupted(Standing(1, 3, 5, 12, 1280, 3000, {"GLOBAL": 1200, "SPURIOUS": 80}))

    monkeypatch.setattr("earnshaw.experiments.run_plan", stopped)
    monkeypatch.setattr(stopping, "_heard", [])
    monkeypatch.setattr(sys, "argv", ["earnshaw", "sweep", "-k", "6..8", "--out", "my runs"])
    err = earnshaw("sweep", "-k", "6..8", "--out", "my runs")[2]
    assert err.startswith("interrupted before anything was finished\n")
    (tmp_path / "my runs").mkdir()
    code, out, err = earnshaw("sweep", "-k", "6..8", "--out", "my runs", "--log", "log")
    assert (code, out) == (130, "")
    assert err.splitlines() == [
        "interrupted; what is finished is in my runs: run the same command again to go on",
        "so far: 1 of 3 settings, 5 of 12 pieces, 1280 of 3000 runs (1200 GLOBAL, 80 SPURIOUS)",
        "to go on: earnshaw sweep -k 6..8 --out 'my runs'",
    ]
    text = (tmp_path / "log").read_text()
    assert all(any(line.endswith(f" {said}") for line in text.splitlines()) for said in err.splitlines())


def test_a_log_is_added_to_and_names_mistakes(earnshaw, tmp_path):
    for _ in range(2):
        assert earnshaw("sweep", "-k", 0, "--log", "log")[0] == 2
    lines = (tmp_path / "log").read_text().splitlines()
    assert len(lines) == 6
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} error: -k 0 was given; k must be .*", lines[1])
    assert lines[5].endswith(" end: exit code 2")
    assert earnshaw("sweep", "-k", 2, "--runs", 5, "--log", "new/log")[0] == 0, "its folder is made"
    (tmp_path / "file").write_text("mine")
    os.mkfifo(tmp_path / "pipe")
    for given, words in (
        ("file/log", "cannot be written (File exists); give another file"),
        ("file", "is no log of such commands; give another file"),
        ("pipe", "is no regular file; give a file"),
    ):
        code, _, err = earnshaw("sweep", "-k", 2, "--log", given)
        assert (code, err) == (2, f"error: --log {given} {words}\n")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_log_on_a_full_disk_ends_with_a_word_and_the_work_goes_on(earnshaw, tmp_path, monkeypatch):
    def full(handler):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("earnshaw.cli.console._Log.flush", full)
    code, out, err = earnshaw("sweep", "-k", 2, "--runs", 5, "--log", "log")
    assert code == 0
    assert "results in" in out
    assert [line for line in err.splitlines() if "log" in line] == [
        f"warning: --log {tmp_path / 'log'} ends here (No space left on device)"
    ]


def test_a_full_disk_keeps_what_is_finished_and_says_how_to_go_on(earnshaw, tmp_path, monkeypatch):
    replace = os.replace

    def full(source, target):
        if "k2" in str(target):  # the lighter one, which comes last
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(source, target)

    words = ("sweep", "-k", "2..3", "--runs", 5, "--workers", 1, "--out", "mine")
    with monkeypatch.context() as patch:
        patch.setattr("earnshaw.store.files.os.replace", full)
        code, _, err = earnshaw(*words)
    assert code == 2
    assert re.search(
        r"^error: cannot write mine/\S*k2\S* \(No space left on device\); nothing was changed there; what is finished is in mine: make room, and run "
        r"the same command again to go on$",
        err,
        re.MULTILINE,
    ), err
    assert list((tmp_path / "mine").rglob("k3-n3*.npz"))
    assert earnshaw(*words)[0] == 0
    earnshaw(*words[:-1], "whole")
    for file in sorted((tmp_path / "whole").glob("k*")):
        assert file.read_bytes() == (tmp_path / "mine" / file.name).read_bytes()


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
        with heard(stop):
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
