"""The tensor method: a start from moments of the data (Algorithm 2 of Fu, Chi & Liang 2018)."""

from earnshaw.starts.tensor.decomposition import Decomposition, decompose
from earnshaw.starts.tensor.moments import LinearFit, Moments
from earnshaw.starts.tensor.start import TensorGuess, TensorStart

__all__ = ["Decomposition", "LinearFit", "Moments", "TensorGuess", "TensorStart", "decompose"]
