"""A vote over blocks of rows (introduced here): one record changes the vote of one block.

This is true for any rule inside a block. The number of blocks follows from n and the declared block
size. A block may therefore use methods without a bounded sensitivity. It may standardise by its
spread, choose lambda by cross-validation, use the variance score of section 3.3, and use all of its
rows for both fit and score.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.pairs.columns import Pair
from engine.pairs.dependence import KERNEL_SCORES, hsic, score
from engine.pairs.regression import Ridge, Vector

RIDGES = (1e-4, 1e-3, 1e-2, 1e-1)
WIDTH = 0.3  # of the regression's kernel; 1 is REACH standard deviations
REACH = 3.0
MARGIN_SENSITIVITY = 2.0  # a reversed vote leaves one side and joins the other


def block_count(n: int, size: int) -> int:
    """Return the number of blocks of about ``size`` rows among n rows; at least one."""
    return max(1, n // size)


def votes(
    pair: Pair, order: np.ndarray, size: int, name: str, check: Callable[[], None] = lambda: None
) -> Vector:
    """Return each block's vote: 1 for x -> y, -1 for y -> x, 0 for undecided.

    ``order`` assigns the rows to blocks; ``check`` is called before each, and may end the run.
    """
    cast = []
    for block in np.array_split(order, block_count(len(order), size)):
        check()
        cast.append(_vote(pair.rows(block), name))
    return np.array(cast)


def _vote(block: Pair, name: str) -> float:
    x, y = _standard(block.x), _standard(block.y)
    if not (x.any() and y.any()):
        return 0.0  # a constant column has no information
    return float(np.sign(_score(y, x, name) - _score(x, y, name)))


def _standard(column: Vector) -> Vector:
    """Centre, scale REACH standard deviations to 1, clip; return 0s for a constant column."""
    spread = float(column.std())
    if spread <= 1e-12:  # rounding error of a constant's mean
        return np.zeros_like(column)
    cut: Vector = np.clip((column - column.mean()) / (REACH * spread), -1.0, 1.0)
    return cut


def _score(cause: Vector, effect: Vector, name: str) -> float:
    """Score the dependence between the cause and the residuals of the best fit of the effect."""
    fit = Ridge.fit(cause, effect, WIDTH)
    ridge = min(RIDGES, key=fit.cross_validation)
    rest = effect - fit.predict(cause, ridge)
    if name not in KERNEL_SCORES:
        return score(name, cause, rest, WIDTH)
    return hsic(cause, rest, float(cause.std()), max(float(rest.std()), 1e-6))


WIDTHS = (0.15, 0.3, 0.6)


def best_settings(pair: Pair, size: int) -> tuple[tuple[tuple[float, float], ...], Vector]:
    """Return the offered (lambda, width) pairs, and the number of blocks that prefer each.

    A block prefers the pair with the smallest cross-validated error of both regressions together.
    One record changes the choice of one block, so each count changes by at most 1.
    """
    options = tuple((ridge, width) for ridge in RIDGES for width in WIDTHS)
    counts = np.zeros(len(options))
    rows = np.arange(len(pair.x))  # already in random order
    for block in np.array_split(rows, block_count(len(rows), size)):
        part = pair.rows(block)
        fits = {
            width: (Ridge.fit(part.x, part.y, width), Ridge.fit(part.y, part.x, width))
            for width in WIDTHS
        }
        errors = [sum(fit.cross_validation(ridge) for fit in fits[w]) for ridge, w in options]
        counts[int(np.argmin(errors))] += 1
    return options, counts
