"""A conditional independence test on noisy contrast tensors; its null accounts for the noise.

The test regresses the contrasts u of x and y on features phi of the conditioning set S, and
examines the remaining covariance:

    R = E[u_x u_y^T] - E[u_x phi^T] E[phi phi^T]^-1 E[phi u_y^T].

The features are a constant, the contrasts of each s in S, and the products u_s u_t of the pairs in
S whose triples with x and with y have both been released. If x is independent of y given S, R has
mean zero as soon as *one* of E[u_x | S], E[u_y | S] is a linear combination of the features.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from engine.marginals import strata
from engine.marginals.contrasts import Array, Check, helmert
from engine.marginals.kernels import CLEAR, tests
from engine.marginals.moments import Moments
from engine.statistics.multiplicity import step_up

Block = tuple[int, ...]
Pair = tuple[int, int]
Entering = tuple[tuple[Pair, ...], tuple[Block, ...], bool]  # products, triples of S, whole table
Design = tuple[Array, Array]  # features (cells, f) and probability (cells,) of the cells of S
Features = tuple[Any, ...]  # see engine.marginals.kernels.tests

EFFECTS = (0.002, 0.02, 0.2)  # prior variances of a partial correlation, equally likely
RIDGE = 20.0  # features with an eigenvalue below sqrt(20) = 4.5 noise deviations are shrunk away
AT_ONCE = 50  # variables tested in pairs between two checks of the stop button
MOST_CELLS = 128  # largest number of cells of S for variances per cell


class Verdict(NamedTuple):
    """Result of one test: p-value, statistic (approximately chi-square) and degrees of freedom.

    ``bayes`` is the log Bayes factor of dependence. ``leak_bayes`` also allows for dependence
    through unreleased products of S. The two are equal if the plan has no triples.
    """

    p: float
    statistic: float
    dof: float
    bayes: float
    leak_bayes: float


_TOO_MANY: Design = (np.empty((0, 1)), np.empty(0))
_ALONE: Design = (np.ones((1, 1)), np.ones(1))  # the one cell of the empty set
_NONE = np.empty((0, 0))
_THE_SET: Features = (  # no features beyond the contrasts of S, which the kernel assembles
    _NONE, _NONE, _NONE, np.empty(0, np.int64), np.empty(0), np.empty(0), _NONE, 0.0
)  # fmt: skip


class NoisyTests:
    """Conditional independence tests on released moments, each computed once.

    ``leaks=False`` omits the allowance for products, for runs that choose no triples. ``check`` is
    called from time to time and may raise. ``before`` holds the tests on the same moments before
    tensors of three and more columns were added; their results are kept unless one of these tensors
    takes part. If ``whole`` is True and a test's whole table is known, a separate dependence in
    every cell counts too (:mod:`engine.marginals.strata`).
    """

    def __init__(
        self,
        moments: Moments,
        *,
        ordinal: bool = False,
        leaks: bool = True,
        check: Check = lambda: None,
        before: NoisyTests | None = None,
        whole: bool = False,
    ):
        self.d, self.moments, self._check = moments.d, moments, check
        self.whole, self._ordinal = whole, ordinal
        self._prior, self._leaks = (np.array(EFFECTS), RIDGE), leaks
        scores = [(_midranks if ordinal else _contrasts)(moments, i) for i in range(moments.d)]
        used = np.array([len(s) for s in scores])
        contrasts = [helmert(r) for r in moments.cardinalities]
        self._offsets = np.concatenate([[0], np.cumsum([r - 1 for r in moments.cardinalities])])
        self._variables = _padded(scores), used, _padded(contrasts)
        self._designs: dict[Block, Design] = {}
        self._known: dict[tuple[int, int, Block], tuple[Verdict, Entering]] = {}
        if before is not None:
            self._variables, self._marginal = before._variables, before._marginal
            self._known = {k: v for k, v in before._known.items() if self._entering(*k) == v[1]}
        # (x, product) -> True if the product matters to x
        self._carried: dict[tuple[int, Block], bool] = {}

    @cached_property
    def _marginal(self) -> Array:
        """P-value, statistic, dof and log Bayes factor of all pairs i < j; (4, d, d)."""
        found = np.zeros((3, self.d, self.d))
        for first in range(0, self.d, AT_ONCE):
            self._check()
            last = min(first + AT_ONCE, self.d)
            pairs = np.array([(x, y) for x in range(first, last) for y in range(x + 1, self.d)])
            asked = pairs.reshape(-1, 2).astype(np.int64)
            found[:, asked[:, 0], asked[:, 1]] = self._tested(asked, (), _ALONE)[:, :3].T
        statistic, dof = found[0], found[1]
        p = np.where(dof > 0, gammaincc(np.maximum(dof, 1e-300) / 2, statistic / 2), 1.0)
        return np.concatenate([p[None], found])

    @property
    def marginal_bayes(self) -> Array:
        """Log Bayes factor of dependence of each pair i < j without a set; (d, d)."""
        out: Array = self._marginal[3]
        return out

    def seen(self) -> NDArray[np.bool_]:
        """Return the pairs i < j with more dependence than chance gives in all pairs; (d, d)."""
        asked = np.triu(np.ones((self.d, self.d), dtype=bool), 1)
        p = self._marginal[0]
        out: NDArray[np.bool_] = asked & (p <= step_up(p[asked]))
        return out

    def test(self, x: int, y: int, given: Block = ()) -> Verdict:
        """Test whether x is independent of y given the set."""
        if not given:
            p, statistic, dof, bayes = self._marginal[:, x, y].tolist()
            return Verdict(p, statistic, dof, bayes, bayes)
        key = (x, y, given)
        if key not in self._known:
            entering = self._entering(x, y, given)
            self._known[key] = self._compute(x, y, given, entering), entering
        return self._known[key][0]

    def again(self, leaks: bool = False) -> NoisyTests:
        """Return new tests after further releases of tensors of any size, or with leaks."""
        return NoisyTests(
            self.moments, ordinal=self._ordinal, leaks=leaks, check=self._check, whole=self.whole
        )

    def with_higher(self, whole: bool = False) -> NoisyTests:
        """Return new tests after tensors of three or more columns were added to the moments."""
        return NoisyTests(self.moments, leaks=False, check=self._check, before=self, whole=whole)

    def _entering(self, x: int, y: int, given: Block) -> Entering:
        """Return the tensors of three or more columns that take part in the test."""
        m = self.moments
        pairs = combinations(given, 2)
        products = tuple((s, t) for s, t in pairs if m.has(x, s, t) and m.has(y, s, t))
        within = tuple(t for t in combinations(given, 3) if m.has(*t))
        return products, within, self._in_strata(x, y, given)

    def _in_strata(self, x: int, y: int, given: Block) -> bool:
        """Return True if the test uses the whole table."""
        m, columns = self.moments, (x, y, *given)
        return (
            self.whole and m.knows(*columns) and strata.fits([m.cardinalities[i] for i in columns])
        )

    def _tested(
        self,
        pairs: NDArray[np.int64],
        given: Block,
        design: Design,
        leak: float = 0.0,
        features: Features = _THE_SET,
    ) -> Array:
        """Return the (pairs, 4) results of :func:`engine.marginals.kernels.tests`."""
        m, (effects, ridge) = self.moments, self._prior
        released = m.one, m.two, self._offsets, m.noise_one, m.noise_two
        numbers, of = (float(m.n), float(leak), ridge), np.array(given, np.int64)
        return np.asarray(
            tests(released, self._variables, pairs, of, *design, features, numbers, effects)
        )

    def _compute(self, x: int, y: int, given: Block, entering: Entering) -> Verdict:
        m, (known, _, whole) = self.moments, entering
        if min(m.cardinalities[x], m.cardinalities[y]) < 2:
            # a constant column is independent of all others
            return Verdict(1.0, 0.0, 0.0, -math.inf, -math.inf)
        verdict = self._additive(x, y, given, known)
        if not whole:
            return verdict
        own = strata.log_bayes(m, x, y, given, self._prior[0])
        either = float(np.logaddexp(verdict.bayes, own)) - math.log(2)
        return verdict._replace(bayes=either, leak_bayes=either)

    def _additive(self, x: int, y: int, given: Block, known: Sequence[Pair]) -> Verdict:
        """Test R with the released products."""
        wanted = math.comb(len(given), 2)
        leak = 1 - len(known) / wanted if wanted and self._leaks else 0.0
        products = [b for b in known if self._carries(x, b) and self._carries(y, b)]
        if products:
            design, features = self._with_products(x, y, given, products)
        else:
            design, features = self._additive_design(given), _THE_SET
        found = self._tested(np.array([[x, y]]), given, design, leak, features)
        statistic, dof, bayes, leak_bayes = found[0].tolist()
        p = float(gammaincc(dof / 2, statistic / 2)) if dof > 0 else 1.0
        return Verdict(p, statistic, dof, bayes, leak_bayes)

    def _carries(self, x: int, pair: tuple[int, int]) -> bool:
        """Return True if a product of two variables explains part of x beyond the variables.

        A leak needs a product that matters to x and to y. If the squares of its tensor are within
        CLEAR deviations of noise and sampling, the product would only add noise to the test.
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

    def _with_products(
        self, x: int, y: int, given: Block, products: list[tuple[int, int]]
    ) -> tuple[Design, Features]:
        """Return the cells of S, with the contrasts of S and the named products as features."""
        m, solid = self.moments, np.ascontiguousarray
        blocks: list[Block] = [(), *((s,) for s in given), *products]
        fx, fy = self._cross(x, blocks), self._cross(y, blocks)
        noise_x = np.array([m.variance(x, *b) for b in blocks])
        noise_y = np.array([m.variance(y, *b) for b in blocks])
        cross = np.array([[self._product_noise(b, c) for c in blocks] for b in blocks])
        singles = slice(1, 1 + len(given))
        typical = float(np.mean(noise_x[singles] + noise_y[singles]) / 2)
        phi, p = design = self._design(given, blocks)
        moments = [solid(np.concatenate(fx)), solid(np.concatenate(fy))]
        moments.append(solid(phi.T @ (p[:, None] * phi)))
        ends = np.cumsum([len(f) for f in fx])
        features = (*moments, ends, noise_x, noise_y, cross, typical)
        return (design if len(p) <= MOST_CELLS else _TOO_MANY), features

    def _cross(self, x: int, blocks: list[Block]) -> list[Array]:
        """Return E[phi u_x^T] for each block of features."""
        m, size = self.moments, len(self.moments.at[x])
        parts = [m.one[m.at[x]], *(m.tensor_of(*b, x) for b in blocks[1:])]
        return [p.reshape(-1, size) for p in parts]

    def _product_noise(self, b: Block, c: Block) -> float:
        """Return the noise variance of E[u_b u_c]; a mean over pairs if it is not released."""
        m, both = self.moments, tuple(sorted({*b, *c}))
        if b == c:
            return 0.0
        if len(both) < 3:
            return m.variance(*both)
        if len(both) == 3 and m.has(*both):
            return m.variance(*both)
        return float(np.mean([m.variance(*pair) for pair in combinations(both, 2)]))

    def _additive_design(self, given: Block) -> Design:
        """Return the design with only the contrasts of each s; cached for pairs with this set."""
        if math.prod(self.moments.cardinalities[s] for s in given) > MOST_CELLS:
            return _TOO_MANY
        if given not in self._designs:
            self._designs[given] = self._design(given, [(), *((s,) for s in given)])
        return self._designs[given]

    def _design(self, given: Block, blocks: list[Block]) -> Design:
        """Return (features, probabilities) of the cells of S from the released tensors."""
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


def _products(h: dict[int, Array], block: Block) -> NDArray[np.float64]:
    """Return the products of the block's contrasts in every cell, (cells, features)."""
    cells = len(next(iter(h.values())))
    out = np.ones((cells, 1))
    for s in block:
        out = (out[:, :, None] * h[s][:, None, :]).reshape(cells, -1)
    return out


def _padded(matrices: list[Array]) -> Array:
    """Stack the matrices in one array, filled up with zeros."""
    shapes = np.array([m.shape for m in matrices])
    out = np.zeros((len(matrices), *np.maximum(shapes.max(axis=0), 1)))
    for row, matrix in zip(out, matrices, strict=True):
        row[: matrix.shape[0], : matrix.shape[1]] = matrix
    return out


def _contrasts(moments: Moments, i: int) -> Array:
    """Return no scores, so that the test uses the variable's contrasts unchanged."""
    return np.empty((0, len(moments.at[i])))


def _midranks(moments: Moments, i: int) -> Array:
    """Express the midranks of the variable's levels by its contrasts, (1, levels - 1)."""
    p = moments.margin(i)
    ridit = np.cumsum(p) - p / 2
    return np.ascontiguousarray((helmert(len(p)).T @ ridit)[None])
