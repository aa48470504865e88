r"""The potential of any activation: a Hermite series, with its error stated.

With normalised Hermite polynomials :math:`\hat h_l = He_l/\sqrt{l!}` and :math:`h_l(r) = E[\sigma(rz)\,\hat h_l(z)]`,

.. math:: \Phi(u, v) = \sum_l h_l(|u|)\,h_l(|v|)\,c^l , \qquad c = \cos t,

t the angle of u and v. The coefficients belong to one neuron and cost a matrix product; a pair costs a polynomial in c.
No derivative of sigma is needed anywhere, because integrating by parts gives

.. math:: r\,h_l'(r) = l\,h_l(r) + \sqrt{(l+1)(l+2)}\,h_{l+2}(r) .
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.polynomial.legendre import leggauss

from earnshaw.errors import AccuracyWarning, InputError
from earnshaw.potentials.invariant import Entries, Frame, Invariant
from earnshaw.problems import Activation

REACH = 13.0  # the normal density is 1e-37 there
RULES = ((32, 112), (64, 128), (128, 160), (256, 224))  # degrees, with enough nodes on each side of 0 for each
TRUSTED = 1e-8  # a stated error above this is worth a warning
WANTED = 1e-10  # what the degree is chosen for


class SeriesFeatures(NamedTuple):
    """Of one neuron, for l = 0..L along the first axis: h_l; and what A and B of the gradient need of the moving one."""

    coefficients: jax.Array
    along: jax.Array  # sqrt((l+1)(l+2)) h_{l+2} / r
    toward: jax.Array  # (l+1) h_{l+1} / r


@dataclass(frozen=True)
class Series(Invariant):
    """The potential of a function, to a degree L, with coefficients by Gauss-Legendre quadrature.

    The interval is cut at 0, so that a kink there costs nothing; nodes are densest there too, which helps functions that
    are steep at 0. Kinks elsewhere, and functions that are steep on the scale :math:`1/|u|`, need a higher degree and more
    nodes: :meth:`stated_error` says how far to trust the result. Not defined at u = 0.
    """

    name: str
    digest: str | None
    degree: int = 64
    nodes: int = 160  # on each side of 0
    function: Callable[..., Any] = field(default=lambda x: x, compare=False, repr=False)
    polar = True

    @classmethod
    def of(cls, activation: Activation) -> Series:
        """Return the series of a user's function; one that JAX cannot trace raises :class:`InputError`."""
        function = activation.function if activation.function is not None else activation
        try:
            jax.eval_shape(function, jax.ShapeDtypeStruct((3,), jnp.float64))
        except Exception as error:  # whatever the user's function raises when JAX traces it
            raise InputError(
                f"the activation {activation.name!r} cannot be traced by JAX ({type(error.__cause__ or error).__name__}); write it with "
                "jax.numpy (import jax.numpy as jnp) in place of numpy or math"
            ) from None
        return cls(activation.name, activation.digest, function=function)

    def activation(self, x: jax.Array) -> jax.Array:
        """Return the function itself."""
        return jnp.asarray(self.function(x), dtype=jnp.float64)

    def prepare(self, size: jax.Array) -> SeriesFeatures:
        """Return the coefficients of neurons of these norms."""
        h = _coefficients(self, self.degree + 3, size)
        order = _orders(self.degree + 1, size)
        root = jnp.sqrt((order + 1) * (order + 2))
        return SeriesFeatures(h[:-2], root * h[2:] / size, (order + 1) * h[1:-1] / size)

    def value(self, first: SeriesFeatures, second: SeriesFeatures, product: jax.Array) -> jax.Array:
        """Return Phi from the coefficients and the cosine."""
        return _horner((first.coefficients,), (second.coefficients,), product)[0]

    def gradient(
        self, first: SeriesFeatures, second: SeriesFeatures, product: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        r"""Return (A, B) :math:`= \frac1{|u|}\sum_l h_l(|v|)\,\big(\sqrt{(l+1)(l+2)}\,h_{l+2}(|u|)\,c^l,\ l\,h_l(|u|)\,c^{l-1}\big)`."""
        raised = jnp.concatenate([second.coefficients[1:], jnp.zeros_like(second.coefficients[:1])])
        return _horner((first.along, first.toward), (second.coefficients, raised), product, unroll=4)

    def entries(self, plane: Frame) -> tuple[Entries, Entries]:
        r"""Return the second derivatives in the frame of u and v.

        With :math:`\Phi = \varphi(r, s, c)` and S = sin t,

        .. math::
            \partial_u^2: \quad t = \frac{\varphi_r}r - \frac{c\,\varphi_c}{r^2},\quad t_{uu} = \varphi_{rr},\quad
            t_{un} = S\Big(\frac{\varphi_{rc}}r - \frac{\varphi_c}{r^2}\Big),\quad
            t_{nn} = t + \frac{S^2\varphi_{cc}}{r^2},

        and those of :math:`\partial_u\partial_v` from the same by turning v.
        """
        r, s = plane.length, jnp.hypot(plane.along, plane.across)
        c, sine = plane.along / s, plane.across / s
        count = self.degree + 1
        order = _orders(count, r)
        h, h1, h2 = _two_derivatives(self, count, r)
        g, g1, _ = _two_derivatives(self, count, s)
        by_r, by_rr, by_rs = _horner((h1, h2, h1), (g, g, g1), c)
        once, twice = (order * h)[1:], (order * h1)[1:]
        by_c, by_rc, by_sc = _horner((once, twice, once), (g[1:], g[1:], g1[1:]), c)
        by_cc = _horner(((order * (order - 1) * h)[2:],), (g[2:],), c)[0]
        rest = (by_r - c * by_c / r) / r
        slant = sine * (by_rc - by_c / r) / r
        same = Entries(rest, by_rr, slant, slant, rest + sine**2 * by_cc / r**2)
        turn = c * by_c - sine**2 * by_cc
        mixed = Entries(
            rest=by_c / (r * s),
            uu=c * by_rs + sine**2 * by_rc / s,
            un=sine * (by_rs - c * by_rc / s),
            nu=sine * (c * by_sc / r - turn / (r * s)),
            nn=sine**2 * by_sc / r + c * turn / (r * s),
        )
        return same, mixed

    # ---- accuracy ----------------------------------------------------------------------------------------------

    def stated_error(self, first: float, second: float, cosine: float = 1.0) -> float:
        r"""Return a bound on the error of Phi for neurons of these norms at this cosine, from theory and twice the nodes.

        .. math:: |\Phi - \Phi_L| \le \rho(|u|)\,\rho(|v|)\,|c|^{L+1}, \qquad
            \rho(r)^2 = E[\sigma(rz)^2] - \sum_{l\le L} h_l(r)^2

        by Cauchy and Schwarz, plus the effect of the coefficients' own error (against a rule of twice the nodes), plus
        rounding.
        """
        (tail, missed, size), (other_tail, other_missed, other_size) = (
            _accuracy(self, float(norm)) for norm in (first, second)
        )
        rounding = 4e-16 * (self.degree + 10) ** 0.5 * size * other_size
        series = tail * other_tail * abs(cosine) ** (self.degree + 1)
        return series + size * other_missed + other_size * missed + rounding

    def fitted(self, norm: float) -> Series:
        """Return the series of the lowest degree that is right to 1e-10 for neurons up to this norm, or of the highest."""
        fits = (replace(self, degree=degree, nodes=nodes) for degree, nodes in RULES)
        good = (fit for fit in fits if fit.stated_error(norm, norm) <= WANTED * _accuracy(fit, norm)[2] ** 2)
        return next(good, replace(self, degree=RULES[-1][0], nodes=RULES[-1][1]))

    def warn(self, norms: np.ndarray) -> float:
        """Return the largest stated error among parallel neurons of these norms; warn when it is above 1e-8 of Phi."""
        worst = max((float(norm) for norm in np.ravel(norms)), key=lambda norm: self.stated_error(norm, norm))
        error, size = self.stated_error(worst, worst), _accuracy(self, worst)[2]
        if not error <= TRUSTED * size * size:
            warnings.warn(
                f"the potential of {self.name} is a series of degree {self.degree}, and its error at neurons of length "
                f"{worst:.3g} may be {error:.1e} (of {size * size:.1e}): the function is steep or has a kink; shorter "
                "neurons, or a smoother function, would be computed better",
                AccuracyWarning,
                stacklevel=3,
            )
        return error


@functools.lru_cache(maxsize=1024)
def _accuracy(series: Series, norm: float) -> tuple[float, float, float]:
    """Return the norms of the series' tail, of the coefficients' error, and of sigma, at this norm."""
    h, _ = _host_coefficients(series, series.nodes, norm)
    better, square = _host_coefficients(series, 2 * series.nodes, norm)
    tail = math.sqrt(max(square - float(better @ better), 0.0))
    return tail, float(np.linalg.norm(h - better)), math.sqrt(square)


def _host_coefficients(series: Series, nodes: int, norm: float) -> tuple[np.ndarray, float]:
    r"""Return h_0..h_L and :math:`E[\sigma(rz)^2]` by a rule of so many nodes; one shape of array serves all rules."""
    (z, weights), table = _rule(nodes), _table(nodes, series.degree + 1)[1]
    padded = np.zeros(512 * math.ceil(nodes / 512))
    padded[:nodes] = norm * z
    up, down = (np.asarray(series.activation(jnp.asarray(sign * padded)))[:nodes] for sign in (1.0, -1.0))
    h = np.empty(series.degree + 1)
    h[0::2], h[1::2] = (up + down) @ table[:, 0::2], (up - down) @ table[:, 1::2]
    return h, float((up**2 + down**2) @ weights)


def _orders(count: int, like: jax.Array) -> jax.Array:
    return jnp.arange(float(count)).reshape(-1, *(1,) * jnp.ndim(like))


@functools.cache
def _rule(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes z > 0 and weights for a normal mean over z > 0."""
    x, w = leggauss(nodes)
    z = 0.5 * REACH * (x + 1)
    return z, 0.5 * REACH * w * np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)


@functools.cache
def _table(nodes: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes z > 0, and the weights times the Hermite polynomials there, (nodes, count)."""
    z, weights = _rule(nodes)
    table = np.empty((nodes, count))
    # The polynomials grow as exp(z^2/4), the weights fall as exp(-z^2/2): multiply half of the weight in first.
    before, now = np.zeros(nodes), np.exp(-0.25 * z * z)
    rest = weights * np.exp(0.25 * z * z)
    for order in range(count):
        table[:, order] = rest * now
        before, now = now, (z * now - math.sqrt(order) * before) / math.sqrt(order + 1)
    return z, table


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _coefficients(series: Series, count: int, norm: jax.Array) -> jax.Array:
    """Return h_0..h_{count - 1}, shape (count, ...), of neurons of these norms (...)."""
    z, table = _table(series.nodes, count)
    at = norm[..., None] * z
    up, down = series.activation(at), series.activation(-at)
    even = jnp.matmul(up + down, table[:, 0::2])
    odd = jnp.matmul(up - down, table[:, 1::2])
    paired = jnp.stack([even[..., : odd.shape[-1]], odd], -1).reshape(*norm.shape, -1)
    whole = jnp.concatenate([paired, even[..., odd.shape[-1] :]], -1)
    return jnp.moveaxis(whole, -1, 0)


@_coefficients.defjvp
def _coefficients_jvp(
    series: Series, count: int, primals: tuple[jax.Array], tangents: tuple[jax.Array]
) -> tuple[jax.Array, jax.Array]:
    (norm,), (change,) = primals, tangents
    h = _coefficients(series, count + 2, norm)
    return h[:-2], _euler(h) * (change / norm)


def _euler(h: jax.Array) -> jax.Array:
    """Return r dh/dr from h: two orders fewer."""
    order = _orders(len(h) - 2, h[0])
    return order * h[:-2] + jnp.sqrt((order + 1) * (order + 2)) * h[2:]


def _two_derivatives(series: Series, count: int, norm: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return h, h' and h'' (count, ...) of neurons of these norms."""
    h = _coefficients(series, count + 4, norm)
    once = _euler(h)
    twice = _euler(once)
    return h[:count], once[:count] / norm, (twice - once[:count]) / norm**2


def _horner(rows: tuple[jax.Array, ...], columns: tuple[jax.Array, ...], cosine: jax.Array, unroll: int = 1) -> Any:
    """Return the sums over l of row_l column_l c^l, for several pairs; unrolling buys speed with compilation."""
    shape = jnp.broadcast_shapes(rows[0].shape[1:], columns[0].shape[1:], jnp.shape(cosine))

    def step(totals: tuple[jax.Array, ...], terms: tuple) -> tuple[tuple[jax.Array, ...], None]:
        return tuple(total * cosine + row * column for total, row, column in zip(totals, *terms, strict=True)), None

    start = tuple(jnp.zeros(shape) for _ in rows)
    return jax.lax.scan(step, start, (rows, columns), reverse=True, unroll=unroll)[0]
