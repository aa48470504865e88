"""Pages about the convolutional network: its one spurious minimum, by its closed form, beside where the runs ended."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from earnshaw.experiments import SweepResult
from earnshaw.experiments.convnet import SpuriousPoint, runs_again, spurious_point
from earnshaw.plots.networks import convergence_figure
from earnshaw.problems import RandomConvNets
from earnshaw.report.origin import plan_of
from earnshaw.report.page import Figure, Part, Section, Table, Tex, figures_of
from earnshaw.report.proofs import folder_of
from earnshaw.report.words import labels, share, sizes

LANES, STEPS = 40, 400  # runs that are drawn, and how far
WORDS = r"""Of a teacher with filter $w^*$ and output weights $a^*$ every stationary point is known in closed form. Beside the global minimum, and where there are
some a family of saddles, there is one: the filter against the teacher's, $v = -w^*$ up to its length. It is a local minimum exactly if
\[ \frac{S^2}{|a^*|^2} < \frac{k + \pi - 1}{\pi} , \qquad S = \sum_i a^*_i . \]
Runs were decided by the sign of $a \cdot a^*$ once their loss was below that of the saddles, which gradient descent does not cross."""


def convnet_headline(results: Sequence[SweepResult]) -> str:
    """Return in one sentence how many runs end at the spurious minimum; of several settings where most do and fewest."""
    if len(results) > 1:
        most, *_, least = sorted(results, key=_stuck, reverse=True)
        apart = [name for name in most.summary.sizes if len({x.summary.sizes[name] for x in results}) > 1]
        high, low = (
            f"{share(x.summary.spurious, max(x.summary.decided, 1))} for "
            + ", ".join(f"{name} {x.summary.sizes[name]:g}" for name in apart)
            for x in (most, least)
        )
        return f"Runs that end at the spurious minimum: {high}, and {low}"
    (only,) = results
    spurious, runs = only.summary.spurious, only.summary.runs
    if not spurious:
        return f"None of {runs:,} runs ends at a spurious minimum"
    return f"{spurious:,} of {runs:,} runs end at the spurious minimum: {share(spurious, only.summary.decided)}, the filter against the teacher's"


def _stuck(result: SweepResult) -> float:
    return result.summary.spurious_percent or 0.0


def _point(result: SweepResult) -> SpuriousPoint:
    problem = result.runs.problem
    assert isinstance(problem, RandomConvNets)
    return spurious_point(problem, result.summary.seed)


def convnet_section(results: Sequence[SweepResult], out: Path) -> Section:
    """Return what is known of the spurious minimum, what was met of it, and the first runs on their way."""
    rows, parts = [], list[Part]()
    for result in results:
        summary, point = result.summary, _point(result)
        met = f"{summary.mean_objective:.10f}" if summary.mean_objective is not None else ""
        row = {"a minimum below ratio": f"{point.limit:.4f}", "it is a minimum": "yes" if point.minimum else "no"}
        row |= {"loss of the point": f"{point.value:.10f}", "mean loss met": met}
        rows.append(sizes(summary) | row | {"runs there (95%)": share(summary.spurious, max(summary.decided, 1))})
    last = max(results, key=_stuck)
    plan = plan_of(folder_of(last))
    again = None if plan is None else runs_again(plan, last.name, LANES, STEPS)
    if again is not None:
        label, level = labels(results)[last.name], _point(last)
        title = f"The first {again.value.shape[1]} runs, {label}, step {again.step_length:g}"
        shown = level.value if level.minimum else None
        convergence_figure(again, LANES, shown, title, figures_of(out) / "convergence")
        words = f"The first runs of {label} again, for {STEPS} steps: the loss, one run of each fate in bold."
        words += " Those that fail creep towards the spurious minimum." * bool(again.spurious.any())
        parts.append(Figure(figures_of(out) / "convergence.svg", words))
    return Section("The spurious minimum", [*parts, Table.of(rows), Tex(WORDS)])
