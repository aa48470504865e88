"""The theorems of the ReLU landscape once more, written from docs/certificates.md alone: mpmath and floats, no balls.

`Truth` has the numbers of a point at 60 digits, with the kernel by its angle; `HOLDS` says for each kind whether the
hypotheses hold for the numbers of a certificate, in floats. So a claim that is a billionth beyond what a theorem allows
is known to be beyond it, whatever the checker says.
"""

from functools import cached_property
from math import inf, pi, sqrt

import mpmath as mp

DIGITS = 60


class Truth:
    """Value, gradient, Hessian and M at a student `center` for a teacher `target`."""

    def __init__(self, center, target):
        self.n, self.k, self.d = len(center), len(target), len(center[0])
        self.rows = [*center, *target]
        with mp.workdps(DIGITS):
            rows = [mp.matrix(row) for row in [*center, *target]]
            charge = [1] * self.n + [-1] * self.k
            size = [mp.norm(row) for row in rows]
            angle = [[self._angle(x, y) for y in rows] for x in rows]
            product = [[a * b for b in size] for a in size]
            self.value = mp.mpf(0)
            for a, _ in enumerate(rows):
                for b, _ in enumerate(rows):
                    t = angle[a][b]
                    kernel = product[a][b] * (mp.sin(t) + (mp.pi - t) * mp.cos(t)) / (2 * mp.pi)
                    self.value += charge[a] * charge[b] * kernel / 2
            self.gradient, self.hessian = mp.matrix(self.n, self.d), mp.matrix(self.n * self.d)
            self.extension = mp.matrix(self.n)
            for i in range(self.n):
                self.extension[i, i] = mp.mpf(1) / 2
                for b, other in enumerate(rows):
                    t = angle[i][b]
                    push = charge[b] * ((mp.pi - t) * other + mp.sin(t) * size[b] / size[i] * rows[i]) / (2 * mp.pi)
                    for a in range(self.d):
                        self.gradient[i, a] += push[a]
                    if b == i:
                        self._add(i, i, mp.eye(self.d) / 2)
                        continue
                    self._add(i, i, charge[b] * self._own(rows[i], other, t))
                    self.extension[i, i] += charge[b] * mp.sin(t) * size[b] / (2 * mp.pi * size[i])
                    if b < self.n:
                        self._add(i, b, self._mixed(rows[i], other, t))
                        self.extension[i, b] = (mp.pi - t) / (2 * mp.pi)
            self.lengths, self.shortest = [float(length) for length in size], min(size[: self.n])
            self.slope = float(mp.norm(self.gradient, 2))
            self.size, self.f = mp.norm(self.hessian, 2), float(self.value)
            self.frobenius = float(self.size)

    @cached_property
    def spectrum(self):
        """The eigenvalues of the Hessian."""
        with mp.workdps(DIGITS):
            return mp.eigsy(self.hessian, eigvals_only=True)

    @cached_property
    def least(self):
        return float(self.spectrum[0])

    @cached_property
    def least_beyond(self):
        with mp.workdps(DIGITS):
            return float(mp.eigsy(self.extension, eigvals_only=True)[0])

    @cached_property
    def reach(self):
        """The largest eigenvalue of the matrix of absolute values; no bound by weights is lower."""
        with mp.workdps(DIGITS):
            sizes = mp.matrix([[abs(x) for x in row] for row in self.hessian.tolist()])
            return float(max(mp.eigsy((sizes + sizes.T) / 2, eigvals_only=True)))

    @cached_property
    def newton(self):
        """(|H^-1 gradient|, |H^-1|), for a saddle."""
        with mp.workdps(DIGITS):
            column = mp.matrix([self.gradient[i, a] for i in range(self.n) for a in range(self.d)])
            inverse = self.hessian**-1
            return float(mp.norm(inverse * column, 2)), float(mp.norm(inverse, 2))

    @cached_property
    def lifted(self):
        """For each neuron D_i + w w'/|w|^2, D_i = Hessian_ii - I/2."""
        found = []
        with mp.workdps(DIGITS):
            for i in range(self.n):
                own, places = mp.matrix(self.rows[i]), range(i * self.d, (i + 1) * self.d)
                block = mp.matrix([[self.hessian[a, b] for b in places] for a in places]) - mp.eye(self.d) / 2
                found.append(block + own * own.T / (own.T * own)[0])
        return found

    @cached_property
    def splits(self):
        """For each neuron the smallest eigenvalue of that, M_ii - 1/2, and |w|^2."""
        with mp.workdps(DIGITS):
            least = [float(min(mp.eigsy(block, eigvals_only=True))) for block in self.lifted]
            beyond = [self.extension[i, i] - mp.mpf(1) / 2 for i in range(self.n)]
            return list(zip(least, beyond, [length**2 for length in self.lengths[: self.n]], strict=True))

    @staticmethod
    def _angle(x, y):
        """The angle of two vectors by the half-angle formula, which is good near 0 and near pi."""
        x, y = x / mp.norm(x), y / mp.norm(y)
        return 2 * mp.atan2(mp.norm(x - y), mp.norm(x + y))

    @staticmethod
    def _unit(w, v, t):
        """The unit vector of the part of v that is orthogonal to w; None when there is none."""
        part = v - (w.T * v)[0] / (w.T * w)[0] * w
        return part / mp.norm(part) if mp.norm(part) > mp.mpf(10) ** (-DIGITS + 10) * mp.norm(v) else None

    def _own(self, w, v, t):
        """d^2 f/dw^2 = |v| sin t/(2 pi |w|) (I - w w'/|w|^2 + g g'), g the unit vector of v's part orthogonal to w."""
        g = self._unit(w, v, t)
        if g is None:
            return mp.zeros(self.d)
        along = w / mp.norm(w)
        return mp.sin(t) * mp.norm(v) / (2 * mp.pi * mp.norm(w)) * (mp.eye(self.d) - along * along.T + g * g.T)

    def _mixed(self, w, v, t):
        """d^2 f/dw dv = ((pi - t) I + sin t (w v' + ... ))/(2 pi): with g of v against w and h of w against v, unit vectors."""
        g, h = self._unit(w, v, t), self._unit(v, w, t)
        block = (mp.pi - t) * mp.eye(self.d) / (2 * mp.pi)
        if g is None:
            return block
        # the angle falls by g.dw/|w| and by h.dv/|v|; f_w = sin t |v| w/|w| + (pi - t) v, over 2 pi
        along, beside = w / mp.norm(w), v / mp.norm(v)
        return block + (along * beside.T * mp.sin(t) - mp.cos(t) * along * h.T + beside * h.T) / (2 * mp.pi)

    def _add(self, i, j, block):
        for a in range(self.d):
            for b in range(self.d):
                self.hessian[i * self.d + a, j * self.d + b] += block[a, b]

    def lipschitz(self, radius, delta=0.0):
        """L on the ball of `radius` for teachers within `delta`; infinite when the ball holds a zero neuron."""
        students, teachers = self.lengths[: self.n], self.lengths[self.n :]
        if radius >= min(students):
            return inf
        found = 0.0
        for length in students:
            rest = sum(students) - length + (self.n - 1) * radius + sum(teachers) + self.k * delta
            bend = 3 * sqrt(3) / (4 * pi) * rest / (length - radius) ** 2
            turn = 3 * sqrt(self.n - 1) / (pi * (length - radius))
            found = max(found, sqrt(bend**2 + turn**2))
        return found


def minimum(truth, x):
    """Hypotheses (a) to (h), and the doubles' own `shift` below both eigenvalues."""
    r, outer, eps = x["R_enclosure"], x["R_unique"], x["claims.grad_norm_le"]
    lam, lip, mu = least(x), x["claims.hess_lipschitz_le"], x["claims.mu_ge"]
    beyond = x["claims.lambda_ext_ge"]
    return (
        0 < r <= outer
        and truth.lipschitz(outer) <= lip
        and truth.slope <= eps
        and x["claims.lambda_min_ge"] <= min(truth.least, x["hint.shift"])
        and x["hint.shift"] < truth.least
        and (beyond is None or (beyond <= x["hint.shift_ext"] < truth.least_beyond))
        and eps - lam * r + lip * r**2 / 2 < 0
        and lam - lip * outer > 0
        and 0 < mu <= lam - lip * r
        and 0 < x["claims.F_ge"] <= truth.f - eps**2 / (2 * mu)
        and x["claims.F_le"] >= truth.f
    )


def least(x):
    beyond = x["claims.lambda_ext_ge"]
    return x["claims.lambda_min_ge"] if beyond is None else min(x["claims.lambda_min_ge"], beyond)


def basin(truth, x):
    rho, nu, smooth = x["basin.radius"], x["basin.mu_ge"], x["basin.smoothness_le"]
    reach, lip = rho + 2 * x["R_enclosure"], x["claims.hess_lipschitz_le"]
    return (
        minimum(truth, x)
        and rho > 0
        and reach <= x["R_unique"]
        and x["basin.lambda_max_le"] >= truth.reach
        and smooth >= x["basin.lambda_max_le"] + lip * reach
        and 0 < nu <= least(x) - lip * reach
        and 0 < x["basin.step_lt"] <= 2 / smooth
    )


def robust(truth, x):
    delta, r, lip = x["robust.delta"], x["robust.R_enclosure"], x["robust.hess_lipschitz_le"]
    mu, value, moved = x["robust.mu_ge"], x["robust.F_ge"], truth.k * x["robust.delta"]
    eps = x["claims.grad_norm_le"] + sqrt(truth.n) * moved / 2
    lam = least(x) - moved / (pi * min(truth.lengths[: truth.n]))
    return (
        minimum(truth, x)
        and delta > 0
        and r > 0
        and truth.lipschitz(r, delta) <= lip
        and eps - lam * r + lip * r**2 / 2 < 0
        and 0 < mu <= lam - lip * r
        and value > 0
        and sqrt(2 * value + eps**2 / mu) + moved <= sqrt(2 * truth.f)
    )


def saddle(truth, x):
    r, eps, lip = x["R_enclosure"], x["claims.grad_norm_le"], x["claims.hess_lipschitz_le"]
    step, defect, size = (x[f"claims.{name}"] for name in ("newton_step_le", "defect_le", "inverse_norm_le"))
    bend = x["claims.curvature_le"]
    drift = eps * r + (truth.frobenius + lip * r) * r**2 / 2
    return (
        r > 0
        and truth.lipschitz(r) <= lip
        and truth.slope <= eps
        and truth.newton[0] <= step
        and defect > 1e-20  # no guessed inverse in doubles is that good
        and truth.newton[1] <= size
        and step + (defect - 1) * r + size * lip * r**2 / 2 < 0
        and truth.least < bend
        and bend + lip * r < 0
        and x["claims.F_ge"] <= truth.f - drift
        and x["claims.F_le"] >= truth.f + drift
    )


def every_n(truth, x):
    across, beyond, square = truth.splits[int(x["every_n.neuron"])]
    r, shift = x["R_enclosure"], x["hint.shift_split"]
    drift = x["claims.hess_lipschitz_le"] * r
    return (
        minimum(truth, x)
        and x["claims.lambda_ext_ge"] is not None
        and shift < across
        and 0 < x["every_n.delta"] <= shift - drift - r**2 / square
        and 0 < x["every_n.delta_ext"] <= float(beyond) - drift
    )


HOLDS = {"minimum": minimum, "basin": basin, "robust": robust, "saddle": saddle, "every_n": every_n}
