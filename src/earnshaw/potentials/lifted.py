r"""Sign and ReLU neurons with noise of their own: smooth neurons, and their second derivatives.

A neuron :math:`\operatorname{sign}(u\cdot x + s\,e)` averaged over its own normal noise e is the smooth neuron
:math:`2\,\mathrm{cdf}(u\cdot x/s) - 1`. With noise the weights are :math:`(u, s) \in R^{d+1}`, one new coordinate for
each of the two neurons, and the potential of sign or ReLU neurons applies there: squares become
:math:`q = |u|^2 + s^2`, the product :math:`p = u\cdot v` stays. With :math:`p, q_1, q_2` and

.. math:: D = q_1 q_2 - p^2 = s_1^2 s_2^2 + s_1^2 |v|^2 + s_2^2 |u|^2 + |u \wedge v|^2 ,

the two functions of this file are (t the angle in the lifted space)

.. math:: K_0 = \arcsin\frac{p}{\sqrt{q_1 q_2}} = \tfrac\pi2 - t, \qquad K_1 = \sqrt D + (\pi - t)\,p .

Reference: Cho & Saul (2009), the arc-cosine kernels of degree 0 and 1; Williams (1997) for the lift of erf.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from earnshaw.potentials.frames import Entries, Frame

Lift = jax.Array | float  # a square s^2


def determinant(
    first: jax.Array, second: jax.Array, product: jax.Array, first_lift: Lift, second_lift: Lift
) -> jax.Array:
    r"""Return D from the squares :math:`|u|^2, |v|^2`, the product, and the squared lifts :math:`s^2`.

    Never below its value for parallel vectors, whatever rounding does to :math:`|u\wedge v|^2`.
    """
    wedge = jnp.maximum(first * second - product * product, 0.0)
    return first_lift * second_lift + first_lift * second + second_lift * first + wedge


def _numbers(plane: Frame, first_lift: Lift, second_lift: Lift) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """Return q1, p, m^2 + s2^2, D in a frame: sums of squares all of them but p."""
    r, beta, m = plane.length, plane.along, plane.across
    q = r * r + first_lift
    height = m * m + second_lift
    return q, r * beta, height, q * height + first_lift * beta * beta


def arcsine_entries(plane: Frame, first_lift: Lift, second_lift: Lift) -> tuple[Entries, Entries]:
    r"""Return :math:`\partial^2 K_0/\partial u^2` and :math:`\partial^2 K_0/\partial u\,\partial v` in the frame.

    With :math:`w = v - (p/q_1) u`, whose coordinates are :math:`(\beta s_1^2/q_1,\ m)`,

    .. math::
        \frac{\partial K_0}{\partial u} = \frac{w}{\sqrt D}, \qquad
        \frac{\partial^2 K_0}{\partial u^2} = \frac1{\sqrt D}\Big(-\frac p{q_1} I + \frac p{q_1^2} uu^T
        - \frac{uw^T + wu^T}{q_1} + \frac pD ww^T\Big), \qquad
        \frac{\partial^2 K_0}{\partial u\,\partial v} = \frac1{\sqrt D}\Big(I - \frac{uu^T}{q_1} - \frac{q_1}D ww^T\Big),

    and in the frame all differences of large terms can be carried out.
    """
    q, p, height, d = _numbers(plane, first_lift, second_lift)
    r, beta, m = plane.length, plane.along, plane.across
    scale = 1.0 / jnp.sqrt(d)
    un = -m * r * height / d
    flat = (q * second_lift + first_lift * beta * beta) / d
    same = Entries(
        rest=-scale * p / q,
        uu=scale * p * first_lift / (q * q) * (first_lift * beta * beta / d - 3.0),
        un=scale * un,
        nu=scale * un,
        nn=-scale * p / q * flat,
    )
    slant = -scale * first_lift * beta * m / d
    return same, Entries(rest=scale, uu=scale * first_lift * height / d, un=slant, nu=slant, nn=scale * flat)


def ramp_entries(plane: Frame, first_lift: Lift, second_lift: Lift) -> tuple[Entries, Entries]:
    r"""Return :math:`\partial^2 K_1/\partial u^2` and :math:`\partial^2 K_1/\partial u\,\partial v` in the frame.

    .. math::
        \frac{\partial K_1}{\partial u} = \frac{\sqrt D}{q_1} u + (\pi - t) v, \qquad
        \frac{\partial^2 K_1}{\partial u^2} = \frac{\sqrt D}{q_1}\Big(I - \frac{uu^T}{q_1}\Big) + \frac{ww^T}{\sqrt D}, \qquad
        \frac{\partial^2 K_1}{\partial u\,\partial v} = (\pi - t) I
        + \frac1{\sqrt D}\Big(uv^T + vu^T - \frac p{q_1} uu^T - \frac p{q_2} vv^T\Big).
    """
    q, p, height, d = _numbers(plane, first_lift, second_lift)
    r, beta, m = plane.length, plane.along, plane.across
    root = jnp.sqrt(d)
    tilt = first_lift * beta / q
    same = Entries(
        rest=root / q,
        uu=root * first_lift / (q * q) + tilt * tilt / root,
        un=tilt * m / root,
        nu=tilt * m / root,
        nn=root / q + m * m / root,
    )
    other = height + beta * beta
    supplement = jnp.pi - jnp.arctan2(root, p)
    slant = r * m * height / (other * root)
    mixed = Entries(
        rest=supplement,
        uu=supplement + p / root * (first_lift / q + height / other),
        un=slant,
        nu=slant,
        nn=supplement - p * m * m / (other * root),
    )
    return same, mixed
