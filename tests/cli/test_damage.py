"""Every damage to every file of a run folder, under every command: noticed, or harmless.

Noticed: a sentence that names the file, and exit code 1 or 2. Harmless: exit code 0 and the same words on standard output
as from the folder that nobody touched. The same command again, and ``runs repair``, leave the folder as it was, byte for
byte. Four folders: a sweep of two sizes with traces and proofs, one of convolutional networks, one that was stopped with two
of three pieces, and a fit.
"""

import io
import json
import re
import shutil
import sys
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import earnshaw as es
from earnshaw.cli.app import app
from earnshaw.errors import InputError
from earnshaw.experiments.work import Context
from earnshaw.store import RunFolder, read_json, read_sealed
from earnshaw.store.folder import SEAL

TIMES = re.compile(r""",? ?["'](compile_)?seconds["']: [^,}]*|^  (compile_)?seconds: .*\n""", re.MULTILINE)
WORDS = {  # how each folder is made
    "two": "sweep -k 5..6 -n 6 -d 6 --runs 2 --batch 8 --trace 50 --workers 1 --start MINE.npy --prove --json",
    "conv": "sweep --network conv -p 2 -k 3 --ratio 0.5 --runs 4 --workers 1 --json",
    "part": "sweep -k 1 --runs 600 --batch 16 --workers 1 --json",
    "fit": "fit MINE.csv --neurons 1 --json",
}
READERS = {
    "prove": "prove FOLDER --out certs --workers 1 --json",
    "report": "report FOLDER --out page.html",
    "show": "runs show FOLDER",
    "show-json": "runs show FOLDER --json",
    "list": "runs list runs --json",
    "export": "runs export FOLDER",
    "families": "runs families FOLDER",
    "check": "check FOLDER --json",
    "explain": "explain FOLDER",
    "verify": "runs verify FOLDER",
}
WRITERS = ("again", "repair")
COMMANDS = (*READERS, "load", *WRITERS)
FILES = {
    "two": "manifest.json record.json k5-n6.json k5-n6.npz k5-n6-trace.npz k5-n6-proofs.json k6-n6.json k6-n6.npz "
    "k6-n6-trace.npz k6-n6-proofs.json minimum basin robust",
    "conv": "manifest.json record.json p2-k3-ratio0.5.json p2-k3-ratio0.5.npz",
    "part": "manifest.json pieces/k1-n1-00000000.npz",
    "fit": "manifest.json record.json fit.json fit.npz weights.npy curve.npz certificates/fit-convexity.json",
}
DAMAGE = ("truncate", "empty", "zero", "flip", "flip early", "foreign", "missing", "{}", "[]", "null", "key", "sealed")
CELLS = [
    (kind, name, damage, command)
    for kind, names in FILES.items()
    for name in names.split()
    for damage in DAMAGE
    for command in COMMANDS
    if damage not in ("key", "sealed") or Path(name).suffix not in (".npz", ".npy")
    if damage != "sealed" or name == "manifest.json" or name.endswith(("6.json", "5.json", "fit.json", "proofs.json"))
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
    """Return the content of all files but the times, the lock and pictures."""
    found = {str(file.relative_to(folder)): file for file in sorted(folder.rglob("*")) if file.is_file()}
    odd = (".lock", "record.json", "curve.png", "curve.svg")
    return {name: file.read_bytes() for name, file in found.items() if name not in odd}


def table(path, seed):
    """Write points that a logistic neuron explains."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(300, 2))
    y = random.random(300) < 1 / (1 + np.exp(-x @ [1.5, -1.0]))
    np.savetxt(path, np.c_[x, y], delimiter=",", header="u,v,label", comments="")


def begin(words, folder, seed):
    """Begin a sweep of three pieces, and leave it when two are there."""
    plan = es.Plan.of(es.TwoLayer(np.eye(1)), runs=600, batch=16, seed=seed)
    with RunFolder(folder, plan.kind, plan.common, plan.parts) as store:
        for piece in plan.pieces("k1-n1")[:2]:
            store.put("k1-n1", piece.low, piece.high, plan.compute(piece, Context()))


class Folders:
    """The folders that nobody touched, each with one of another seed beside it, and what commands say of them."""

    def __init__(self, root):
        self.root, self.said, self.expected = root, {}, {}
        np.save(root / "mine.npy", np.stack([minimum(), 0.9 * np.eye(6)]))
        np.save(root / "other.npy", np.stack([minimum() - 1e-3 * np.eye(6), minimum() + 1e-3 * np.eye(6)]))
        table(root / "mine.csv", 0)
        table(root / "other.csv", 1)

    def make(self, kind):
        """Make the two folders of a kind, unless they are there."""
        for seed, side in ((0, "mine"), (5, "other")):
            folder = self.root / side / kind
            if folder.exists():
                continue
            words = WORDS[kind].replace("MINE", str(self.root / side)).split()
            if kind == "part":
                begin(words, folder, seed)
            else:
                assert invoke([*words, "--seed", str(seed), "--out", str(folder)]).exit_code == 0
        return self.root

    def copy(self, kind, here):
        """Put copies of a folder and of another one, in which nothing is wrong, into ``here/runs``, and where that folder was."""
        for each in (kind, self.neighbour(kind)):
            shutil.copytree(self.make(each) / "mine" / each, here / "runs" / each)
        for name in ("mine.npy", "mine.csv"):
            shutil.copy(self.root / name, here / name)
        return here / "runs" / kind

    def neighbour(self, kind):
        return "conv" if kind == "two" else "two"

    def good(self, command, kind, factory):
        """Return the exit code of a command and what it writes, and the files of the folder afterwards."""
        if (command, kind) not in self.said:
            with pytest.MonkeyPatch.context() as patch:
                here = factory.mktemp("good")
                patch.chdir(here)
                folder = self.copy(kind, here)
                self.said[command, kind] = do(command, kind)[:2]
                if command == "again":
                    self.expected[kind] = files(folder)
        return self.said[command, kind]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("earnshaw.numerics.remember_programs", lambda: None)
        yield Folders(tmp_path_factory.mktemp("damage"))


@pytest.fixture
def look(folders, tmp_path, monkeypatch, tmp_path_factory):
    """Return the function that looks at one cell."""
    monkeypatch.chdir(tmp_path)
    return lambda *cell: check_cell(folders, tmp_path, tmp_path_factory, *cell)


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


def reseal(file, command):
    """Take a key out of a record or a manifest, and give it the checksum of what is left: this is no accident."""
    from earnshaw.store import digest, write_json

    record = read_json(file)
    record.pop(SEAL)
    keys = sorted(set(record) - {"format"})
    record.pop(keys[zlib.crc32(f"{file.name} {command}".encode()) % len(keys)])
    if file.name == "manifest.json":
        write_json(file, record | {SEAL: digest(record)})
    else:
        name, proofs, _ = file.stem.partition("-proofs")
        RunFolder.open(file.parent).put_record(name, record, proofs)


def same(content, file):
    """Say whether a file still says what its content did, so that nothing is damaged (a flipped blank, a zip's date)."""
    try:
        if file.suffix == ".json":
            return json.loads(content) == json.loads(file.read_bytes())
        before, after = (np.load(io.BytesIO(bytes_)) for bytes_ in (content, file.read_bytes()))
        if file.suffix == ".npy":
            return np.array_equal(before, after)
        return all(np.array_equal(before[x], after[x], equal_nan=before[x].dtype.kind == "f") for x in before)
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
                found = [(x.to_json(), x.table(), x.proofs, len(x.families)) for x in read] if kind != "fit" else read
                traces = [x.part("-trace") for x in read if "-trace" in x.record["files"]] if kind != "fit" else ""
        except InputError as error:
            return 2, "", f"error: {error}"
        return 0, TIMES.sub("", f"{found} {traces}"), " ".join(str(warning.message) for warning in told)
    words = READERS.get(command, "runs repair FOLDER --workers 1")
    if command == "again":
        words = f"{WORDS[kind].replace('MINE', 'mine')} --out FOLDER"
    result = invoke([{"FOLDER": folder}.get(word, word) for word in words.split()])
    page = Path("page.html").read_text() if command == "report" and not result.exit_code else ""
    page = re.sub(r"earnshaw [0-9][^<]*; Python [^<]*", "", page)  # with what it was computed is in record.json
    return result.exit_code, TIMES.sub("", result.stdout) + page, result.stderr


def check_cell(folders, here, factory, kind, name, damage, command):
    """Damage a file, run a command, and assert that the damage was noticed, or changed nothing."""
    good = folders.good(command, kind, factory)
    folders.good("again", kind, factory)
    folder = folders.copy(kind, here)
    file, other = find(folder, name), find(folders.root / "other" / kind, name)
    content = file.read_bytes()
    if damage == "missing":
        file.unlink()
    elif damage == "sealed":
        reseal(file, command)
    else:
        file.write_bytes(other.read_bytes() if damage == "foreign" else change(content, damage))
    harmless = damage != "missing" and same(content, file)
    code, out, err = do(command, kind)
    assert code in (0, 1, 2)
    if damage == "sealed":  # never a traceback; what it says is what somebody wanted it to say
        return
    # the proofs of k5 are zeros, and nobody knows that they were there; a missing piece is to be computed
    harmless |= damage == "missing" and (name == "k5-n6-proofs.json" or name.startswith("pieces/"))
    named = file.name in out + err or (name == "manifest.json" and f"runs/{kind}" in out + err)
    if name == "record.json":
        check_times(damage, command, (code, out), out + err, good)
    elif command in WRITERS and code == 0:
        assert files(folder) == folders.expected[kind] or harmless
        assert out == good[1]
    elif command == "verify":
        assert (code, out) == good if harmless else (code == 1 and named)
    elif command == "list":
        assert f"runs/{folders.neighbour(kind)}" in out, "the others are listed"
        assert out == good[1] or named
    elif code == 0:  # proofs that nobody wrote down look the same, but for the certificates
        assert out == good[1] or (damage == "missing" and "proofs" in name and (named or harmless))
    else:
        # a conv sweep has no proofs, whatever its files hold; a fit is not computed anew without its data
        refused = good[0] == code or (command == "repair" and f"runs/{kind}" in err)
        assert refused or named, out + err
        odd = [line for line in out.splitlines() if line not in good[1] and file.name not in line]
        assert command == "repair" or not odd, "no other word than those about the file"
    if name == "record.json" and command in WRITERS:
        assert files(folder) == folders.expected[kind]


def check_times(damage, command, result, words, good):
    """Damage to the times and versions is said, and nothing else happens."""
    told = damage in ("truncate", "empty", "zero", "[]", "null", "{}")
    if command == "verify" and "record.json" in words:
        assert result[0] == 1
        return
    assert result == good
    if told and not good[0] and command not in ("check", "explain", "list", "repair"):
        assert "record.json" in words


def sample(cell):
    """Say whether a cell is looked at every time: every file, every damage and every command with each other now and then."""
    return cell[0] != "fit" and zlib.crc32(repr(cell).encode()) % 40 == 0


@pytest.mark.parametrize("cell", [cell for cell in CELLS if sample(cell)], ids="-".join)
def test_damage_is_noticed_or_harmless(look, cell):
    look(*cell)


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("cell", [cell for cell in CELLS if not sample(cell)], ids="-".join)
def test_every_damage_is_noticed_or_harmless(look, cell):
    look(*cell)


# ---- a cell can fail -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_digit_would_be_noticed(folders, look, tmp_path_factory, monkeypatch, command):
    """A command that says nothing of the damage and a digit wrong, or that repairs nothing."""
    said = folders.good(command, "two", tmp_path_factory)[1]
    folders.good("again", "two", tmp_path_factory)
    wrong = re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), said, count=1)
    monkeypatch.setattr(sys.modules[__name__], "do", lambda command, kind: (0, wrong, ""))
    with pytest.raises(AssertionError):
        look("two", "k6-n6.npz", "flip", command)


@pytest.mark.parametrize(
    "cell",
    [
        ("two", "k6-n6.json", "foreign", "show"),
        ("two", "k6-n6.json", "foreign", "show-json"),
        ("two", "k6-n6.json", "foreign", "again"),
        ("conv", "p2-k3-ratio0.5.json", "foreign", "verify"),  # without proofs, which say of which results they are
        ("two", "k6-n6.npz", "foreign", "export"),
        ("two", "k6-n6.npz", "foreign", "load"),
        ("two", "k6-n6.npz", "foreign", "repair"),
        ("two", "k6-n6-trace.npz", "foreign", "load"),
        ("part", "pieces/k1-n1-00000000.npz", "foreign", "again"),
    ],
    ids="-".join,
)
def test_a_program_that_believes_what_it_finds_would_be_noticed(look, monkeypatch, cell):
    """As it was once: records and arrays are read, and compared with nothing."""

    def record(self, name, part=""):
        return {key: value for key, value in read_json(self.path / f"{name}{part}.json").items() if key != SEAL}

    def read(self, name, low, high, part="piece"):
        return read_sealed(self._place(name, low, part))[0]

    monkeypatch.setattr(RunFolder, "record", record)
    monkeypatch.setattr(RunFolder, "read", read)
    with pytest.raises((AssertionError, LookupError, TypeError)):
        look(*cell)
