"""``earnshaw doctor``."""

from __future__ import annotations

import json
import math
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from earnshaw.cli.console import CLAIM_FAILED, json_line, note, out, say
from earnshaw.cli.helping import option
from earnshaw.errors import InputError, install_line

EXAMPLES = ("earnshaw doctor", "earnshaw doctor --json")
PACKAGES = ("earnshaw", "jax", "jaxlib", "numpy", "scipy", "python-flint", "optax", "diffrax", "matplotlib", "typer")
EXTRAS = {  # extra -> package, use
    "parquet": ("pyarrow", "Parquet files"),
    "frame": ("pandas", "tables of runs"),
    "cluster": ("distributed", "worker processes on many machines"),
    "web": ("fastapi", "the page of earnshaw explore"),
    "docs": ("sphinx", "building the site"),
}
NEEDED_GIB = 1.0


@dataclass(frozen=True)
class Finding:
    """What one check found; ``ok`` is None for an optional part that is not there."""

    name: str
    ok: bool | None
    said: str


def doctor(
    as_json: Annotated[bool, option("One JSON object for each check, and nothing else.", "--json")] = False,
) -> None:
    """Check that this installation works: versions, double precision, devices, disk, and a shipped certificate.

    Exit code 1 says that something is wrong; the line marked WRONG says what.
    """
    marks = {True: "[green]ok[/]   ", False: "[bold red]WRONG[/]", None: "--   "}
    good = True
    for finding in _findings():
        good &= finding.ok is not False
        if as_json:
            json_line({"check": finding.name, "ok": finding.ok, "said": finding.said})
        else:
            out.print(f"{marks[finding.ok]} {finding.name:<22}", end="", soft_wrap=True)
            say(finding.said)
    if not good:
        raise typer.Exit(CLAIM_FAILED)
    if not as_json:
        note("this installation is sound; next: earnshaw demo")


def _findings() -> Iterator[Finding]:
    machine = f"{platform.python_version()} ({platform.machine()}, {platform.system()})"
    yield Finding("Python", sys.version_info >= (3, 11), machine)
    for name in PACKAGES:
        found = _version(name)
        yield Finding(name, found is not None, found or "not installed; reinstall with: pip install earnshaw")
    for extra, (package, use) in EXTRAS.items():
        found = _version(package)
        said = f"{package} {found}" if found else f"optional, for {use}: {install_line(extra)}"
        yield Finding(f"extra {extra}", True if found else None, said)
    checks: dict[str, Callable[[], tuple[bool | None, str]]] = {
        "double precision": _float64,
        "devices": _devices,
        "native kernel": _kernel,
        "disk here": _disk,
        "a known loss": _landscape,
    }
    for name, check in (checks | {"a shipped certificate": _certificate}).items():
        try:
            yield Finding(name, *check())
        except InputError as error:
            yield Finding(name, False, str(error))
        except Exception as error:  # a broken installation breaks anywhere; what it raises is what the check found
            yield Finding(name, False, f"{type(error).__name__}: {error}")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _float64() -> tuple[bool, str]:
    import jax.numpy as jnp

    from earnshaw.numerics import backend  # turns on double precision

    backend()
    kind = str(jnp.ones(1).dtype)
    return kind == "float64" and float(jnp.asarray(1.0) + 2.0**-52) > 1.0, f"JAX computes in {kind}"


def _devices() -> tuple[bool, str]:
    import jax

    from earnshaw.numerics import backend
    from earnshaw.threads import cores

    backend()
    found = [f"{device.device_kind} ({device.platform})" for device in jax.devices()]
    return bool(found), f"{', '.join(found)}; {cores()} CPU cores"


def _kernel() -> tuple[bool | None, str]:
    """Say whether gradient descent in the paper's own case has its own kernel here, or why not."""
    from earnshaw.descent import native

    if reason := native.missing():
        return None, f"not used: {reason}; sweeps run on XLA with the same outcomes, 2 to 5 times slower"
    return (
        True,
        f"{native.instruction_sets()[0]}; takes the steps of gradient descent with ReLU and a coordinate teacher",
    )


def _disk() -> tuple[bool, str]:
    free = shutil.disk_usage(Path.cwd()).free / 2**30
    return free >= NEEDED_GIB, f"{free:.1f} GiB free" + (f"; {NEEDED_GIB:g} is needed" if free < NEEDED_GIB else "")


def _landscape() -> tuple[bool, str]:
    """Evaluate the loss where it is known: one neuron at right angles to the teacher's, F = 1/2 - 1/(2 pi)."""
    import numpy as np

    from earnshaw.landscapes import landscape
    from earnshaw.numerics import backend
    from earnshaw.problems import TwoLayer

    backend()
    exact = landscape(TwoLayer(np.array([[1.0, 0.0]])))
    value = float(exact.value(exact.point(np.array([[0.0, 1.0]]))))
    error = abs(value - (0.5 - 0.5 / math.pi))
    return error < 1e-15, f"off by {error:.1e}"


def _certificate() -> tuple[bool, str]:
    """Check the certificate that comes with the package, and that the checker notices when it is altered."""
    from earnshaw.proof import check
    from earnshaw.proof.certificate import shipped_certificate

    with shipped_certificate() as path:
        result = check(path)
        text = path.read_text()
    with tempfile.TemporaryDirectory() as folder:
        forged = Path(folder) / "forged.json"
        record = json.loads(text)
        record["claims"]["lambda_min_ge"] = (2 * float.fromhex(record["claims"]["lambda_min_ge"])).hex()
        forged.write_text(json.dumps(record))
        altered = check(forged)
    ok = result.verified and not altered.verified
    return ok, "verified, and an altered copy is rejected" if ok else f"{result}; altered copy: {altered}"
