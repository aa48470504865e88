"""The native kernel: its arcs, its steps against XLA's, the fates of runs, and that no bit depends on company or width."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import mpmath as mp
import numpy as np
import pytest

from earnshaw.descent import GradientDescent, NewtonJudge, Stopping, descend, native
from earnshaw.descent.judges.base import Judge
from earnshaw.errors import InputError
from earnshaw.experiments import Plan
from earnshaw.landscapes import landscape
from earnshaw.problems import TwoLayer, standard_teacher
from earnshaw.starts import Xavier

REPOSITORY = Path(__file__).resolve().parents[2]
built = pytest.mark.skipif(native.missing() is not None, reason=f"there is no native kernel: {native.missing()}")
SIX = TwoLayer(standard_teacher(6))


@dataclass(frozen=True)
class Onlooker(NewtonJudge):
    """Decides nothing: every lane goes on to the step limit, and is closed where it stands."""

    def tests(self, look):
        return np.zeros(look.lanes.size, dtype=bool)

    def at_the_limit(self, look):
        Judge.at_the_limit(self, look)


def follow(problem, starts, steps, instructions=None, step=0.1):
    judge = Onlooker(landscape(problem), Stopping(max_steps=steps), step=step)
    return native.run(judge, GradientDescent(step=step), starts, instructions=instructions)


def fates(problem, kernel, starts, descent=None, **stopping):
    limits = Stopping(**stopping)
    return descend(problem, descent or GradientDescent(), limits, starts, np.arange(len(starts)), 8, kernel=kernel)[0]


def agree(problem, starts, descent=None, **stopping):
    """Compare both kernels run by run; return the ledger of the native one."""
    ours, theirs = (fates(problem, kernel, starts, descent, **stopping) for kernel in ("native", "xla"))
    for name in ("outcome", "steps", "wasted", "halvings", "gradients", "hessians", "by_value"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name
    finite = np.isfinite(theirs.value)
    assert np.array_equal(finite, np.isfinite(ours.value))
    for name in ("points", "last_points", "value", "gradient_norm"):
        first, second = getattr(ours, name)[finite], getattr(theirs, name)[finite]
        np.testing.assert_allclose(first, second, rtol=0, atol=1e-9, err_msg=name)
    return ours


# ---- arithmetic ----------------------------------------------------------------------------------------------------


def test_the_polynomial_is_the_arc_sine():
    """Its coefficients are those of the interpolant at Chebyshev's points, computed here; its error is below rounding."""
    text = (Path(native.__file__).parent / "kernel.c").read_text()
    table = re.search(r"ARC\[DEGREE \+ 1\] = \{(.*?)\}", text, re.DOTALL)
    assert table
    there = [float.fromhex(number) for number in re.findall(r"-?0x[0-9a-f.]+p[+-]\d+", table[1])]
    with mp.workdps(60):
        exact = lambda z: mp.asin(mp.sqrt(z)) / mp.sqrt(z)  # noqa: E731
        count = len(there)
        nodes = [(1 + mp.cos(mp.pi * (2 * i + 1) / (2 * count))) / 4 for i in range(count)]
        powers = mp.matrix([[z**power for power in range(count)] for z in nodes])
        solved = mp.lu_solve(powers, mp.matrix([exact(z) for z in nodes]))
        assert [float(number) for number in solved] == there
        arguments = [mp.mpf(i) / 1000 for i in range(1, 501)]
        value = lambda z: mp.fsum(number * z**power for power, number in enumerate(there))  # noqa: E731
        assert max(abs(value(z) / exact(z) - 1) for z in arguments) < 4e-17


def value_and_gradient(weights, teacher):
    """The loss and its gradient by the textbook formula, in NumPy."""
    n, everyone = len(weights), np.concatenate([weights, teacher])
    charges, norms = np.r_[np.ones(n), -np.ones(len(teacher))], np.linalg.norm(everyone, axis=1)
    cosines = np.clip(everyone @ everyone.T / np.outer(norms, norms), -1, 1)
    np.fill_diagonal(cosines, 1.0)
    sines, rest = np.sqrt((1 - cosines) * (1 + cosines)), np.pi - np.arccos(cosines)
    value = 0.5 * (charges * norms) @ (sines + rest * cosines) @ (charges * norms)
    slope = ((sines @ (charges * norms)) / norms)[:, None] * everyone + rest @ (charges[:, None] * everyone)
    return value / (2 * np.pi), slope[:n] / (2 * np.pi)


@built
def test_a_step_follows_the_exact_gradient_at_every_size():
    for k, n, more in [(k, n, more) for k in range(1, 10) for n in range(1, 10) for more in (0, 1, 3)]:
        problem = TwoLayer(np.eye(k, k + more), students=n)
        starts = np.random.default_rng(k + n).normal(size=(5, n, k + more))
        if n > 1:
            starts[1, -1], starts[2, -1] = 3 * starts[1, 0], -starts[2, 0]  # parallel and antiparallel
        starts[3, 0] = problem.teacher[-1]
        ended = follow(problem, starts, 1)
        for lane, start in enumerate(starts):
            after = start - 0.1 * value_and_gradient(start, problem.teacher)[1]
            np.testing.assert_allclose(ended.last_points[lane], after, rtol=0, atol=1e-14)
            value, slope = value_and_gradient(ended.last_points[lane], problem.teacher)
            assert ended.value[lane] == pytest.approx(value, rel=1e-13, abs=1e-14)
            assert ended.gradient_norm[lane] == pytest.approx(np.linalg.norm(slope), rel=1e-13)


@built
def test_no_bit_depends_on_the_company_or_the_width_of_a_vector():
    for problem in (SIX, TwoLayer(np.eye(5, 7), students=3)):
        starts = Xavier().draw(problem, 0, np.arange(13))
        whole = follow(problem, starts, 200)
        for instructions in native.instruction_sets():
            again = follow(problem, starts, 200, instructions)
            assert np.array_equal(again.last_points, whole.last_points), instructions
            assert np.array_equal(again.value, whole.value), instructions
        some = np.array([11, 3, 4])
        assert np.array_equal(follow(problem, starts[some], 200).last_points, whole.last_points[some])


# ---- fates ---------------------------------------------------------------------------------------------------------


@built
@pytest.mark.parametrize("rule", ["early", "paper"])
def test_runs_have_the_fates_and_steps_that_xla_gives_them(rule):
    ended = agree(SIX, Xavier().draw(SIX, 0, np.r_[:48, 544, 592]), rule=rule)
    assert sorted(set(ended.outcome)) == [0, 1]


@built
@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("rule", ["early", "paper"])
@pytest.mark.parametrize(("k", "n"), [(6, 6), (10, 10), (7, 8), (20, 20)])
def test_hundreds_of_runs_have_the_fates_and_steps_that_xla_gives_them(k, n, rule):
    problem = TwoLayer(standard_teacher(k), students=n)
    agree(problem, Xavier().draw(problem, 0, np.arange(300 if k < 20 else 64)), rule=rule)


@built
def test_odd_lanes_end_as_on_xla():
    three, line = TwoLayer(standard_teacher(3)), TwoLayer(np.eye(1))
    starts = Xavier().draw(three, 0, np.arange(8))
    assert (agree(three, starts, GradientDescent(step=2.4)).halvings == 1).all()
    assert (agree(three, starts, GradientDescent(step=1e200), max_halvings=2).halvings == 2).all()
    agree(three, starts, max_steps=7)  # no multiple of the steps between two looks
    starts[2], starts[4, 1] = np.nan, 0.0  # not a number; a zero neuron, which has no gradient
    agree(three, starts)
    agree(line, Xavier().draw(line, 0, np.arange(16)))  # half of these neurons die
    agree(
        TwoLayer(standard_teacher(2), students=1),
        Xavier().draw(TwoLayer(standard_teacher(2), students=1), 0, np.arange(8)),
    )


@built
def test_a_descent_is_cancelled_between_two_calls(monkeypatch):
    monkeypatch.setattr(native, "CALL", 1.0)
    asked = iter([False, False, True])
    judge = Onlooker(landscape(SIX), Stopping(max_steps=10**9), step=0.1)
    with pytest.raises(InterruptedError):
        native.run(judge, GradientDescent(), Xavier().draw(SIX, 0, np.arange(8)), cancelled=lambda: next(asked))


# ---- without it ----------------------------------------------------------------------------------------------------


def test_what_the_kernel_cannot_compute_is_refused_in_words():
    for problem, descent, stopping in (
        (TwoLayer(2 * np.eye(3)), GradientDescent(), Stopping()),
        (TwoLayer(np.eye(3), activation="erf"), GradientDescent(), Stopping()),
        (TwoLayer(np.eye(3), student_output_weights=(1.0, 1.0, -1.0)), GradientDescent(), Stopping()),
        (SIX, GradientDescent(), Stopping(trace=5)),
    ):
        with pytest.raises(InputError, match="it is for ReLU, a teacher of coordinate vectors"):
            native.require(problem, descent, stopping)


def test_without_a_compiler_the_package_is_built_without_the_kernel(tmp_path):
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, tmp_path)
    shutil.copytree(native.FOLDER, tmp_path / "src/earnshaw/descent/native", ignore=shutil.ignore_patterns("*.so"))
    build = [sys.executable, "setup.py", "build_ext", "--build-lib", "made"]
    hidden = os.environ | {"CC": "/bin/false"}
    done = subprocess.run(build, cwd=tmp_path, env=hidden, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "_kernel" in done.stdout + done.stderr
    assert not list(tmp_path.rglob("_kernel*.so"))


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """An installation without the library."""
    monkeypatch.setattr(native, "FOLDER", tmp_path)
    native._library.cache_clear()
    yield
    native._library.cache_clear()


def test_without_the_library_a_sweep_runs_on_xla_and_the_doctor_says_so(bare):
    from typer.testing import CliRunner

    from earnshaw.cli.app import app

    assert native.instruction_sets() == []
    plan = Plan.of(SIX, runs=2)
    assert [setting.kernel for setting in plan.settings] == ["xla"]
    assert plan.parts["k6-n6"]["plan"] == {"batch": SIX.batch}
    with pytest.raises(InputError, match="cannot compute k6-n6: it was not built, for there was no C compiler"):
        Plan.of(SIX, runs=2, kernel="native")
    said = CliRunner().invoke(app, ["doctor"]).stdout
    assert re.search(
        r"--\s+native kernel\s+not used: it was not built.*XLA with the same outcomes, 2 to 5 times slower", said
    )


def test_a_library_of_older_sources_is_not_asked_for_more_than_it_has(bare, monkeypatch):
    old = SimpleNamespace(earnshaw_source=Mock(return_value=b"0123456789abcdef"))
    (native.FOLDER / f"_kernel{native.EXTENSION_SUFFIXES[0]}").touch()
    (native.FOLDER / "kernel.c").write_text("newer")
    monkeypatch.setattr(native.ctypes, "CDLL", lambda path: old)
    assert native.missing() == "it was built from other sources than those beside it; install earnshaw again"


@built
def test_a_plan_takes_the_native_kernel_and_its_manifest_says_so():
    plan = Plan.of([SIX, TwoLayer(2 * np.eye(3))], runs=2)
    assert [setting.kernel for setting in plan.settings] == ["native", "xla"]
    assert [part["plan"].get("kernel") for part in plan.parts.values()] == ["native", None]
    assert Plan.from_json(plan.common, plan.parts) == plan
    other = Plan.of([SIX, TwoLayer(2 * np.eye(3))], runs=2, kernel="xla")
    assert [setting.kernel for setting in other.settings] == ["xla", "xla"]
    assert other.hash == plan.hash
    with pytest.raises(InputError, match="the kernel is 'cuda'; choose native or"):
        Plan.of(SIX, kernel="cuda")


def test_few_lanes_take_the_vectors_that_they_fill():
    sets = ["avx512", "avx2", "portable"]
    assert [native._suiting(sets, lanes) for lanes in (1, 4, 5, 100)] == ["avx2", "avx2", "avx512", "avx512"]
    assert native._suiting(["avx2", "portable"], 9) == "avx2"
    assert native._suiting(["portable"], 1) == "portable"
