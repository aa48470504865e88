"""Problems: what a student network is asked to learn, as frozen plain data (no JAX, no computing)."""

from earnshaw.problems.activations import Activation, activation, load_function
from earnshaw.problems.convnet import ConvNet
from earnshaw.problems.two_layer import TwoLayer, problem_from_json, standard_teacher

__all__ = ["Activation", "ConvNet", "TwoLayer", "activation", "load_function", "problem_from_json", "standard_teacher"]
