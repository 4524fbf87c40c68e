"""A vote over blocks of rows (ours): one record changes one block's vote, under any rule.

The number of blocks follows from n and the stated size of a block. A block may therefore use
methods that no bounded score allows: standardise by its own spread, choose lambda by
cross-validation, use the variance score of section 3.3, all of its rows for fit and score alike.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.pairs.columns import Pair
from engine.pairs.dependence import KERNEL_SCORES, hsic, score
from engine.pairs.regression import Ridge, Vector

RIDGES = (1e-4, 1e-3, 1e-2, 1e-1)
WIDTH = 0.3  # of the regression's kernel, where 1 is REACH standard deviations
REACH = 3.0
MARGIN_SENSITIVITY = 2.0  # a vote that turns leaves one side and joins the other


def block_count(n: int, size: int) -> int:
    """Count the blocks of about ``size`` rows that n rows make; at least one."""
    return max(1, n // size)


def votes(
    pair: Pair, order: np.ndarray, size: int, name: str, check: Callable[[], None] = lambda: None
) -> Vector:
    """Each block's vote: 1 for x -> y, -1 for y -> x, 0 where it cannot tell.

    ``order`` deals the rows into blocks; ``check`` is called before each, and may end the run.
    """
    cast = []
    for block in np.array_split(order, block_count(len(order), size)):
        check()
        cast.append(_vote(pair.rows(block), name))
    return np.array(cast)


def _vote(block: Pair, name: str) -> float:
    x, y = _standard(block.x), _standard(block.y)
    if not (x.any() and y.any()):
        return 0.0  # a constant column says nothing
    return float(np.sign(_score(y, x, name) - _score(x, y, name)))


def _standard(column: Vector) -> Vector:
    """Centred, REACH standard deviations to 1, cut off there; all 0 if the column is constant."""
    spread = float(column.std())
    if spread <= 1e-12:  # rounding of a constant's mean
        return np.zeros_like(column)
    cut: Vector = np.clip((column - column.mean()) / (REACH * spread), -1.0, 1.0)
    return cut


def _score(cause: Vector, effect: Vector, name: str) -> float:
    """Score the dependence between the cause and the residuals of the effect's best fit."""
    fit = Ridge.fit(cause, effect, WIDTH)
    ridge = min(RIDGES, key=fit.cross_validation)
    rest = effect - fit.predict(cause, ridge)
    if name not in KERNEL_SCORES:
        return score(name, cause, rest, WIDTH)
    return hsic(cause, rest, float(cause.std()), max(float(rest.std()), 1e-6))


WIDTHS = (0.15, 0.3, 0.6)


def best_settings(pair: Pair, size: int) -> tuple[tuple[tuple[float, float], ...], Vector]:
    """Return the (lambda, width) on offer, and the number of blocks that find each the best.

    Best is the smallest cross-validated error of both regressions together. One record changes one
    block's choice, so each count moves by at most 1.
    """
    options = tuple((ridge, width) for ridge in RIDGES for width in WIDTHS)
    counts = np.zeros(len(options))
    rows = np.arange(len(pair.x))  # dealt at random already
    for block in np.array_split(rows, block_count(len(rows), size)):
        part = pair.rows(block)
        fits = {
            width: (Ridge.fit(part.x, part.y, width), Ridge.fit(part.y, part.x, width))
            for width in WIDTHS
        }
        errors = [sum(fit.cross_validation(ridge) for fit in fits[w]) for ridge, w in options]
        counts[int(np.argmin(errors))] += 1
    return options, counts
