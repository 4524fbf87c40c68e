"""The evidence for a DAG in noisy tensors of all orders, from a likelihood that models the noise.

The released numbers are t = C p + sampling + noise, where p is the distribution over all cells and
    C the contrasts. They are normal around C p with covariance D + C (diag p - p p^T) C^T / n,
    where D is the declared noise. Under a DAG p = prod_i theta_i(x_i | parents). With theta fitted,
    its evidence is

    log likelihood + log mean over c of det(1 + c I)^(-1/2),

where I is the information of t about theta, in units of that of one record, and c the prior
variance of effects (c = 1 is the unit information prior, Kass and Wasserman 1995: without noise
Schwarz's 1/2 dof ln n). Parameters that noise hides or that belong to empty cells have no penalty.
All DAGs of an equivalence class have the same evidence. It reads only released numbers and costs no
ε.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from engine.graphs.dags import colliders
from engine.marginals.contrasts import Array, helmert
from engine.marginals.moments import Moments

EFFECTS = (0.01, 0.1, 1.0)  # c, equally likely
LEAST = 0.5  # least number of records per cell for the covariance of sampling
PRIOR = 1.0  # prior records, spread evenly over all cells, that make the fit unique
STEPS, TRIES, GAIN = 25, 8, 1e-2
DAMPING, HARDER = 1e-3, 5.0
FARTHEST, LOWEST = 3.0, -25.0  # largest step, lowest log odds


class Family(NamedTuple):
    """A node and its parents in the table of all cells.

    ``code`` (cells,) is the entry of the node's table for each cell, ``reads`` (cells, q * r) the
    same as zeros and ones, ``start`` (q, r) the logs of the shares in the released table.
    """

    code: NDArray[np.int64]
    reads: Array
    start: Array


class Fit(NamedTuple):
    """Fitted tables of all nodes: logs, distribution over the cells, residual of t, and loss."""

    logs: list[Array]
    p: Array
    left: Array
    loss: float


class Evidence:
    """The evidence for each DAG on the columns of these moments, in this order.

    The moments must hold the tensors of all orders. Fits of equivalent DAGs end at slightly
    different points, so all DAGs of an equivalence class get the evidence of the one computed
    first. With ``by_position`` each DAG has its own, as in version 0.3.
    """

    def __init__(self, moments: Moments, order: Sequence[int], *, by_position: bool = False):
        self._by_position = by_position
        self._cards, self._n = [moments.cardinalities[i] for i in order], moments.n
        d, cells = moments.d, math.prod(self._cards)
        self._grid = np.indices(self._cards).reshape(d, cells)
        keys = [key for m in range(1, d + 1) for key in combinations(range(d), m)]
        contrasts = np.concatenate([self._contrasts(key) for key in keys], axis=1).T
        named = [[order[i] for i in key] for key in keys]
        seen = np.concatenate([moments.tensor_of(*key).ravel() for key in named])
        sizes = [moments.tensor_of(*key).size for key in named]
        noise = np.repeat([moments.variance(*key) for key in named], sizes)
        self._table = self._distribution(keys, seen, sizes)
        means = contrasts @ self._table
        spread = (contrasts * self._table) @ contrasts.T - np.outer(means, means)
        root = np.linalg.cholesky(np.diag(noise) + spread / self._n)
        self._white = solve_triangular(root, contrasts, lower=True)
        self._seen = solve_triangular(root, seen, lower=True)
        self._families: dict[tuple[int, tuple[int, ...]], Family] = {}
        self._known: dict[bytes, float] = {}

    def of(self, dag: NDArray[np.bool_]) -> float:
        """Return the log evidence of the (d, d) DAG, up to a constant shared by all DAGs."""
        links = dag | dag.T
        # The edges and colliders identify the class.
        shape = links.tobytes() + colliders(dag, links).tobytes()
        key = dag.tobytes() if self._by_position else shape
        if key not in self._known:
            self._known[key] = self._compute(dag)
        return self._known[key]

    def _compute(self, dag: NDArray[np.bool_]) -> float:
        families = [self._family(i, np.flatnonzero(dag[:, i])) for i in range(len(dag))]
        fit = self._fitted(families)
        slopes, weights = self._slopes(families, fit), _weights(families, fit)
        # Scaled, so that cells with tiny probabilities do not make the determinants 0 / 0.
        scale = np.sqrt(np.maximum(np.diag(weights), 1e-300))
        own = weights / np.outer(scale, scale) + 1e-9 * np.eye(len(scale))
        whitened = solve_triangular(np.linalg.cholesky(own), (slopes / scale).T, lower=True)
        information = np.maximum(np.linalg.eigvalsh(whitened @ whitened.T), 0.0)
        costs = [0.5 * float(np.log1p(c * information).sum()) for c in EFFECTS]
        return -fit.loss + float(np.logaddexp.reduce(np.negative(costs))) - math.log(len(costs))

    def _contrasts(self, key: Sequence[int]) -> Array:
        """Return the products of the columns' contrasts in every cell; (cells, entries)."""
        out = np.ones((self._grid.shape[1], 1))
        for i in key:
            own = helmert(self._cards[i])[self._grid[i]]
            out = (out[:, :, None] * own[:, None, :]).reshape(len(out), -1)
        return out

    def _distribution(
        self, keys: Sequence[Sequence[int]], seen: Array, sizes: Sequence[int]
    ) -> Array:
        """Return the released table with at least ``LEAST`` records per cell; (cells,)."""
        cells = self._grid.shape[1]
        p = np.full(cells, 1 / cells)
        for key, part in zip(keys, np.split(seen, np.cumsum(sizes)[:-1]), strict=True):
            p += math.prod(self._cards[i] for i in key) / cells * (self._contrasts(key) @ part)
        p = np.maximum(p, 0.0)
        shares: Array = (p / p.sum() * self._n + LEAST) / (self._n + LEAST * cells)
        return shares

    def _family(self, i: int, parents: NDArray[np.int64]) -> Family:
        key = i, tuple(parents.tolist())
        if key not in self._families:
            config = np.zeros(self._grid.shape[1], np.int64)
            for j in key[1]:
                config = config * self._cards[j] + self._grid[j]
            levels = self._cards[i]
            code = config * levels + self._grid[i]
            size = levels * math.prod(self._cards[j] for j in key[1])
            reads = np.eye(size)[code]
            found = (self._table @ reads).reshape(-1, levels)
            start = np.log(found / found.sum(axis=1, keepdims=True))
            self._families[key] = Family(code, reads, start)
        return self._families[key]

    def _at(self, families: Sequence[Family], logs: list[Array]) -> Fit:
        p = np.exp(sum(x.ravel()[f.code] for f, x in zip(families, logs, strict=True)))
        left = self._seen - self._white @ p
        prior = sum(_prior(x) * float(x.sum()) for x in logs)
        return Fit(logs, p, left, 0.5 * float(left @ left) - prior)

    def _slopes(self, families: Sequence[Family], fit: Fit) -> Array:
        """Return the derivative of the expected t by each log odds; (entries, parameters).

        A row of a table has log odds for every level but the last, relative to the last.
        """
        moved, parts = self._white * fit.p, []
        for f, x in zip(families, fit.logs, strict=True):
            by = (moved @ f.reads).reshape(-1, *x.shape)
            slope = by - np.exp(x) * by.sum(axis=2, keepdims=True)
            parts.append(slope[:, :, :-1].reshape(len(moved), -1))
        return np.concatenate(parts, axis=1)

    def _fitted(self, families: Sequence[Family]) -> Fit:
        """Fit the tables by maximum likelihood: Gauss-Newton, damped if a step fails."""
        fit, damping = self._at(families, [f.start for f in families]), DAMPING
        for _ in range(STEPS):
            slopes = self._slopes(families, fit)
            curve = slopes.T @ slopes + _blocks([(_row(x), x) for x in fit.logs])
            rise = slopes.T @ fit.left + np.concatenate([_pull(x) for x in fit.logs])
            for _ in range(TRIES):
                damped = curve + np.diag(damping * np.diag(curve) + 1e-12)
                new = self._at(families, _moved(fit.logs, np.linalg.solve(damped, rise)))
                if new.loss < fit.loss:
                    break
                damping *= HARDER
            else:
                return fit
            gain, fit, damping = fit.loss - new.loss, new, damping / HARDER
            if gain < GAIN:
                return fit
        return fit


def _prior(logs: Array) -> float:
    """Return the number of prior records in each entry of a node's table."""
    return PRIOR / logs.size


def _row(logs: Array) -> Array:
    """Return the number of prior records in each row; (q,)."""
    return np.full(len(logs), _prior(logs) * logs.shape[1])


def _pull(logs: Array) -> Array:
    """Return the gradient of the log prior by the log odds."""
    pull: Array = _prior(logs) - _row(logs)[:, None] * np.exp(logs)
    return pull[:, :-1].ravel()


def _weights(families: Sequence[Family], fit: Fit) -> Array:
    """Return the information of one noiseless record about the log odds."""
    rows = [(fit.p @ f.reads).reshape(x.shape).sum(axis=1)
            for f, x in zip(families, fit.logs, strict=True)]  # fmt: skip
    return _blocks(list(zip(rows, fit.logs, strict=True)))


def _blocks(parts: Sequence[tuple[Array, Array]]) -> Array:
    """Return the blocks w (diag theta - theta theta^T), one for each row of each table."""
    size = sum(x.shape[0] * (x.shape[1] - 1) for _, x in parts)
    out, start = np.zeros((size, size)), 0
    for weights, logs in parts:
        theta, (rows, levels) = np.exp(logs[:, :-1]), logs.shape
        own = np.zeros((rows, levels - 1, rows, levels - 1))
        each, pairs = np.arange(rows), theta[:, :, None] * theta[:, None, :]
        own[each, :, each] = weights[:, None, None] * (
            theta[:, :, None] * np.eye(levels - 1) - pairs
        )
        at = slice(start, start + theta.size)
        out[at, at] = own.reshape(theta.size, theta.size)
        start += theta.size
    return out


def _moved(logs: Sequence[Array], step: Array) -> list[Array]:
    """Change the tables' log odds, each by at most ``FARTHEST``."""
    out, start = [], 0
    for x in logs:
        rows, free = x.shape[0], x.shape[1] - 1
        part = step[start : start + rows * free].reshape(rows, free)
        start += rows * free
        odds = x - x[:, -1:]
        odds[:, :-1] += np.clip(part, -FARTHEST, FARTHEST)
        odds = np.clip(odds, LOWEST, -LOWEST)
        out.append(odds - np.logaddexp.reduce(odds, axis=1, keepdims=True))
    return out
