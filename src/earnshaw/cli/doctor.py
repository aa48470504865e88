"""``earnshaw doctor``."""

from __future__ import annotations

import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from earnshaw.cli.console import CLAIM_FAILED, json_line, out

EXAMPLES = "Example: **earnshaw doctor**; exit code 1 says that something is wrong."
PACKAGES = ("earnshaw", "jax", "jaxlib", "numpy", "scipy", "python-flint", "optax", "diffrax", "matplotlib", "typer")
NEEDED_GIB = 1.0


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each check.")] = False,
) -> None:
    """Check that this installation works: versions, double precision, devices, disk, and a shipped certificate."""
    good = True
    for name, ok, said in _checks():
        good &= ok
        if as_json:
            json_line({"check": name, "ok": ok, "said": said})
        else:
            out.print(f"{'[green]ok[/]   ' if ok else '[bold red]WRONG[/]'} {name:<22} {said}", soft_wrap=True)
    if not good:
        raise typer.Exit(CLAIM_FAILED)


def _checks():
    yield (
        "Python",
        sys.version_info >= (3, 11),
        f"{platform.python_version()} ({platform.machine()}, {platform.system()})",
    )
    for name in PACKAGES:
        try:
            yield name, True, version(name)
        except PackageNotFoundError:
            yield name, False, "not installed; reinstall with: pip install earnshaw"
    yield _float64()
    yield _devices()
    free = shutil.disk_usage(Path.cwd()).free / 2**30
    yield (
        "disk here",
        free >= NEEDED_GIB,
        f"{free:.1f} GiB free" + (f"; {NEEDED_GIB:g} are needed" if free < NEEDED_GIB else ""),
    )
    yield _landscape()
    yield _certificate()


def _float64() -> tuple[str, bool, str]:
    import jax.numpy as jnp

    import earnshaw.numerics

    kind = str(jnp.ones(1).dtype)
    ok = kind == "float64" and float(jnp.asarray(1.0) + 2.0**-52) > 1.0
    return "double precision", ok, f"JAX computes in {kind} (tolerances in {earnshaw.numerics.__name__})"


def _devices() -> tuple[str, bool, str]:
    import jax

    found = [f"{device.device_kind} ({device.platform})" for device in jax.devices()]
    return "devices", bool(found), ", ".join(found)


def _landscape() -> tuple[str, bool, str]:
    """Evaluate the loss where it is known: one neuron at right angles to the teacher's, F = 1/2 - 1/(2 pi)."""
    import math

    import numpy as np

    from earnshaw.landscapes import landscape
    from earnshaw.problems import TwoLayer

    exact = landscape(TwoLayer(np.array([[1.0, 0.0]])))
    value = float(exact.value(exact.point(np.array([[0.0, 1.0]]))))
    error = abs(value - (0.5 - 0.5 / math.pi))
    return "a known loss", error < 1e-15, f"off by {error:.1e}"


def _certificate() -> tuple[str, bool, str]:
    """Check the certificate that comes with the package, and that the checker notices when it is altered."""
    import json
    import tempfile
    from importlib.resources import as_file, files

    from earnshaw.proof import check

    with as_file(files("earnshaw") / "data" / "k6-minimum.json") as path:
        result = check(path)
        text = path.read_text()
    with tempfile.TemporaryDirectory() as folder:
        forged = Path(folder) / "forged.json"
        record = json.loads(text)
        record["claims"]["lambda_min_ge"] = (2 * float.fromhex(record["claims"]["lambda_min_ge"])).hex()
        forged.write_text(json.dumps(record))
        altered = check(forged)
    ok = result.verified and not altered.verified
    said = "verified, and an altered copy is rejected" if ok else f"{result}; altered copy: {altered}"
    return "a shipped certificate", ok, said
