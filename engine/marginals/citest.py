"""A conditional independence test on noisy contrast tensors whose null knows the noise.

Regress the contrasts u of x and y on features phi of the conditioning set S, and look at what is
left in common:

    R = E[u_x u_y^T] - E[u_x phi^T] E[phi phi^T]^-1 E[phi u_y^T].

The features are a constant, the contrasts of each s in S, and the products u_s u_t of those pairs
of S whose triples with both x and y have been released. With x independent of y given S, R has
mean zero as soon as *one* of E[u_x | S], E[u_y | S] is a combination of the features.
"""

from __future__ import annotations

import math
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import gammaincc

from engine.marginals.contrasts import Array, Check, helmert
from engine.marginals.moments import Moments
from engine.statistics.multiplicity import step_up

Block = tuple[int, ...]
Design = tuple[Array, Array]  # features (cells, f) and probability (cells,) of the cells of S

EFFECTS = (0.002, 0.02, 0.2)  # prior variances of a partial correlation, equally likely
RIDGE = 20.0  # features with an eigenvalue below sqrt(20) = 4.5 noise deviations are shrunk away
FLOOR = 1e-5  # a variance below it is none
POSITIVE = 1e-6  # share of the homoscedastic covariance that keeps the null's invertible
AT_ONCE = 50  # variables whose pairs are tested between two looks at the stop button
MOST_CELLS = 128  # of S for which variances are taken cell by cell
CLEAR = 3.0  # nor is one within this many deviations of its own noise, nor a product's effect


class Verdict(NamedTuple):
    """One test: p-value, statistic on its approximate chi-square scale, and degrees of freedom.

    ``bayes`` is the log Bayes factor of dependence; ``leak_bayes`` the one that allows for
    dependence through products of S that have not been released (the same where none are to be).
    """

    p: float
    statistic: float
    dof: float
    bayes: float
    leak_bayes: float


@njit(cache=True, nogil=True)
def _residual(mxy, vx, vy, fx, fy, gram, ridge):  # type: ignore[no-untyped-def]
    """R, both residual covariances, both coefficients, explained covariances, tr(C^-2).

    The first feature is the constant; the others are centred. Their covariance's eigenvalues w are
    inverted as w / (w^2 + ridge): directions that are mostly noise predict nothing.
    """
    f, a, b = fx.shape[0], fx.shape[1], fy.shape[1]
    bx, by = np.zeros((f, a)), np.zeros((f, b))
    mx, my = fx[0], fy[0]
    ex, ey = np.zeros((a, a)), np.zeros((b, b))
    r = mxy - np.outer(mx, my)
    second = 0.0
    if f > 1:
        g = gram[0, 1:].copy()
        w, u = np.linalg.eigh(gram[1:, 1:] - np.outer(g, g))
        w = np.maximum(w, 0.0) / (np.maximum(w, 0.0) ** 2 + ridge + 1e-12)
        inverse = (u * w) @ u.T
        second = np.sum(w**2)
        cx, cy = fx[1:] - np.outer(g, mx), fy[1:] - np.outer(g, my)
        kx, ky = inverse @ cx, inverse @ cy
        ex, ey = cx.T @ kx, cy.T @ ky
        r -= cx.T @ ky
        bx[1:], by[1:] = kx, ky
        bx[0], by[0] = mx - g @ kx, my - g @ ky
    else:
        bx[0], by[0] = mx, my
    return r, vx - np.outer(mx, mx) - ex, vy - np.outer(my, my) - ey, bx, by, ex, ey, second


@njit(cache=True, nogil=True)
def _add_kron(out, scale, p, q):  # type: ignore[no-untyped-def]
    """out += scale * kron(p, q)."""
    a, b = p.shape[0], q.shape[0]
    for i in range(a):
        for k in range(a):
            for j in range(b):
                for m in range(b):
                    out[i * b + j, k * b + m] += scale * p[i, k] * q[j, m]


@njit(cache=True, nogil=True)
def _conditional_variance(h, mean):  # type: ignore[no-untyped-def]
    """Covariance of a variable's contrasts h whose mean is m: its levels have p = 1/r + h m."""
    p = np.maximum(1.0 / h.shape[0] + h @ mean, 0.0)
    p /= p.sum()
    centre = h.T @ p
    return (h.T * p) @ h - np.outer(centre, centre)


@njit(cache=True, nogil=True)
def _sampling(phi, p, bx, by, hx, hy):  # type: ignore[no-untyped-def]
    """n times R's sampling covariance under independence: E[Var(u_x | S) kron Var(u_y | S)].

    Both variances are large in the same rare strata where x and y are rare, so the product of their
    means would be far too small.
    """
    out = np.zeros((bx.shape[1] * by.shape[1], bx.shape[1] * by.shape[1]))
    for c in range(len(p)):
        vx = _conditional_variance(hx, phi[c] @ bx)
        vy = _conditional_variance(hy, phi[c] @ by)
        _add_kron(out, p[c], vx, vy)
    return out


@njit(cache=True, nogil=True)
def _noise(bx, by, ends, direct, noise_x, noise_y, cross):  # type: ignore[no-untyped-def]
    """Covariance of R from the noise of every released tensor that enters it, to first order.

    R's noise is sum over features A, B of b_xA' N_AB b_yB with x's and y's own contrasts as
    features of coefficient -1; the N are independent, of variance ``noise_x[A]`` for the tensor of
    A and x, ``cross[A, B]`` for that of A and B.
    """
    a, b, count = bx.shape[1], by.shape[1], len(ends)
    ix, iy = np.eye(a), np.eye(b)
    gx, gy = np.zeros((count, a, a)), np.zeros((count, b, b))
    start = 0
    for k in range(count):
        px, py = bx[start : ends[k]], by[start : ends[k]]
        gx[k], gy[k] = px.T @ px, py.T @ py
        start = ends[k]
    sx, sy = direct * ix, np.zeros((b, b))
    out = np.zeros((a * b, a * b))
    for k in range(count):
        sx += noise_y[k] * gx[k]
        sy += noise_x[k] * gy[k]
        row = np.zeros((b, b))
        for m in range(count):
            row += cross[k, m] * gy[m]
        _add_kron(out, 1.0, gx[k], row)
    _add_kron(out, 1.0, sx, iy)
    _add_kron(out, 1.0, ix, sy)
    return out


@njit(cache=True, nogil=True)
def _variance_noise(b, ends, noise, cross):  # type: ignore[no-untyped-def]
    """Standard deviation of the noise in a residual variance, of its worst contrast.

    V = E[u u^T] - b^T E[phi phi^T] b moves by 2 b_A N_A for the tensor of A with u, and by
    b_A N_AB b_B for that of A and B.
    """
    squares = np.zeros((len(ends), b.shape[1]))
    start = 0
    for k in range(len(ends)):
        squares[k] = np.sum(b[start : ends[k]] ** 2, axis=0)
        start = ends[k]
    total = np.zeros(b.shape[1])
    for k in range(len(ends)):
        total += 4 * noise[k] * squares[k]
        for m in range(len(ends)):
            total += cross[k, m] * squares[k] * squares[m]
    return np.sqrt(total.max())


@njit(cache=True, nogil=True)
def _positive(v, floor):  # type: ignore[no-untyped-def]
    """(v with its eigenvalues held above the floor, v with those below it set to zero).

    A residual variance of nothing leaves nothing to test: it must not look like evidence.
    """
    w, u = np.linalg.eigh((v + v.T) / 2)
    return (u * np.maximum(w, floor)) @ u.T, (u * np.where(w > floor, w, 0.0)) @ u.T


@njit(cache=True, nogil=True)
def _score(r, covariance, spread, effects):  # type: ignore[no-untyped-def]
    """Score statistic of mean 0 against random effects of covariance ``effect * spread``.

    With C the null covariance, K the spread and t_k the trace of (C^-1 K)^k, the statistic
    Q = r' C^-1 K C^-1 r is compared by Satterthwaite's rule: Q t1/t2 with chi-square of t1^2/t2
    degrees of freedom. The third value is the log Bayes factor of N(0, C + effect K), its
    effects equally likely, against N(0, C).
    """
    lower = np.linalg.cholesky(covariance)
    half = np.linalg.solve(lower, spread)
    half = np.linalg.solve(lower, half.T.copy())
    w, u = np.linalg.eigh((half + half.T) / 2)
    w = np.maximum(w, 0.0)
    z2 = (u.T @ np.linalg.solve(lower, r)) ** 2
    t1, t2 = np.sum(w), np.sum(w**2)
    if t1 <= 0.0:
        return 0.0, 0.0, 0.0
    logs = np.empty(len(effects))
    for i in range(len(effects)):
        gain = effects[i] * w
        logs[i] = 0.5 * np.sum(z2 * gain / (1 + gain) - np.log1p(gain))
    top = logs.max()
    bayes = top + math.log(np.mean(np.exp(logs - top)))
    return np.sum(w * z2) * t1 / t2, t1 * t1 / t2, bayes


@njit(cache=True, nogil=True)
def _test(mxy, vx, vy, fx, fy, gram, ends, noise, scores, cells, n, leak, prior):  # type: ignore[no-untyped-def]
    """(statistic, dof, log Bayes factor) without and with the allowance for a leak.

    What products of S might carry from x to y is taken to be as much as S carries additively;
    ``leak`` is the share of the products whose triples have not been released.
    """
    direct, noise_x, noise_y, cross, typical = noise
    effects, ridge = prior
    r, vx, vy, bx, by, ex, ey, second = _residual(mxy, vx, vy, fx, fy, gram, ridge * typical)
    covariance = _noise(bx, by, ends, direct + typical**2 * second, noise_x, noise_y, cross)
    vx, kx = _positive(vx, FLOOR + CLEAR * _variance_noise(bx, ends, noise_x, cross))
    vy, ky = _positive(vy, FLOOR + CLEAR * _variance_noise(by, ends, noise_y, cross))
    phi, p, hx, hy = cells
    if len(p) > 0:
        covariance += _sampling(phi, p, bx, by, hx, hy) / n
        _add_kron(covariance, POSITIVE / n, vx, vy)
    else:
        _add_kron(covariance, 1.0 / n, vx, vy)
    spread = np.zeros_like(covariance)
    _add_kron(spread, 1.0, kx, ky)
    project = np.kron(scores[0], scores[1])
    flat = project @ np.ascontiguousarray(r).reshape(-1)
    spread = project @ spread @ project.T
    plain = _score(flat, project @ covariance @ project.T, spread, effects)
    if leak == 0:
        return plain, plain
    _add_kron(covariance, leak, ex, ey)
    return plain, _score(flat, project @ covariance @ project.T, spread, effects)


@njit(cache=True, nogil=True)
def _additive(one, two, offsets, noise_one, noise_two, scores, cells, x, y, given, n, leak, prior):  # type: ignore[no-untyped-def]
    """The test with the contrasts of each s in S as features."""
    k = len(given)
    size = 1
    for s in given:
        size += offsets[s + 1] - offsets[s]
    x0, x1, y0, y1 = offsets[x], offsets[x + 1], offsets[y], offsets[y + 1]
    fx, fy = np.empty((size, x1 - x0)), np.empty((size, y1 - y0))
    gram = np.empty((size, size))
    ends = np.ones(k + 1, np.int64)
    fx[0], fy[0], gram[0, 0] = one[x0:x1], one[y0:y1], 1.0
    noise_x, noise_y = np.empty(k + 1), np.empty(k + 1)
    cross = np.zeros((k + 1, k + 1))
    noise_x[0], noise_y[0] = noise_one[x], noise_one[y]
    typical = 0.0
    start = 1
    for i in range(k):
        s = given[i]
        p0, p1 = offsets[s], offsets[s + 1]
        end = start + p1 - p0
        fx[start:end], fy[start:end] = two[p0:p1, x0:x1], two[p0:p1, y0:y1]
        gram[0, start:end] = one[p0:p1]
        gram[start:end, 0] = one[p0:p1]
        inner = 1
        for j in range(k):
            t = given[j]
            q0, q1 = offsets[t], offsets[t + 1]
            gram[start:end, inner : inner + q1 - q0] = two[p0:p1, q0:q1]
            inner += q1 - q0
            if i != j:
                cross[i + 1, j + 1] = noise_two[s, t]
        noise_x[i + 1], noise_y[i + 1] = noise_two[x, s], noise_two[y, s]
        cross[0, i + 1] = cross[i + 1, 0] = noise_one[s]
        typical += (noise_two[x, s] + noise_two[y, s]) / (2 * k)
        ends[i + 1] = start = end
    noise = (noise_two[x, y], noise_x, noise_y, cross, typical)
    mxy = np.ascontiguousarray(two[x0:x1, y0:y1])
    vx, vy = np.ascontiguousarray(two[x0:x1, x0:x1]), np.ascontiguousarray(two[y0:y1, y0:y1])
    return _test(mxy, vx, vy, fx, fy, gram, ends, noise, scores, cells, n, leak, prior)


@njit(cache=True, nogil=True)
def _all_pairs(one, two, offsets, noise_one, noise_two, scores, rows, contrasts, n, prior, some):  # type: ignore[no-untyped-def]
    """(3, some, d): statistic, dof and log Bayes factor of every pair i < j without a set.

    ``some`` (first, last) says which i.

    ``scores`` (d, r, r) and ``contrasts`` (d, r + 1, r) are padded to the most levels; variable i
    has ``rows[i]`` scores.
    """
    d = len(rows)
    first, last = some
    out = np.zeros((3, last - first, d))
    none, phi, p = np.empty(0, np.int64), np.ones((1, 1)), np.ones(1)
    for i, x in enumerate(range(first, last)):
        a = offsets[x + 1] - offsets[x]
        sx = np.ascontiguousarray(scores[x, : rows[x], :a])
        hx = np.ascontiguousarray(contrasts[x, : a + 1, :a])
        for y in range(x + 1, d):
            b = offsets[y + 1] - offsets[y]
            if a == 0 or b == 0:  # a constant depends on nothing
                out[2, i, y] = -np.inf
                continue
            both = (sx, np.ascontiguousarray(scores[y, : rows[y], :b]))
            cells = (phi, p, hx, np.ascontiguousarray(contrasts[y, : b + 1, :b]))
            plain, _ = _additive(
                one, two, offsets, noise_one, noise_two, both, cells, x, y, none, n, 0.0, prior
            )
            out[0, i, y], out[1, i, y], out[2, i, y] = plain
    return out


class NoisyTests:
    """Conditional independence tests on released moments, each computed once.

    ``leaks=False`` leaves the allowance for products out, where no triples are to be chosen;
    ``check`` is asked now and then, and may raise.
    """

    def __init__(
        self,
        moments: Moments,
        *,
        ordinal: bool = False,
        leaks: bool = True,
        check: Check = lambda: None,
    ):
        self.d, self.moments, self._check = moments.d, moments, check
        self._prior, self._leaks = (np.array(EFFECTS), RIDGE), leaks
        scores = _midranks if ordinal else _identity
        self._scores = [scores(moments, i) for i in range(moments.d)]
        self._offsets = np.concatenate([[0], np.cumsum([r - 1 for r in moments.cardinalities])])
        self._contrasts = [np.ascontiguousarray(helmert(r)) for r in moments.cardinalities]
        self._designs: dict[Block, Design] = {}
        self._known: dict[tuple[int, int, Block], Verdict] = {}
        self._carried: dict[tuple[int, Block], bool] = {}  # whether a product matters to x

    @cached_property
    def _marginal(self) -> Array:
        """(4, d, d): p-value, statistic, dof and log Bayes factor of all pairs i < j, at once."""
        m, parts = self.moments, []
        asked = (
            m.one, m.two, self._offsets, m.noise_one, m.noise_two, _padded(self._scores),
            np.array([len(s) for s in self._scores]), _padded(self._contrasts), m.n, self._prior,
        )  # fmt: skip
        for first in range(0, self.d, AT_ONCE):
            self._check()
            parts.append(_all_pairs(*asked, (first, min(first + AT_ONCE, self.d))))
        found = np.concatenate(parts, axis=1)
        statistic, dof = found[0], found[1]
        p = np.where(dof > 0, gammaincc(np.maximum(dof, 1e-300) / 2, statistic / 2), 1.0)
        return np.concatenate([p[None], found])

    @property
    def marginal_bayes(self) -> Array:
        """(d, d): log Bayes factor of dependence of each pair i < j without a set."""
        out: Array = self._marginal[3]
        return out

    def seen(self) -> NDArray[np.bool_]:
        """(d, d): the pairs i < j whose dependence is more than chance among all pairs."""
        asked = np.triu(np.ones((self.d, self.d), dtype=bool), 1)
        p = self._marginal[0]
        out: NDArray[np.bool_] = asked & (p <= step_up(p[asked]))
        return out

    def test(self, x: int, y: int, given: Block = ()) -> Verdict:
        """Is x independent of y given the set?"""
        if not given:
            p, statistic, dof, bayes = self._marginal[:, x, y].tolist()
            return Verdict(p, statistic, dof, bayes, bayes)
        key = (x, y, given)
        if key not in self._known:
            self._known[key] = self._compute(x, y, given)
        return self._known[key]

    def with_triples(self) -> NoisyTests:
        """These tests after triples were added to the moments: what none of them enters is kept."""
        new = NoisyTests(self.moments, leaks=False, check=self._check)
        new._scores, new._marginal = self._scores, self._marginal
        new._known = {k: v for k, v in self._known.items() if not self._entered(*k)}
        return new

    def _entered(self, x: int, y: int, given: Block) -> bool:
        """Whether a released triple takes part in the test."""
        m = self.moments
        return any(m.has(*t) for v in (x, y) for t in combinations((*given, v), 3))

    def _scores_of(self, x: int, y: int) -> tuple[Array, Array]:
        return self._scores[x], self._scores[y]

    def _compute(self, x: int, y: int, given: Block) -> Verdict:
        m = self.moments
        if min(m.cardinalities[x], m.cardinalities[y]) < 2:
            return Verdict(1.0, 0.0, 0.0, -math.inf, -math.inf)  # a constant depends on nothing
        wanted = list(combinations(given, 2))
        known = [(s, t) for s, t in wanted if m.has(x, s, t) and m.has(y, s, t)]
        leak = 1 - len(known) / len(wanted) if wanted and self._leaks else 0.0
        products = [b for b in known if self._carries(x, b) and self._carries(y, b)]
        if products:
            plain, allowed = self._with_products(x, y, given, products, leak)
        else:
            cells = self._cells(x, y, self._additive_design(given))
            plain, allowed = _additive(
                m.one, m.two, self._offsets, m.noise_one, m.noise_two, self._scores_of(x, y),
                cells, x, y, np.array(given, dtype=np.int64), m.n, leak, self._prior,
            )  # fmt: skip
        statistic, dof, bayes = plain
        p = float(gammaincc(dof / 2, statistic / 2)) if dof > 0 else 1.0
        return Verdict(p, statistic, dof, bayes, allowed[2])

    def _carries(self, x: int, pair: tuple[int, int]) -> bool:
        """Whether a product of two variables is seen to explain something of x beyond themselves.

        A leak needs a product that matters to x and to y. One whose squares do not exceed what its
        triple's noise and sampling give by chance, CLEAR deviations of it, would only bring its
        noise into the test.
        """
        if (x, pair) not in self._carried:
            m, blocks = self.moments, [(), *((s,) for s in pair), pair]
            phi, p = self._design(pair, blocks)
            own = phi.shape[1] - math.prod(len(m.at[s]) for s in pair)
            gram, cross = phi.T @ (p[:, None] * phi), np.concatenate(self._cross(x, blocks))
            weights = np.linalg.lstsq(gram[:own, :own], gram[:own, own:], rcond=1e-8)[0]
            left = cross[own:] - weights.T @ cross[:own]
            spread = np.trace(gram[own:, own:] - gram[own:, :own] @ weights)
            variance = np.trace(m.block(x, x)) - np.sum(m.one[m.at[x]] ** 2)
            chance = left.size * m.variance(x, *pair) + max(spread, 0.0) * variance / m.n
            self._carried[x, pair] = bool(np.sum(left**2) > CLEAR**2 * chance)
        return self._carried[x, pair]

    def _with_products(self, x, y, given, products, leak):  # type: ignore[no-untyped-def]
        """The test with the contrasts of S and the named products as features."""
        m, solid = self.moments, np.ascontiguousarray
        blocks: list[Block] = [(), *((s,) for s in given), *products]
        fx, fy = self._cross(x, blocks), self._cross(y, blocks)
        noise_x = np.array([m.variance(x, *b) for b in blocks])
        noise_y = np.array([m.variance(y, *b) for b in blocks])
        cross = np.array([[self._product_noise(b, c) for c in blocks] for b in blocks])
        singles = slice(1, 1 + len(given))
        typical = np.mean(noise_x[singles] + noise_y[singles]) / 2
        noise = (m.variance(x, y), noise_x, noise_y, cross, typical)
        ends = np.cumsum([len(f) for f in fx])
        phi, p = design = self._design(given, blocks)
        gram = phi.T @ (p[:, None] * phi)
        return _test(
            solid(m.block(x, y)), solid(m.block(x, x)), solid(m.block(y, y)),
            solid(np.concatenate(fx)), solid(np.concatenate(fy)), solid(gram),
            ends, noise, self._scores_of(x, y), self._cells(x, y, design), m.n, leak,
            self._prior,
        )  # fmt: skip

    def _cross(self, x: int, blocks: list[Block]) -> list[Array]:
        """E[phi u_x^T] of each block of features."""
        m, size = self.moments, len(self.moments.at[x])
        parts = [m.one[m.at[x]], *(m.tensor_of(*b, x) for b in blocks[1:])]
        return [p.reshape(-1, size) for p in parts]

    def _product_noise(self, b: Block, c: Block) -> float:
        """Noise variance of E[u_b u_c]: of the largest tensor it contains, if that is known."""
        m, both = self.moments, tuple(sorted({*b, *c}))
        if b == c:
            return 0.0
        if len(both) < 3:
            return m.variance(*both)
        if len(both) == 3 and m.has(*both):
            return m.variance(*both)
        return float(np.mean([m.variance(*pair) for pair in combinations(both, 2)]))

    def _cells(self, x: int, y: int, design: Design) -> tuple[Array, Array, Array, Array]:
        """Features and probability of every cell of S, and both variables' contrasts."""
        phi, p = design if len(design[1]) <= MOST_CELLS else _TOO_MANY
        return phi, p, self._contrasts[x], self._contrasts[y]

    def _additive_design(self, given: Block) -> Design:
        """The design with the contrasts of each s alone, kept: many pairs share a set."""
        if math.prod(self.moments.cardinalities[s] for s in given) > MOST_CELLS:
            return _TOO_MANY
        if given not in self._designs:
            self._designs[given] = self._design(given, [(), *((s,) for s in given)])
        return self._designs[given]

    def _design(self, given: Block, blocks: list[Block]) -> Design:
        """(features, probabilities) of the cells of S under what the released tensors give."""
        m = self.moments
        cards = [m.cardinalities[s] for s in given]
        grid = np.indices(cards).reshape(len(given), math.prod(cards))
        h = {s: helmert(r)[g] for s, r, g in zip(given, cards, grid, strict=True)}
        p = np.ones(math.prod(cards))
        known = [b for k in (1, 2) for b in combinations(given, k)]
        known += [b for b in combinations(given, 3) if m.has(*b)]
        for b in known:
            scale = math.prod(m.cardinalities[s] for s in b)
            p += scale * _products(h, b) @ m.tensor_of(*b).ravel()
        p = np.maximum(p, 0)
        parts = [_products(h, b) if b else np.ones((len(p), 1)) for b in blocks]
        return np.concatenate(parts, axis=1), p / max(p.sum(), 1e-12)


_TOO_MANY: Design = (np.empty((0, 1)), np.empty(0))


def _products(h: dict[int, Array], block: Block) -> NDArray[np.float64]:
    """Products of the block's contrasts in every cell, (cells, features)."""
    cells = len(next(iter(h.values())))
    out = np.ones((cells, 1))
    for s in block:
        out = (out[:, :, None] * h[s][:, None, :]).reshape(cells, -1)
    return out


def _padded(matrices: list[Array]) -> Array:
    """The matrices side by side in one array, filled up with zeros."""
    shapes = np.array([m.shape for m in matrices])
    out = np.zeros((len(matrices), *np.maximum(shapes.max(axis=0), 1)))
    for row, matrix in zip(out, matrices, strict=True):
        row[: matrix.shape[0], : matrix.shape[1]] = matrix
    return out


def _identity(moments: Moments, i: int) -> Array:
    """All contrasts of the variable as they are."""
    return np.eye(len(moments.at[i]))


def _midranks(moments: Moments, i: int) -> Array:
    """The midranks of the variable's levels as a combination of its contrasts, (1, levels - 1)."""
    p = moments.margin(i)
    ridit = np.cumsum(p) - p / 2
    return np.ascontiguousarray((helmert(len(p)).T @ ridit)[None])
