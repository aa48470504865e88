"""What a sweep is, in words, and the commands that make it: for pages about sweeps that are nobody's table."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from earnshaw.descent import Stop, Stopping
from earnshaw.experiments import Plan, Setting
from earnshaw.experiments.summary import optimizer_name
from earnshaw.problems import Problem, RandomConvNets, TwoLayer, standard_teacher
from earnshaw.starts import Given, Normal, usual_start


def described(plan: Plan) -> str:
    """Return the network, the teacher, the optimiser, the start and the rule by which runs end, in words."""
    networks = dict.fromkeys(_network(setting.problem) for setting in plan.settings)
    optimizers = dict.fromkeys(optimizer_name(setting.descent) for setting in plan.settings)
    return (
        f"Network: {' and '.join(networks)}. Optimiser: {', '.join(optimizers)}. Start: {_start(plan)[0]}, seed {plan.seed}. "
        f"End of a run: {plan.stopping.rule.value}, at most {plan.stopping.max_steps:,} steps."
    )


def _network(problem: Problem) -> str:
    if isinstance(problem, RandomConvNets):
        return "convolutional with weight normalisation, trained output weights, a random teacher for every run"
    if not isinstance(problem, TwoLayer):
        return str(problem.to_json()["objective"])
    outputs = "trained" if problem.trainable_output else "fixed"
    teacher = (
        "orthonormal" if _standard(problem) else f"given, {problem.teachers} neurons in dimension {problem.dimension}"
    )
    return f"two layers of {problem.activation.name} neurons, output weights {outputs}, teacher {teacher}"


def _standard(problem: TwoLayer) -> bool:
    """Whether ``-k`` and ``-d`` say all about the teacher and the output weights."""
    weights = problem.output_weights, problem.student_output_weights
    fits = problem.teachers <= problem.dimension and all(some is None for some in weights)
    return fits and np.array_equal(problem.teacher, standard_teacher(problem.teachers, problem.dimension))


def _start(plan: Plan) -> tuple[str, str]:
    """Return the start in words, and what ``--start`` takes for it, empty for the usual one."""
    start = plan.start
    if isinstance(start, Given):
        return "given points", "POINTS.npy"
    name = (
        f"normal:{start.scale!r}"
        if isinstance(start, Normal)
        else str(start.to_json().get("kind", type(start).__name__))
    )
    return name, "" if start == usual_start(plan.settings[0].problem) else name


def commands(plan: Plan, folder: Path) -> list[str]:
    """Return the commands that make a sweep, or find its results in the folder; none if it can only be made in Python.

    A teacher or points that were given stand as ``TEACHER.npy`` and ``POINTS.npy``: the files that hold them.
    """
    lines = []
    for _, some in groupby(plan.settings, key=lambda setting: (*_common(setting), _kernel(plan, setting))):
        lines += [
            f"earnshaw sweep {_options(plan, part)} --out {shlex.quote(str(folder))}" for part in _ranges([*some])
        ]
    return lines if all(map(_by_options, plan.settings)) else []


def _by_options(setting: Setting) -> bool:
    """Whether the options of the command can say this setting."""
    problem = setting.problem
    if isinstance(problem, TwoLayer):
        return not setting.label and problem.output_weights is None and problem.student_output_weights is None
    return isinstance(problem, RandomConvNets) and not setting.label


def _common(setting: Setting) -> tuple[object, ...]:
    """Return what settings of one command have in common, apart from k: the distance of n from k among it."""
    problem = setting.problem
    if isinstance(problem, TwoLayer):
        more: tuple[object, ...] = (problem.students - problem.teachers, _standard(problem), problem.activation)
        more += (problem.trainable_output, problem.dimension - problem.teachers)
    else:
        more = (problem,)
    return type(problem), setting.runs, setting.batch == problem.batch, optimizer_name(setting.descent), *more


def _ranges(settings: Sequence[Setting]) -> list[list[Setting]]:
    """Cut settings that have the rest in common into those that one range of k says."""
    parts: list[list[Setting]] = []
    for setting in settings:
        if parts and _follows(setting, parts[-1][-1]):
            parts[-1].append(setting)
        else:
            parts.append([setting])
    return parts


def _follows(setting: Setting, before: Setting) -> bool:
    """Whether a setting is the other with one teacher neuron more."""
    after, first = setting.problem, before.problem
    if not (isinstance(after, TwoLayer) and isinstance(first, TwoLayer) and _standard(after)):
        return False
    usual = setting.batch in (after.batch, before.batch)
    return usual and after.dimension == after.teachers == first.teachers + 1


def _options(plan: Plan, settings: Sequence[Setting]) -> str:
    """Return the options of one command; what has its usual value is left out."""
    setting, problem = settings[0], settings[0].problem
    if isinstance(problem, TwoLayer):
        last, offset = settings[-1].problem.sizes["k"], problem.students - problem.teachers
        words = _sizes(problem, last) + f" -n k{offset:+d}" * bool(offset)
        words += f" --activation {shlex.quote(problem.activation.name)}" * (problem.activation.name != "relu")
        words += " --output-weights trainable" * problem.trainable_output
    else:
        assert isinstance(problem, RandomConvNets)
        words = f"--network conv -p {problem.filter_size} -k {problem.patches} --ratio {problem.ratio!r}"
    name, (_, start), usual = optimizer_name(setting.descent), _start(plan), Stopping()
    four = start == "four-signs"
    words += f" --runs {setting.runs} --seed {plan.seed}" + f" --optimizer {shlex.quote(name)}" * (name != "gd:0.1")
    words += " --starts four" * four + f" --start {start}" * bool(start and not four)
    words += " --stop paper" * (plan.stopping.rule is Stop.PAPER)
    words += f" --max-steps {plan.stopping.max_steps}" * (plan.stopping.max_steps != usual.max_steps)
    words += f" --trace {plan.stopping.trace}" * bool(plan.stopping.trace)
    words += f" --batch {setting.batch}" * (setting.batch != problem.batch)
    return words + _kernel(plan, setting)


def _kernel(plan: Plan, setting: Setting) -> str:
    """Return the option that chooses a setting's kernel; none where it would be chosen here without."""
    return "" if setting.kernel == plan.usual_kernel(setting) else f" --kernel {setting.kernel}"


def _sizes(problem: TwoLayer, last: int) -> str:
    """Return the teachers from that of a problem to the last k."""
    if not _standard(problem):
        return "--teacher TEACHER.npy"
    sizes = f"-k {problem.teachers}" + f"..{last}" * (last != problem.teachers)
    return sizes + f" -d {problem.dimension}" * (problem.dimension != problem.teachers)
