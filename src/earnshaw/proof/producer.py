"""From a problem and a point to a proof: one front for every kind of problem, and many points in processes."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from earnshaw.errors import InputError, checked_workers
from earnshaw.problems import ConvNet, Data, Problem, TwoLayer, problem_from_json
from earnshaw.proof.convexity import prove_convexity
from earnshaw.proof.convnet import prove_convnet
from earnshaw.proof.processes import Elsewhere, in_processes
from earnshaw.proof.relu import prove_relu
from earnshaw.proof.verdict import Proof
from earnshaw.threads import cores, one_blas_thread


class _Prover(NamedTuple):
    """How one kind of problem is proved, and about how many seconds a point takes."""

    prove: Callable[..., Proof]
    seconds: Callable[[Any, int], float]


PROVERS: dict[type[Problem], _Prover] = {
    TwoLayer: _Prover(prove_relu, lambda problem, numbers: 0.03 + 0.1 * (numbers / 400) ** 2),
    ConvNet: _Prover(prove_convnet, lambda problem, numbers: 0.01),
    Data: _Prover(prove_convexity, lambda problem, numbers: 4e-5 * problem.samples * problem.neurons),
}


def prove(problem: Problem, point: Any = None, **options: Any) -> Proof:
    """Prove with ball arithmetic what can be proved of a problem at a point, and write certificates.

    Parameters
    ----------
    problem
        A two-layer ReLU network whose output weights are all 1, a convolutional network, or a data set. Others say in
        ``problem.unprovable`` why there is nothing to prove.
    point
        Weights (n, d) of a two-layer network, for any n; weights (K, d) for a data set; an object that has ``weights``,
        such as a family, will do. None for a convolutional network, whose proof is about all its stationary points.
    options
        ``meta``, remarks for the certificate: strings, untrusted. Two-layer: ``precision`` in bits, ``polish``, ``reach``,
        ``basin``, ``robust``, ``every_dimension``, ``every_n``, see :func:`earnshaw.proof.relu.prove_relu`. Convolutional: ``precision``.

    The verdict is INCONCLUSIVE, with the reason, where nothing is proved; InputError (a ValueError) is for input that is no
    point of such a problem. Flint's precision is global to the process: prove in several processes (:func:`prove_many`),
    never in threads.
    """
    begun = perf_counter()
    prover = _prover(problem, options)
    with one_blas_thread():
        proof = prover.prove(problem, _numbers(point), **options)
    return dataclasses.replace(proof, seconds=perf_counter() - begun)


def prove_many(
    problem: Problem, points: Iterable[Any], *, workers: int | Elsewhere | None = None, **options: Any
) -> Iterator[Proof]:
    """Prove many points of one problem, in spawned processes; yield a Proof for each, in order.

    `workers` is the number of processes; None chooses, 1 means this process, and a function that takes another one and
    the arguments of its calls makes these calls somewhere else and yields what they return, in order. Options are those of
    :func:`prove`. A point that `prove` would refuse with InputError comes back as INCONCLUSIVE with that sentence.
    """
    yield from prove_pairs(((problem, point) for point in points), workers=workers, **options)


def prove_pairs(
    pairs: Iterable[tuple[Problem, Any]], *, workers: int | Elsewhere | None = None, **options: Any
) -> Iterator[Proof]:
    """Prove (problem, point) pairs of any problems, as :func:`prove_many` does."""
    jobs = [(problem, _numbers(point)) for problem, point in pairs]
    seconds = sum(_prover(problem, options).seconds(problem, getattr(point, "size", 0)) for problem, point in jobs)
    workers = workers if callable(workers) else checked_workers(workers)
    if workers is None:
        workers = cores() if seconds > 3 else 1  # starting processes costs about a second
    if not callable(workers) and workers <= 1:
        yield from (_attempt(problem, point, options) for problem, point in jobs)
    else:
        yield from in_processes(_work, [(problem.to_json(), point, options) for problem, point in jobs], workers)


def _work(record: dict[str, Any], point: np.ndarray | None, options: Mapping[str, Any]) -> Proof:
    """Prove one point in a process that was given plain data alone."""
    return _attempt(problem_from_json(record), point, options)


def _attempt(problem: Problem, point: np.ndarray | None, options: Mapping[str, Any]) -> Proof:
    """Prove one point; a point that is refused is inconclusive here, so that a batch never stops for one lane."""
    try:
        return prove(problem, point, **options)
    except InputError as error:
        return Proof.undecided(problem, str(error))


def _prover(problem: object, options: Mapping[str, Any]) -> _Prover:
    """Return how such a problem is proved with such options, or raise InputError."""
    if not isinstance(problem, Problem):
        is_array = isinstance(problem, np.ndarray)
        given = f"an array of shape {problem.shape}" if is_array else repr(type(problem).__name__)
        raise InputError(
            f"{given} was given where a problem is needed; for a ReLU teacher write earnshaw.TwoLayer(teacher=...)"
        )
    if problem.unprovable is not None or type(problem) not in PROVERS:
        raise InputError(f"nothing can be proved about this problem: {problem.unprovable}")
    prover = PROVERS[type(problem)]
    allowed = [name for name in inspect.signature(prover.prove).parameters if name not in ("problem", "weights")]
    for name in options:
        if name not in allowed:
            raise InputError(f"the option {name} is none of {problem.network} proofs; those are {', '.join(allowed)}")
    return prover


def _numbers(point: Any) -> np.ndarray | None:
    """Return a point, or the weights of an object that has them, as doubles."""
    if point is None:
        return None
    try:
        return np.asarray(getattr(point, "weights", point), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"the point is no array of numbers ({error}); give one, or an object with weights") from None
