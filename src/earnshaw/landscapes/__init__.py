"""Landscapes: the loss of a Problem, with its gradient, Hessian and spectrum, for one point or for many."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from earnshaw.errors import InputError
from earnshaw.landscapes.base import Landscape
from earnshaw.landscapes.charges import OnSphere, charge_landscape
from earnshaw.landscapes.convnet import ConvNetLandscape
from earnshaw.landscapes.convnet_lanes import teachers
from earnshaw.landscapes.convnet_stationary import Stationarity, StationaryPoint, stationary_points
from earnshaw.landscapes.empirical import EmpiricalRisk
from earnshaw.landscapes.energy import PairEnergy
from earnshaw.landscapes.logistic_data import draw
from earnshaw.landscapes.rows import Rows
from earnshaw.landscapes.two_layer import TwoLayerLandscape
from earnshaw.problems import Charges, ConvNet, Data, Logistic, Problem, RandomConvNets, TwoLayer

__all__ = ["Landscape", "landscape", "lane_landscape"]
__all__ += ["ConvNetLandscape", "EmpiricalRisk", "OnSphere", "PairEnergy", "TwoLayerLandscape"]
__all__ += ["Stationarity", "StationaryPoint", "stationary_points"]


@functools.singledispatch
def landscape(problem: Any) -> Any:
    """Return the landscape of a problem: the exact loss of a TwoLayer, a ConvNet or Charges, the risk on the data of a
    Logistic (drawn by its seed) or of Data; what has none raises :class:`InputError`."""
    if isinstance(problem, Problem):
        raise InputError(
            f"a problem of the network {problem.network} draws its teachers and has no landscape of its own; give one with a "
            "teacher or data: TwoLayer, ConvNet, Charges, Logistic or Data"
        )
    raise InputError(
        f"a landscape of {type(problem).__name__} was asked for; give a problem, for example TwoLayer(teacher)"
    )


landscape.register(TwoLayer, TwoLayerLandscape.of)
landscape.register(ConvNet, ConvNetLandscape.of)
landscape.register(Charges, charge_landscape)


def lane_landscape(problem: Problem, seed: int, lanes: np.ndarray, own: Mapping[str, np.ndarray] | None = None) -> Any:
    """Return the landscape of some runs of a problem: the one of all, or a batch where every run has its own teacher.

    ``own`` is what :meth:`Landscape.own_data` gave for these runs, if that is at hand.
    """
    if not isinstance(problem, RandomConvNets):
        return landscape(problem)
    filters, outputs = (own["filters"], own["outputs"]) if own else teachers(problem, seed, lanes)
    return ConvNetLandscape(*jax.device_put((filters, outputs, np.ones_like(outputs))))


@landscape.register
def _(problem: Logistic) -> EmpiricalRisk:
    return EmpiricalRisk.of(draw(problem), problem.neurons, problem.activation)


@landscape.register
def _(problem: Data) -> EmpiricalRisk:
    return EmpiricalRisk.of(Rows(problem.x, problem.y), problem.neurons, problem.activation)
