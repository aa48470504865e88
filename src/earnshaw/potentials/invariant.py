"""Potentials of neurons: functions of two lengths and an angle, computed for all pairs by one fused loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from earnshaw.numerics import bivariate_gaussian_mean
from earnshaw.potentials.base import Pairs


class Frame(NamedTuple):
    r"""The plane of pairs of vectors (..., d): three lengths (...) and two unit vectors (..., d).

    For u and v write :math:`v = \beta\,\bar u + m\,\bar n` with :math:`\bar u = u/|u|`, :math:`\bar n` a unit vector
    perpendicular to it, and :math:`m \ge 0`. Where u or m is 0 the unit vector does not exist and is set to 0; by
    symmetry nothing is lost.
    """

    length: jax.Array  # |u|
    along: jax.Array  # beta
    across: jax.Array  # m
    unit: jax.Array
    normal: jax.Array


class Entries(NamedTuple):
    r"""The entries of a matrix in a frame, shape (...) each: by symmetry a second derivative of :math:`\Phi(u, v)` is

    .. math:: t\,(I - \bar u\bar u^T - \bar n\bar n^T) + t_{uu}\,\bar u\bar u^T + t_{un}\,\bar u\bar n^T
        + t_{nu}\,\bar n\bar u^T + t_{nn}\,\bar n\bar n^T ,

    few numbers, none of which suffers from cancellation. ``rest`` is t, of what is perpendicular to the plane.
    """

    rest: jax.Array
    uu: jax.Array
    un: jax.Array
    nu: jax.Array
    nn: jax.Array


def safe_divide(numerator: jax.Array, denominator: jax.Array) -> jax.Array:
    """Return the quotient, 0 where the denominator is not positive."""
    positive = denominator > 0
    return jnp.where(positive, numerator / jnp.where(positive, denominator, 1.0), 0.0)


def frame(first: jax.Array, second: jax.Array) -> Frame:
    """Return the frame of vectors u and v (..., d); the perpendicular part keeps its relative accuracy."""
    length = jnp.linalg.norm(first, axis=-1)
    unit = safe_divide(first, length[..., None])
    along = jnp.sum(second * unit, -1)
    across = second - along[..., None] * unit
    across = across - jnp.sum(across * unit, -1, keepdims=True) * unit
    size = jnp.linalg.norm(across, axis=-1)
    return Frame(length, along, size, unit, safe_divide(across, size[..., None]))


def assemble(plane: Frame, entries: Entries) -> jax.Array:
    """Return the matrices (..., d, d) with these entries in the frame."""
    u, n = plane.unit, plane.normal
    rest = entries.rest
    shape = jnp.broadcast_shapes(rest.shape, entries.uu.shape)
    left = (entries.uu - rest)[..., None] * u + entries.nu[..., None] * n
    right = entries.un[..., None] * u + (entries.nn - rest)[..., None] * n
    plane_part = left[..., :, None] * u[..., None, :] + right[..., :, None] * n[..., None, :]
    return jnp.broadcast_to(rest, shape)[..., None, None] * jnp.eye(u.shape[-1]) + plane_part


class Placed(NamedTuple):
    """Neurons (..., n): what the potential measures of them, their features, and the vectors (..., n, d) it combines."""

    sizes: jax.Array
    features: Any
    vectors: jax.Array | None  # None: the first n coordinate vectors; products with those cost nothing


class Invariant:
    r"""A rotation-invariant potential :math:`\Phi(u, v) = E[\sigma(u\cdot x)\,\sigma(v\cdot x)]`, x standard normal.

    It depends on u and v through three numbers, and there are two ways to choose them:

    - *polar* (``polar`` is True): the norms :math:`|u|, |v|` and the cosine of the angle of u and v. This suits
      activations that are not smooth at 0, whose potential has no derivative at u = 0.
    - *plain* (False): the squares :math:`|u|^2, |v|^2` and the product :math:`u\cdot v`. Potentials of smooth
      activations are smooth in these, also at u = 0.

    What belongs to one neuron alone is computed once a neuron by :meth:`prepare`, from its norm (polar) or its square
    (plain); the results, its *features*, may be any tree of arrays whose last axes are those of the norms given. The
    rest is elementwise in (features of u, features of v, cosine or product), so that all pairs of all runs are one fused
    loop. All methods broadcast.
    """

    polar: bool = False
    bounded: bool = True

    def activation(self, x: jax.Array) -> jax.Array:
        """Return sigma(x), elementwise: what the quadrature and sampled references use."""
        raise NotImplementedError

    def prepare(self, size: jax.Array) -> Any:
        """Return the features of neurons of these norms (polar) or squares (plain): the same, if nothing else is said."""
        return size

    def value(self, first: Any, second: Any, product: jax.Array) -> jax.Array:
        """Return Phi from the features of u and v, and their cosine (polar) or product (plain)."""
        raise NotImplementedError

    def gradient(self, first: Any, second: Any, product: jax.Array) -> tuple[jax.Array, jax.Array]:
        r"""Return (A, B) with :math:`\partial\Phi/\partial u = A\,u + B\,v`, for polar ones with unit vectors instead."""
        raise NotImplementedError

    def entries(self, plane: Frame) -> tuple[Entries, Entries]:
        """Return the entries of both blocks of second derivatives in the frame of u and v."""
        raise NotImplementedError

    def second_derivatives(self, first: jax.Array, second: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return the two blocks of second derivatives at pairs of vectors (..., d)."""
        plane = frame(first, second)
        same, mixed = self.entries(plane)
        return assemble(plane, same), assemble(plane, mixed)

    def measure(self, vectors: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return norms (...) and unit vectors (polar), or squares and the vectors themselves (plain)."""
        squares = jnp.sum(vectors * vectors, -1)
        if not self.polar:
            return squares, vectors
        norms = jnp.sqrt(squares)
        return norms, vectors / norms[..., None]

    def place(self, positions: jax.Array, coordinates: bool = False) -> Placed:
        """Return the features of neurons (..., n, d); ``coordinates``: they are the first n coordinate vectors."""
        sizes, vectors = self.measure(positions)
        return Placed(sizes, self.prepare(sizes), None if coordinates else vectors)

    def pairs(self, first: Placed, second: Placed | None = None) -> Pairs:
        """Return the pairs of neurons with others, or with themselves."""
        rows, vectors = _spread(first.features, -1), first.vectors
        assert vectors is not None
        if second is None:
            products = jnp.matmul(vectors, jnp.swapaxes(vectors, -1, -2))
            same = 1.0 if self.polar else first.sizes[..., None]
            products = jnp.where(jnp.eye(vectors.shape[-2], dtype=bool), same, products)
            return _Pairs(self, rows, _spread(first.features, -2), products, vectors, vectors)
        columns = _spread(second.features, -2)
        if second.vectors is None:
            return _Pairs(self, rows, columns, vectors[..., : second.sizes.shape[-1]], vectors, None)
        others = jnp.broadcast_to(second.vectors, (*vectors.shape[:-2], *second.vectors.shape[-2:]))
        return _Pairs(self, rows, columns, jnp.matmul(vectors, jnp.swapaxes(others, -1, -2)), vectors, others)


@dataclass(frozen=True)
class _Pairs(Pairs):
    """Features (..., n, 1) and (..., 1, m) of two groups of neurons, their products (..., n, m), and their vectors."""

    potential: Invariant
    rows: Any
    columns: Any
    products: jax.Array
    vectors: jax.Array
    others: jax.Array | None  # None: coordinate vectors

    def values(self) -> jax.Array:
        return self.potential.value(self.rows, self.columns, self.products)

    def slopes(self) -> jax.Array:
        along, toward = self.potential.gradient(self.rows, self.columns, self.products)
        others = jnp.eye(self.products.shape[-1], self.vectors.shape[-1]) if self.others is None else self.others
        return along[..., None] * self.vectors[..., :, None, :] + toward[..., None] * others[..., None, :, :]

    def force(self, charges: jax.Array) -> jax.Array:
        along, toward = self.potential.gradient(self.rows, self.columns, self.products)
        charges = charges[..., None, :]
        toward = toward * charges
        if self.others is None:
            spare = self.vectors.shape[-1] - toward.shape[-1]
            pull = jnp.pad(toward, [(0, 0)] * (toward.ndim - 1) + [(0, spare)])
        else:
            pull = jnp.matmul(toward, self.others)
        return jnp.sum(along * charges, -1)[..., None] * self.vectors + pull


def _spread(features: Any, axis: int) -> Any:
    """Return features with an axis more, along which they will be paired."""
    return jax.tree.map(lambda feature: jnp.expand_dims(feature, axis), features)


def value_at(potential: Invariant, first: ArrayLike, second: ArrayLike) -> jax.Array:
    """Return Phi(u, v), shape (...), for vectors (..., d)."""
    (a, u), (b, v) = potential.measure(jnp.asarray(first)), potential.measure(jnp.asarray(second))
    return potential.value(potential.prepare(a), potential.prepare(b), jnp.sum(u * v, -1))


def gradient_at(potential: Invariant, first: ArrayLike, second: ArrayLike) -> jax.Array:
    """Return dPhi/du, shape (..., d), for vectors (..., d)."""
    (a, u), (b, v) = potential.measure(jnp.asarray(first)), potential.measure(jnp.asarray(second))
    along, toward = potential.gradient(potential.prepare(a), potential.prepare(b), jnp.sum(u * v, -1))
    return along[..., None] * u + toward[..., None] * v


def quadrature(potential: Invariant, first: np.ndarray, second: np.ndarray, order: int = 60) -> float:
    r"""Return :math:`E[\sigma(u\cdot x)\sigma(v\cdot x)]` by quadrature in their plane, from sigma alone: a slow reference."""
    norms = [float(np.linalg.norm(vector)) for vector in (first, second)]
    unit, other = first / norms[0], second / norms[1]
    angle = 2 * np.arctan2(float(np.linalg.norm(unit - other)), float(np.linalg.norm(unit + other)))

    def integrand(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        first, second = (potential.activation(jnp.asarray(r * z)) for r, z in zip(norms, (x, y), strict=True))
        return np.asarray(first) * np.asarray(second)

    return bivariate_gaussian_mean(integrand, float(angle), order=order)
