"""The wheel: what is inside, and that it works away from the repository."""

import email
import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
REPOSITORY = Path(__file__).resolve().parents[1]
SETUPTOOLS = 77  # the first that knows a licence by its name


def run(*arguments, folder, **environment):
    """Run Python with these arguments, and return what it printed."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Return the path of a wheel built from a copy of the sources."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, source)
    shutil.copytree(
        REPOSITORY / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "*.so")
    )
    at_hand = importlib.util.find_spec("setuptools") and int(version("setuptools").split(".")[0]) >= SETUPTOOLS
    how = ["--no-isolation"] if at_hand else []
    try:
        run("-m", "build", "--wheel", *how, "--outdir", made, source, folder=made)
    except AssertionError as error:
        if at_hand or "setuptools" not in str(error):
            raise
        pytest.skip(f"a wheel needs setuptools {SETUPTOOLS}, which is neither here nor on an index that can be reached")
    (path,) = made.glob("*.whl")
    return path


def test_the_wheel_holds_the_package_its_types_and_data_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
        facts = email.message_from_bytes(archive.read(next(name for name in inside if name.endswith("/METADATA"))))
    source = REPOSITORY / "src"
    expected = {
        str(path.relative_to(source))
        for pattern in (
            "*.py",
            "py.typed",
            "data/*.json",
            "web/static/*.*",
            "web/static/*/*.*",
            "web/static/*/*/*.*",
            "native/*.[ch]",
            "native/_kernel*.so",
        )  # the last where it could be built
        for path in (source / "earnshaw").rglob(pattern)
    }
    assert {
        "earnshaw/py.typed",
        "earnshaw/data/k6-minimum.json",
        "earnshaw/proof/trusted/relu.py",
        "earnshaw/web/static/app.js",
    } <= expected
    assert {name for name in inside if not name.split("/")[0].endswith(".dist-info")} == expected
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert facts["Version"] == project["version"]
    assert set(facts.get_all("Provides-Extra") or []) == set(project["optional-dependencies"])
    assert facts["License-File"] == "LICENSE"


def test_the_installed_wheel_runs_from_an_empty_folder(wheel, tmp_path):
    place, empty = tmp_path / "site", tmp_path / "empty"
    empty.mkdir()
    run("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", place, wheel, folder=empty)
    expected = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
    here = {"PYTHONPATH": str(place)}
    where = run("-c", "import earnshaw; print(earnshaw.__file__)", folder=empty, **here)
    assert Path(where.strip()).is_relative_to(place), "the repository is in the way"
    assert run("-m", "earnshaw", "--version", folder=empty, **here).strip() == f"earnshaw {expected}"
    found = run("-m", "earnshaw", "doctor", folder=empty, **here)
    assert "WRONG" not in found
    assert "verified, and an altered copy is rejected" in found
    assert "sweep" in run("-m", "earnshaw", "--help", folder=empty, **here)
    assert not list(empty.iterdir())
