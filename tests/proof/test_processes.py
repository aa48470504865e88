"""Processes that prove: results in order, and a sentence when one of them is ended from outside."""

import operator
import os

import pytest

from earnshaw.errors import InputError
from earnshaw.proof.processes import in_processes

JOBS = [(10, 1), (20, 2), (30, 3)]


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_jobs(workers):
    assert list(in_processes(operator.add, JOBS, workers)) == [11, 22, 33]
    assert list(in_processes(os.getpid, [(), ()], workers)).count(os.getpid()) == (2 if workers == 1 else 0)
    assert list(in_processes(operator.add, [], workers)) == []


def test_a_process_that_is_ended_is_a_sentence():
    with pytest.raises(InputError, match="ended from outside"):
        list(in_processes(os._exit, [(1,), (1,)], 2))
