"""Mutation testing of the checker: whatever one change to its source does, a case of the battery notices it, or it is explained.

Every night all mutants run; every time a sample of them, which changes with the source but not with the day.
"""

import os
import subprocess
import sys
import zlib
from pathlib import Path

import battery
import mutation
import pytest

SHARE = 120  # one of so many mutants runs every time,
LONG_SHARE = 800  # and of those whose cases walk over cells
TEXT = Path(__file__).with_name("explained.txt").read_text().partition("\n\n")[2]
EXPLAINED = {line for line in TEXT.splitlines() if line and not line.startswith("#")}


@pytest.fixture(scope="module")
def cases():
    return battery.everything(walks=1)


def test_the_checker_answers_every_case(cases):
    """The battery itself: what is right in it does not come from the checker."""
    checker = mutation.loaded(None)
    assert [name for name, right in cases.items() if not right(checker)] == []
    assert len(cases) > 2500


def test_a_sample_of_the_mutants_is_noticed(cases):
    chosen = [
        mutant
        for mutant in mutation.mutants()
        if zlib.crc32(mutant.name.encode()) % (LONG_SHARE if mutant.file in battery.LONG else SHARE) == 0
    ]
    chosen = [mutant for mutant in chosen if mutant.name not in EXPLAINED]
    assert len(chosen) > 25
    concerning = {file: battery.concerning(file, cases) for file in mutation.FILES}
    survivors = {mutant.name for mutant in chosen if mutation.noticed_by(mutant, concerning[mutant.file]) is None}
    assert sorted(survivors - EXPLAINED) == []


def test_mutants_are_made_of_every_file_and_every_kind_of_change():
    names = [mutant.name for mutant in mutation.mutants()]
    assert len(names) > 2500
    for part in ("  =>  nothing", "  =>  not ", "  =>  True", "_middle(", ".lower()", "  (once)", "if False:"):
        assert any(part in name for name in names), part
    assert {name.split()[0] for name in names} == set(mutation.FILES)


def test_explanations_are_of_mutants_that_there_are_and_few():
    names = {mutant.name for mutant in mutation.mutants()}
    assert sorted(EXPLAINED - names) == []
    assert len(EXPLAINED) < sum(1 for _ in mutation.mutants()) / 10
    assert TEXT.count("# ") <= 15


@pytest.mark.nightly
@pytest.mark.slow
def test_every_mutant_is_noticed_or_explained():
    """The whole run; an explained mutant is run too."""
    program = Path(mutation.__file__)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*sys.path, str(program.parent)]),
        "OPENBLAS_NUM_THREADS": "1",
    }
    done = subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(set(done.stdout.splitlines()) - EXPLAINED) == []
