"""Files appear whole or not at all, say the same in the same bytes, and are distrusted when read."""

import errno
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.landscapes.rows import Rows
from earnshaw.store import (
    canonical_json,
    digest,
    files,
    read_json,
    read_npy,
    read_npz,
    write_bytes,
    write_json,
    write_npz,
)

ARRAYS = {
    "weights": np.random.default_rng(0).normal(size=(3, 4, 2)),
    "run": np.arange(3),
    "outcome": np.array(["GLOBAL", "SPURIOUS", "SADDLE"]),
    "empty": np.zeros((0, 2)),
}


@pytest.mark.parametrize("call", ["replace", "fsync"])
@pytest.mark.parametrize("existing", [True, False])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, call, existing):
    path = tmp_path / "result.json"
    if existing:
        write_json(path, {"old": 1})
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, call, full)
    with pytest.raises(InputError, match=r"cannot write .*result\.json \(No space left on device\)"):
        write_json(path, {"new": 2})
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(tmp_path / "x", b"1")
    assert not list(tmp_path.iterdir())


def test_the_content_is_flushed_before_the_name_appears(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(files.os, "fsync", lambda _: calls.append("flush"))
    monkeypatch.setattr(files.os, "replace", lambda *_: calls.append("rename"))
    write_bytes(tmp_path / "x", b"1")
    assert calls == ["flush", "rename"]


def test_an_impossible_place_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot write"):
        write_bytes(tmp_path / "file" / "x", b"1")
    assert (tmp_path / "file").read_text() == "x"
    with pytest.raises(InputError, match="cannot read"):
        read_json(tmp_path / "absent")
    with pytest.raises(InputError, match="cannot read"):
        read_npz(tmp_path / "absent")


def test_arrays_come_back_as_they_were(tmp_path):
    write_npz(tmp_path / "a.npz", ARRAYS)
    again = read_npz(tmp_path / "a.npz")
    assert list(again) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert again[name].dtype == array.dtype
        assert np.array_equal(again[name], array)


def test_equal_arrays_give_equal_bytes_also_at_another_time_and_place(tmp_path):
    write_npz(tmp_path / "a.npz", ARRAYS)
    program = f"""
import sys, time
import numpy as np
from pathlib import Path
from earnshaw.store import read_npz, write_npz
time.time = lambda: 2e9
arrays = read_npz(Path({str(tmp_path / "a.npz")!r}))
write_npz(Path({str(tmp_path / "b.npz")!r}), {{name: array.copy(order="C") for name, array in arrays.items()}})
"""
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "TZ": "Asia/Tokyo"}, timeout=60)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_an_archive_damaged_anywhere_is_a_sentence_or_still_right(tmp_path):
    """Every byte is changed in turn; a reader may notice or read the same numbers, but never crash or read others."""
    write_npz(tmp_path / "good.npz", {"run": np.arange(5), "value": np.linspace(0, 1, 7)})
    good = (tmp_path / "good.npz").read_bytes()
    expected = read_npz(tmp_path / "good.npz")
    path, refused = tmp_path / "bad.npz", 0
    for position in range(len(good)):
        for flip in (0x01, 0xFF):
            bad = bytearray(good)
            bad[position] ^= flip
            path.write_bytes(bytes(bad))
            try:
                arrays = read_npz(path)
            except InputError:
                refused += 1
                continue
            for name, array in arrays.items():
                if name in expected:
                    assert np.array_equal(array, expected[name]), position
    assert refused > len(good) / 2


@pytest.mark.parametrize("length", [0, 1, 10, 100, -1, -30])
def test_a_truncated_archive_is_refused(tmp_path, length):
    path = tmp_path / "a.npz"
    write_npz(path, ARRAYS)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(InputError):
        read_npz(path)


def test_code_in_an_archive_never_runs(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "exploded"),))

    np.savez(tmp_path / "bomb.npz", allow_pickle=True, weights=np.array([Bomb()], dtype=object))
    with pytest.raises(InputError, match="not a readable"):
        read_npz(tmp_path / "bomb.npz")
    assert not (tmp_path / "exploded").exists()
    with pytest.raises(ValueError, match=r"[Oo]bject arrays"):
        write_npz(tmp_path / "own.npz", {"weights": np.array([{}], dtype=object)})
    assert not (tmp_path / "own.npz").exists()


def test_other_kinds_of_file_are_refused(tmp_path):
    np.save(tmp_path / "single.npy", np.arange(3))
    with pytest.raises(InputError, match="single array"):
        read_npz(tmp_path / "single.npy")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(InputError):
        read_npz(tmp_path / "text")
    with pytest.raises(InputError):
        read_npz(tmp_path)


def test_one_array_is_read_and_anything_else_is_a_sentence_that_names_it(tmp_path):
    array = np.random.default_rng(0).normal(size=(3, 4))
    np.save(tmp_path / "good.npy", array)
    assert np.array_equal(read_npy(tmp_path / "good.npy", "the teacher"), array)
    np.savez(tmp_path / "many.npz", a=array, b=array)
    np.save(tmp_path / "code.npy", np.array([print], dtype=object), allow_pickle=True)
    (tmp_path / "text.npy").write_text("1 2 3")
    (tmp_path / "empty.npy").write_bytes(b"")
    (tmp_path / "cut.npy").write_bytes((tmp_path / "good.npy").read_bytes()[:-5])
    for name, sentence in (
        ("many.npz", "is an archive of several arrays; save the one array"),
        ("code.npy", "is not a .npy array"),
        ("text.npy", "is not a .npy array"),
        ("empty.npy", "is not a .npy array"),
        ("cut.npy", "is not a .npy array"),
        ("none.npy", "cannot read"),
        ("", "is a folder; give a file"),
    ):
        with pytest.raises(InputError) as caught:
            read_npy(tmp_path / name, "the teacher")
        assert sentence in str(caught.value)
        assert "the teacher" in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"{", b'{"a": }', b"\xff\xfe\x00", b"[" * 100_000])
def test_damaged_json_is_refused(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not valid JSON"):
        read_json(path)


def test_json_is_written_without_nan_and_read_back(tmp_path):
    write_json(tmp_path / "a.json", {"b": [1, 2.5, None], "a": "x"})
    assert read_json(tmp_path / "a.json") == {"b": [1, 2.5, None], "a": "x"}
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "b.json", {"value": float("nan")})
    assert not (tmp_path / "b.json").exists()


def test_the_digest_is_of_the_content():
    assert canonical_json({"b": 1, "a": [1.5]}) == '{"a":[1.5],"b":1}'
    assert digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})
    assert digest({"a": 1}) != digest({"a": 2})
    assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    with pytest.raises(ValueError, match="not JSON compliant"):
        digest({"a": float("nan")})


def _bomb(path, method):
    """Write an .npz of some kilobytes that inflates to 300 MB of zeros."""
    with zipfile.ZipFile(path, "w", method) as archive, archive.open("weights.npy", "w") as entry:
        for _ in range(300):
            entry.write(bytes(1 << 20))


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_that_would_fill_the_memory_is_refused_before_it_does(tmp_path, monkeypatch, method):
    path = tmp_path / "bomb.npz"
    _bomb(path, method)
    monkeypatch.setattr(files.np, "load", None)  # it is not even opened
    with pytest.raises(InputError, match=r"would inflate from|another way"):
        read_npz(path)


def test_only_regular_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    odd = {tmp_path / "pipe": "no regular", tmp_path: "a folder", Path("/dev/zero"): "no regular"}
    odd |= {tmp_path / ("n" * 300): "name too long", tmp_path / "nul\0": "null (byte|character)"}
    for path, words in odd.items():
        for read in (read_npz, read_json, lambda path: read_npy(path, "the teacher"), Rows.open):
            with pytest.raises(InputError, match=f"(?i){words}"):
                read(path, path) if read == Rows.open else read(path)


def test_a_file_has_the_rights_that_the_user_gives_to_new_ones(tmp_path):
    for mask in (0o022, 0o077):
        before = os.umask(mask)
        try:
            write_bytes(tmp_path / f"{mask}", b"1")
        finally:
            os.umask(before)
        assert (tmp_path / f"{mask}").stat().st_mode & 0o777 == 0o666 & ~mask
