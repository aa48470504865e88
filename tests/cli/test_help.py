"""What a new user meets first: help, completion, and mistakes that are answered with what was meant."""

import os
import re
import resource
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from earnshaw.cli import doctor
from earnshaw.cli.app import COMMANDS, app
from earnshaw.cli.settings import ACTIVATIONS, OPTIMIZERS, STARTS
from earnshaw.errors import InputError, install_line, nearest, need

REPOSITORY = Path(__file__).resolve().parents[2]
RUNS = [("runs",), ("runs", "list"), ("runs", "show"), ("runs", "export")]
WORDS = [(), *((command[0],) for command in COMMANDS), *RUNS]


def answer(*words):
    """Return the exit code, the output and the errors of a command at 80 columns."""
    result = CliRunner(env={"COLUMNS": "80"}).invoke(app, list(words), prog_name="earnshaw")
    return result.exit_code, result.stdout, " ".join(result.stderr.split())


@pytest.mark.parametrize("words", WORDS, ids="-".join)
def test_every_help_fits_80_columns_and_ends_with_examples(words):
    code, out, _ = answer(*words, "--help")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert not re.search(r"\*\*|<|\[required\].*\[required\]|\xa0", out.replace("<=", ""))
    examples = [line.split("#")[0].split() for line in out.split("Examples:\n")[1].splitlines()]
    assert examples
    assert all(line[0] == "earnshaw" for line in examples)
    known = {command[0] for command in COMMANDS} | {"runs"}
    assert all(line[1] in known for line in examples)


@pytest.mark.parametrize("words", WORDS, ids="-".join)
def test_every_option_has_words_and_options_of_examples_exist(words):
    _, out, _ = answer(*words, "--help")
    body, examples = out.split("Examples:\n")
    rows = re.findall(r"^  (--?\S.*?)(?:  |\n {10})\s*(.*)$", body, flags=re.MULTILINE)
    assert rows
    assert all(len(said) > 4 for _, said in rows)
    if words:
        own = [line for line in examples.splitlines() if line.split()[1 : 1 + len(words)] == list(words)]
        used = {option for line in own for option in re.findall(r"(?<=\s)--?[a-z-]+", line.split("#")[0])}
        assert not [option for option in used if not re.search(rf"(?<![\w-]){option}(?![\w-])", body)]


def test_the_list_of_commands_is_one_line_each():
    _, out, _ = answer("--help")
    for name, *_, line in COMMANDS:
        assert re.search(rf"^  {name} +{re.escape(line)}$", out, flags=re.MULTILINE)


def test_help_comes_within_a_second():
    def seconds():  # of the processor, which a busy machine does not change
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "earnshaw", "--help"], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(2)) < 1.0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("swep",), "Did you mean 'sweep'?"),
        (("runs", "lst"), "Did you mean 'list'?"),
        (("sweep", "--optimzer", "gd"), "--optimizer"),
        (("sweep", "-k", "3", "--stop", "erly"), "Did you mean early?"),
        (("reproduce", "spuriuos"), "Did you mean spurious?"),
        (("reproduce", "spurious", "tabel1"), "Did you mean table1?"),
        (("sweep", "-k", "3", "--activation", "rleu"), "did you mean relu?"),
        (("sweep", "-k", "3", "--activation", "leeky:0.1"), "did you mean leaky:0.1?"),
        (("sweep", "-k", "3", "--optimizer", "adma:0.1"), "did you mean adam:0.1?"),
        (("arena", "-k", "3", "--optimizers", "gd:0.1,lbgfs"), "did you mean lbfgs?"),
        (("sweep", "-k", "3", "--start", "xaver"), "did you mean xavier?"),
        (("dynamics", "--potential", "yukwa"), "Did you mean yukawa?"),
    ],
)
def test_a_mistyped_name_is_answered_with_what_was_meant(words, said):
    code, out, err = answer(*words)
    assert code == 2
    assert said in err
    assert "Value error" not in err
    assert not out


def test_nothing_is_guessed_where_nothing_is_near():
    assert "mean" not in answer("sweep", "-k", "3", "--activation", "nosuch")[2]
    assert "mean" not in answer("sweep", "-k", "3", "--optimizer", "gdx.py:thing")[2]
    assert nearest("zzz", ["relu", "sign"]) is None


@pytest.mark.slow
def test_names_to_complete_are_those_that_work():
    from earnshaw.descent import optimizer
    from earnshaw.problems import activation
    from earnshaw.starts import start

    numbers = {"leaky": ":0.1", "hermite": ":3", "normal": ":0.1"}
    ours = ("gd", "momentum", "nesterov", "lbfgs", "newton-tr", "perturbed-gd", "flow", "stochastic", "second-gd")
    assert all(activation(name + numbers.get(name, "")) for name in ACTIVATIONS)
    assert all(start(name + numbers.get(name, "")) for name in STARTS)
    assert all(optimizer(name if name in ours else f"{name}:0.01") for name in OPTIMIZERS)


def completed(line: str) -> list[str]:
    """Return what the shell is offered for a half-typed line."""
    words = line.split(" ")
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_EARNSHAW_COMPLETE": "complete_bash"}
    code = "import sys; sys.argv[0] = 'earnshaw'; from earnshaw.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True)
    return done.stdout.split()


@pytest.mark.slow
def test_the_shell_completes_commands_options_papers_items_and_names():
    assert completed("earnshaw sw") == ["sweep"]
    assert completed("earnshaw sweep --optim") == ["--optimizer"]
    assert completed("earnshaw reproduce el") == ["electrostatics"]
    assert completed("earnshaw reproduce spurious ta") == ["table1", "table2"]
    assert completed("earnshaw sweep --activation s") == ["sign", "sigmoid", "softplus"]


@pytest.mark.slow
def test_completion_is_installed_and_shown(tmp_path):
    script = f"{sys.executable} -m earnshaw --show-completion; {sys.executable} -m earnshaw --install-completion; true"
    environment = os.environ | {"HOME": str(tmp_path)}
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert "complete -o default -F" in done.stdout
    assert "bash completion installed" in done.stdout
    assert "source" in (tmp_path / ".bashrc").read_text()


def test_a_missing_extra_is_said_with_the_line_that_installs_it(monkeypatch):
    assert need("json", extra="parquet", purpose="this").__name__ == "json"
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(InputError) as raised:
        need("pyarrow.parquet", extra="parquet", purpose="--format parquet")
    assert str(raised.value).splitlines()[-1] == "pip install 'earnshaw[parquet]'"


def test_the_doctor_knows_the_extras_and_their_lines(monkeypatch):
    extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(doctor.EXTRAS) == set(extras) - {"dev", "browser"}, "those two are for developers"
    for extra, (package, _) in doctor.EXTRAS.items():
        assert any(line.startswith(package) for line in extras[extra])
    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "pyarrow" else "1")
    found = {finding.name: finding for finding in doctor._findings()}
    assert found["extra parquet"].ok is None
    assert found["extra parquet"].said.endswith(install_line("parquet"))


def test_the_doctor_reports_what_is_broken_and_goes_on(monkeypatch):
    monkeypatch.setitem(sys.modules, "earnshaw.landscapes", None)
    code, out, _ = answer("doctor")
    assert code == 1
    assert re.search(r"WRONG a known loss +ModuleNotFoundError", out)
    assert re.search(r"ok +a shipped certificate", out)
