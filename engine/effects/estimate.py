"""P(y | do(x)) by adjusting for a set, from released tensors, and how sure that is.

With u the contrasts of a variable and phi = (1, u_x, u_z of every adjusted z), the released pairs
give G = E[phi phi'] and C = E[phi u_y'], and B = G^-1 C is the linear projection of u_y on phi.
Setting x to a level j and averaging over the adjusted variables as they are,

    P(y = k | do(x = j)) = 1/r_y + (1, h_x(j), E[u_z])' B h_y(k).

Without adjusted variables that is P(y | x) itself. With one that was released in a triple with x
and y the tables are used level by level; with more it is a linear projection, and is called so.

Every number here is a smooth function of released tensors. Its variance has two parts: the noise of
every entry, which is known, and the sample's, from the influence that one record has, averaged over
the cells of x, y and the adjusted variables (as in White's robust variance: the residual's variance
may differ from cell to cell). A difference of two levels is a ratio N / D, and its interval that
of Fieller (1954): the values t for which N - t D is within the error of zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from engine.marginals.contrasts import Array, helmert
from engine.marginals.moments import Moments

# For each released tensor its noise variance and the slopes of k numbers by its entries, (size, k).
Slopes = list[tuple[float, Array]]

LEVELS, PROJECTION = "level by level", "linear projection"
Z95 = 1.959963984540054
MOST_CELLS = 200_000
SWEEPS = 15  # of iterative proportional fitting: the cells only weigh a variance
RARE = 3.0  # noise deviations that a cell must have to be divided by


@dataclass(frozen=True)
class Interval:
    """An estimate and its 95 % interval; an end is infinite where nothing is excluded."""

    value: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """How much is left open."""
        return self.high - self.low

    def within(self, least: float, most: float) -> Interval:
        """The same without what cannot be: nothing lies below ``least`` or above ``most``."""
        return Interval(*(min(max(x, least), most) for x in (self.value, self.low, self.high)))


@dataclass(frozen=True, eq=False)
class Estimate:
    """The effect of x on y adjusted for a set.

    ``risks`` (r_x, r_y): P(y = k | do(x = j)), not cut to [0, 1]; ``noise`` and ``sampling``
    (r_y, r_x, r_x): covariances of the risks of one level of y over the levels of x. ``method`` is
    ``LEVELS`` or ``PROJECTION``.
    """

    x: int
    y: int
    adjusted: tuple[int, ...]
    method: str
    risks: Array
    noise: Array
    sampling: Array
    _fit: _Fit | None

    def risk(self, level: int, event: int) -> Interval:
        """P(y = event | do(x = level)), cut to [0, 1]."""
        value = float(self.risks[level, event])
        spread = Z95 * math.sqrt(self.variance(event)[level, level])
        return Interval(value, value - spread, value + spread).within(0.0, 1.0)

    def variance(self, event: int) -> Array:
        """(r_x, r_x): covariance of the event's risks, noise and sampling together."""
        total: Array = self.noise[event] + self.sampling[event]
        return total

    def difference(self, to: int, base: int, event: int) -> Interval:
        """P(y = event | do(x = to)) - P(y = event | do(x = base)).

        Its ends may lie beyond [-1, 1], where no difference is: an interval that only seems
        narrow once it is cut says nothing.
        """
        if self._fit is not None:
            return self._fit.difference(to, base, event)
        value, covariance = (
            float(self.risks[to, event] - self.risks[base, event]),
            (self.variance(event)),
        )
        variance = covariance[to, to] + covariance[base, base] - 2 * covariance[to, base]
        spread = Z95 * math.sqrt(variance)
        return Interval(value, value - spread, value + spread)


def too_many_cells(moments: Moments, variables: Sequence[int]) -> bool:
    """Whether a set has more cells than are looked at."""
    return math.prod(moments.cardinalities[v] for v in variables) > MOST_CELLS


def estimate(moments: Moments, x: int, y: int, adjusted: Sequence[int] = ()) -> Estimate | None:
    """The effect of x on y adjusted for a set; None where the released tables cannot be solved.

    That is where the noise leaves the adjusted variables' second moments no covariance matrix.
    Not for sets of :func:`too_many_cells`.
    """
    chosen = tuple(adjusted)
    if len(chosen) == 1 and moments.has(x, y, *chosen):
        found = _level_by_level(moments, x, y, chosen[0])
        if found is not None:
            return found
    fit = _Fit.of(moments, x, y, chosen)
    if fit is None:
        return None
    risks, noise, sampling = fit.risks()
    method = PROJECTION if chosen else LEVELS
    return Estimate(x, y, chosen, method, risks, noise, sampling, fit)


@dataclass(frozen=True, eq=False)
class _Fit:
    """The linear projection on phi: each variable's features, G, C, and the cells of all."""

    moments: Moments
    x: int
    y: int
    adjusted: tuple[int, ...]
    at: dict[int, slice]  # of each variable of phi; the constant is at 0
    gram: Array
    cross: Array
    cells: tuple[Array, Array, Array]  # phi (cells, f), level of y (cells,), probability (cells,)

    @classmethod
    def of(cls, m: Moments, x: int, y: int, adjusted: tuple[int, ...]) -> _Fit | None:
        """None where G is no matrix of second moments."""
        at, end = {}, 1
        for v in (x, *adjusted):
            at[v] = slice(end, end + len(m.at[v]))
            end += len(m.at[v])
        gram, cross = np.zeros((end, end)), np.zeros((end, len(m.at[y])))
        gram[0, 0], cross[0] = 1.0, m.one[m.at[y]]
        for v, where in at.items():
            gram[0, where] = gram[where, 0] = m.one[m.at[v]]
            h = helmert(m.cardinalities[v])
            gram[where, where] = h.T @ (share(m, v)[:, None] * h)
            cross[where] = m.block(v, y)
        for v, w in combinations(at, 2):
            gram[at[v], at[w]] = m.block(v, w)
            gram[at[w], at[v]] = m.block(v, w).T
        if np.linalg.eigvalsh(gram)[0] <= 1e-9:
            return None
        return cls(m, x, y, adjusted, at, gram, cross, _cells(m, x, y, adjusted))

    def risks(self) -> tuple[Array, Array, Array]:
        """Risks (r_x, r_y) and their covariances by noise and by sampling (r_y, r_x, r_x)."""
        m, r_y = self.moments, self.moments.cardinalities[self.y]
        r_x, h_y = m.cardinalities[self.x], helmert(r_y)
        mean = np.tile(self.gram[0], (r_x, 1))
        mean[:, self.at[self.x]] = helmert(r_x)
        solution = np.linalg.solve(self.gram, self.cross)
        leverage = np.linalg.solve(self.gram, mean.T)
        risks = 1 / r_y + mean @ solution @ h_y.T
        both = [self._covariances(leverage, solution @ v, v, k) for k, v in enumerate(h_y)]
        return risks, np.array([noise for noise, _ in both]), np.array([s for _, s in both])

    def _covariances(self, u: Array, b: Array, v: Array, event: int) -> tuple[Array, Array]:
        """Covariances over the columns of u, by noise and by sampling, of one event's risks."""
        phi, level, p = self.cells
        moved = np.zeros(len(phi))
        for z in self.adjusted:
            moved += (phi[:, self.at[z]] - self.gram[0, self.at[z]]) @ b[self.at[z]]
        influence = moved[:, None] + (phi @ u) * (self._hit(level, event) - phi @ b)[:, None]
        slopes = self._slopes(u, b, v, shifted=True)
        return _noise(slopes, slopes), _spread(influence, influence, p) / self.moments.n

    def _hit(self, level: Array, event: int) -> Array:
        """h_y(level)' h_y(event) of each cell."""
        out: Array = (level == event) - 1 / self.moments.cardinalities[self.y]
        return out

    def _slopes(self, u: Array, b: Array, v: Array, shifted: bool = False) -> Slopes:
        """How u' (C v - G b), over the columns of u, moves with every released tensor's entries.

        ``shifted`` adds how the adjusted variables' means move what is averaged over them.
        """
        m, k = self.moments, u.shape[1]
        found = [(m.variance(self.y), np.outer(v, u[0]))]
        for w, at in self.at.items():
            h = helmert(m.cardinalities[w])
            own = -np.outer(b[at], u[0]) - b[0] * u[at] - h.T @ ((h @ u[at]) * (h @ b[at])[:, None])
            if shifted and w in self.adjusted:
                own += b[at][:, None]
            found.append((m.variance(w), own))
            found.append((m.variance(w, self.y), (u[at][:, None, :] * v[:, None]).reshape(-1, k)))
        for w, z in combinations(self.at, 2):
            a, c = self.at[w], self.at[z]
            slope = u[a][:, None, :] * b[c][:, None] + b[a][:, None, None] * u[c][None]
            found.append((m.variance(w, z), -slope.reshape(-1, k)))
        return found

    def difference(self, to: int, base: int, event: int) -> Interval:
        """Fieller's interval of the difference of two levels' risks of one event."""
        m, h = self.moments, helmert(self.moments.cardinalities[self.x])
        axis = h[to] - h[base]
        length = float(np.linalg.norm(axis))
        turned = _first_axis(axis / length)
        fit = self._turned(turned)
        first = fit.at[fit.x].start
        rest = [i for i in range(len(fit.gram)) if i != first]
        v = helmert(m.cardinalities[self.y])[event]
        inner = fit.gram[np.ix_(rest, rest)]
        gamma = np.linalg.solve(inner, fit.gram[rest, first])
        eta = np.linalg.solve(inner, fit.cross[rest] @ v)
        u, b0, b1 = (np.zeros(len(fit.gram)) for _ in range(3))
        u[first], u[rest], b0[rest] = 1.0, -gamma, eta
        b1[first], b1[rest] = 1.0, -gamma
        n, d = float(u @ (fit.cross @ v - fit.gram @ b0)), float(u @ fit.gram @ b1)
        terms = fit._ratio_variances(self._back(u, turned), self._back(b0, turned),
                                     self._back(b1, turned), v, event, self)  # fmt: skip
        value, low, high = _fieller(n, d, *terms)
        return Interval(length * value, length * low, length * high)

    def _turned(self, axes: Array) -> _Fit:
        """The same with x's features along other orthonormal axes (rows)."""
        whole = np.eye(len(self.gram))
        whole[self.at[self.x], self.at[self.x]] = axes
        gram, cross = whole @ self.gram @ whole.T, whole @ self.cross
        return _Fit(self.moments, self.x, self.y, self.adjusted, self.at, gram, cross, self.cells)

    def _back(self, coefficients: Array, axes: Array) -> Array:
        out = coefficients.copy()
        out[self.at[self.x]] = axes.T @ coefficients[self.at[self.x]]
        return out

    def _ratio_variances(
        self, u: Array, b0: Array, b1: Array, v: Array, event: int, fit: _Fit
    ) -> tuple[float, float, float]:
        """Variances of N and D, and their covariance between, by noise and sampling together.

        N = u' (C v - G b0) and D = u' G b1, their influences the residual of x's feature times
        that of y, and squared.
        """
        phi, level, p = self.cells
        column, none = u[:, None], np.zeros_like(v)
        residual, left = phi @ u, self._hit(level, event) - phi @ b0
        n, d = (residual * left)[:, None], (residual * (phi @ b1))[:, None]
        rows = self.moments.n
        above, below = fit._slopes(column, b0, v), fit._slopes(column, -b1, none)
        top = _noise(above, above) + _spread(n, n, p) / rows
        low = _noise(below, below) + _spread(d, d, p) / rows
        both = _noise(above, below) + _spread(n, d, p) / rows
        return top.item(), both.item(), low.item()


def _noise(one: Slopes, two: Slopes) -> Array:
    """Covariance by noise of what has these slopes; (k, k)."""
    return np.asarray(sum(var * (a.T @ c) for (var, a), (_, c) in zip(one, two, strict=True)))


def _spread(a: Array, b: Array, p: Array) -> Array:
    """Covariance of the columns of a with those of b under the cells' probabilities."""
    out: Array = a.T @ (p[:, None] * b) - np.outer(p @ a, p @ b)
    return out


def _first_axis(axis: Array) -> Array:
    """An orthonormal matrix with the first row ``axis``: a Householder reflection."""
    target = np.zeros_like(axis)
    target[0] = 1.0
    normal = axis - target
    size = float(normal @ normal)
    if size < 1e-24:
        return np.eye(len(axis))
    out: Array = np.eye(len(axis)) - 2 * np.outer(normal, normal) / size
    return out


def _fieller(n: float, d: float, top: float, both: float, low: float) -> tuple[float, float, float]:
    """N / D and the ends of {t: (N - t D)^2 <= z^2 Var(N - t D)}; infinite where D may be zero."""
    z2 = Z95**2
    a, b, c = d * d - z2 * low, n * d - z2 * both, n * n - z2 * top
    value = n / d if d else math.nan
    inner = b * b - a * c
    if a <= 0 or inner < 0:
        return value, -math.inf, math.inf
    return value, (b - math.sqrt(inner)) / a, (b + math.sqrt(inner)) / a


def share(m: Moments, i: int) -> Array:
    """The variable's distribution as released: a share may be below 0."""
    out: Array = 1 / m.cardinalities[i] + helmert(m.cardinalities[i]) @ m.one[m.at[i]]
    return out


def table(m: Moments, *variables: int) -> Array:
    """The joint table of one, two or three variables as released: a share may be below 0."""
    cards = [m.cardinalities[v] for v in variables]
    out = np.full(cards, 1 / math.prod(cards))
    for size in range(1, len(variables) + 1):
        for axes in combinations(range(len(variables)), size):
            part = m.tensor_of(*(variables[a] for a in axes))
            for a in axes:
                part = np.moveaxis(np.tensordot(helmert(cards[a]), part, (1, list(axes).index(a))),
                                   0, list(axes).index(a))  # fmt: skip
            shape = [cards[a] if a in axes else 1 for a in range(len(cards))]
            rest = math.prod(cards[a] for a in range(len(cards)) if a not in axes)
            out = out + part.reshape(shape) / rest
    return out


def _pair(m: Moments, i: int, j: int) -> Array:
    """:func:`table` of two variables, of which many are asked for."""
    one, two = share(m, i), share(m, j)
    even = one[:, None] / len(two) + two / len(one) - 1 / (len(one) * len(two))
    out: Array = even + helmert(len(one)) @ m.block(i, j) @ helmert(len(two)).T
    return out


def _cells(m: Moments, x: int, y: int, adjusted: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """phi, y's level and probability of every cell of x, y and the adjusted variables.

    The probabilities fit all released pairs and nothing else (iterative proportional fitting).
    """
    variables = (x, *adjusted, y)
    cards = [m.cardinalities[v] for v in variables]
    p = np.ones(cards) / math.prod(cards)
    targets = {}
    for a, b in combinations(range(len(cards)), 2):
        wanted = np.maximum(_pair(m, variables[a], variables[b]), 1e-9)
        targets[a, b] = wanted / wanted.sum()
    for _ in range(SWEEPS if len(cards) > 2 else 1):
        for (a, b), wanted in targets.items():
            others = tuple(k for k in range(len(cards)) if k not in (a, b))
            now = p.sum(axis=others, keepdims=True)
            shape = [cards[k] if k in (a, b) else 1 for k in range(len(cards))]
            p = p * (wanted.reshape(shape) / np.maximum(now, 1e-300))
    levels = np.indices(cards).reshape(len(cards), -1)
    phi = [np.ones((levels.shape[1], 1))]
    phi += [helmert(r)[k] for r, k in zip(cards[:-1], levels[:-1], strict=True)]
    return np.concatenate(phi, axis=1), levels[-1], p.ravel() / p.sum()


def _level_by_level(m: Moments, x: int, y: int, z: int) -> Estimate | None:
    """Sum over z of P(z) P(y | x, z), from the released triple; None where a cell is too rare."""
    p = table(m, x, y, z)
    joint, alone = p.sum(axis=1), p.sum(axis=(0, 1))
    cards = p.shape
    noise = math.sqrt(m.variance(x, z) + m.variance(x) / cards[2] + m.variance(z) / cards[0])
    if joint.min() <= max(RARE * noise, 5 / m.n):
        return None
    given = p / joint[:, None, :]
    risks = np.einsum("jkz,z->jk", given, alone)
    noises, samples = [], []
    for k in range(cards[1]):
        slope = _slopes_of_cells(given, alone, joint, k)
        noises.append(_noise_of_cells(m, slope, (x, y, z)))
        flat = slope.reshape(cards[0], -1).T
        samples.append(_spread(flat, flat, np.maximum(p, 0).ravel()) / m.n)
    return Estimate(x, y, (z,), LEVELS, risks, np.array(noises), np.array(samples), None)


def _slopes_of_cells(given: Array, alone: Array, joint: Array, event: int) -> Array:
    """(r_x, r_x, r_y, r_z): how each level's risk of the event moves with each cell."""
    r_x, r_y, r_z = given.shape
    out = np.empty((r_x, r_x, r_y, r_z))
    for j in range(r_x):
        out[j] = given[j, event]
        hit = (np.arange(r_y) == event)[:, None] - given[j, event]
        out[j, j] += alone / joint[j] * hit
    return out


def _noise_of_cells(m: Moments, slope: Array, variables: tuple[int, ...]) -> Array:
    """(k, k): covariance by noise of k functions of a table with these slopes by its cells."""
    cards, k = slope.shape[1:], slope.shape[0]
    out = np.zeros((k, k))
    for size in range(1, len(variables) + 1):
        for axes in combinations(range(len(variables)), size):
            part = slope
            for a in reversed(range(len(variables))):
                if a in axes:
                    part = np.moveaxis(np.tensordot(part, helmert(cards[a]), (a + 1, 0)), -1, a + 1)
                else:
                    part = part.mean(axis=a + 1)
            flat = part.reshape(k, -1)
            out += m.variance(*(variables[a] for a in axes)) * (flat @ flat.T)
    return out
