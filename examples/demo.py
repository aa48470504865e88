"""Find spurious minima for k = n = 6, 7, 8, set the percentages beside the paper's, and prove what was found.

``make demo`` runs this. Everything it writes goes to ``out/demo``.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from earnshaw.cli.console import note, out, progress_bar
from earnshaw.cli.sweep import show, show_proofs
from earnshaw.experiments import Plan, prove_sweep, run_plan
from earnshaw.numerics import remember_programs
from earnshaw.papers import spurious
from earnshaw.proof import check

FOLDER = Path("out/demo")


def main() -> int:
    """Run the demonstration; return 0 when everything agrees and is proved."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    remember_programs()
    rows = [row for row in spurious.TABLE_1 if row.k <= 8]
    plan = Plan(settings=tuple(row.setting for row in rows), runs=1000, seed=0)

    out.print("[bold]1. Gradient descent from 1000 random starts, for k = n = 6, 7, 8[/]")
    with progress_bar("sweep") as progress:
        results = run_plan(plan, FOLDER / "sweep", progress=progress)
    show(results)

    out.print("\n[bold]2. Beside the table of Safran & Shamir (2018)[/]")
    compared = [
        line
        for row, result in zip(rows, results, strict=True)
        for line in spurious.compare_row("demo", row, result.summary)
    ]
    for line in compared:
        ours = "-" if line.ours is None else f"{line.ours:.4g}"
        verdict = "agrees" if line.ok else "DIFFERS"
        out.print(
            f"   {line.setting}  {line.quantity:<20} ours {ours:<9} printed {line.printed:<7g} {line.test:<34} {verdict}",
            soft_wrap=True,
        )
    spurious.table_figure(rows, results, FOLDER / "table1")

    out.print("\n[bold]3. Proofs in ball arithmetic, and the independent checker[/]")
    with progress_bar("prove") as progress:
        proofs = prove_sweep(plan, FOLDER / "sweep", progress=progress)
    for result, proved in zip(results, proofs, strict=True):
        show_proofs(result, proved)
    checks = [check(path) for path in sorted((FOLDER / "sweep" / "certificates").glob("*.json"))]
    for result in checks:
        out.print(f"   {result}", soft_wrap=True, markup=False)

    out.print(
        f"\nfigure: [bold]{FOLDER}/table1.png[/]   certificates: [bold]{FOLDER}/sweep/certificates[/]", soft_wrap=True
    )
    good = all(line.ok for line in compared) and all(result.verified for result in checks)
    good &= all(proved.inconclusive == 0 for proved in proofs)
    if not good:
        note("something does not agree: see above")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
