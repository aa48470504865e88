"""Processes that prove: results in order, and a sentence when one of them is ended from outside."""

import operator
import os
import time

import pytest

from earnshaw.errors import InputError
from earnshaw.problems import problem_from_json
from earnshaw.proof.processes import Call, in_processes

JOBS = [(10, 1), (20, 2), (30, 3)]


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_jobs(workers):
    assert list(in_processes(operator.add, JOBS, workers)) == [11, 22, 33]
    assert list(in_processes(os.getpid, [(), ()], workers)).count(os.getpid()) == (2 if workers == 1 else 0)
    assert list(in_processes(operator.add, [], workers)) == []


def test_a_process_that_is_ended_is_a_sentence():
    with pytest.raises(InputError, match="ended from outside"):
        list(in_processes(os._exit, [(1,), (1,)], 2))


def test_a_call_has_a_process_of_its_own_that_ends_with_it():
    with Call(os.getpid) as call:
        assert call.result() != os.getpid()
    begun = time.monotonic()
    with Call(time.sleep, 60) as call:
        process = call._process
        assert not call.ready(0.1)
    assert not process.is_alive()
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize(
    ("work", "given", "said"),
    [
        (os._exit, (1,), "ended from outside"),
        (bytes, (1 << 40,), "not enough memory"),  # with the limit: MemoryError, and no answer
        (problem_from_json, ({"objective": "none"},), "none"),
    ],
)
def test_what_goes_wrong_in_a_call_is_a_sentence(work, given, said, capfd):
    with Call(work, *given, memory=4 << 30) as call, pytest.raises(InputError, match=said):
        call.result()
    capfd.readouterr()


def test_a_fault_in_a_call_is_no_lack_of_memory():
    with Call(operator.getitem, {}, "x") as call, pytest.raises(RuntimeError, match="KeyError: 'x'"):
        call.result()
