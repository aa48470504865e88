"""What the documentation says exists: examples run, links lead somewhere, options are there."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from earnshaw.cli.app import app
from earnshaw.problems import named_family

PLAIN = {"COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"}
REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = [REPOSITORY / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
PAGES += sorted((REPOSITORY / "docs").glob("*.md"))
SLOW_EXAMPLES = {
    "charges.py",
    "convnet.py",
    "find_minima.py",
    "fit_your_data.py",
    "landscape_tour.py",
    "own_activation.py",
    "own_optimizer.py",
    "own_teacher.py",
}
NIGHTLY_EXAMPLES = {
    "own_activation.py",
    "own_optimizer.py",
    "own_teacher.py",
}  # the pages of these names run every time
EXPECTED = {
    "charges.py": "every proton found in 50 of 50 instances",
    "convnet.py": "PROVED_SADDLE",
    "fit_your_data.py": "proved: strictly convex",
    "own_optimizer.py": "sign descent: {'GLOBAL': 40}",
    "find_minima.py": "family 0: 24 runs",
    "landscape_tour.py": "closed form against automatic differentiation",
    "own_teacher.py": "'CONVERGED': 20",
    "prove_and_check.py": "minimum: VERIFIED",
}


def examples() -> list:
    """Return the example scripts."""
    scripts = sorted((REPOSITORY / "examples").glob("*.py"))
    marks = {name: [pytest.mark.slow] for name in SLOW_EXAMPLES}
    marks |= {name: [pytest.mark.slow, pytest.mark.nightly] for name in NIGHTLY_EXAMPLES}
    return [pytest.param(file, marks=marks.get(file.name, []), id=file.name) for file in scripts]


@pytest.mark.filterwarnings("default")  # as in a process of its own
@pytest.mark.parametrize("script", examples())
def test_an_example_runs(script, tmp_path, monkeypatch, capsys):
    """As a program, in this process: a new one would load JAX and trace every function again."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(script)])
    for name, value in PLAIN.items():
        monkeypatch.setenv(name, value)
    runpy.run_path(str(script), run_name="__main__")
    assert EXPECTED.get(script.name, "") in capsys.readouterr().out
    assert not list(tmp_path.iterdir()), "an example leaves files behind"


def test_an_example_runs_as_a_process(tmp_path):
    script = REPOSITORY / "examples" / "prove_and_check.py"
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert EXPECTED[script.name] in done.stdout


LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*)$", flags=re.MULTILINE)


def anchors(text: str) -> set[str]:
    """Return the anchors that the headings of a page get on the usual hosts."""
    titles = HEADING.findall(re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_internal_links_lead_somewhere(page):
    for link in LINK.findall(page.read_text()):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), f"{page.name} links to {link}"
        if anchor:
            assert anchor in anchors(target.read_text()), f"{page.name} links to {link}"


def test_the_index_names_every_page():
    index = (REPOSITORY / "docs" / "index.md").read_text()
    missing = [page.name for page in (REPOSITORY / "docs").glob("*.md") if f"({page.name})" not in index]
    assert missing == ["index.md"]


COMMAND = re.compile(r"earnshaw ((?:(?:runs|atlas) )?[a-z]+)([^\n|>`]*)")


def commands() -> dict[str, set[str]]:
    """Return the options that the documentation uses with each command."""
    used: dict[str, set[str]] = {}
    for page in PAGES:
        text = page.read_text()
        spans = re.findall(r"^(?:\$ |    )(earnshaw .*)$|`(earnshaw [^`]+)`", text, flags=re.MULTILINE)
        for line in (first or second for first, second in spans):
            if match := COMMAND.match(line):
                options = re.findall(r"(?<!\S)(--?[a-z][a-z-]*)", match[2])
                used.setdefault(match[1], set()).update(options)
    return used


def test_documented_options_exist():
    used = commands()
    assert {"sweep", "prove", "check", "explain", "reproduce", "runs list", "runs show", "runs export"} <= set(used)
    assert {"--runs", "--seed", "--teacher", "--prove", "-k", "-n"} <= used["sweep"]
    for command, options in used.items():
        result = CliRunner(env=PLAIN).invoke(app, [*command.split(), "--help"], prog_name="earnshaw")
        assert result.exit_code == 0, result.output
        text = result.stdout
        unknown = [option for option in options if not re.search(rf"(?<![\w-]){option}(?![\w-])", text)]
        assert not unknown, f"earnshaw {command} has no {unknown}"


def test_the_table_of_bad_minima_has_a_command_for_what_it_says_is_proved_by_computing():
    """Each command is one, takes its options, and knows its family."""
    table = (
        (REPOSITORY / "docs" / "results.md")
        .read_text()
        .partition("| k | n | bad minima? | command |\n| --- | --- | --- | --- |\n")[2]
    )
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.partition("\n\n")[0].splitlines()]
    assert [row[0] for row in rows if row[2] == "open"] == ["4, 5"]
    assert {row[2].split(":")[0].split(",")[0].split(" (")[0] for row in rows} == {"none", "open", "there is one"}
    proved = {
        row[0]: re.findall(r"`(earnshaw [^`]+)`", row[3])
        for row in rows
        if row[2] != "open" and "by hand" not in row[2]
    }
    assert len(proved) == 8
    for name, lines in proved.items():
        assert lines, f"the row {name} has no command"
        for line in lines:
            match = COMMAND.fullmatch(line)
            assert match, line
            result = CliRunner(env=PLAIN).invoke(app, [*match[1].split(), "--help"], prog_name="earnshaw")
            options = re.findall(r"(?<!\S)(--?[a-z][a-z-]*)", match[2])
            assert result.exit_code == 0
            assert all(option in result.stdout for option in options), line
            for family in re.findall(r"--family (\S+)", line):
                assert named_family(family)
