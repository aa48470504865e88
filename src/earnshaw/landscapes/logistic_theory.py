"""What the theorems of Fu, Chi & Liang (2018) say about a problem, in numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from earnshaw.landscapes.logistic_constants import alpha, beta, derivative_bound, gamma, rho
from earnshaw.landscapes.two_layer import TwoLayerLandscape
from earnshaw.problems.logistic import Logistic

LEMMA_CONSTANT = 6 * math.sqrt(3)


@dataclass(frozen=True)
class Theory:
    r"""Theorems 1 and 2 with their unnamed constants set to 1, and the few that their proofs determine.

    With singular values :math:`\sigma_1 \ge \ldots \ge \sigma_K` of the weights, :math:`\kappa = \sigma_1/\sigma_K` and
    :math:`\lambda = \prod_i \sigma_i/\sigma_K`:

    Attributes
    ----------
    condition, volume, rho, derivative_bound : kappa, lambda, rho(sigma_K) and L_phi.
    least_curvature : :math:`H_{\min} = \rho/(K^2\kappa^2\lambda)`, Theorem 1.
    most_curvature : :math:`H_{\max} = L_\phi^2/K`, Theorem 1.
    radius : :math:`r = \rho/(\kappa^2\lambda\sqrt K L_\phi^2)`, Theorem 1 with c = 1.
    radius_of_the_proof : the same with :math:`c = 6\sqrt3`, which the proof of Lemma 1 gives when its means
        :math:`E|p x|(q x)^2` are bounded by sqrt 3 and half of the curvature is to remain (with the constant of the
        lower bound at the centre still taken as 1).
    samples : :math:`dK^3\log^2 d\,((L_\phi + 1)L_\phi\kappa^2\lambda/\rho)^2`, Theorem 1.
    error : :math:`L_\phi K^2\kappa^2\lambda/\rho\,\sqrt{d\log n/n}`, Theorem 2, equation (8).
    step : :math:`H_{\min}/H_{\max}^2`, the largest step of Theorem 2's proof.
    practical_step : :math:`K^2/(\beta_0 + (K-1)\alpha_0^2)` at sigma_K: one over the largest curvature for orthogonal
        weights of one norm.
    """

    condition: float
    volume: float
    rho: float
    derivative_bound: float
    least_curvature: float
    most_curvature: float
    radius: float
    radius_of_the_proof: float
    samples: float
    error: float
    step: float
    practical_step: float


def theory(problem: Logistic) -> Theory:
    """Evaluate the theorems for a problem."""
    phi = problem.activation
    singular = problem.singular_values
    smallest, K, d, n = float(singular[-1]), problem.neurons, problem.dimension, problem.samples
    condition, volume = float(singular[0] / smallest), float((singular / smallest).prod())
    strength, bound = float(rho(phi, smallest)), derivative_bound(phi)
    share = strength / (condition**2 * volume)
    radius = share / (math.sqrt(K) * bound**2)
    least, most = share / K**2, bound**2 / K
    return Theory(
        condition=condition,
        volume=volume,
        rho=strength,
        derivative_bound=bound,
        least_curvature=least,
        most_curvature=most,
        radius=radius,
        radius_of_the_proof=radius / LEMMA_CONSTANT,
        samples=d * K**3 * math.log(d) ** 2 * ((bound + 1) * bound / share) ** 2,
        error=bound * K**2 / share * math.sqrt(d * math.log(n) / n),
        step=least / most**2,
        practical_step=K**2 / (beta(phi, 0, smallest) + (K - 1) * alpha(phi, 0, smallest) ** 2),
    )


def label_noise(problem: Logistic) -> float:
    r"""Return :math:`\tfrac12 E[p(1-p)]`, p the network's value: the risk of the truth on labels 0 and 1, for any n.

    By so much the population risk is larger in classification than in regression, whose landscape is that of
    ``problem.population``.
    """
    mean = sum(gamma(problem.activation, 0, norm) for norm in np.linalg.norm(problem.weights, axis=1)) / problem.neurons
    return 0.5 * mean - float(TwoLayerLandscape.of(problem.population).teacher_energy())
