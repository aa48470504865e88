"""Arcs without calls into a maths library: sine and supplement of an angle from its cosine, and the arc sine."""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

# Rational approximation of (asin(x) - x) / x^3 in x^2 <= 1/4, error below 1e-17 (fdlibm's e_asin.c).
_NUMERATOR = (
    1.66666666666666657415e-01,
    -3.25565818622400915405e-01,
    2.01212532134862925881e-01,
    -4.00555345006794114027e-02,
    7.91534994289814532176e-04,
    3.47933107596021167570e-05,
)
_DENOMINATOR = (
    1.0,
    -2.40339491173441421878,
    2.02094576023350569471,
    -6.88283971605453293030e-01,
    7.70381505559019352791e-02,
)


def horner(coefficients: Sequence[float] | np.ndarray, x: jax.Array) -> jax.Array:
    """Return the polynomial with these coefficients, lowest power first."""
    result = jnp.full_like(x, float(coefficients[-1]))
    for coefficient in coefficients[-2::-1]:
        result = result * x + float(coefficient)
    return result


def _half_arc(size: jax.Array) -> tuple[jax.Array, jax.Array]:
    r"""Return, of numbers s in [0, 1], whether s > 1/2, and :math:`\tfrac12\arccos s` there, :math:`\arcsin s` elsewhere."""
    far = size > 0.5
    square = jnp.where(far, 0.5 * (1.0 - size), size * size)
    root = jnp.where(far, jnp.sqrt(square), size)
    return far, root + root * square * horner(_NUMERATOR, square) / horner(_DENOMINATOR, square)


@jax.custom_jvp
def sine_and_supplement(cosine: jax.Array) -> tuple[jax.Array, jax.Array]:
    r"""Return :math:`(\sin t,\ \pi - t)` for :math:`t = \arccos c`, elementwise, to a few units in the last place.

    The cosine is clipped to [-1, 1] first. An angle near 0 or pi is badly determined by its cosine (an error of 1e-16
    there moves t by 1e-8), but both results are exact functions of the *same* c, and quantities that are Lipschitz in c,
    such as the value and the gradient of the arc-cosine kernel, stay accurate; see :mod:`earnshaw.potentials.homogeneous`.
    Branch-free and without calls into a maths library, it is ten times faster than ``jnp.arccos``.

    The derivative, :math:`(-c, 1)\,dc / \sin t`, is set to 0 where the sine vanishes: there c is at an extremum, so
    that dc vanishes to second order.
    """
    cosine = jnp.minimum(jnp.maximum(cosine, -1.0), 1.0)
    size = jnp.abs(cosine)
    far, arc = _half_arc(size)
    angle = jnp.where(far, 2.0 * arc, 0.5 * math.pi - arc)
    return jnp.sqrt((1.0 - size) * (1.0 + size)), jnp.where(cosine > 0, math.pi - angle, angle)


@sine_and_supplement.defjvp
def _sine_and_supplement_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[tuple, tuple]:
    (cosine,), (change,) = primals, tangents
    sine, supplement = sine_and_supplement(cosine)
    inverse = jnp.where(sine > 0, 1.0 / jnp.where(sine > 0, sine, 1.0), 0.0)
    change = change * inverse
    return (sine, supplement), (-cosine * change, change)


@jax.custom_jvp
def arcsine(x: jax.Array) -> jax.Array:
    r"""Return :math:`\arcsin x`, elementwise, to a few units in the last place, with x clipped to [-1, 1].

    By the polynomials of :func:`sine_and_supplement`. The derivative is set to 0 at the ends.
    """
    far, arc = _half_arc(jnp.minimum(jnp.abs(x), 1.0))
    arc = jnp.where(far, 0.5 * math.pi - 2.0 * arc, arc)
    return jnp.where(x < 0, -arc, arc)


@arcsine.defjvp
def _arcsine_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    (x,), (change,) = primals, tangents
    square = (1.0 - x) * (1.0 + x)
    inside = square > 0
    slope = jnp.where(inside, 1.0 / jnp.sqrt(jnp.where(inside, square, 1.0)), 0.0)
    return arcsine(x), slope * change
