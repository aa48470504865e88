"""Landscapes: the loss of a Problem, with its gradient, Hessian and spectrum, for one point or for many."""

from __future__ import annotations

from earnshaw.landscapes.base import Landscape
from earnshaw.landscapes.convnet import ConvNetLandscape, SampledConvNet
from earnshaw.landscapes.convnet_stationary import Stationarity, StationaryPoint, stationary_points
from earnshaw.landscapes.sampled import SampledTwoLayer
from earnshaw.landscapes.two_layer import TwoLayerLandscape
from earnshaw.problems import TwoLayer

__all__ = [
    "ConvNetLandscape",
    "Landscape",
    "SampledConvNet",
    "SampledTwoLayer",
    "Stationarity",
    "StationaryPoint",
    "TwoLayerLandscape",
    "landscape",
    "stationary_points",
]


def landscape(problem: TwoLayer) -> TwoLayerLandscape:
    """Return the exact landscape of a problem."""
    return TwoLayerLandscape.of(problem)
