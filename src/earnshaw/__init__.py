"""earnshaw: does gradient descent find the network that made the data, and if it stops elsewhere, can you prove where?

Names are loaded when first used, so that importing the package costs nothing. What computes with JAX switches its double
precision on (``jax_enable_x64``), for the whole process: float32 code beside it must ask for float32.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from earnshaw.descent import GradientDescent, Outcome, Stop, Stopping, optimizer
    from earnshaw.errors import InputError
    from earnshaw.experiments import (
        Atlas,
        AtlasMap,
        Fit,
        Plan,
        Runs,
        Sweep,
        SweepResult,
        atlas_map,
        build_atlas,
        compare,
        dynamics,
        families,
        families_met,
        family_spectrum,
        fit,
        follow,
        grow,
        load,
        load_atlas,
        merge,
        run_plan,
        sweep,
        work_of,
    )
    from earnshaw.landscapes import landscape, stationary_points
    from earnshaw.plots import animate, plot
    from earnshaw.potentials import potential
    from earnshaw.problems import (
        ChargeLaw,
        Charges,
        ConvNet,
        Data,
        DeepTanh,
        Labels,
        Logistic,
        RandomConvNets,
        TwoLayer,
        problem_from_json,
        standard_teacher,
    )
    from earnshaw.proof import (
        Certificate,
        Proof,
        Verdict,
        absence,
        check,
        check_lines,
        explain,
        prove,
        prove_families,
        prove_family,
        prove_pattern,
    )
    from earnshaw.starts import start
    from earnshaw.symmetry import Family, canonical
    from earnshaw.web import explore

__version__ = "0.1.0"

_HOMES = {
    "descent": "GradientDescent Outcome Stop Stopping optimizer",
    "errors": "InputError",
    "experiments": "Atlas AtlasMap Fit Plan Runs Sweep SweepResult atlas_map build_atlas compare dynamics families families_met "
    "family_spectrum fit follow grow load load_atlas merge repair run_plan sweep verify work_of",
    "landscapes": "landscape stationary_points",
    "plots": "animate plot",
    "potentials": "potential",
    "problems": "ChargeLaw Charges ConvNet Data DeepTanh Labels Logistic RandomConvNets TwoLayer problem_from_json "
    "standard_teacher",
    "proof": "Certificate Proof Verdict absence check check_lines explain prove prove_families prove_family prove_pattern",
    "starts": "start",
    "symmetry": "Family canonical",
    "web": "explore",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}
__all__ = sorted([*_HOME, "__version__"])  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    """Load a public name from its package (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'earnshaw' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"earnshaw.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return __all__
