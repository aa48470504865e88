"""The trusted folder is small, imports almost nothing, and runs from a copy; the package stays free of JAX."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import adversaries_convexity
import pytest

import earnshaw.proof.trusted as trusted
from earnshaw.proof import prove
from earnshaw.proof.trusted.reading import seal

FOLDER = Path(trusted.__file__).parent
PACKAGE = FOLDER.parent


def imported(path):
    """Yield (level, module) for every import in a file, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.level, node.module or ""


def test_trusted_files_are_short_and_import_little():
    files = sorted(FOLDER.glob("*.py"))
    assert {path.name for path in files} == {
        "__init__.py",
        "__main__.py",
        "absence.py",
        "balls.py",
        "blocks.py",
        "blocks_claims.py",
        "cells.py",
        "convexity.py",
        "convnet.py",
        "every_k.py",
        "every_n.py",
        "exclusion.py",
        "models.py",
        "parts.py",
        "reading.py",
        "relu.py",
        "relu_claims.py",
        "scaled.py",
        "singles.py",
        "sums.py",
    }
    for path in files:
        assert len(path.read_text().splitlines()) <= 350, path.name
        for level, module in imported(path):
            root = module.partition(".")[0]
            assert level == 1 or (level == 0 and (root in sys.stdlib_module_names or root in {"flint", "numpy"})), path


def test_the_package_imports_no_jax_and_no_room_above_it():
    allowed = {
        "earnshaw.errors",
        "earnshaw.showing",
        "earnshaw.threads",
        "earnshaw.proof",
        "earnshaw.problems",
        "earnshaw.store",
    }
    for path in PACKAGE.rglob("*.py"):
        for _, module in imported(path):
            assert module.partition(".")[0] not in {"jax", "jaxlib"}, path
            if module.startswith("earnshaw"):
                assert ".".join(module.split(".")[:2]) in allowed, (path, module)


@pytest.fixture(scope="module")
def copied(tmp_path_factory, minimum_proof):
    """A folder with a copy of the checker, true certificates and a false one."""
    folder = tmp_path_factory.mktemp("elsewhere")
    shutil.copytree(FOLDER, folder / "checker", ignore=shutil.ignore_patterns("__pycache__"))
    minimum_proof.save_all(folder, "k6")
    prove(*adversaries_convexity.problem_and_center("unit-erf")).save(folder / "data.json")
    text = (folder / "k6-minimum.json").read_text()
    (folder / "false.json").write_text(text.replace("earnshaw.proof", "someone"))
    return folder


def run(folder, *arguments):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "checker", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_copied_folder_checks_on_its_own(copied):
    result = run(copied, "k6-minimum.json", "k6-basin.json", "k6-robust.json", "data.json")
    lines = result.stdout.splitlines()
    assert result.returncode == 0, result.stderr
    assert len(lines) == 4
    assert all(line.startswith("VERIFIED ") for line in lines)
    assert "spurious local minimum" in lines[0]
    assert "strictly convex risk of a data set (n = 25, d = 2, K = 2, unit-erf)" in lines[3]


def test_one_bad_file_fails_the_command(copied):
    result = run(copied, "k6-minimum.json", "false.json", "absent.json")
    assert result.returncode == 1
    first, second, third = result.stdout.splitlines()
    assert first.startswith("VERIFIED ")
    assert second.startswith("REJECTED sha256")
    assert third.startswith("REJECTED cannot read")
    assert run(copied).returncode == 2


def test_the_command_rejects_what_is_not_a_file(copied):
    result = run(copied, str(copied))
    assert result.returncode == 1
    assert result.stdout.startswith("REJECTED")


def test_no_name_or_path_stops_the_command(copied):
    """Keys beyond ASCII in an ASCII terminal, a path that no file can have, a pipe: each gets its line, and so do the rest."""
    document = json.loads((copied / "k6-minimum.json").read_text())
    document["\u00e9\u2028"] = 0
    document["sha256"] = seal(document)
    (copied / "keys.json").write_text(json.dumps(document))
    os.mkfifo(copied / "pipe")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "checker", "keys.json", "pipe", "/dev/zero", "k6-minimum.json"]
    done = subprocess.run(command, cwd=copied, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["REJECTED", "REJECTED", "REJECTED", "VERIFIED"]
    assert done.stderr == ""
    assert done.returncode == 1


def test_the_limit_of_the_command(copied):
    assert run(copied, "--limit", "1e-9", "k6-minimum.json").stdout.startswith("REJECTED the check would cost too much")
    assert run(copied, "--limit", "2", "k6-minimum.json").returncode == 0
    for wrong in (("--limit",), ("--limit", "x", "k6-minimum.json"), ("--limit", "2")):
        assert run(copied, *wrong).returncode == 2
