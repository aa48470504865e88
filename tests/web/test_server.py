"""The server: what it says when it cannot begin, and that it goes on whatever it is sent."""

import contextlib
import dataclasses
import os
import resource
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from earnshaw.cli.stopping import WAITING
from earnshaw.errors import InputError
from earnshaw.web import explore
from earnshaw.web import server as module
from earnshaw.web.limits import LIMITS
from earnshaw.web.server import bound, serving

# Ctrl-C is ignored by what a shell starts in the background, these tests perhaps.
MAIN = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from earnshaw.cli import main; main()"


def place(server):
    return "127.0.0.1", int(server.rpartition(":")[2])


def served(server):
    return urllib.request.urlopen(f"{server}/", timeout=30).status == 200


def sent(server, data):
    """Return what the server answers to bytes."""
    with socket.create_connection(place(server), timeout=30) as line:
        with contextlib.suppress(OSError):
            line.sendall(data)
        answer = b""
        with contextlib.suppress(OSError):
            while piece := line.recv(65536):
                answer += piece
        return answer


def head(server, method="GET", path="/", *more):
    host, port = place(server)
    return "\r\n".join(
        [f"{method} {path} HTTP/1.1", f"host: {host}:{port}", *more, "connection: close", "", ""]
    ).encode()


HOSTILE = {
    "no HTTP": lambda _: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + os.urandom(64),
    "no host": lambda _: b"GET / HTTP/1.1\r\n\r\n",
    "old": lambda _: b"GET /\r\n\r\n",
    "two hosts": lambda to: b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nhost: evil.example\r\n\r\n",
    "zero bytes": lambda to: head(to, "GET", "/", "x: \x00"),
    "a long head": lambda to: head(to, "GET", "/", "x: " + "y" * 1_000_000),
    "many heads": lambda to: head(to, "GET", "/", *(f"x{i}: y" for i in range(100_000))),
    "a long path": lambda to: head(to, "GET", "/" + "y" * 100_000),
    "an odd method": lambda to: head(to, "BREW", "/api/about"),
    "a proxy's": lambda to: head(to, "CONNECT", "evil.example:443"),
    "a whole address": lambda to: head(to, "GET", "http://evil.example/"),
    "lengths that differ": lambda to: head(to, "POST", "/api/about", "content-length: 5", "content-length: 6") + b"12345",
    "length and pieces": lambda to: head(to, "POST", "/api/about", "content-length: 5", "transfer-encoding: chunked") + b"0\r\n\r\n",
    "pieces that are none": lambda to: head(to, "POST", "/api/about", "transfer-encoding: chunked") + b"zz\r\nx\r\n",
    "a web socket": lambda to: head(to, "GET", "/", "upgrade: websocket", "sec-websocket-key: x"),
    "up and away": lambda to: head(to, "GET", "/static/../app.py"),
    "up and away, in code": lambda to: head(to, "GET", "/static/%2e%2e/%2e%2e/__init__.py"),
    "up and away, in code twice": lambda to: head(to, "GET", "/static/%252e%252e/app.py"),
    "from the root": lambda to: head(to, "GET", "/static//etc/passwd"),
    "backwards": lambda to: head(to, "GET", "/static/..\\..\\app.py"),
    "a zero in a name": lambda to: head(to, "GET", "/static/app.js%00.html"),
    "a folder": lambda to: head(to, "GET", "/static/lib"),
    "100 MB": lambda to: head(to, "POST", "/api/about", "content-length: 100000000") + b" " * 20_000_000,
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_bytes_get_an_answer_of_four_hundred_and_something_or_the_page(server, what):
    answer = sent(server, HOSTILE[what](server))
    status = int(answer.split(b" ", 2)[1]) if answer else None
    if what in ("a web socket", "many heads", "old"):
        assert status in (200, 400), "it is the page, or none"
    elif what == "100 MB":
        assert status in (413, None), "or the line was cut while the client was still sending"
    else:
        assert status is not None
        assert 400 <= status < 500
    assert b"import" not in answer.partition(b"\r\n\r\n")[2] or status == 200
    assert served(server)


def test_a_thousand_connections_do_not_keep_others_out(server):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    with contextlib.ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        for count in range(1000):
            line = stack.enter_context(socket.create_connection(place(server), timeout=30))
            line.sendall(b"GET / HTTP/1.1\r\n" if count % 2 else b"")  # and no more
        assert served(server)
    assert served(server)


def test_whoever_sends_a_head_byte_by_byte_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(module, "LIMITS", dataclasses.replace(LIMITS, head_seconds=0.3, connections=2))
    with serving() as (address, _):
        with socket.create_connection(place(address.rstrip("/")), timeout=10) as line:
            line.sendall(b"GET / HTTP/1.1\r\nx: ")
            answer = line.recv(100)
            assert answer.startswith(b"HTTP/1.1 408")
        with socket.create_connection(place(address.rstrip("/")), timeout=10) as line:  # after a first request, too
            line.sendall(f"GET /api/about HTTP/1.1\r\nhost: {address[7:-1]}\r\n\r\nGET".encode())
            answer = b""
            while piece := line.recv(65536):
                answer += piece
            assert answer.startswith(b"HTTP/1.1 200")
            assert b"HTTP/1.1 408" in answer


def test_when_all_connections_are_busy_the_next_one_is_refused(monkeypatch):
    monkeypatch.setattr(module, "LIMITS", dataclasses.replace(LIMITS, connections=2))
    with serving() as (address, _), contextlib.ExitStack() as stack:
        server = address.rstrip("/")
        for _ in range(2):  # a body that does not come keeps a connection busy
            line = stack.enter_context(socket.create_connection(place(server), timeout=30))
            line.sendall(head(server, "POST", "/api/about", "content-length: 9", "expect: 100-continue"))
            assert line.recv(100).startswith(b"HTTP/1.1 100"), "it waits for the body"
        with socket.create_connection(place(server), timeout=30) as line:
            assert line.recv(100).startswith(b"HTTP/1.1 429")


def test_nothing_is_left_and_nothing_is_written_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    with serving() as (address, _):
        assert served(address.rstrip("/"))
        assert len(list((tmp_path / "temporary").iterdir())) == 1
    assert [path.name for path in tmp_path.rglob("*")] == ["temporary"]
    with serving(out=tmp_path / "kept" / "here"):
        pass
    assert (tmp_path / "kept" / "here").is_dir()


def test_a_port_that_cannot_be_had_is_one_sentence():
    with bound(0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=rf"port {port} cannot be used \(Address already in use\); give another"):
            explore(port, browser=False)
    for port in (-1, 65536, 10**12):
        with pytest.raises(InputError, match=rf"port {port} was given; it must be between 1 and 65535"):
            explore(port, browser=False)


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file cannot be used as a folder"):
        explore(0, browser=False, out=tmp_path / "file")


@pytest.mark.parametrize("module", ["fastapi", "uvicorn"])
def test_without_the_extra_there_is_a_line_that_installs_it(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=r"pip install 'earnshaw\[web\]'"):
        explore(0, browser=False)


def test_without_plotly_too(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs plotly.*\n.*earnshaw\[web\]"):
        explore(0, browser=False)


def test_a_browser_is_opened_and_told_where(monkeypatch):
    opened, said = [], []

    def no_browser(address):
        opened.append(address)
        raise KeyboardInterrupt

    monkeypatch.setattr("webbrowser.open", no_browser)
    with pytest.raises(KeyboardInterrupt):
        explore(0, say=said.append)
    assert said == [f"{opened[0]}  (Ctrl-C stops it)"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_command_ends_with_one_word_whatever_goes_on(tmp_path, number, code):
    words = [sys.executable, "-c", MAIN, "explore", "--port", "0", "--no-browser", "--out", str(tmp_path / "out")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout
        address = running.stdout.readline().split()[0]
        assert served(address.rstrip("/"))
        with contextlib.ExitStack() as stack:
            if number is signal.SIGINT:  # in the middle of a run, of which the first event has come
                head = {"content-type": "application/json"}
                asked = urllib.request.Request(
                    f"{address}api/sweep/run", b'{"problem": {"k": 20, "n": 20}, "runs": 1000}', head
                )
                stack.enter_context(urllib.request.urlopen(asked, timeout=60)).readline()
            running.send_signal(number)
            try:
                out, err = running.communicate(timeout=60)
            finally:
                running.kill()
    assert (running.returncode, out, err.replace(WAITING, "")) == (code, "", "interrupted\n")
    assert (tmp_path / "out").is_dir()


def test_the_command_refuses_in_one_sentence():
    words = [sys.executable, "-m", "earnshaw", "explore", "--port", "99999999"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: port 99999999 was given")
