"""Mutation testing of the checker: every inequality dropped or weakened, one at a time, must be noticed.

A mutant is a copy of ``proof/trusted`` with one piece of source replaced. It is killed when one of the certificates of
``adversaries.py`` gets another verdict than it should, or one of the direct calls there fails. The replaced text must
occur exactly once, so that a mutant cannot silently become a copy of the original.

One rule, `_positive`, covers all radii; it is mutated as a whole and at each use but two: r > 0 alone follows from
R > 0 and (d), and r' > 0 alone matters only at points that these tests do not have.
"""

import importlib
import shutil
import sys
from pathlib import Path

import pytest

import earnshaw.proof.trusted as original

FOLDER = Path(original.__file__).parent
READING, RELU, CLAIMS = "reading.py", "relu.py", "relu_claims.py"

MUTANTS = {
    # the theorem (minimum)
    "r may exceed R": (CLAIMS, "require(inner <= outer,", "require(True,"),
    "L not compared": (CLAIMS, "point.lipschitz(outer, arb(0)) <= lip", "True"),
    "L at the centre": (CLAIMS, "point.lipschitz(outer, arb(0)) <= lip", "point.lipschitz(arb(0), arb(0)) <= lip"),
    "L on the small ball": (CLAIMS, "point.lipschitz(outer, arb(0)) <= lip", "point.lipschitz(inner, arb(0)) <= lip"),
    "gradient not compared": (CLAIMS, "norm(point.gradient().entries()) <= eps", "True"),
    "F_le not compared": (CLAIMS, "value <= f_le", "True"),
    "lambda not compared": (CLAIMS, 'lam <= least_eigenvalue(hessian, real("hint.shift"))', "True"),
    "lambda is the shift": (
        CLAIMS,
        'lam <= least_eigenvalue(hessian, real("hint.shift"))',
        'lam <= arb(real("hint.shift"))',
    ),
    "M not compared": (CLAIMS, "arb(everywhere) <= proved", "True"),
    "M not used": (CLAIMS, "        lam = lam.min(arb(everywhere))\n", ""),
    "(d) dropped": (
        CLAIMS,
        'require(eps - lam * inner + lip * inner * inner / 2 < 0, "eps - ',
        'require(True, "eps - ',
    ),
    "(d) without L": (
        CLAIMS,
        'eps - lam * inner + lip * inner * inner / 2 < 0, "eps - ',
        'eps - lam * inner < 0, "eps - ',
    ),
    "(d) with L/4": (
        CLAIMS,
        'eps - lam * inner + lip * inner * inner / 2 < 0, "eps - ',
        'eps - lam * inner + lip * inner * inner / 4 < 0, "eps - ',
    ),
    "(d) with L": (
        CLAIMS,
        'eps - lam * inner + lip * inner * inner / 2 < 0, "eps - ',
        'eps - lam * inner + lip * inner * inner < 0, "eps - ',
    ),
    "(d) without eps": (
        CLAIMS,
        'eps - lam * inner + lip * inner * inner / 2 < 0, "eps - ',
        '-lam * inner + lip * inner * inner / 2 < 0, "eps - ',
    ),
    "(e) dropped": (CLAIMS, "require(lam - lip * outer > 0,", "require(True,"),
    "(e) with L/2": (CLAIMS, "require(lam - lip * outer > 0,", "require(lam - lip * outer / 2 > 0,"),
    "(e) at the small ball": (CLAIMS, "require(lam - lip * outer > 0,", "require(lam - lip * inner > 0,"),
    "mu may be negative": (CLAIMS, 'require(mu > 0, "mu_ge is', 'require(True, "mu_ge is'),
    "mu not compared": (CLAIMS, 'require(mu <= lam - lip * inner, "mu_ge', 'require(True, "mu_ge'),
    "mu without L": (CLAIMS, 'require(mu <= lam - lip * inner, "mu_ge', 'require(mu <= lam, "mu_ge'),
    "F_ge may be negative": (CLAIMS, 'require(f_ge > 0, "F_ge is', 'require(True, "F_ge is'),
    "F_ge not compared": (CLAIMS, "f_ge <= value - eps * eps / (2 * mu)", "True"),
    "F_ge without the gradient": (CLAIMS, "f_ge <= value - eps * eps / (2 * mu)", "f_ge <= value"),
    "F_ge with half the gradient": (
        CLAIMS,
        "f_ge <= value - eps * eps / (2 * mu)",
        "f_ge <= value - eps * eps / (4 * mu)",
    ),
    # the theorem (basin)
    "a radius may be negative": (CLAIMS, "require(number > 0,", "require(True,"),
    "basin radius may be negative": (CLAIMS, '_positive(document, "basin.radius")', 'arb(real("basin.radius"))'),
    "basin beyond R_unique": (CLAIMS, 'require(reach <= arb(real("R_unique")),', "require(True,"),
    "basin forgets 2 r": (CLAIMS, 'rho + 2 * arb(real("R_enclosure"))', "rho"),
    "lambda_max not compared": (CLAIMS, "greatest_eigenvalue(hessian) <= top", "True"),
    "smoothness not compared": (CLAIMS, "smooth >= top + lip * reach", "True"),
    "smoothness without L": (CLAIMS, "smooth >= top + lip * reach", "smooth >= top"),
    "basin mu may be negative": (CLAIMS, "require(nu > 0,", "require(True,"),
    "basin mu not compared": (CLAIMS, "nu <= _least(document) - lip * reach", "True"),
    "basin mu without L": (CLAIMS, "nu <= _least(document) - lip * reach", "nu <= _least(document)"),
    "step may be negative": (CLAIMS, '_positive(document, "basin.step_lt")', 'arb(real("basin.step_lt"))'),
    "step not compared": (CLAIMS, "step * smooth <= 2", "True"),
    # the theorem (robust)
    "delta may be negative": (CLAIMS, '_positive(document, "robust.delta")', 'arb(real("robust.delta"))'),
    "robust L not compared": (CLAIMS, "point.lipschitz(inner, delta) <= lip", "True"),
    "robust L of the unmoved teacher": (
        CLAIMS,
        "point.lipschitz(inner, delta) <= lip",
        "point.lipschitz(inner, arb(0)) <= lip",
    ),
    "robust L at the centre": (
        CLAIMS,
        "point.lipschitz(inner, delta) <= lip",
        "point.lipschitz(arb(0), delta) <= lip",
    ),
    "robust gradient unmoved": (CLAIMS, " + arb(point.n).sqrt() * moved / 2", ""),
    "robust gradient without sqrt(n)": (CLAIMS, "arb(point.n).sqrt() * moved / 2", "moved / 2"),
    "robust gradient halved": (CLAIMS, "arb(point.n).sqrt() * moved / 2", "arb(point.n).sqrt() * moved / 4"),
    "robust lambda unmoved": (CLAIMS, " - moved / (arb.pi() * point.shortest())", ""),
    "robust move without k": (CLAIMS, "moved = point.k * delta", "moved = delta"),
    "robust (d) dropped": (
        CLAIMS,
        "eps - lam * inner + lip * inner * inner / 2 < 0, \"eps' - ",
        "True, \"eps' - ",
    ),
    "robust (d) without L": (
        CLAIMS,
        "eps - lam * inner + lip * inner * inner / 2 < 0, \"eps' - ",
        "eps - lam * inner < 0, \"eps' - ",
    ),
    "robust mu may be negative": (CLAIMS, 'require(mu > 0, "robust.mu_ge is', 'require(True, "robust.mu_ge is'),
    "robust mu not compared": (CLAIMS, 'mu <= lam - lip * inner, "robust', 'True, "robust'),
    "robust F_ge may be zero": (CLAIMS, 'require(f_ge > 0, "robust.F_ge', 'require(True, "robust.F_ge'),
    "robust F_ge not compared": (CLAIMS, "left + moved <= (2 * point.value()).sqrt()", "True"),
    "robust F_ge without the move": (
        CLAIMS,
        "left + moved <= (2 * point.value()).sqrt()",
        "left <= (2 * point.value()).sqrt()",
    ),
    "robust F_ge without the gradient": (CLAIMS, "(2 * f_ge + eps * eps / mu).sqrt()", "(2 * f_ge).sqrt()"),
    # the theorem (saddle)
    "saddle R may be negative": (
        CLAIMS,
        'radius = _positive(document, "R_enclosure")',
        'radius = arb(real("R_enclosure"))',
    ),
    "saddle L not compared": (CLAIMS, "point.lipschitz(radius, arb(0)) <= lip", "True"),
    "saddle L at the centre": (
        CLAIMS,
        "point.lipschitz(radius, arb(0)) <= lip",
        "point.lipschitz(arb(0), arb(0)) <= lip",
    ),
    "saddle gradient not compared": (CLAIMS, "norm(gradient.entries()) <= eps", "True"),
    "Newton step not compared": (CLAIMS, "norm((inverse * column).entries()) <= step", "True"),
    "defect not compared": (CLAIMS, "norm(product.entries()) <= defect", "True"),
    "inverse not compared": (CLAIMS, "norm(inverse.entries()) <= size", "True"),
    "Kantorovich dropped": (
        CLAIMS,
        "step + (defect - 1) * radius + size * lip * radius * radius / 2 < 0",
        "True",
    ),
    "Kantorovich without the quadratic": (
        CLAIMS,
        "step + (defect - 1) * radius + size * lip * radius * radius / 2 < 0",
        "step + (defect - 1) * radius < 0",
    ),
    "Kantorovich without the defect": (
        CLAIMS,
        "step + (defect - 1) * radius + size * lip * radius * radius / 2 < 0",
        "step - radius + size * lip * radius * radius / 2 < 0",
    ),
    "curvature not compared": (CLAIMS, "bent < curvature * length", "True"),
    "curvature without L": (CLAIMS, "curvature + lip * radius < 0", "curvature < 0"),
    "curvature may be positive": (CLAIMS, "curvature + lip * radius < 0", "True"),
    "saddle F_ge not compared": (CLAIMS, 'arb(real("claims.F_ge")) <= value - drift', "True"),
    "saddle F_le not compared": (CLAIMS, 'arb(real("claims.F_le")) >= value + drift', "True"),
    "saddle F without the gradient": (CLAIMS, "drift = eps * radius + ", "drift = "),
    "saddle F without the Hessian": (
        CLAIMS,
        " + (norm(hessian.entries()) + lip * radius) * radius * radius / 2",
        "",
    ),
    # the calculus
    "require takes no notice": (RELU, "if condition is not True:", "if condition is None:"),
    "zero neurons pass": (RELU, 'require(square > 0, "a neuron', 'require(True, "a neuron'),
    "ball may hold a zero neuron": (RELU, "require(rho > 0,", "require(True,"),
    "rho without the radius": (RELU, "rho = self.length[i] - radius", "rho = self.length[i]"),
    "A_i too small": (RELU, "3 * arb(3).sqrt() / (4 * arb.pi())", "1 / arb.pi()"),
    "A_i without the radius of others": (RELU, "length + (radius if c > 0 else delta)", "length"),
    "B_i dropped": (RELU, "(bend * bend + turn * turn).sqrt()", "bend"),
    "B_i too small": (RELU, "turn = 3 * arb(self.n - 1).sqrt()", "turn = arb(self.n - 1).sqrt()"),
    "A_i dropped": (RELU, "(bend * bend + turn * turn).sqrt()", "turn"),
    "L of the last neuron only": (RELU, "bound.max((bend * bend + turn * turn).sqrt().upper())", "turn + bend"),
    "remainder ignored": (RELU, "arb(shift) - norm(remainder.entries())", "arb(shift)"),
    "shift not subtracted": (RELU, "        remainder[a, a] -= shift\n", "        pass\n"),
    "eigenvalue bound without moduli": (RELU, "entry.abs_upper() for entry", "entry for entry"),
    "slack dropped": (RELU, "if not slack.is_zero():", "if slack > 0 and slack < 0:"),
    "area of a parallel pair is 0": (RELU, "return arb(0).union(square.abs_upper().sqrt())", "return arb(0)"),
    "angle from the wrong side": (RELU, "if p > 0 else arb.atan2(s, -p)", "if p > 0 else arb.atan2(s, p)"),
    "own square dropped from F": (RELU, "total += self.square[a] / 4", "total += 0"),
    "teachers attract like students": (RELU, "[1] * self.n + [-1] * self.k", "[1] * self.n + [1] * self.k"),
    "norm is the largest entry": (
        RELU,
        "return root(sum((entry * entry for entry in entries), arb(0)))",
        "return max((abs(entry).upper() for entry in entries), default=arb(0))",
    ),
    # reading
    "hash not compared": (READING, 'raw["sha256"] != seal(raw)', "False"),
    "n < k passes": (READING, "    if n < k:\n", "    if n < 0:\n"),
    "any format": (READING, 'raw.get("format") != FORMAT', "False"),
    "any objective": (READING, 'problem["objective"] != OBJECTIVE', "False"),
    "extra keys pass": (READING, "if missing or extra:", "if missing:"),
    "duplicate keys pass": (READING, "if len(result) != len(pairs):", "if False:"),
    "not canonical passes": (READING, "if number.hex() != value:", "if False:"),
    "infinity passes": (READING, "if not isfinite(number):", "if False:"),
    "booleans are integers": (READING, "if type(value) is not int or", "if not isinstance(value, int) or"),
    "any size": (READING, "if len(data) > MAX_BYTES:", "if False:"),
    "meta may hold anything": (READING, "any(type(entry) is not str for entry in value.values())", "False"),
}


@pytest.fixture
def mutate(tmp_path, monkeypatch):
    """Return a function that imports a mutated copy of the checker under a name of its own."""
    monkeypatch.syspath_prepend(str(tmp_path))
    names = []

    def make(index, file, old, new):
        name = f"mutated_checker_{index}"
        folder = tmp_path / name
        shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
        source = (folder / file).read_text()
        assert source.count(old) == 1, f"{old!r} occurs {source.count(old)} times in {file}"
        (folder / file).write_text(source.replace(old, new))
        importlib.invalidate_caches()
        names.append(name)
        return importlib.import_module(name)

    yield make
    for name in list(sys.modules):
        if name.partition(".")[0] in names:
            del sys.modules[name]


def killer(checker, verdicts, adversaries, forger):
    """Return the name of the first case that notices the mutation, or None."""
    bad, good = verdicts
    for name, data in good.items():
        if not checker.check_bytes(data)[0]:
            return name
    relu, reading = (sys.modules[f"{checker.__name__}.{part}"] for part in ("relu", "reading"))
    try:
        if adversaries.calculus_holds(relu, checker.Rejected) or adversaries.reading_holds(reading, forger):
            return "a direct call"
    except Exception:
        return "a direct call that crashed"
    for name, data in bad.items():
        if checker.check_bytes(data)[0]:
            return name
    return None


def test_an_unchanged_copy_is_not_killed(mutate, verdicts, adversaries, forger):
    copy = mutate("none", CLAIMS, "QED\n\nTHEOREM (basin)", "QED\n\nTHEOREM  (basin)")
    assert killer(copy, verdicts, adversaries, forger) is None


@pytest.mark.slow
def test_no_mutant_survives(mutate, verdicts, adversaries, forger):
    survivors = []
    for index, (name, (file, old, new)) in enumerate(MUTANTS.items()):
        if killer(mutate(index, file, old, new), verdicts, adversaries, forger) is None:
            survivors.append(name)
    assert survivors == []
    assert len(MUTANTS) >= 100
