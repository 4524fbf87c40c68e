"""NOTEARS: least squares with an l1 penalty and acyclicity, from the covariance matrix alone.

Zheng et al. 2018, Algorithm 1: an augmented Lagrangian, the inner problems of it solved with
L-BFGS-B over W = W+ - W-, both parts at least 0 and their diagonals fixed at 0. The loss
1/2 tr((I - W)' S (I - W)) needs the covariance S only, so its cost does not depend on n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.optimize import Bounds

from engine.context import RunContext
from engine.graphs.known import Known
from engine.monitor import Cancelled
from engine.privacy.ledger import BudgetExhausted
from engine.score.acyclicity import Matrix, acyclicity

H_TOLERANCE = 1e-5  # the paper's 1e-8 takes several times as long and changes few edges
MAX_PENALTY = 1e16
MAX_DUAL_STEPS = 100
PROGRESS = 0.25  # a dual step must shrink h to this share, or the penalty grows
GROWTH = 10.0


@dataclass
class Trace:
    """Weights (d, d) so far, unpruned, and one entry for each inner solve or gradient."""

    weights: Matrix
    objective: list[float] = field(default_factory=list)
    h: list[float] = field(default_factory=list)
    epsilon: list[float] = field(default_factory=list)
    status: str = "complete"


@contextmanager
def keeping(trace: Trace) -> Iterator[None]:
    """Keep the trace's content if the budget or the user ends the work, and note the end in it."""
    try:
        yield
    except BudgetExhausted:
        trace.status = "budget_exhausted"
    except Cancelled:
        trace.status = "cancelled"


@lru_cache(maxsize=8)
def _identity(d: int) -> Matrix:
    identity = np.eye(d)
    identity.flags.writeable = False
    return identity


def least_squares(w: Matrix, covariance: Matrix) -> tuple[float, Matrix]:
    """1/2 tr((I - W)' S (I - W)) and its gradient -S (I - W)."""
    rest = _identity(len(w)) - w
    product = covariance @ rest
    return 0.5 * float((rest * product).sum()), -product


def fold_parts(parts: Matrix, d: int) -> Matrix:
    """W = W+ - W- from the flat doubled vector (2 d^2,)."""
    return (parts[: d * d] - parts[d * d :]).reshape(d, d)


def doubled_bounds(d: int, known: Known | None = None) -> Bounds:
    """Bounds of the doubled vector: 0 on the diagonal and where barred, at least 0 elsewhere."""
    from scipy.optimize import Bounds  # slow to load, and many runs need least_squares alone

    upper = np.full((d, d), np.inf)
    np.fill_diagonal(upper, 0.0)
    if known is not None:
        upper[known.barred] = 0.0
    return Bounds(0.0, np.concatenate([upper.ravel(), upper.ravel()]))


def penalised(
    parts: Matrix,
    loss: Callable[[Matrix], tuple[float, Matrix]],
    l1: float | Matrix,
    penalty: float,
    multiplier: float,
    d: int,
) -> tuple[float, Matrix]:
    """Return the inner problem's value and gradient over the doubled vector."""
    w = fold_parts(parts, d)
    value, slope = loss(w)
    h, h_slope = acyclicity(w)
    smooth = slope + (penalty * h + multiplier) * h_slope
    weight = (l1 if isinstance(l1, np.ndarray) else np.full((d, d), float(l1))).ravel()
    total = value + 0.5 * penalty * h * h + multiplier * h
    total += float(weight @ (parts[: d * d] + parts[d * d :]))
    gradient = np.empty(2 * d * d)
    gradient[: d * d] = smooth.ravel() + weight
    gradient[d * d :] = weight - smooth.ravel()
    return total, gradient


def dual_ascent(
    inner: Callable[[Matrix, float, float], Matrix],
    covariance: Matrix,
    l1: float | Matrix,
    trace: Trace,
    tolerance: float,
) -> Iterator[None]:
    """Algorithm 1's outer loop, into the trace; yields after every inner solve.

    ``inner`` minimises the penalised problem from a point, at a penalty and a multiplier. The
    objective that is noted is the loss on ``covariance`` and the l1 penalty.
    """
    d = len(trace.weights)
    parts, h, penalty, multiplier = np.zeros(2 * d * d), np.inf, 1.0, 0.0
    for _ in range(MAX_DUAL_STEPS):
        while True:
            found = inner(parts, penalty, multiplier)
            w = fold_parts(found, d)
            new = acyclicity(w)[0]
            l1_term = float(np.sum(l1 * (found[: d * d] + found[d * d :]).reshape(d, d)))
            trace.objective.append(least_squares(w, covariance)[0] + l1_term)
            trace.h.append(new)
            yield
            if new <= PROGRESS * h or penalty >= MAX_PENALTY:
                break
            penalty *= GROWTH
        parts, h, trace.weights = found, new, w
        multiplier += penalty * h
        if h <= tolerance or penalty >= MAX_PENALTY:
            return


def solve(
    covariance: Matrix, l1: float | Matrix, context: RunContext, tolerance: float = H_TOLERANCE
) -> Trace:
    """Minimise over acyclic W; ``covariance`` (d, d) symmetric and positive semi-definite.

    ``l1`` is the penalty's weight, one number or one for each edge; ``tolerance`` the h(W) to stop
    at. Arrows that are known to be none keep the weight 0. A stopped run keeps its results so far.
    Each inner solve is a step of the run's trace: only for covariances that may be shown, released
    ones, or runs that promise nothing.
    """
    from scipy.optimize import minimize  # slow to load, and many runs need least_squares alone

    d = len(covariance)
    trace, bounds = Trace(np.zeros((d, d))), doubled_bounds(d, context.links_known)

    def value(at: Matrix, penalty: float, multiplier: float) -> tuple[float, Matrix]:
        context.check()
        return penalised(at, lambda w: least_squares(w, covariance), l1, penalty, multiplier, d)

    def inner(start: Matrix, *at: float) -> Matrix:
        found = minimize(value, start, args=at, method="L-BFGS-B", jac=True, bounds=bounds)
        return np.asarray(found.x)

    with keeping(trace):
        for _ in dual_ascent(inner, covariance, l1, trace, tolerance):
            objective, h = trace.objective[-1], trace.h[-1]
            context.emit(
                "solve",
                "solved",
                code="solved",
                numbers={"h": h},
                value=objective,
            )
    return trace
