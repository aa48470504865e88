import base64
import json
import math

import numpy as np
import pytest

from earnshaw.errors import InputError
from earnshaw.problems import problem_from_json
from earnshaw.problems.charges import ChargeLaw, Charges, random_protons, random_start, spread
from earnshaw.records import decode, encode


def test_defaults_are_filled_in_and_arrays_are_frozen():
    problem = Charges(np.eye(3))
    assert problem.electrons == 3
    assert problem.dimension == 3
    assert problem.electron_charges is None
    assert problem.proton_charges.tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="read-only"):
        problem.protons[0, 0] = 2


def test_json_keeps_every_bit_and_what_the_law_needs():
    problem = Charges([[0.1, 0.2, 0.3]], [0.7], 2, [-0.5, 0.25], ChargeLaw("almost-yukawa", 2.0, 0.3, "B"), 1.0)
    record = json.loads(json.dumps(problem.to_json()))
    again = problem_from_json(record)
    assert again == problem
    assert again.protons.tobytes() == problem.protons.tobytes()
    assert again.electron_charges.tobytes() == problem.electron_charges.tobytes()
    assert np.frombuffer(base64.b64decode(record["protons"]["base64"]), "<f8")[0] == 0.1
    assert record["law"]["variant"] == "B"
    assert float.fromhex(record["law"]["radius"]) == 0.3
    for law in (problem.law, ChargeLaw("coulomb"), ChargeLaw("polynomial", degree=4), ChargeLaw("yukawa", 0.1)):
        assert decode(ChargeLaw, json.loads(json.dumps(encode(law)))) == law


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Charges(np.ones(3)), "one a row"),
        (lambda: Charges([[1.0, float("nan")]]), "value nan in row"),
        (lambda: Charges([[1j, 0]]), "complex"),
        (lambda: Charges(np.eye(2), [1.0]), "one number for each of the 2 protons"),
        (lambda: Charges(np.eye(2), electrons=0), "whole number from 1"),
        (lambda: Charges(np.eye(2), electron_charges=[1.0]), "one number for each of 2"),
        (lambda: Charges(np.eye(2), regularisation=-1.0), "0 or a positive"),
        (lambda: Charges(2 * np.eye(2), law=ChargeLaw("sign")), "unit sphere"),
        (lambda: ChargeLaw("gravity"), "almost-yukawa"),
        (lambda: ChargeLaw(variant="X"), "T, B, S"),
        (lambda: ChargeLaw("polynomial", degree=0), "from 1"),
        (lambda: spread(3, 0.0), "positive number"),
        (lambda: random_start(1, 2, None, 1.0, 0), "at least 2"),
        (lambda: random_start(3, 0, None, 1.0, 0), "at least 1 of each"),
    ],
)
def test_mistakes_are_explained(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()


def test_random_instances_depend_on_seed_and_lane_alone_and_have_the_stated_spread():
    first = random_protons(3, 4, 1.0, seed=5, lane=2)
    assert np.array_equal(first[0], random_protons(3, 4, 1.0, seed=5, lane=2)[0])
    assert not np.array_equal(first[0], random_protons(3, 4, 1.0, seed=5, lane=3)[0])
    many, charges = random_protons(7, 4000, 0.25, seed=0)
    assert math.isclose(many.std(), math.sqrt(0.25 * 7 * math.log(7)), rel_tol=0.03)
    assert abs(charges).max() <= 1
    assert abs(charges.mean()) < 0.05
