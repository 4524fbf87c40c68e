"""Estimate the mean of an outcome under do(cause) from released tensors, with its uncertainty.

A contrast consists of two levels of a cause x and a number for each level of an outcome y: 1 and 0
for an event, or the level's value in the column's unit. The estimate adjusts for a set A of
columns.

*Level by level*, if all tables inside {x, y} and A were released:

    E[v(y) | do(x = j)] = sum over z of P(z) E[v(y) | x = j, z].

*Linear projection* otherwise. With u the contrasts of a variable and phi = (1, u_x, u_z of every
adjusted z), the released pairs give G = E[phi phi'] and C = E[phi u_y'], and the regression of v(y)
on phi is averaged over the observed distribution of the adjusted variables. The projection is exact
if effects are additive. Without adjusted variables it equals E[v(y) | x].

Both methods can merge levels: a level of an adjusted column that the noise or the sample hides is
merged with its nearest neighbour, by a rule that reads released tensors only.

Every number here is a smooth function of released tensors. Its variance has three parts. The first
is the noise of every entry, which is known. The second is sampling, from the influence of one
record, averaged over the cells of x, y and the adjusted variables; the residual's variance may
differ from cell to cell, as in White's robust variance. The third is one more record with another
outcome at each level of the cause, for levels with few records. The projection's difference is a
ratio N / D with the interval of Fieller (1954): the values t for which N - t D is within the error
of zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from engine.marginals.contrasts import Array, helmert
from engine.marginals.moments import Moments

# For each released tensor its noise variance and the slopes of k numbers by its entries, (size, k).
Slopes = list[tuple[float, Array]]
Set = tuple[int, ...]

LEVELS, PROJECTION, AIPW = "level by level", "linear projection", "doubly robust"
Z95 = 1.959963984540054
MOST_CELLS = 200_000
SWEEPS = 15  # of iterative proportional fitting, because the cells only weight a variance
RARE = 3.0  # a share must exceed this many noise deviations before it may be a divisor
FEWEST = 10  # fewest records of a level that is not merged


@dataclass(frozen=True)
class Interval:
    """An estimate and its 95 % interval; an end is infinite if that side excludes nothing."""

    value: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """Return the distance between the ends."""
        return self.high - self.low

    def within(self, least: float, most: float) -> Interval:
        """Clip the estimate and both ends to the range from ``least`` to ``most``."""
        return Interval(*(min(max(x, least), most) for x in (self.value, self.low, self.high)))


@dataclass(frozen=True)
class Contrast:
    """Two levels of a cause, and a number for each level of an outcome whose means are compared."""

    cause: int
    level: int
    reference: int
    outcome: int
    values: tuple[float, ...]

    @property
    def span(self) -> float:
        """Return the largest possible difference between two records."""
        return max(self.values) - min(self.values)


@dataclass(frozen=True, eq=False)
class Estimate:
    """The means of a contrast, adjusted for a set.

    ``means`` (r_x,) has the mean under do(x = j), nan for a level that cannot be distinguished from
    others. ``noise`` and ``sampling`` (r_x, r_x) are the covariances of the means. ``difference``
    may be outside the possible range, because clipping it first would make the interval look too
    narrow. ``method`` is ``LEVELS`` or ``PROJECTION``; ``folded`` is true if rare levels were
    merged.
    """

    asked: Contrast
    adjusted: Set
    method: str
    folded: bool
    means: Array
    noise: Array
    sampling: Array
    difference: Interval

    def mean(self, level: int) -> Interval:
        """Return the mean under do(x = level), clipped to the range of the outcome's values."""
        value = float(self.means[level])
        spread = Z95 * math.sqrt(self.noise[level, level] + self.sampling[level, level])
        least, most = min(self.asked.values), max(self.asked.values)
        return Interval(value, value - spread, value + spread).within(least, most)


def too_many_cells(moments: Moments, variables: Sequence[int]) -> bool:
    """Return whether a set has more cells than the limit."""
    return math.prod(moments.cardinalities[v] for v in variables) > MOST_CELLS


def estimate(
    moments: Moments, asked: Contrast, adjusted: Sequence[int] = (), *, fold: bool = False
) -> Estimate | None:
    """Estimate a contrast adjusted for a set, or None if the released tables cannot be solved.

    This happens if the noisy second moments of the adjusted variables are not a covariance matrix.
    Sets of :func:`too_many_cells` are not allowed.
    """
    chosen = tuple(adjusted)
    if chosen and moments.knows(asked.cause, asked.outcome, *chosen):
        found = _level_by_level(moments, asked, chosen, fold)
        if found is not None:
            return found
    return _Projection(moments, asked, chosen, fold).estimate()


def hidden(m: Moments, v: int) -> np.ndarray:
    """Find the levels (r,) whose share is hidden by the noise or the sample."""
    noise = math.sqrt(m.variance(v) * (1 - 1 / m.cardinalities[v]))
    out: np.ndarray = share(m, v) <= max(RARE * noise, FEWEST / m.n)
    return out


def groups(m: Moments, v: int, kept: Sequence[int] = ()) -> np.ndarray:
    """Return the group (r,) of each level; a hidden level joins its nearest neighbour.

    Levels in ``kept`` have a separate group for any share.
    """
    clear = ~hidden(m, v)
    clear[list(kept)] = True
    alone = np.flatnonzero(clear)
    if not len(alone):
        return np.zeros(len(clear), dtype=int)
    shares = share(m, v)
    near = [min(range(len(alone)), key=lambda k: (abs(alone[k] - i), -shares[alone[k]]))
            for i in range(len(clear))]  # fmt: skip
    return np.array(near)


def rare_arms(m: Moments, asked: Contrast) -> Array:
    """Return the variance (r_x,) of a mean if one more record had another outcome.

    If few records have a level, and all or none of them the event, the plain variance is 0.
    """
    out: Array = (asked.span / (m.n * np.maximum(share(m, asked.cause), 1 / m.n))) ** 2
    return out


@dataclass(frozen=True, eq=False)
class _Projection:
    """The linear projection on phi, or on groups of levels if rare ones are merged."""

    moments: Moments
    asked: Contrast
    adjusted: Set
    fold: bool

    @cached_property
    def at(self) -> dict[int, slice]:
        """The position of each variable's contrasts in phi; the constant is at 0."""
        at, end = {}, 1
        for v in (self.asked.cause, *self.adjusted):
            at[v] = slice(end, end + len(self.moments.at[v]))
            end = at[v].stop
        return at

    @cached_property
    def moments_of_phi(self) -> tuple[Array, Array]:
        """G = E[phi phi'] and C = E[phi u_y'], as released."""
        m, at, y = self.moments, self.at, self.asked.outcome
        size = 1 + sum(where.stop - where.start for where in at.values())
        gram, cross = np.zeros((size, size)), np.zeros((size, len(m.at[y])))
        gram[0, 0], cross[0] = 1.0, m.one[m.at[y]]
        for v, where in at.items():
            gram[0, where] = gram[where, 0] = m.one[m.at[v]]
            h = helmert(m.cardinalities[v])
            gram[where, where] = h.T @ (share(m, v)[:, None] * h)
            cross[where] = m.block(v, y)
        for v, w in combinations(at, 2):
            gram[at[v], at[w]] = m.block(v, w)
            gram[at[w], at[v]] = m.block(v, w).T
        return gram, cross

    @cached_property
    def cause_groups(self) -> np.ndarray:
        """The group of each level of the cause; the two compared levels are not merged."""
        r = self.moments.cardinalities[self.asked.cause]
        compared = (self.asked.level, self.asked.reference)
        return groups(self.moments, self.asked.cause, compared) if self.fold else np.arange(r)

    @cached_property
    def features(self) -> Array:
        """The features (f, phi) as combinations of phi: first 1[x = level], then the constant."""
        m, asked = self.moments, self.asked
        mine = self.cause_groups
        size = len(self.moments_of_phi[0])
        constant = np.eye(size)[0]
        compared = [mine[asked.level], mine[asked.reference]]
        others = [g for g in range(mine.max() + 1) if g not in compared]
        rows = [self._indicator(asked.cause, mine == compared[0], size), constant]
        rows += [self._indicator(asked.cause, mine == g, size) for g in others]
        for z in self.adjusted:
            of = groups(m, z) if self.fold else np.arange(m.cardinalities[z])
            rows += [self._indicator(z, of == g, size) for g in range(1, of.max() + 1)]
        return np.array(rows)

    def _indicator(self, v: int, there: np.ndarray, size: int) -> Array:
        out = np.zeros(size)
        out[0], out[self.at[v]] = there.mean(), helmert(len(there)).T @ there
        return out

    @cached_property
    def cells(self) -> tuple[Array, Array, Array]:
        """Phi (cells, f), the outcome's value minus its mean and the probability, both (cells,)."""
        phi, level, p = _cells(self.moments, self.asked.cause, self.asked.outcome, self.adjusted)
        values = np.array(self.asked.values)
        return phi, values[level] - values.mean(), p

    def estimate(self) -> Estimate | None:
        """Return the estimate, or None if G is not a matrix of second moments."""
        features, (gram, _) = self.features, self.moments_of_phi
        inner = features @ gram @ features.T
        scale = np.sqrt(np.maximum(np.diag(inner), 1e-12))
        if np.linalg.eigvalsh(inner / np.outer(scale, scale))[0] <= 1e-9:
            return None
        means, noise, sampling = self._means(inner)
        method = PROJECTION if self.adjusted else LEVELS
        return Estimate(
            self.asked, self.adjusted, method, self.fold, means, noise, sampling, self._difference()
        )

    @property
    def _direction(self) -> Array:
        """The outcome's values along its contrasts."""
        values = np.array(self.asked.values)
        out: Array = helmert(len(values)).T @ values
        return out

    def _means(self, inner: Array) -> tuple[Array, Array, Array]:
        """Return the means (r_x,) and their covariances by noise and by sampling (r_x, r_x)."""
        m, x, features = self.moments, self.asked.cause, self.features
        gram, cross = self.moments_of_phi
        at_level = np.tile(gram[0], (m.cardinalities[x], 1))
        at_level[:, self.at[x]] = helmert(m.cardinalities[x])
        v = self._direction
        b = features.T @ np.linalg.solve(inner, features @ cross @ v)
        u = features.T @ np.linalg.solve(inner, features @ at_level.T)
        means = np.mean(self.asked.values) + at_level @ b
        alone = np.bincount(self.cause_groups)[self.cause_groups] == 1
        phi, left, p = self.cells
        moved = np.zeros(len(phi))
        for z in self.adjusted:
            moved += (phi[:, self.at[z]] - gram[0, self.at[z]]) @ b[self.at[z]]
        influence = moved[:, None] + (phi @ u) * (left - phi @ b)[:, None]
        slopes = self._slopes(u, b, v, shifted=True)
        sampling = _spread(influence, influence, p) / m.n + np.diag(rare_arms(m, self.asked))
        return np.where(alone, means, math.nan), _noise(slopes, slopes), sampling

    def _slopes(self, u: Array, b: Array, v: Array, shifted: bool = False) -> Slopes:
        """Return how u' (C v - G b), over the columns of u, changes with each tensor's entries.

        ``shifted`` adds the influence of the adjusted variables' means on the averages over them.
        """
        m, y, k = self.moments, self.asked.outcome, u.shape[1]
        found = [(m.variance(y), np.outer(v, u[0]))]
        for w, at in self.at.items():
            h = helmert(m.cardinalities[w])
            own = -np.outer(b[at], u[0]) - b[0] * u[at] - h.T @ ((h @ u[at]) * (h @ b[at])[:, None])
            if shifted and w in self.adjusted:
                own += b[at][:, None]
            found.append((m.variance(w), own))
            found.append((m.variance(w, y), (u[at][:, None, :] * v[:, None]).reshape(-1, k)))
        for w, z in combinations(self.at, 2):
            a, c = self.at[w], self.at[z]
            slope = u[a][:, None, :] * b[c][:, None] + b[a][:, None, None] * u[c][None]
            found.append((m.variance(w, z), -slope.reshape(-1, k)))
        return found

    def _difference(self) -> Interval:
        """Return Fieller's interval; u is the residual of 1[x = level] on the other features.

        With N = u' (C v - G b0) and D = u' G u, the influences are the residual times that of y,
        and the residual squared.
        """
        features, v, m = self.features, self._direction, self.moments
        gram, cross = self.moments_of_phi
        rest = features[1:]
        inner = rest @ gram @ rest.T
        u = features[0] - rest.T @ np.linalg.solve(inner, rest @ gram @ features[0])
        b0 = rest.T @ np.linalg.solve(inner, rest @ cross @ v)
        n, d = float(u @ (cross @ v - gram @ b0)), float(u @ gram @ u)
        phi, left, p = self.cells
        residual = phi @ u
        above, below = (residual * (left - phi @ b0))[:, None], (residual**2)[:, None]
        column = u[:, None]
        top, low = self._slopes(column, b0, v), self._slopes(column, -u, np.zeros_like(v))
        arms = rare_arms(m, self.asked)[[self.asked.level, self.asked.reference]].sum()
        variances = (
            _noise(top, top).item() + _spread(above, above, p).item() / m.n + arms * d**2,
            _noise(top, low).item() + _spread(above, below, p).item() / m.n,
            _noise(low, low).item() + _spread(below, below, p).item() / m.n,
        )
        return Interval(*_fieller(n, d, *variances))


def _noise(one: Slopes, two: Slopes) -> Array:
    """Return the covariance (k, k) by noise of numbers with these slopes."""
    return np.asarray(sum(var * (a.T @ c) for (var, a), (_, c) in zip(one, two, strict=True)))


def _spread(a: Array, b: Array, p: Array) -> Array:
    """Return the covariance of the columns of a with those of b under the cells' probabilities."""
    out: Array = a.T @ (p[:, None] * b) - np.outer(p @ a, p @ b)
    return out


def _fieller(n: float, d: float, top: float, both: float, low: float) -> tuple[float, float, float]:
    """Return N / D and the ends of {t: (N - t D)^2 <= z^2 Var(N - t D)}, infinite if D may be 0."""
    z2 = Z95**2
    a, b, c = d * d - z2 * low, n * d - z2 * both, n * n - z2 * top
    value = n / d if d else math.nan
    inner = b * b - a * c
    if a <= 0 or inner < 0:
        return value, -math.inf, math.inf
    return value, (b - math.sqrt(inner)) / a, (b + math.sqrt(inner)) / a


def share(m: Moments, i: int) -> Array:
    """Return the variable's distribution as released, in which a share may be negative."""
    out: Array = 1 / m.cardinalities[i] + helmert(m.cardinalities[i]) @ m.one[m.at[i]]
    return out


def table(m: Moments, *variables: int) -> Array:
    """Return the joint table of the variables as released, in which a share may be negative."""
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
    """Return the :func:`table` of two variables, cached because many are needed."""
    one, two = share(m, i), share(m, j)
    even = one[:, None] / len(two) + two / len(one) - 1 / (len(one) * len(two))
    out: Array = even + helmert(len(one)) @ m.block(i, j) @ helmert(len(two)).T
    return out


def _cells(m: Moments, x: int, y: int, adjusted: Set) -> tuple[Array, Array, Array]:
    """Return phi, y's level and the fitted probability of every cell of x, y and a set."""
    variables = (x, *adjusted, y)
    p = fitted(m, variables)
    levels = np.indices(p.shape).reshape(len(variables), -1)
    phi = [np.ones((levels.shape[1], 1))]
    phi += [helmert(r)[k] for r, k in zip(p.shape[:-1], levels[:-1], strict=True)]
    return np.concatenate(phi, axis=1), levels[-1], p.ravel()


def fitted(m: Moments, variables: Sequence[int]) -> Array:
    """Fit a joint table to all released pairs of the variables, and triples with both ends.

    The method is iterative proportional fitting from the uniform table, without other information.
    The first and last variable are the cause and the outcome.
    """
    cards, ends = [m.cardinalities[v] for v in variables], len(variables) - 1
    margins: list[tuple[Set, Array]] = []
    for a, b in combinations(range(len(cards)), 2):
        margins.append(((a, b), _pair(m, variables[a], variables[b])))
    for triple in ((0, k, ends) for k in range(1, ends)):
        some = [variables[a] for a in triple]
        if m.has(*some):
            margins.append((triple, table(m, *some)))
    positive = [(axes, np.maximum(p, 1e-9)) for axes, p in margins]
    targets = [(axes, p / p.sum()) for axes, p in positive]
    p = np.ones(cards) / math.prod(cards)
    for _ in range(SWEEPS if len(cards) > 2 else 1):
        for axes, wanted in targets:
            others = tuple(k for k in range(len(cards)) if k not in axes)
            now = p.sum(axis=others, keepdims=True)
            shape = [cards[k] if k in axes else 1 for k in range(len(cards))]
            p = p * (wanted.reshape(shape) / np.maximum(now, 1e-300))
    out: Array = p / p.sum()
    return out


def _level_by_level(m: Moments, asked: Contrast, adjusted: Set, fold: bool) -> Estimate | None:
    """Sum P(z) E[v(y) | x, z] over z, from released tables, or None if a cell is too rare."""
    x, y = asked.cause, asked.outcome
    p = table(m, x, y, *adjusted)
    cards, merged = p.shape, _merging(m, adjusted, fold)
    by_group = p.reshape(*cards[:2], -1) @ merged.T
    joint, alone = by_group.sum(axis=1), by_group.sum(axis=(0, 1))
    noise_of_cell = cell_variance(lambda some: m.variance(*some), (x, *adjusted), m.cardinalities)
    least = max(RARE * math.sqrt(noise_of_cell) * merged.sum(axis=1).max(), 5 / m.n)
    clear = np.flatnonzero(joint.min(axis=1) > least)
    if asked.level not in clear or asked.reference not in clear:
        return None
    values = np.array(asked.values)
    given = np.einsum("k,jkz->jz", values, by_group[clear]) / joint[clear]
    slopes = _slopes_of_cells(given, alone, joint, clear.tolist(), values) @ merged
    slopes = slopes.reshape(len(clear), *cards)
    arms = rare_arms(m, asked)
    flat, where = slopes.reshape(len(clear), -1).T, np.ix_(clear, clear)
    means, noise, sampling = (np.full((cards[0],) * axes, math.nan) for axes in (1, 2, 2))
    means[clear], noise[where] = given @ alone, _noise_of_cells(m, slopes, (x, y, *adjusted))
    sampling[where] = _spread(flat, flat, np.maximum(p, 0).ravel()) / m.n + np.diag(arms[clear])
    to, base = asked.level, asked.reference
    total = noise + sampling
    spread = Z95 * math.sqrt(total[to, to] + total[base, base] - 2 * total[to, base])
    value = float(means[to] - means[base])
    difference = Interval(value, value - spread, value + spread)
    return Estimate(asked, adjusted, LEVELS, fold, means, noise, sampling, difference)


def _merging(m: Moments, adjusted: Sequence[int], fold: bool) -> Array:
    """Return the 0-1 matrix (groups, cells) that adds up the adjusted columns' cells."""
    out = np.ones((1, 1))
    for z in adjusted:
        of = groups(m, z) if fold else np.arange(m.cardinalities[z])
        out = np.kron(out, np.eye(of.max() + 1)[of].T)
    return out


def cell_variance(
    variance: Callable[[Set], float], variables: Set, cardinalities: Sequence[int]
) -> float:
    """Return the noise variance of a cell in the table of the variables.

    ``variance`` gives the noise variance of a tensor's entry for each subset of them.
    """
    total = 0.0
    for size in range(1, len(variables) + 1):
        for some in combinations(variables, size):
            shares = (1 - 1 / cardinalities[v] if v in some else cardinalities[v] ** -2.0
                      for v in variables)  # fmt: skip
            total += variance(some) * math.prod(shares)
    return total


def _slopes_of_cells(
    given: Array, alone: Array, joint: Array, clear: Sequence[int], values: Array
) -> Array:
    """Return how each clear level's mean changes with each cell: (clear, r_x, r_y, groups)."""
    out = np.empty((len(clear), len(joint), len(values), len(alone)))
    for k, j in enumerate(clear):
        out[k] = given[k]
        out[k, j] += alone / joint[j] * (values[:, None] - given[k])
    return out


def _noise_of_cells(m: Moments, slope: Array, variables: tuple[int, ...]) -> Array:
    """Return the covariance (k, k) by noise of functions of a table with these slopes by cell."""
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
