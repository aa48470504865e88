"""What the front door says to a mistake: one sentence (InputError), as docs/api.md promises; and what it takes."""

from pathlib import Path

import numpy as np
import pytest

import earnshaw as es
from earnshaw.descent import GradientDescent, PerturbedDescent, StochasticDescent
from earnshaw.experiments.deep import DeepGrid, DeepTraining
from earnshaw.experiments.dynamics import Integration
from earnshaw.experiments.grow import Growing
from earnshaw.papers import Reproduction
from earnshaw.proof import prove_every_k, prove_many

SIX = es.TwoLayer(np.eye(6))
TWO = es.TwoLayer(np.eye(2))
CONV = es.RandomConvNets(filter_size=2, patches=3, ratio=0.5)
X = np.random.default_rng(0).normal(size=(60, 2))
Y = (X[:, 0] > 0).astype(float)
HOLE = np.where(np.arange(60)[:, None] == 7, np.nan, X)


def minimum():
    weights = np.full((6, 6), -0.0504)
    np.fill_diagonal(weights, 0.9867)
    weights[0, 1:], weights[1:, 0], weights[0, 0] = 0.2245, 0.3080, -0.6015
    return weights


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: es.sweep(np.eye(3)), "give a problem, for example TwoLayer"),
        (lambda: es.sweep(None), "give a problem, for example TwoLayer"),
        (lambda: es.sweep("two-layer"), "give a problem, for example TwoLayer"),
        (lambda: es.sweep(es.DeepTanh(2, 2, 2)), "deep"),
        (lambda: es.landscape(np.eye(3)), "give a problem"),
        (lambda: es.landscape(None), "give a problem"),
        (lambda: es.sweep(TWO, runs=1e3), "1000.0 runs were asked for; use a whole number"),
        (lambda: es.sweep(TWO, runs="many"), "'many' runs were asked for; use a whole number"),
        (lambda: es.sweep(TWO, runs=-1), "-1 runs were asked for"),
        (lambda: es.sweep(TWO, batch=1.5), "the batch is 1.5"),
        (lambda: es.sweep(TWO, batch="8"), "the batch is '8'"),
        (lambda: es.sweep(TWO, seed=1.5), "the seed is 1.5"),
        (lambda: es.sweep(TWO, students=1.5), "1.5"),
        (lambda: es.sweep(TWO, workers="2"), "workers"),
        (lambda: es.sweep(TWO, stop="nonsense"), "nonsense"),
        (lambda: es.sweep(TWO, stop=3), "3"),
        (lambda: es.sweep(TWO, max_steps="far"), "far"),
        (lambda: es.sweep(TWO, optimizer=7), "7"),
        (lambda: es.sweep(TWO, start=7), "the start is 7"),
        (lambda: es.sweep(TWO, start="sphere-and-ball"), "not one for the network two-layer"),
        (lambda: es.sweep(CONV, start="xavier"), "not one for the network random-convnet"),
        (lambda: es.sweep(TWO, start=np.zeros((5, 2, 2))), "1000 runs need as many starts, but 5 are given"),
        (lambda: es.sweep(TWO, start=np.zeros((5, 3, 2)), runs=5), r"this problem needs \(runs, 2, 2\)"),
        (lambda: es.sweep(CONV, students=4), "students=4 is for a TwoLayer problem"),
        (lambda: es.fit(X, Y, neurons=0), "0 neurons"),
        (lambda: es.fit(X, Y, neurons=1.5), "1.5"),
        (lambda: es.fit(X, Y, neurons=3), "as many neurons as dimensions"),
        (lambda: es.fit(X, neurons=1), "give the labels too"),
        (lambda: es.fit(HOLE, Y, neurons=1), "missing or infinite value in row 7"),
        (lambda: es.fit(X, 2 * Y - 1, neurons=1), r"in \[0, 1\]"),
        (lambda: es.fit(X, np.where(Y > 0, "yes", "no"), neurons=1), "number"),
        (lambda: es.fit(X.astype(str), Y, neurons=1), "number"),
        (lambda: es.fit([["a", "b"]], ["c"], neurons=1), "number"),
        (lambda: es.fit(X, Y[:-1], neurons=1), "59"),
        (lambda: es.fit(X[0], Y, neurons=1), "shape"),
        (lambda: es.fit(X, Y, neurons=1, activation="relu"), "relu"),
        (lambda: es.fit(X, Y, neurons=1, start="here"), "choose tensor or random"),
        (lambda: es.landscape(TWO).value(np.ones((3, 3))), r"this problem needs \(\.\.\., 2, 2\)"),
        (lambda: es.landscape(TWO).value(np.ones(2)), r"this problem needs \(\.\.\., 2, 2\)"),
        (lambda: es.landscape(TWO).gradient(np.ones((2, 3))), r"this problem needs \(\.\.\., 2, 2\)"),
        (lambda: es.landscape(TWO).hessian(np.ones((4, 2, 3))), r"this problem needs \(\.\.\., 2, 2\)"),
        (
            lambda: es.landscape(es.ConvNet([1.0, 0.0], [1.0, 2.0])).value(np.ones(5)),
            r"this problem needs \(\.\.\., 4\)",
        ),
        (lambda: es.prove(SIX, np.eye(5)), r"shape \(5, 5\); give n rows of 6 numbers"),
        (lambda: es.prove(SIX, np.full((6, 6), np.nan)), "finite|nan"),
        (lambda: es.prove(np.eye(3), np.eye(3)), "a problem is needed"),
        (lambda: es.prove(SIX, "here"), "point|number"),
        (
            lambda: es.prove(es.TwoLayer(np.eye(2), activation="erf"), np.eye(2)),
            "the activation is erf, and the theorems cover relu only",
        ),
        (lambda: es.explain(5), "type int is no certificate"),
        (lambda: es.check(None), "type NoneType is no certificate"),
        (lambda: es.load("nowhere"), "not a folder"),
        (lambda: es.problem_from_json([]), "record|object"),
        (lambda: es.TwoLayer(np.zeros((0, 3))), "0|empty|neuron"),
        (lambda: es.absence(2, workers=1.5), "1.5 workers were asked for"),
        (lambda: es.atlas_map([(7, 7)], workers=1.5), "1.5 workers were asked for"),
        (lambda: es.build_atlas("atlas", ["II"], [7], workers=1.5), "1.5 workers were asked for"),
        (lambda: list(prove_many(SIX, [minimum()], workers="2")), "'2' workers were asked for"),
        (lambda: es.sweep(TWO, optimizer=StochasticDescent(samples=True)), "True samples"),
        (lambda: es.sweep(TWO, optimizer=PerturbedDescent(wait=1.5)), "wait 1.5"),
        (lambda: Integration(stored=2.5), "2.5 stored times were asked for"),
        (lambda: Reproduction(out=Path("papers"), runs=1.5), "1.5 runs were asked for"),
        (lambda: Reproduction(out=Path("papers"), cluster="here"), "the cluster is 'here'"),
        (lambda: prove_every_k("A", "7"), "the first k is 7"),
        (lambda: es.sweep(TWO, time_limit=True), "the time limit is True"),
        (lambda: es.absence(2, time_limit="10m"), "the time limit is '10m'"),
        (lambda: es.build_atlas("atlas", ["II"], [7], time_limit=0), "the time limit is 0"),
        (lambda: es.grow(SIX, minimum(), time_limit=-1.0), "the time limit is -1.0"),
        (lambda: es.atlas_map([(7, 7)], time_limit=np.nan), "the time limit is nan"),
        (lambda: es.merge("part", "whole"), "one folder is to be merged, 'part'"),
        (lambda: es.sweep(TWO, cluster=4), "the cluster is 4"),
    ],
)
def test_a_mistake_is_one_sentence(call, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(es.InputError, match=says) as caught:
        call()
    assert len(str(caught.value).splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_whole_numbers_may_be_numpys(tmp_path):
    two, every = np.int64(2), np.int64(50)
    for optimizer in (GradientDescent(check_every=every), StochasticDescent(samples=two, check_every=every)):
        runs = es.sweep(TWO, runs=two, optimizer=optimizer, max_steps=every, out=tmp_path / optimizer.kind)
        assert len(es.load(tmp_path / optimizer.kind).runs) == len(runs) == 2
    for work in (
        Growing(SIX, minimum()[None], np.int64(1), two),
        DeepGrid((es.DeepTanh(two, two, two),), DeepTraining(teachers=two, dimension=two)),
    ):
        assert type(work).from_json(work.common, work.parts).hash == work.hash


def test_a_check_of_what_is_no_certificate_says_so():
    result = es.check('{"format": "nothing"}')
    assert not result.verified
    assert result.reason


@pytest.fixture(scope="module")
def runs():
    return es.sweep(SIX, runs=1, start=minimum()[None], batch=8)


@pytest.mark.slow
def test_a_family_is_proved_checked_and_explained_as_it_is(runs):
    (family,) = es.families(runs.spurious)
    proof = es.prove(SIX, family)
    assert proof.verdict is es.Verdict.PROVED_MINIMUM
    assert proof.verdict is es.prove(SIX, family.weights).verdict
    assert es.check(proof).verified
    assert "strict local minimum" in es.explain(proof).words
    assert es.check(proof.main).verified


def test_runs_compare_and_words_for_early_stopping_are_taken(runs):
    assert (runs == runs) is True
    assert runs == es.sweep(SIX, runs=1, start=minimum()[None], batch=8, stop="early")
    assert runs == es.sweep(SIX, runs=np.int64(1), seed=np.int64(0), start=minimum()[None], batch=8, stop=es.Stop.EARLY)
