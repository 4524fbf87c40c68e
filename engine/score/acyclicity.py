"""NOTEARS' measure of cycles in a weighted graph, and a threshold that removes all cycles.

Zheng, Aragam, Ravikumar and Xing 2018: h(W) = tr(exp(W o W)) - d is 0 exactly for the weights of an
acyclic graph. ``w[i, j]`` is the weight of i -> j throughout.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm

from engine.graphs.cpdag import Adjacency

Matrix = NDArray[np.float64]

_LARGE = 300.0  # its exponential still fits a float; larger row sums of W o W are clipped


def acyclicity(w: Matrix) -> tuple[float, Matrix]:
    """Return h(W) >= 0 and its gradient exp(W o W)' o 2W; (d, d) -> scalar, (d, d)."""
    square = w * w
    # A large trial step of a line search must not overflow; its h is huge in any case.
    size = square.sum(axis=0).max(initial=0.0)
    if size > _LARGE:
        square = square * (_LARGE / size)
    e = expm(square)
    return float(e.trace()) - len(w), e.T * (2 * w)


def is_acyclic(graph: Adjacency) -> bool:
    """Return True if a (d, d) boolean matrix has no directed cycle (Kahn's algorithm)."""
    left = graph.copy()
    alive = np.ones(len(left), dtype=bool)
    while alive.any():
        sources = alive & ~left.any(axis=0)
        if not sources.any():
            return False
        left[sources] = False
        alive &= ~sources
    return True


def prune(
    w: Matrix, threshold: float | Matrix, required: Adjacency | None = None
) -> tuple[Adjacency, float]:
    """Return the edges of at least ``threshold``, raised by a factor until no cycle remains.

    ``required`` edges have no cycle and stay for any weight.

    ``threshold`` is one number, or one per edge. Weights are removed in the order of |w| over
    threshold until the graph is acyclic. The rule reads only released weights. Returns the
    adjacency matrix of a DAG and the factor (1 if the given threshold was enough).
    """
    size, limits = np.abs(w), np.finfo(float)
    # With a threshold of 0 the order is that of |w|; the least divisor avoids overflow.
    ratio = size / np.maximum(threshold, max(limits.tiny, 4 * float(size.max()) / limits.max))
    np.fill_diagonal(ratio, 0.0)
    kept = (ratio >= 1.0) & (w != 0)
    if required is not None:
        ratio[required], kept[required] = np.inf, True
    if is_acyclic(kept):
        return kept, 1.0
    levels = np.unique(ratio[kept])  # a higher level never adds a cycle
    above = bisect_left(levels, True, key=lambda level: is_acyclic(ratio > level))
    factor = float(levels[above])
    return ratio > factor, factor
