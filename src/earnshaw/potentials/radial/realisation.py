"""The activation behind an almost Yukawa potential: computed, not only known to exist."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

from earnshaw.potentials.radial.almost_yukawa import AlmostYukawa
from earnshaw.potentials.radial.fourier import Transform

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Realisation:
    r"""The activation :math:`\sigma(x, \theta) = (2\pi)^{d/4} e^{|x|^2/4}\, s(|x - \theta|)` of an almost Yukawa potential.

    .. math:: s = \mathfrak F^{-1}\sqrt{\mathfrak F\Phi}, \qquad \int s^2 = \Phi(0) = 1, \qquad
        E_x[\sigma(x, \theta)\sigma(x, w)] = (s * s)(\theta - w) = \Phi(\theta - w) .

    A cone tip of Phi (variants T and B) makes s as singular as :math:`r^{-(d-1)/2}` at 0. So the Bessel potential with
    transform :math:`C(\omega^2 + \kappa^2)^{-(d+1)/4}` is taken out first, with C and kappa from the transform's decay; the rest
    decays fast enough for the trapezoidal rule. Without a tip (variant S) the transform is a square over
    :math:`\lambda + \omega^2`; its root is that of a ball's indicator and decays by itself. Everything is kept as :math:`u(r) = r^{(d-1)/2} s(r)`, which is bounded,
    on a grid up to ``reach``; s decays exponentially.

    Reference: Panigrahy et al. (2018), Theorem 3.
    """

    potential: AlmostYukawa
    reach: float = 40.0
    cutoff: float = 1500.0
    spacing: float = 0.05

    @cached_property
    def grid(self) -> Array:
        """Distances at which u is computed: dense around 0 and the edge of the ball, coarse far away."""
        eps = self.potential.radius
        near = np.linspace(0.0, 3 * eps, 241)
        return np.concatenate([near, 3 * eps + np.geomspace(0.02, self.reach - 3 * eps, 160)])

    @cached_property
    def profile(self) -> Array:
        r"""u on the grid, with m = (d - 1)/2,

        .. math:: u(r) = \sqrt{2/\pi}\,(2\pi)^{-d/2}\int_0^\infty \sqrt{\mathfrak F\Phi(\omega)}\;\omega^m\,
            (\omega r)\, j_{m-1}(\omega r)\, d\omega .
        """
        from scipy.special import spherical_jn

        d, transform = self.potential.dimension, Transform(self.potential)
        m = (d - 1) // 2
        amplitude, bend = transform.decay
        kappa2 = 2 * bend / (d + 1) if bend > 0 else self.potential.radius**-2
        w = np.arange(0.0, self.cutoff / self.potential.radius, self.spacing)
        rest = transform.root(w) - math.sqrt(amplitude) * (w**2 + kappa2) ** (-(d + 1) / 4)
        weight = rest * w**m * self.spacing
        weight[-1] *= 0.5
        u = np.array([weight @ (w * r * spherical_jn(m - 1, w * r)) for r in self.grid])
        u *= math.sqrt(2 / math.pi) * (2 * math.pi) ** (-d / 2)
        return u + math.sqrt(amplitude) * self._bessel(math.sqrt(kappa2))

    def _bessel(self, kappa: float) -> Array:
        r"""Return :math:`r^{(d-1)/2}` times the inverse transform of :math:`(\omega^2 + \kappa^2)^{-p}`, p = (d + 1)/4."""
        from scipy.special import gamma, kv

        d, r = self.potential.dimension, self.grid
        p = (d + 1) / 4
        order = d / 2 - p  # (d - 1)/4
        safe = np.where(r > 0, r, 1.0)
        factor = 2 ** (1 - p) / ((2 * math.pi) ** (d / 2) * gamma(p)) * kappa**order
        at_zero = factor * 0.5 * gamma(order) * (2 / kappa) ** order
        return np.where(r > 0, factor * safe**order * kv(order, kappa * safe), at_zero)

    def scaled(self, distance: Array) -> Array:
        """Return u(r), by cubic splines between the points of the grid, and 0 beyond them."""
        distance = np.asarray(distance, dtype=float)
        return np.where(distance <= self.grid[-1], self._spline(np.minimum(distance, self.grid[-1])), 0.0)

    @cached_property
    def _spline(self) -> Callable[[Array], Array]:
        from scipy.interpolate import CubicSpline

        return CubicSpline(self.grid, self.profile)

    def radial(self, distance: Array) -> Array:
        """Return s(r), r > 0."""
        return self.scaled(distance) * np.asarray(distance, dtype=float) ** (-(self.potential.dimension - 1) / 2)

    def activation(self, inputs: Array, centre: Array) -> Array:
        """Return sigma(x, theta) for inputs (..., d)."""
        d = self.potential.dimension
        square = np.sum(np.asarray(inputs) ** 2, -1)
        return (2 * math.pi) ** (d / 4) * np.exp(square / 4) * self.radial(np.linalg.norm(inputs - centre, axis=-1))

    def norm(self) -> float:
        """Return the integral of s^2 over R^d; it should be 1."""
        x, weights = _pieces(np.concatenate([self.grid[:-1:4], [self.reach]]), 8)
        return float(_area(self.potential.dimension) * weights @ self.scaled(x) ** 2)

    def convolved(self, distance: float) -> float:
        r"""Return (s * s)(R), R > 0, by quadrature; it should be Phi(R).

        In the sum u and the difference v of the distances to the two centres, with A the area of the sphere in R^(d-1),

        .. math:: (s*s)(R) = \frac{A}{2R^{d-2}}\int_R^\infty\!\!\int_{-R}^R s(r_1)s(r_2)\,r_1 r_2
            \Big(\tfrac14(u^2 - R^2)(R^2 - v^2)\Big)^{(d-3)/2} dv\,du .
        """
        d = self.potential.dimension
        edges = distance + np.concatenate([[0.0], np.geomspace(1e-3, 2 * self.reach, 60)])
        plus, plus_weights = _pieces(edges, 8)
        minus, minus_weights = _pieces(np.linspace(0.0, distance, 25), 8)  # the integrand is even in v
        first, second = 0.5 * (plus[:, None] + minus), 0.5 * (plus[:, None] - minus)
        height = 0.25 * (plus**2 - distance**2)[:, None] * (distance**2 - minus**2)
        product = self.scaled(first) * self.scaled(second) * (first * second) ** ((3 - d) / 2)
        total = plus_weights @ (product * height ** ((d - 3) / 2)) @ minus_weights
        return float(_area(d - 1) / distance ** (d - 2) * total)

    def sampled(self, distance: float, samples: int, seed: int) -> tuple[float, float]:
        r"""Return a Monte Carlo estimate of :math:`E[\sigma(x,\theta)\sigma(x,w)]`, :math:`|\theta - w| = R`, and its error.

        Gaussian inputs would give an infinite variance. Inputs are drawn from the mean of the densities
        :math:`s^2(x - \theta)` and :math:`s^2(x - w)` and weighed; the weighed product lies in [-1, 1].
        """
        rng = np.random.default_rng(seed)
        d = self.potential.dimension
        middle = 0.5 * (self.grid[1:] + self.grid[:-1])
        mass = np.cumsum(self.scaled(middle) ** 2 * np.diff(self.grid))
        cell = np.searchsorted(mass, rng.random(samples) * mass[-1])
        inner, outer = self.grid[cell], self.grid[cell + 1]
        r = inner + (outer - inner) * rng.random(samples)
        direction = rng.normal(size=(samples, d))
        x = direction * (r / np.linalg.norm(direction, axis=1))[:, None]
        x[: samples // 2, 0] += distance
        first, second = np.linalg.norm(x, axis=1), np.linalg.norm(x - distance * np.eye(d)[0], axis=1)
        # s^2 is drawn cell by cell, so its density is the mean of u^2 over the cell times r^(1-d).
        density = 0.5 * (self._drawn(first, mass[-1]) + self._drawn(second, mass[-1]))
        product = self.radial(first) * self.radial(second) / density
        return float(product.mean()), float(product.std(ddof=1) / math.sqrt(samples))

    def _drawn(self, distance: Array, total: float) -> Array:
        """Return the density, in R^d, of the points that :meth:`sampled` draws about one centre."""
        middle = 0.5 * (self.grid[1:] + self.grid[:-1])
        cell = np.clip(np.searchsorted(self.grid, distance, side="right") - 1, 0, len(middle) - 1)
        height = np.where(distance < self.grid[-1], self.scaled(middle)[cell] ** 2, 0.0)
        d = self.potential.dimension
        return height / (total * _area(d) * distance ** (d - 1))


def _area(dimension: int) -> float:
    """Return the area of the unit sphere in R^d."""
    return 2 * math.pi ** (dimension / 2) / math.gamma(dimension / 2)


def _pieces(edges: Array, order: int) -> tuple[Array, Array]:
    """Return Gauss-Legendre nodes and weights on every interval between two edges."""
    nodes, weights = leggauss(order)
    half = 0.5 * np.diff(edges)[:, None]
    return (edges[:-1, None] + half * (nodes + 1)).ravel(), (half * weights).ravel()
