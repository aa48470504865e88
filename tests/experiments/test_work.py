"""Work of every kind is rebuilt from the manifest of its folder."""

import numpy as np
import pytest
from squares import Squares, squares  # noqa: F401

from earnshaw.errors import DamageWarning, InputError
from earnshaw.experiments import DeepGrid, DeepTraining, Growing, Motion, Plan, run, verify, work_of
from earnshaw.experiments.dynamics import Integration
from earnshaw.experiments.logistic import DataSets, Measurement
from earnshaw.experiments.survey import Place, Surveying
from earnshaw.experiments.work import KINDS, load
from earnshaw.problems import ChargeLaw, Charges, DeepTanh, RandomConvNets, TwoLayer
from earnshaw.store import read_json, write_json

WORKS = [
    Squares((1, 2), 7, 3),
    Plan.of([TwoLayer(np.eye(2)), TwoLayer(np.eye(3), students=2)], runs=5, seed=2),
    Plan.of(RandomConvNets(filter_size=2, patches=3, ratio=0.5), runs=5),
    DeepGrid((DeepTanh(2, 3, 4),), DeepTraining(teachers=2, steps=10, records=2)),
    Motion(
        Charges(np.eye(3), electron_charges=[1, 1, 1], law=ChargeLaw("coulomb")), np.eye(3) + 1, Integration(until=2.0)
    ),
    Measurement(
        what="estimate", numbers={"distance": 0.1}, settings=(DataSets(neurons=1, dimension=2, samples=9, sets=2),)
    ),
    Growing(TwoLayer(np.eye(3)), np.ones((2, 3, 3)), neurons=4, beam=2),
    Surveying((Place(7, 8), Place(6, 6))),
]


@pytest.mark.parametrize("work", WORKS, ids=lambda work: type(work).__name__)
def test_work_is_rebuilt_from_the_manifest_alone(tmp_path, work):
    from earnshaw.store import RunFolder

    with RunFolder(tmp_path / "run", work.kind, work.common, work.parts):
        pass
    again = work_of(tmp_path / "run")
    assert type(again) is type(work)
    assert again.hash == work.hash
    assert (again.common, again.parts) == (work.common, work.parts)
    assert [again.pieces(name) for name in again.parts] == [work.pieces(name) for name in work.parts]
    if type(work).__eq__ is not object.__eq__:
        assert again == work


def test_work_of_an_unknown_kind_is_one_sentence(tmp_path):
    run(Squares((1,)), tmp_path / "run", 1)
    kind = KINDS.pop("squares")
    try:
        for read in (load, work_of):
            with pytest.raises(
                InputError,
                match="work of the kind 'squares'; this version knows data-sets, deep, fit, follow, growth, map, sweep",
            ):
                read(tmp_path / "run")
    finally:
        KINDS["squares"] = kind


@pytest.mark.parametrize("tools", [[1, 2], {"s1": 3}, {"s1": [None]}, "native"])
def test_a_damaged_record_of_the_tools_is_said_and_does_not_stop_the_work(tmp_path, tools):
    run(Squares((1,)), tmp_path / "run", 1)
    how = read_json(tmp_path / "run" / "record.json")
    write_json(tmp_path / "run" / "record.json", how | {"tools": tools})
    (fault,) = verify(tmp_path / "run")
    assert fault.endswith("record.json is damaged")
    with pytest.warns(DamageWarning, match=r"record\.json is damaged; it says only how long"):
        run(Squares((1, 2)), tmp_path / "run", 1)
