"""A sweep as a table for a paper: settings with their percentages, and below each its families, in LaTeX with booktabs."""

from __future__ import annotations

import re
from pathlib import Path

from earnshaw.experiments import SweepResult, sweep_in

VERDICTS = {"PROVED_MINIMUM": "proved", "PROVED_SADDLE": "saddle", "INCONCLUSIVE": "inconclusive"}
SPECIAL = re.compile(r"[&%$#_{}]")


def latex_table(folder: str | Path) -> str:
    """Return the table of a sweep's folder: a row for each setting with its exact 95% interval, and one for each family."""
    sweep = sweep_in(Path(folder)).whole()
    sizes = [name for name in sweep[0].summary.sizes if name != "d"]
    several = len({result.summary.optimizer for result in sweep}) > 1
    head = [*(f"${name}$" for name in sizes), *["optimiser"] * several, "runs", r"spurious", r"$95\%$", "family"]
    head += ["runs there", "$F$", r"$\lambda_{\min}$", "proved"]
    lines = [r"\begin{tabular}{" + "r" * len(sizes) + "l" * several + "rrrlrrrl}", r"\toprule", _row(head), r"\midrule"]
    for result in sweep:
        lines += _rows(result, sizes, several)
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _rows(result: SweepResult, sizes: list[str], several: bool) -> list[str]:
    summary, verdicts = result.summary, result.verdicts()
    known = summary.spurious_interval is not None and "CONVERGED" not in summary.outcomes
    first = [f"{summary.sizes[name]:g}" for name in sizes] + [_plain(summary.optimizer)] * several + [str(summary.runs)]
    if known and summary.spurious_interval is not None:
        low, high = summary.spurious_interval
        first += [rf"{summary.spurious_percent:.1f}\%", f"{low:.1f}--{high:.1f}"]
    else:
        first += ["--", "--"]
    found = []
    for index, family in enumerate(summary.families):
        proved = VERDICTS.get(verdicts[index], "") if index < len(verdicts) else ""
        named = symbols(family.label) if family.label else str(index + 1)
        smallest = "" if family.min_eigenvalue != family.min_eigenvalue else f"{family.min_eigenvalue:.6f}"
        found.append([named, str(family.count), f"{family.objective:.8f}", smallest, proved])
    found = found or [[""] * 5]
    blank = [""] * len(first)
    return [_row([*(blank if place else first), *cells]) for place, cells in enumerate(found)]


def symbols(label: str) -> str:
    r"""Return the name of a family in LaTeX: ``II (S_5)`` is II ($S_{5}$), and ``S_17 x S_2`` is $S_{17} \times S_{2}$."""
    text = re.sub(r"S_(\d+)", r"$S_{\1}$", label)
    return re.sub(r"\$ x \$", r" \\times ", text)


def _plain(text: str) -> str:
    return SPECIAL.sub(lambda found: rf"\{found[0]}", text)


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"
