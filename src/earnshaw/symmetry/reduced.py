r"""The loss of points with a pattern, and two derivatives of it, as functions of the pattern's numbers; no compilation.

Rows i and j (of the pattern, and of the teacher, one for each taught group) stand for :math:`m_i` and :math:`m_j` neurons of
charge 1 and -1, which meet in two ways: at different coordinates (apart), and, if both are families of one group, at the
same. With o the entries, d those at the own coordinate, t(i) the own group, and :math:`\delta_i = d_i - o_{i,t(i)}`, the inner
products are

.. math:: \sum_c q_c o_{ic}o_{jc} + \delta_i o_{j,t(i)} + \delta_j o_{i,t(j)}\ (\text{apart}),\qquad + \delta_i\delta_j\ (\text{same}),

and :math:`F = \frac12\sum \pm\Phi` over all pairs, with :math:`\Phi(p, q, s) = (r + s(\pi - t))/2\pi` of the squared lengths
and the inner product, :math:`r = \sqrt{pq - s^2} = \sqrt{pq}\sin t`. Its derivatives are

.. math:: \Phi_s = \frac{\pi - t}{2\pi},\quad \Phi_p = \frac{r}{4\pi p},\quad \Phi_{ss} = \frac1{2\pi r},\quad
    \Phi_{ps} = -\frac{s}{4\pi pr},\quad \Phi_{pp} = \frac{q}{8\pi pr} - \frac{r}{4\pi p^2},\quad \Phi_{pq} = \frac1{8\pi r}.

Inner products are quadratic in the numbers, and the chain rule does the rest. Where two rows are parallel, 1/r stands for 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Kernel(NamedTuple):
    """Phi of pairs and its derivatives, by squared length p of the first, q of the second and inner product s."""

    value: Array
    s: Array
    p: Array
    ss: Array
    ps: Array
    pp: Array
    pq: Array

    @classmethod
    def of(cls, p: Array, q: Array, s: Array) -> Kernel:
        """Evaluate everything."""
        gap = p * q - s * s
        r = np.sqrt(np.maximum(gap, 0.0))
        inverse = np.divide(1.0, r, out=np.zeros_like(r), where=r > 0)
        angle = np.pi - np.arctan2(r, s)
        pi = np.pi
        return cls(
            (r + s * angle) / (2 * pi),
            angle / (2 * pi),
            r / (4 * pi * p),
            inverse / (2 * pi),
            -s * inverse / (4 * pi * p),
            q * inverse / (8 * pi * p) - r / (4 * pi * p * p),
            inverse / (8 * pi),
        )


class Reduced:
    """F as a function of the numbers of a pattern; ``owns`` has the own group of each row, None for a single neuron."""

    def __init__(
        self,
        sizes: Sequence[float],
        owns: Sequence[int | None],
        taught: Sequence[bool],
        entries: Sequence[tuple[int, int, bool]],
    ) -> None:
        """Write o, d and their differences as linear functions of the numbers and 1."""
        every = [*owns, *(group for group, known in enumerate(taught) if known)]
        count, last = len(every), len(entries)
        self.sizes = np.array(sizes, dtype=np.float64)
        self.off = np.zeros((count, len(sizes), last + 1))
        own = np.zeros((count, last + 1))
        own[len(owns) :, last] = 1.0
        for place, (row, group, paired) in enumerate(entries):
            (own[row] if paired else self.off[row, group])[place] = 1.0
        self.tie = np.array([[group == mine for group in range(len(sizes))] for mine in every], dtype=np.float64)
        self.excess = own - np.einsum("ig,igx->ix", self.tie, self.off)
        self.copies = np.where(self.tie.any(1), self.tie @ self.sizes, 1.0)
        self.shared = self.tie @ self.tie.T
        charge, alone = np.where(np.arange(count) < len(owns), 1.0, -1.0), np.eye(count, dtype=bool)
        signs, times = np.outer(charge, charge), np.outer(self.copies, self.copies)
        apart = np.where((self.shared > 0) | alone, self.copies[:, None] * (self.copies - 1), times)
        same = np.where((self.shared > 0) & ~alone, self.copies[:, None], 0.0)
        self.pairs = signs * apart, signs * same

    @np.errstate(all="ignore")  # a zero neuron gives NaN, for whoever asks to look at
    def value(self, numbers: Array) -> float:
        """Return F."""
        apart, same = self._products(*self._entries(numbers))
        kernels = self._kernels(apart, same)
        total = 0.5 * float(self.copies @ np.diagonal(same))
        return 0.5 * (total + sum(float((w * f.value).sum()) for w, f in zip(self.pairs, kernels, strict=True)))

    @np.errstate(all="ignore")  # a zero neuron gives NaN, for whoever asks to look at
    def gradient(self, numbers: Array) -> Array:
        """Return the derivatives of F by the numbers."""
        off, excess = self._entries(numbers)
        kernels = self._kernels(*self._products(off, excess))
        by_apart, by_same = self._slopes(kernels)
        by_off = (by_apart @ off) * self.sizes + (by_apart * excess) @ self.tie
        by_excess = (by_apart * (self.tie @ off.T)).sum(1) + by_same @ excess
        return (np.einsum("ig,igx->x", by_off, self.off) + by_excess @ self.excess)[:-1]

    @np.errstate(all="ignore")  # a zero neuron gives NaN, for whoever asks to look at
    def hessian(self, numbers: Array) -> Array:
        """Return the second derivatives of F by the numbers."""
        off, excess = self._entries(numbers)
        kernels = self._kernels(*self._products(off, excess))
        by_apart, by_same = self._slopes(kernels)
        # the slopes of Phi times the second derivatives of the inner products
        beside = np.einsum("ij,jgx->igx", by_apart, self.off)
        met = np.einsum("ix,ig,igy->xy", self.excess, self.tie, beside)
        total = np.einsum("igx,g,igy->xy", self.off, self.sizes, beside) + met + met.T
        total += self.excess.T @ by_same @ self.excess
        # the second derivatives of Phi times the slopes of the inner products, of which those of squared lengths are a part
        half = np.einsum("igx,jg->ijx", self.off, self.sizes * off) + excess[:, None, None] * np.einsum(
            "ig,jgx->ijx", self.tie, self.off
        )
        half += (self.tie @ off.T)[:, :, None] * self.excess[:, None, :]
        apart = half + half.transpose(1, 0, 2)
        outer = self.shared[:, :, None] * excess[:, None, None] * self.excess
        same = apart + outer + outer.transpose(1, 0, 2)
        square = np.einsum("iix->ix", same)
        for weights, kernel, slopes in zip(self.pairs, kernels, (apart, same), strict=True):
            total += 0.5 * np.einsum("ijx,ijy->xy", slopes, (weights * kernel.ss)[:, :, None] * slopes)
            mixed = square.T @ np.einsum("ij,ijx->ix", weights * kernel.ps, slopes)
            total += mixed + mixed.T
            total += square.T @ ((weights * kernel.pp).sum(1)[:, None] * square)
            total += square.T @ (weights * kernel.pq) @ square
        return total[:-1, :-1]

    def _entries(self, numbers: Array) -> tuple[Array, Array]:
        """Return o (rows, groups) and delta (rows,)."""
        point = np.append(np.asarray(numbers, dtype=np.float64), 1.0)
        return self.off @ point, self.excess @ point

    def _products(self, off: Array, excess: Array) -> tuple[Array, Array]:
        """Return the inner products of rows apart, and at the same coordinate; squared lengths are among the latter."""
        met = excess[:, None] * (self.tie @ off.T)
        apart = (off * self.sizes) @ off.T + met + met.T
        return apart, apart + excess[:, None] * excess * self.shared

    def _kernels(self, apart: Array, same: Array) -> tuple[Kernel, Kernel]:
        square = np.diagonal(same)
        return Kernel.of(square[:, None], square, apart), Kernel.of(square[:, None], square, same)

    def _slopes(self, kernels: tuple[Kernel, Kernel]) -> tuple[Array, Array]:
        """Return the derivatives of 2F by the inner products apart, of which those at the same coordinate have a part."""
        first, second = (weights * kernel.s for weights, kernel in zip(self.pairs, kernels, strict=True))
        lengths = sum((w * f.p).sum(1) for w, f in zip(self.pairs, kernels, strict=True))
        second = second + np.diag(0.5 * self.copies + 2.0 * lengths)
        return first + second, second * self.shared
