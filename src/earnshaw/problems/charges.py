"""Moving charges among fixed ones: the electrons are the student's neurons, the protons the teacher's."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from earnshaw.errors import InputError, checked_seed
from earnshaw.problems.base import Array, Problem, Symmetry, classes, reals, whole

LAWS = ("coulomb", "yukawa", "almost-yukawa", "polynomial", "sign")
VARIANTS = ("T", "B", "S")


@dataclass(frozen=True)
class ChargeLaw:
    """The potential between two unit charges, by name.

    ``coulomb``, ``yukawa`` and ``almost-yukawa`` are functions of the distance, on R^d; ``polynomial`` and ``sign`` of the
    inner product, on the unit sphere.
    """

    name: str = "almost-yukawa"
    eigenvalue: float = 1.0  #: the lambda of the two Yukawa laws
    radius: float = 0.5  #: the eps of ``almost-yukawa``: it is exactly lambda-harmonic farther away
    variant: str = "T"  #: how ``almost-yukawa`` is rounded off inside: T, B or S
    degree: int = 3  #: the power of ``polynomial``

    def __post_init__(self) -> None:
        """Validate what does not depend on the dimension."""
        if self.name not in LAWS:
            raise InputError(f"unknown potential {self.name!r}; choose one of {', '.join(LAWS)}")
        if self.variant not in VARIANTS:
            raise InputError(f"unknown variant {self.variant!r}; choose one of {', '.join(VARIANTS)}")
        if self.degree < 1:
            raise InputError(f"the degree {self.degree} was given; use a whole number from 1")

    @property
    def on_sphere(self) -> bool:
        """Whether positions are unit vectors."""
        return self.name in ("polynomial", "sign")

    @property
    def bounded(self) -> bool:
        """Whether a charge has an energy with itself; it is then 1."""
        return self.name not in ("coulomb", "yukawa")


@dataclass(frozen=True, eq=False, repr=False)
class Charges(Problem):
    r"""Electrons of charge :math:`-a_i` at theta_i, which move, and protons of charge b_j at w_j, which do not, with the energy

    .. math::
        F = \tfrac12\sum_{ij} a_i a_j \Phi(\theta_i, \theta_j) - \sum_{ij} a_i b_j \Phi(\theta_i, w_j)
            + \tfrac12\sum_{ij} b_i b_j \Phi(w_i, w_j) + \tfrac\rho2\,|a|^2 .

    This is half the squared loss of a student with output weights a against a teacher with output weights b: an electron
    with a = b on a proton cancels it. Both are given by their output weights, so that a = 1 and b = 1 attract each other.
    The paper's L and G are 2 F, and its a is our -a.

    Parameters
    ----------
    protons : (k, d) array, the fixed positions w_j; unit vectors for a law on the sphere.
    proton_charges : (k,) array, the numbers b_j, all 1 when not given.
    electrons : the number n of moving charges; k when not given.
    electron_charges : (n,) array, the numbers a_i (an electron's charge is minus that) when they are fixed; trained
        together with the positions, as the last column of a point, when not given.
    law : the potential.
    regularisation : the factor rho; the paper's G has 1, its L has 0.

    Reference: Panigrahy et al. (2018), equation (1) and section 4.
    """

    network: ClassVar[str] = "charges"

    protons: Array
    proton_charges: Array = None  # type: ignore[assignment]  # ones, once validated
    electrons: int = None  # type: ignore[assignment]  # k, once validated
    electron_charges: Array | None = None
    law: ChargeLaw = field(default_factory=ChargeLaw)
    regularisation: float = 0.0

    def __post_init__(self) -> None:
        """Validate everything once."""
        protons = reals("the protons", self.protons, 2)
        k = len(protons)
        charges = np.ones(k) if self.proton_charges is None else reals("proton_charges", self.proton_charges, 1)
        electrons = whole("electrons", k if self.electrons is None else self.electrons, 1)
        if charges.shape != (k,):
            raise InputError(f"proton_charges has shape {charges.shape}; give one number for each of the {k} protons")
        moving = self.electron_charges
        if moving is not None:
            moving = reals("electron_charges", moving, 1)
            if moving.shape != (electrons,):
                raise InputError(f"electron_charges has shape {moving.shape}; give one number for each of {electrons}")
        if not (math.isfinite(self.regularisation) and self.regularisation >= 0):
            raise InputError(f"the regularisation is {self.regularisation}; use 0 or a positive number")
        if self.law.on_sphere and np.abs(np.linalg.norm(protons, axis=1) - 1).max() > 1e-9:
            raise InputError(f"the law {self.law.name} lives on the unit sphere; normalise the protons first")
        self._settle(protons=protons, proton_charges=charges, electrons=electrons, electron_charges=moving)

    @property
    def dimension(self) -> int:
        """The dimension d."""
        return self.protons.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of a point: positions (n, d), and a last column of charges where they are trained."""
        return self.electrons, self.dimension + (self.electron_charges is None)

    @property
    def detail(self) -> str:
        """The law."""
        return self.law.name

    @property
    def sizes(self) -> dict[str, Any]:
        """Protons k, electrons n and the dimension d."""
        return {"k": len(self.protons), "n": self.electrons, "d": self.dimension}

    @cached_property
    def scale(self) -> float:
        """The sum of the protons' squared charges."""
        return float(np.sum(self.proton_charges**2))

    @property
    def symmetry(self) -> Symmetry:
        """Electrons of equal charge, and coordinates in a way that exchanges protons of equal charge."""
        moving = np.zeros(self.electrons) if self.electron_charges is None else self.electron_charges
        columns = np.zeros(self.dimension, dtype=np.int64)
        extra = int(self.electron_charges is None)
        return Symmetry(classes(moving), columns, self.protons, classes(self.proton_charges), extra)

    @cached_property
    def is_realisable(self) -> bool:
        """Whether the electrons can surely cancel all protons: with charges to be trained, enough of them, and no penalty."""
        free = self.electron_charges is None and self.regularisation == 0
        return free and self.law.bounded and self.electrons >= len(self.protons)


def spread(dimension: int, factor: float) -> float:
    r"""Return the standard deviation :math:`\sqrt{c\,d\log d}` of the paper's random protons (Theorems 12 and 17)."""
    if not (math.isfinite(factor) and factor > 0):
        raise InputError(f"the spread factor c is {factor}; use a positive number (1 or so)")
    return math.sqrt(factor * dimension * math.log(dimension))


def random_protons(dimension: int, protons: int, factor: float, seed: int, lane: int = 0) -> tuple[Array, Array]:
    r"""Return random protons (k, d) from :math:`N(0, c\,d\log d\,I)` and charges (k,) uniform in [-1, 1].

    A function of the seed and the lane alone. Reference: Panigrahy et al. (2018), Theorem 12.
    """
    rng = np.random.default_rng([checked_seed(seed), lane])
    return spread(dimension, factor) * rng.normal(size=(protons, dimension)), rng.uniform(-1, 1, size=protons)


def random_start(
    dimension: int, protons: int, electrons: int | None, factor: float, seed: int
) -> tuple[Array, Array, Array]:
    """Return protons (k, d), where electrons (n, d) start, and their numbers a = 1, for the dynamics; one draw a seed."""
    if dimension < 2:
        raise InputError(f"-d {dimension} was given; charges need a dimension of at least 2")
    electrons = protons if electrons is None else electrons
    if protons < 1 or electrons < 1:
        raise InputError(f"{protons} protons and {electrons} electrons were asked for; use at least 1 of each")
    places, _ = random_protons(dimension, protons, factor, seed)
    start = spread(dimension, factor) * np.random.default_rng([seed, 0, 9]).normal(size=(electrons, dimension))
    return places, start, np.ones(electrons)
