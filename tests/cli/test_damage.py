"""Every damage to every file of a run folder, under every command: noticed, or harmless.

Noticed: a sentence that names the file, and exit code 1 or 2. Harmless: exit code 0 and the same words on standard output
as from the folder that nobody touched. The same sweep again, and ``runs repair``, leave the folder as it was, byte for byte.
"""

import io
import itertools
import json
import re
import shutil
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import earnshaw as es
from earnshaw.cli.app import app
from earnshaw.errors import InputError

TIMES = re.compile(r""",? ?["'](compile_)?seconds["']: [^,}]*""")
SWEEP = [
    "sweep",
    "-k",
    "5..6",
    "-n",
    "6",
    "-d",
    "6",
    "--runs",
    "2",
    "--batch",
    "8",
    "--trace",
    "50",
    "--workers",
    "1",
    "--json",
]
CONV = ["sweep", "--network", "conv", "-p", "2", "-k", "3", "--ratio", "0.5", "--runs", "4", "--workers", "1", "--json"]
READERS = {
    "prove": ["prove", "FOLDER", "--out", "certs", "--workers", "1", "--json"],
    "report": ["report", "FOLDER", "--out", "page.html"],
    "show": ["runs", "show", "FOLDER"],
    "show-json": ["runs", "show", "FOLDER", "--json"],
    "list": ["runs", "list", "ROOT", "--json"],
    "export": ["runs", "export", "FOLDER"],
    "check": ["check", "FOLDER", "--json"],
    "explain": ["explain", "FOLDER"],
    "verify": ["runs", "verify", "FOLDER"],
}
WRITERS = {"sweep": [], "repair": ["runs", "repair", "FOLDER", "--workers", "1"]}
COMMANDS = (*READERS, "load", *WRITERS)
TWO = ("manifest.json", "record.json", "k5-n6.json", "k5-n6.npz", "k5-n6-trace.npz", "k5-n6-proofs.json", "k6-n6.json")
TWO += ("k6-n6.npz", "k6-n6-trace.npz", "k6-n6-proofs.json", "minimum", "basin", "robust")
ONE = ("manifest.json", "record.json", "p2-k3-ratio0.5.json", "p2-k3-ratio0.5.npz")
FILES = [*(("two", name) for name in TWO), *(("conv", name) for name in ONE)]
DAMAGE = ("truncate", "empty", "zero", "flip", "flip early", "foreign", "missing", "{}", "[]", "null", "key")
CELLS = [
    (kind, name, damage, command)
    for kind, name in FILES
    for damage in DAMAGE
    for command in COMMANDS
    if damage != "key" or name.endswith("json")
]


def minimum():
    """Return a point close to the published minimum of six neurons."""
    weights = np.full((6, 6), -0.0504)
    np.fill_diagonal(weights, 0.9867)
    weights[0, 1:], weights[1:, 0], weights[0, 0] = 0.2245, 0.3080, -0.6015
    return weights


def invoke(words):
    result = CliRunner().invoke(app, words)
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert "Traceback" not in result.output
    return result


def files(folder):
    """Return the content of all files that the damage is done to, but for the times."""
    found = {str(file.relative_to(folder)): file for file in sorted(folder.rglob("*")) if file.is_file()}
    return {name: file.read_bytes() for name, file in found.items() if name not in (".lock", "record.json")}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a place with run folders, each with one of another seed beside it, and what every command says of them."""
    root = tmp_path_factory.mktemp("damage")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        np.save("starts.npy", np.stack([minimum(), 0.9 * np.eye(6)]))
        np.save("others.npy", np.stack([0.95 * np.eye(6), minimum() + 1e-3 * np.eye(6)]))
        for kind, words in (("two", [*SWEEP, "--prove"]), ("conv", CONV)):
            mine, other = (
                [*words, "--start", f"{start}.npy"] if kind == "two" else words for start in ("starts", "others")
            )
            assert invoke([*mine, "--out", f"good/{kind}"]).exit_code == 0
            assert invoke([*other, "--seed", "5", "--out", f"foreign/{kind}"]).exit_code == 0
    return root


@pytest.fixture
def here(place, tmp_path, monkeypatch):
    """Return a folder with copies of both run folders, in which the commands are called."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("earnshaw.numerics.remember_programs", lambda: None)
    shutil.copytree(place / "good", "runs")
    shutil.copy(place / "starts.npy", "starts.npy")
    return tmp_path


def find(folder, name):
    return next(folder.glob(f"certificates/*-{name}.json")) if "." not in name else folder / name


def change(content, damage):
    """Return the content of a file after a damage to it."""
    if damage.startswith("flip"):
        place = len(content) // 2 if damage == "flip" else 40 + zlib.crc32(content[:60]) % 60
        return content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :]
    if damage == "key":
        record = json.loads(content)
        record.pop(sorted(record)[zlib.crc32(content) % len(record)])
        return json.dumps(record).encode()
    whole = {"truncate": content[: len(content) * 2 // 3], "empty": b"", "zero": bytes(len(content))}
    return whole.get(damage, damage.encode())


def same(content, file):
    """Say whether a file still says what its content did, so that nothing is damaged (a flipped blank, a zip's date)."""
    try:
        if file.suffix == ".json":
            return json.loads(content) == json.loads(file.read_bytes())
        with np.load(io.BytesIO(content)) as before, np.load(io.BytesIO(file.read_bytes())) as after:
            return all(
                np.array_equal(before[name], after[name], equal_nan=before[name].dtype.kind == "f") for name in before
            )
    except Exception:  # numpy and zipfile have a dozen
        return False


def do(command, kind):
    """Run a command; return its exit code, what it wrote and what it said besides."""
    folder = f"runs/{kind}"
    if command == "load":
        try:
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                read = es.load(folder)
                table = [(result.to_json(), result.table(), result.proofs, len(result.families)) for result in read]
                traces = [result.part("-trace") for result in read if "-trace" in result.record["files"]]
        except InputError as error:
            return 2, "", f"error: {error}"
        return 0, TIMES.sub("", f"{table} {traces}"), " ".join(str(warning.message) for warning in told)
    words = {**READERS, **WRITERS}[command]
    if command == "sweep":
        start = ["--start", "starts.npy", "--prove"] if kind == "two" else []
        words = [*(SWEEP if kind == "two" else CONV), *start, "--out", folder]
    result = invoke([{"FOLDER": folder, "ROOT": "runs"}.get(word, word) for word in words])
    page = Path("page.html").read_text() if command == "report" and not result.exit_code else ""
    page = re.sub(r"earnshaw [0-9][^<]*; Python [^<]*", "", page)  # with what it was computed is in record.json
    return result.exit_code, TIMES.sub("", result.stdout) + page, result.stderr


@pytest.fixture(scope="module")
def good(place, tmp_path_factory):
    """Return what the commands say of folders that nobody touched."""
    said = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("good"))
        shutil.copytree(place / "good", "runs")
        shutil.copy(place / "starts.npy", "starts.npy")
        for command, kind in itertools.product(COMMANDS, ("two", "conv")):
            said[command, kind] = do(command, kind)[:2]
    return said


def check_cell(place, here, good, kind, name, damage, command):
    folder = here / "runs" / kind
    file, other = find(folder, name), find(place / "foreign" / kind, name)
    before, content = files(folder), file.read_bytes()
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes(other.read_bytes() if damage == "foreign" else change(content, damage))
    harmless = damage != "missing" and same(content, file)
    code, out, err = do(command, kind)
    words = out + err
    assert code in (0, 1, 2)
    if name == "record.json":
        check_record(kind, damage, command, (code, out), words, good)
        assert command not in WRITERS or files(folder) == before
        return
    harmless |= (name, damage) == ("k5-n6-proofs.json", "missing")  # it held zeros, and nobody knows that it was there
    named = file.name in words or (name == "manifest.json" and f"runs/{kind}" in words)
    if command in WRITERS and code == 0:
        other = name == "manifest.json" and damage == "foreign"  # then it is the folder of another seed
        assert harmless or es.verify(folder) == [] if other else files(folder) == before or harmless
        return
    if command == "verify":
        assert (code == 0) if harmless else (code == 1 and named)
        return
    if command == "list":
        assert f"runs/{'conv' if kind == 'two' else 'two'}" in out, "the others are listed"
        assert out == good[command, kind][1] or named
    elif code == 0:  # proofs that nobody wrote down look the same, but for the certificates
        assert out == good[command, kind][1] or (damage == "missing" and "proofs" in name and (named or harmless))
    else:
        refused = good[command, kind][0] == code  # a conv sweep has no proofs, whatever its files hold
        assert refused or named, words


def check_record(kind, damage, command, result, words, good):
    """Damage to the times and versions is said, and nothing else happens."""
    told = damage in ("truncate", "empty", "zero", "[]", "null", "{}")
    if command == "verify" and "record.json" in words:
        assert result[0] == 1
        return
    assert result == good[command, kind]
    if told and command not in ("check", "explain", "list", "repair"):
        assert "record.json" in words


def sample(cell):
    """Say whether a cell is looked at every time: every file, every damage and every command with each other now and then."""
    return zlib.crc32(repr(cell).encode()) % 20 == 0


@pytest.mark.parametrize("cell", [cell for cell in CELLS if sample(cell)], ids="-".join)
def test_damage_is_noticed_or_harmless(place, here, good, cell):
    check_cell(place, here, good, *cell)


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("cell", [cell for cell in CELLS if not sample(cell)], ids="-".join)
def test_every_damage_is_noticed_or_harmless(place, here, good, cell):
    check_cell(place, here, good, *cell)
