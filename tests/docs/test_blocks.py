"""Every block of code in README and docs runs, page by page and in order, and prints what the page shows.

Within a page names and files carry over from block to block. Python blocks run as they are; a line that begins with ``$``
in a ``console`` block, an ``sh`` block, and an indented block of ``earnshaw`` commands run in a shell. What follows a
command in a console block is its output; so is an indented or ``text`` block after prose that says "prints".

Shown and printed text are compared word by word. Whitespace does not count, ``[...]`` stands for anything, times and hashes
are not compared, and numbers may differ by a hundredth of themselves, or at all where both are rounding errors.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from earnshaw.cli.app import app

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = [REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md")] + sorted((REPOSITORY / "docs").glob("*.md"))
PAGES.remove(
    REPOSITORY / "docs" / "gallery.md"
)  # minutes; tests/docs/test_gallery.py runs its commands in a small size

# What is not run, and why.
NOT_RUN = {
    r"(.*/)?make\b.*": "sets up an environment, or runs these very tests",
    r"git clone .*|cd earnshaw": "needs a network",
    r"python3 -m venv .*|\. \S*activate": "makes an environment for pip install, which is not run either",
    r"(.*/)?pip3? install .*": "needs an index of packages; tests/test_package.py installs the built wheel",
    r"earnshaw prove k15-n16\.npz .*": "needs the authors' published points; tests/proof proves them where they are at hand",
    r"earnshaw (sweep|runs families) .*runs/families-.*": "takes half an hour; tests/experiments/test_met.py counts small sweeps",
    r"earnshaw grow -k 11 .*": "takes a minute or more; tests/experiments/test_grow.py climbs it every night",
    r"earnshaw atlas map -k 6\.\.30 .*": "takes minutes; tests/experiments/test_survey.py makes half of it every night",
    r"earnshaw (sweep -k 8 .*runs/eight|follow runs/eight .*)": "takes 20 s; tests/experiments/test_follow.py follows it nightly",
    r"earnshaw explore.*": "serves until Ctrl-C; tests/web serves it",
    r"earnshaw demo.*": "takes minutes; its parts are tested where they are",
    r"earnshaw reproduce (spurious|convnet|logistic|electrostatics)( all)?": "takes an hour; tests/papers run the items",
}
LIMIT = 120.0  # seconds for a command
# Pages that take ten seconds and more, and whose functions and commands have tests of their own.
NIGHTLY = dict.fromkeys(
    (
        "charges.md",
        "convnet.md",
        "errata.md",
        "optimizers.md",
        "over-parameterised.md",
        "own-activation.md",
        "own-optimizer.md",
        "reproduce.md",
        "symmetry.md",
    ),
    pytest.mark.nightly,
)
PROSE, PYTHON, SHELL, OUTPUT = "prose", "python", "shell", "output"


@dataclass(frozen=True)
class Piece:
    """A part of a page: what it is, its text, and where it begins."""

    kind: str
    text: str
    line: int


def pieces(text: str) -> Iterator[Piece]:
    """Cut a page into prose, code to run, and output to compare."""
    fence = r"^```(?P<language>[^\n`]*)\n(?P<body>.*?)^```[ ]*$"
    indented = r"(?<=\n\n)(?P<indented>(?:^    [^\n]*\n|^\n(?=    ))+)"
    end = 0
    for found in re.finditer(f"{fence}|{indented}", text, flags=re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, found.start()) + 1
        yield Piece(PROSE, text[end : found.start()], line)
        end = found.end()
        language = (found["language"] or "").strip()
        if found["indented"]:
            body = "\n".join(row[4:] for row in found["indented"].splitlines())
            runs = all(re.match(r"(earnshaw|make|pip|python) ", row) for row in body.splitlines() if row.strip())
            yield Piece(SHELL if runs else OUTPUT, body, line)
        elif language == "python":
            yield Piece(PYTHON, found["body"], line)
        elif language == "console":
            yield from _dialogue(found["body"], line)
        elif language in ("sh", "bash"):
            yield Piece(SHELL, found["body"], line)
        elif language == "text":
            yield Piece(OUTPUT, found["body"], line)
        elif not re.fullmatch(r"bibtex|json|latex|\{\w+\}.*", language):
            raise AssertionError(
                f"line {line}: a block of {language or 'no language'}; use python, console, sh or text"
            )
    yield Piece(PROSE, text[end:], text.count("\n", 0, end) + 1)


def _dialogue(body: str, line: int) -> Iterator[Piece]:
    """Cut a console block into commands and their outputs."""
    for part in re.split(r"^(?=\$ )", body, flags=re.MULTILINE):
        if part.strip():
            assert part.startswith("$ "), f"line {line}: a console block begins with a command"
            command, output = re.fullmatch(r"\$ ((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", part, flags=re.DOTALL).groups()
            yield Piece(SHELL, command, line)
            if output.strip():
                yield Piece(PROSE, "prints", line)
                yield Piece(OUTPUT, output, line)


NUMBER = r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
HASH = r"(?<![\w.])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,64}(?![\w.]*[eE])(?!\w)"
CERTIFICATE = r"(?<=family\d{3}-)[0-9a-f]{8}"


def words(text: str) -> list[str]:
    """Return the words, numbers and signs of a text, with times and hashes masked."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    text = "\n".join(_without_seconds(text.splitlines()))
    text = re.sub(rf'("(?:compile_)?seconds": ){NUMBER}', r"\1TIME", text)
    text = re.sub(rf"(?<![\w.]){NUMBER} s\b", "TIME s", text)
    text = re.sub(f"{CERTIFICATE}|{HASH}", "HASH", text)
    return re.findall(rf"\[\.\.\.\]|{NUMBER}|[^\W\d]+|[^\w\s]|_", text)


def _without_seconds(lines: list[str]) -> Iterator[str]:
    """Mask the column ``s`` of a table of a sweep, which is right-justified under its heading."""
    column = None
    for line in lines:
        heading = re.search(r"\bsteps +(s)\b", line)
        if heading:
            column = heading.end(1)
        elif not line.strip():
            column = None
        elif column is not None:
            cells = [cell for cell in re.finditer(r"(?<!\S)\d+\.\d(?!\S)", line) if cell.start() < column <= cell.end()]
            for cell in cells:
                line = line[: cell.start()] + "TIME" + line[cell.end() :]
        yield line


def same(shown: str, printed: str) -> bool:
    """Whether two words agree; numbers within a hundredth, or both too small to mean anything."""
    if shown == printed:
        return True
    if not (re.fullmatch(NUMBER, shown) and re.fullmatch(NUMBER, printed)):
        return False
    a, b = float(shown), float(printed)
    return abs(a - b) <= 0.01 * max(a, b) or max(a, b) < 1e-9


def agrees(shown: list[str], printed: list[str]) -> bool:
    """Whether what a page shows is what was printed, ``[...]`` standing for any words."""
    if "[...]" not in shown:
        return len(shown) == len(printed) and all(map(same, shown, printed))
    cut = shown.index("[...]")
    head, rest = shown[:cut], shown[cut + 1 :]
    if not agrees(head, printed[:cut]):
        return False
    least = sum(word != "[...]" for word in rest)
    return any(agrees(rest, printed[begin:]) for begin in range(cut, len(printed) - least + 1))


class Page:
    """A page as a reader works through it: one namespace, one folder, and what was printed last."""

    def __init__(self) -> None:
        self.names: dict = {"__name__": "__main__"}
        self.printed: tuple[str, ...] = ()

    def python(self, piece: Piece, prose: str) -> None:
        """Run a block of Python; write it to the file that the prose before it names, too."""
        if found := re.search(r"file `([\w-]+\.py)`[^`]*$", prose):
            Path(found[1]).write_text(piece.text)
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream):
            exec(compile(piece.text, f"line {piece.line}", "exec"), self.names)
        self.printed = (stream.getvalue(),)

    def shell(self, piece: Piece) -> None:
        """Run commands; those of earnshaw without pipes run in this process, which has compiled much already."""
        outputs: list[tuple[str, str]] = []
        for command in re.split(r"(?<!\\)\n", piece.text.strip()):
            plain = command.split(" #")[0].strip()
            if plain and not any(re.fullmatch(pattern, plain) for pattern in NOT_RUN):
                outputs.append(
                    self._earnshaw(plain) if re.fullmatch(r"earnshaw [\w\s./:,+=-]+", plain) else _bash(command)
                )
        self.printed = tuple("".join(parts) for parts in zip(*outputs, strict=True))

    def _earnshaw(self, command: str) -> tuple[str, str]:
        result = CliRunner().invoke(app, shlex.split(command)[1:], prog_name="earnshaw")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        if result.exit_code not in (0, 1):
            raise RuntimeError(f"exit code {result.exit_code}: {result.output}")
        return result.stdout, result.output


def _bash(command: str) -> tuple[str, str]:
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", command], env=environment, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    if done.returncode and not (done.returncode == 1 and "earnshaw" in command):  # 1: a claim failed, maybe as shown
        raise RuntimeError(f"exit code {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("page", [pytest.param(page, marks=NIGHTLY.get(page.name, ()), id=page.name) for page in PAGES])
def test_the_blocks_of_a_page_run_and_print_what_it_shows(page, tmp_path, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "programs"))
    monkeypatch.setattr("earnshaw.numerics.remember_programs", lambda: None)
    for name, value in {"COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1", "MPLBACKEND": "Agg"}.items():
        monkeypatch.setenv(name, value)
    reader, prose, wrong = Page(), "", []
    for piece in pieces(page.read_text()):
        try:
            if piece.kind == PYTHON:
                reader.python(piece, prose)
            elif piece.kind == SHELL:
                reader.shell(piece)
            elif piece.kind == OUTPUT and re.search(r"\bprints\b", prose) and reader.printed:
                shown = words(piece.text)
                if not any(agrees(shown, words(printed)) for printed in reader.printed):
                    wrong.append(f"line {piece.line} shows\n{piece.text}\nbut this was printed\n{reader.printed[0]}")
        except Exception as error:
            wrong.append(f"line {piece.line}: {type(error).__name__}: {error}\n{piece.text}")
        prose = piece.text if piece.kind == PROSE else ""
    assert not wrong, f"\n\n{page.name}, ".join(["", *wrong])


def test_what_is_not_run_is_still_in_the_pages():
    lines = [
        line.removeprefix("$ ").strip().split(" #")[0].strip()
        for page in PAGES
        for line in page.read_text().splitlines()
    ]
    unused = [pattern for pattern in NOT_RUN if not any(re.fullmatch(pattern, line) for line in lines)]
    assert not unused


def test_pages_are_cut_into_what_runs_and_what_is_shown():
    text = "a\n\n```python\nprint(1)\n```\n\nIt prints\n\n    1\n\n```console\n$ earnshaw --version\nearnshaw 9\n$ ls\n```\n\n    earnshaw x\n\nend\n"
    kinds = [(piece.kind, piece.text.strip()) for piece in pieces(text) if piece.kind != PROSE]
    assert kinds == [
        (PYTHON, "print(1)"),
        (OUTPUT, "1"),
        (SHELL, "earnshaw --version"),
        (OUTPUT, "earnshaw 9"),
        (SHELL, "ls"),
        (SHELL, "earnshaw x"),
    ]
    assert len(list(pieces((REPOSITORY / "README.md").read_text()))) > 20
    with pytest.raises(AssertionError, match="no language"):
        list(pieces("```\nx\n```\n"))


WIDER = "k  n  steps     s  other\n6  6   1149  11.8\n"
TABLE = "k  n  steps    s  other\n6  6   1149  0.8\n"


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        ("a  b\nc", "a b c\n", True),
        ("a b", "a b c", False),
        ("a [...] d", "a b c d", True),
        ("a [...]", "a b c d", True),
        ("a [...] d", "a b c e", False),
        ("F = 0.0232 (12.0%)", "F = 0.02321 (12.0%)", True),
        ("F = 0.0232", "F = 0.0242", False),
        ("24 runs", "25 runs", False),
        ("within 1.3e-14", "within 2.9e-15", True),
        ("took 3 s", "took 11.5 s", True),
        ('"seconds": 0.03, "k": 7', '"seconds": 4.1e-05, "k": 7', True),
        ("runs/4c4bcbed773d4a0f", "runs/0123456789abcdef", True),
        ("1.3147231008911195e-3", "1.9147231008911195e-3", False),
        (TABLE, TABLE.replace("0.8", "11.8"), True),
        (TABLE, TABLE.replace("1149", "1249"), False),
        (TABLE + "k=6 is 1 of 12", WIDER + "k=6 is 1 of 12", True),
        ("", "a", False),
    ],
)
def test_outputs_are_compared_tolerantly_and_not_blindly(shown, printed, expected):
    assert agrees(words(shown), words(printed)) is expected
