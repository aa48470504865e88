"""What was run, in words, and the commands that make a folder again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from earnshaw.descent import Stop, Stopping
from earnshaw.errors import InputError
from earnshaw.experiments import Fit, Motion, Plan, Setting
from earnshaw.experiments.dynamics import Integration
from earnshaw.experiments.fit import FitPlan
from earnshaw.experiments.plan import file_name
from earnshaw.experiments.summary import optimizer_name
from earnshaw.experiments.work import work_of
from earnshaw.problems import Problem, RandomConvNets, TwoLayer, standard_teacher
from earnshaw.problems.charges import ChargeLaw, random_start
from earnshaw.starts import Given, Normal, usual_start


def plan_of(folder: Path) -> Plan | None:
    """Return the plan of a sweep; None where a function of the user's would have to be loaded for it, which runs code."""
    try:
        plan = work_of(folder)
    except InputError:
        return None
    assert isinstance(plan, Plan)
    return plan


def described(plan: Plan) -> str:
    """Return the network, the teacher, the optimiser, the start and the rule by which runs end, in words."""
    networks = dict.fromkeys(_network(setting.problem) for setting in plan.settings)
    optimizers = dict.fromkeys(optimizer_name(setting.descent) for setting in plan.settings)
    return (
        f"Network: {' and '.join(networks)}. Optimiser: {', '.join(optimizers)}. Start: {_start(plan)[0]}, seed {plan.seed}. "
        f"End of a run: {plan.stopping.rule.value}, at most {plan.stopping.max_steps:,} steps."
    )


SEEDS, SPREAD = 1000, 0.25  # among which the places of charges are looked for; the usual spread


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
        lines += [f"earnshaw sweep {_options(plan, part)} {_out(folder)}" for part in _ranges([*some])]
    plain = not any(setting.label for setting in plan.settings)
    return lines if plain and all(_by_options(setting.problem) for setting in plan.settings) else []


def arena_commands(plan: Plan, names: Sequence[str], folder: Path) -> list[str]:
    """Return the commands that make an arena of optimisers by name, or find its results; none if only Python can."""
    first = [setting for setting in plan.settings if setting.label == file_name(names[0])]
    whole = {setting.label for setting in plan.settings} == {file_name(name) for name in names}
    if not (whole and all(isinstance(x.problem, TwoLayer) and _by_options(x.problem) for x in first)):
        return []
    parts = [part for _, some in groupby(first, key=_common) for part in _ranges([*some])]
    chosen = f"--optimizers {shlex.quote(','.join(names))}"
    return [f"earnshaw arena {_options(plan, part, chosen)} {_out(folder)}" for part in parts]


def _out(folder: Path) -> str:
    return f"--out {shlex.quote(str(folder))}"


def fit_described(fit: Fit) -> str:
    """Return the network, the start and the descent of a fit in words."""
    plan = fit.plan
    begin = "from moments of the data" if plan.begin == "tensor" else f"the best of {len(fit.ends)} random ones"
    return (
        f"Network: the mean of {plan.neurons} neurons φ(w·x), φ = {plan.activation}. Data: {fit.samples:,} samples in dimension "
        f"{fit.weights.shape[1]}. Start: {plan.begin}, {begin}, seed {plan.seed}. Gradient descent with step {fit.step:.4g}, at most "
        f"{plan.max_steps:,} steps, then Newton's method."
    )


def fit_command(plan: FitPlan, folder: Path) -> str:
    """Return the command of a fit; the data, of which a folder has the hash alone, stand as ``DATA``."""
    words = f"DATA --neurons {plan.neurons}" + f" --activation {shlex.quote(plan.activation)}" * (
        plan.activation != "sigmoid"
    )
    words += f" --start {plan.begin}" * (plan.begin != "tensor") + f" --starts {plan.starts}" * (plan.starts != 10)
    words += "" if plan.step is None else f" --step {plan.step!r}"
    words += f" --max-steps {plan.max_steps}" * (plan.max_steps != 300) + f" --seed {plan.seed}"
    return f"earnshaw fit {words}{' --no-prove' * (not plan.prove)} {_out(folder)}"


def motion_described(motion: Motion) -> str:
    """Return the charges, their law and the times in words."""
    problem, law, times = motion.problem, motion.problem.law, motion.integration
    more = f", λ = {law.eigenvalue:g}" if "yukawa" in law.name else ""
    more += f", exact outside the distance {law.radius:g}, variant {law.variant}" if law.name == "almost-yukawa" else ""
    return (
        f"{problem.electrons} electrons and {len(problem.protons)} protons in dimension {problem.dimension}. Law: {law.name}{more}. Until time "
        f"{times.until:g}, with an error of at most {times.tolerance:g} in each step; an electron within {times.capture:g} of a proton that "
        "attracts it has reached it, and stays."
    )


def motion_commands(motion: Motion, folder: Path) -> list[str]:
    """Return the command of charges in motion; none if it can only be made in Python.

    A folder has the places and not the seed they came from: with the usual spread seeds are tried until the places agree.
    """
    problem, law, usual = motion.problem, motion.problem.law, ChargeLaw()
    k, n, d = len(problem.protons), problem.electrons, problem.dimension
    wanted = problem.protons, motion.start, np.asarray(problem.electron_charges)
    made = (seed for seed in range(SEEDS) if all(map(np.array_equal, wanted, random_start(d, k, n, SPREAD, seed))))
    seed, plain = next(made, None), Integration(until=motion.integration.until) == motion.integration
    if seed is None or not (plain and (problem.proton_charges == 1).all() and not problem.regularisation):
        return []
    words = f"--protons {k}" + f" --electrons {n}" * (n != k) + f" -d {d}" * (d != 3) + f" --seed {seed}"
    words += f" --potential {law.name}" * (law.name != usual.name)
    for name in ("eigenvalue", "radius", "variant"):
        words += f" --{name} {getattr(law, name)}" * (getattr(law, name) != getattr(usual, name))
    until = motion.integration.until
    return [f"earnshaw dynamics {words}{f' --until {until!r}' * (until != Integration.until)} {_out(folder)}"]


def _by_options(problem: Problem) -> bool:
    """Whether the options of the command can say this problem."""
    if isinstance(problem, TwoLayer):
        return problem.output_weights is None and problem.student_output_weights is None
    return isinstance(problem, RandomConvNets)


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


def _options(plan: Plan, settings: Sequence[Setting], optimizers: str = "") -> str:
    """Return the options of one command, the optimisers as they are given; what has its usual value is left out."""
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
    words += f" --runs {setting.runs} --seed {plan.seed}"
    words += f" {optimizers}" if optimizers else f" --optimizer {shlex.quote(name)}" * (name != "gd:0.1")
    words += " --starts four" * four + f" --start {start}" * bool(start and not four)
    words += " --stop paper" * (plan.stopping.rule is Stop.PAPER)
    words += f" --max-steps {plan.stopping.max_steps}" * (plan.stopping.max_steps != usual.max_steps)
    words += f" --trace {plan.stopping.trace}" * bool(plan.stopping.trace)
    if optimizers:
        return words
    return words + f" --batch {setting.batch}" * (setting.batch != problem.batch) + _kernel(plan, setting)


def _kernel(plan: Plan, setting: Setting) -> str:
    """Return the option that chooses a setting's kernel; none where it would be chosen here without."""
    return "" if setting.kernel == plan.usual_kernel(setting) else f" --kernel {setting.kernel}"


def _sizes(problem: TwoLayer, last: int) -> str:
    """Return the teachers from that of a problem to the last k."""
    if not _standard(problem):
        return "--teacher TEACHER.npy"
    sizes = f"-k {problem.teachers}" + f"..{last}" * (last != problem.teachers)
    return sizes + f" -d {problem.dimension}" * (problem.dimension != problem.teachers)
