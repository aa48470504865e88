"""earnshaw: does gradient descent find the network that made the data, and if it stops elsewhere, can you prove where?

Names are loaded when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "ConvNet": "problems",
    "TwoLayer": "problems",
    "standard_teacher": "problems",
    "InputError": "errors",
    "landscape": "landscapes",
    "ConvNetLandscape": "landscapes",
    "SampledTwoLayer": "landscapes",
    "stationary_points": "landscapes",
    "Outcome": "descent",
    "Runs": "descent",
    "Stop": "descent",
    "GradientDescent": "descent",
    "Family": "symmetry",
    "canonical": "symmetry",
    "conv_sweep": "experiments",
    "families": "experiments",
    "sweep": "experiments",
    "prove": "proof",
    "Certificate": "proof",
    "Proof": "proof",
    "check": "proof",
    "explain": "proof",
    "Verdict": "proof",
    "Logistic": "problems.logistic",
    "Labels": "problems.logistic",
    "EmpiricalRisk": "landscapes.empirical",
    "StreamedRisk": "landscapes.streamed",
    "TensorStart": "starts.tensor",
    "FitPlan": "experiments.fit",
    "fit": "experiments.fit",
    "Charges": "problems.charges",
    "ChargeLaw": "problems.charges",
    "ChargeLandscape": "landscapes.charges",
    "AlmostYukawa": "potentials.radial",
    "dynamics": "experiments.dynamics",
}

__all__ = [
    "AlmostYukawa",
    "Certificate",
    "ChargeLandscape",
    "ChargeLaw",
    "Charges",
    "ConvNet",
    "ConvNetLandscape",
    "EmpiricalRisk",
    "Family",
    "FitPlan",
    "GradientDescent",
    "InputError",
    "Labels",
    "Logistic",
    "Outcome",
    "Proof",
    "Runs",
    "SampledTwoLayer",
    "Stop",
    "StreamedRisk",
    "TensorStart",
    "TwoLayer",
    "Verdict",
    "__version__",
    "canonical",
    "check",
    "conv_sweep",
    "dynamics",
    "explain",
    "families",
    "fit",
    "landscape",
    "prove",
    "standard_teacher",
    "stationary_points",
    "sweep",
]

if TYPE_CHECKING:
    from earnshaw.descent import GradientDescent, Outcome, Runs, Stop
    from earnshaw.errors import InputError
    from earnshaw.experiments import conv_sweep, families, sweep
    from earnshaw.experiments.dynamics import dynamics
    from earnshaw.experiments.fit import FitPlan, fit
    from earnshaw.landscapes import ConvNetLandscape, SampledTwoLayer, landscape, stationary_points
    from earnshaw.landscapes.charges import ChargeLandscape
    from earnshaw.landscapes.empirical import EmpiricalRisk
    from earnshaw.landscapes.streamed import StreamedRisk
    from earnshaw.potentials.radial import AlmostYukawa
    from earnshaw.problems import ConvNet, TwoLayer, standard_teacher
    from earnshaw.problems.charges import ChargeLaw, Charges
    from earnshaw.problems.logistic import Labels, Logistic
    from earnshaw.proof import Certificate, Proof, Verdict, check, explain, prove
    from earnshaw.starts.tensor import TensorStart
    from earnshaw.symmetry import Family, canonical


def __getattr__(name: str) -> Any:
    """Load a public name from its package (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'earnshaw' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"earnshaw.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)
