"""Mutation testing of the checker: every inequality dropped or weakened, one at a time, must be noticed.

A mutant (``mutants.py``) is a copy of ``proof/trusted`` with one piece of source replaced. It is killed when one of the
certificates of ``adversaries.py`` or ``adversaries_convexity.py`` gets another verdict than it should, or one of the direct
calls there fails. The replaced text must occur exactly once, so that a mutant cannot silently become a copy of the original.
"""

import importlib
import shutil
import sys
from pathlib import Path

import pytest

import earnshaw.proof.trusted as original

FOLDER = Path(original.__file__).parent


@pytest.fixture
def mutate(tmp_path, monkeypatch):
    """Return a function that imports a mutated copy of the checker under a name of its own."""
    monkeypatch.syspath_prepend(str(tmp_path))
    names = []

    def make(index, file, old, new):
        name = f"mutated_checker_{index}"
        folder = tmp_path / name
        shutil.copytree(FOLDER, folder)  # with __pycache__: only the mutated file is compiled again
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


class Adversaries:
    """Every case of every kind, and the calls that no certificate can make."""

    def __init__(self, bad, good, calls):
        self.bad, self.good, self.calls = bad, good, calls

    def notices(self, name, checker):
        """Whether a case tells a (mutated) checker from the original."""
        if name in self.calls:
            try:
                return self.calls[name](checker) is not None
            except Exception:
                return True
        return checker.check_bytes(self.good.get(name) or self.bad[name])[0] is (name in self.bad)

    def find(self, checker):
        """Return the name of the first case that notices a mutation, or None."""
        return next((name for name in [*self.good, *self.calls, *self.bad] if self.notices(name, checker)), None)


@pytest.fixture(scope="module")
def cases(verdicts, convexity_verdicts, adversaries, convexity_adversaries, forger):
    def part(checker, name):
        return sys.modules[f"{checker.__name__}.{name}"]

    calls = {
        "call: calculus": lambda c: adversaries.calculus_holds(part(c, "balls"), part(c, "relu"), c.Rejected),
        "call: reading": lambda c: adversaries.reading_holds(part(c, "reading"), forger),
        "call: sums": lambda c: convexity_adversaries.sums_hold(part(c, "sums")),
        "call: roundings": lambda c: convexity_adversaries.rounding_counts(part(c, "convexity")),
    }
    (bad, good), (worse, better) = verdicts, convexity_verdicts
    return Adversaries(bad | worse, good | better, calls)


def test_an_unchanged_copy_is_not_noticed(mutate, cases):
    copy = mutate("none", "relu_claims.py", "QED\n\nTHEOREM (basin)", "QED\n\nTHEOREM  (basin)")
    assert cases.find(copy) is None


@pytest.mark.slow
def test_no_mutant_survives(mutate, cases, mutants):
    """Each mutant is noticed by the case that is recorded for it; should it not be, the message names one that does."""
    missed = {}
    for index, (name, (file, old, new, noticed_by)) in enumerate(mutants.items()):
        checker = mutate(index, file, old, new)
        if not cases.notices(noticed_by, checker):
            missed[name] = f"not noticed by {noticed_by!r}, but by {cases.find(checker)!r}"
    assert missed == {}
    assert len(mutants) >= 180
