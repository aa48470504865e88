"""The rooms of the library and their order; what an import may cost; what no file may say."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
SOURCE = REPOSITORY / "src" / "earnshaw"

# Packages on one line never import each other; each may import those of the lines above it.
ORDER = (
    ("problems", "store"),
    ("numerics",),
    ("potentials",),
    ("landscapes",),
    ("starts", "descent", "symmetry"),
    ("proof",),
    ("experiments",),
    ("plots",),
    ("papers",),
    ("report",),
    ("web",),
    ("cli",),
)
LEVEL = {package: level for level, line in enumerate(ORDER) for package in line}
FREE = {"errors", "records", "showing", "threads"}  # small modules without imports of their own from the library
WITHOUT_JAX = {"problems", "store", "proof", *FREE}  # what proof may import


def imported(file: Path, text: str) -> set[str]:
    """Return the dotted names that a module imports anywhere in its text, relative and computed imports included."""
    here = ["earnshaw", *file.relative_to(SOURCE).with_suffix("").parts]
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(here[: -node.level]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            names |= {f"{module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in ("import_module", "__import__"):
                names.add(str(node.args[0].value))
    return names


def packages(names: set[str]) -> set[str]:
    """Return the packages of earnshaw among imported names; `from earnshaw import x` gives x."""
    return {name.split(".")[1] if "." in name else "*" for name in names if name.split(".")[0] == "earnshaw"}


def modules() -> list[Path]:
    return sorted(file for file in SOURCE.rglob("*.py") if len(file.relative_to(SOURCE).parts) > 1)


def faults(file: Path, text: str) -> list[str]:
    package = file.relative_to(SOURCE).parts[0]
    if package not in LEVEL:
        return [f"the package {package} has no place in the order"]
    bad = []
    for other in packages(imported(file, text)) - FREE - {package, "__version__"}:
        if LEVEL.get(other, len(ORDER)) >= LEVEL[package]:
            bad.append(f"{package} imports {other}")
        if package == "proof" and other not in WITHOUT_JAX:
            bad.append(f"proof imports {other}, which brings JAX")
    if package == "proof" and any(name.split(".")[0] == "jax" for name in imported(file, text)):
        bad.append("proof imports JAX")
    return bad


@pytest.mark.parametrize("file", modules(), ids=lambda file: str(file.relative_to(SOURCE)))
def test_a_package_imports_only_those_above_it(file):
    assert not faults(file, file.read_text())


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("descent/x.py", "def f():\n    from earnshaw.starts import Xavier"),
        ("problems/x.py", "import earnshaw.store.files"),
        ("problems/x.py", "from earnshaw import store"),
        ("potentials/x.py", "from ..landscapes import landscape"),
        ("numerics/x.py", "import importlib\nimportlib.import_module('earnshaw.potentials')"),
        ("landscapes/x.py", "import earnshaw as es"),
        ("proof/x.py", "import jax.numpy"),
        ("proof/x.py", "from earnshaw.numerics import TOLERANCES"),
        ("unheard/x.py", ""),
    ],
)
def test_the_order_is_really_enforced(place, text):
    assert faults(SOURCE / place, text)


def test_loose_modules_are_few_and_depend_on_nothing():
    loose = {file.name for file in SOURCE.glob("*.py")}
    assert loose <= {"__init__.py", "__main__.py", *(f"{name}.py" for name in FREE)}
    for file in SOURCE.glob("*.py"):
        if file.stem in FREE:
            assert not packages(imported(file, file.read_text())) - FREE


@pytest.mark.parametrize("file", sorted((SOURCE / "proof" / "trusted").glob("*.py")), ids=lambda file: file.name)
def test_what_a_sceptic_reads_is_short_and_stands_alone(file):
    text = file.read_text()
    assert len(text.splitlines()) <= 350
    outside = {name.split(".")[0] for name in imported(file, text)} - set(sys.stdlib_module_names)
    assert outside <= {"flint", "numpy", "earnshaw"}
    inside = {name for name in imported(file, text) if name.split(".")[0] == "earnshaw"}
    assert all(name.startswith("earnshaw.proof.trusted.") for name in inside)


def python(program: str) -> str:
    """Run a program in a fresh interpreter and return what it printed."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_package_and_the_proofs_does_not_import_jax():
    program = """
import sys, importlib, pkgutil
import earnshaw
dir(earnshaw)
assert "jax" not in sys.modules and "numpy" not in sys.modules, "import earnshaw is not lazy"
import earnshaw.problems, earnshaw.store, earnshaw.proof
for module in pkgutil.walk_packages(earnshaw.proof.__path__, "earnshaw.proof."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        print(module.name)
assert "jax" not in sys.modules, "a proof needs JAX"
"""
    assert "earnshaw.proof.trusted.relu" in python(program)


def test_the_core_imports_and_runs_with_jax_and_numpy_alone():
    program = """
import sys
for name in ("typer", "rich", "matplotlib", "scipy.stats", "threadpoolctl", "flint", "mpmath", "hypothesis"):
    sys.modules[name] = None
import numpy as np
import earnshaw.potentials, earnshaw.landscapes, earnshaw.starts, earnshaw.descent, earnshaw.symmetry
from earnshaw.problems import TwoLayer
problem = TwoLayer(np.eye(1))
starts = earnshaw.starts.Xavier().draw(problem, 0, np.arange(2))
values = earnshaw.landscapes.landscape(problem).value(starts)
print(len(values), values.dtype)
"""
    assert python(program).split() == ["2", "float64"]


def test_every_public_name_of_the_front_exists():
    program = """
import earnshaw
for name in earnshaw.__all__:
    assert getattr(earnshaw, name) is not None
try:
    earnshaw.nonsense
except AttributeError as error:
    print("nonsense" in str(error))
"""
    assert python(program).split() == ["True"]


def test_no_file_names_a_machine():
    """No absolute path of somebody's computer in what is published."""
    pattern = re.compile(r"(?<![\w.~>-])/(?:home|root|work|Users|mnt|workspace)/\w")
    roots = [REPOSITORY / name for name in ("src", "tests", "docs", "benchmarks", "examples", ".ci")]
    files = [file for root in roots if root.exists() for file in root.rglob("*") if file.is_file()]
    files += [file for file in REPOSITORY.iterdir() if file.is_file() and file.name != ".git"]  # a worktree has a file
    texts = {
        file: file.read_text(errors="replace")
        for file in files
        if file.suffix in (".py", ".md", ".toml", ".txt", ".json", ".rst", ".cfg", "")
        and "__pycache__" not in file.parts
    }
    assert len(texts) > 50
    assert not [file for file, text in texts.items() if pattern.search(text)]
    assert pattern.search("see /" + "home/somebody/notes")
