"""Problems: what a student network is asked to learn, as frozen plain data (no JAX, no computing)."""

from earnshaw.problems.activations import Activation, activation, unit_activation
from earnshaw.problems.base import Problem, Symmetry, problem_from_json
from earnshaw.problems.charges import ChargeLaw, Charges
from earnshaw.problems.convnet import ConvNet, RandomConvNets
from earnshaw.problems.deep import DeepTanh
from earnshaw.problems.loading import load_function
from earnshaw.problems.logistic import Data, Labels, Logistic
from earnshaw.problems.named import NamedFamily, named_family
from earnshaw.problems.two_layer import TwoLayer, standard_teacher

__all__ = ["ChargeLaw", "Charges", "ConvNet", "Data", "DeepTanh", "Labels", "Logistic", "RandomConvNets", "TwoLayer"]
__all__ += ["Activation", "Problem", "Symmetry", "activation", "load_function", "problem_from_json", "standard_teacher"]
__all__ += ["NamedFamily", "named_family", "unit_activation"]
