"""NOTEARS: least squares with an l1 penalty and acyclicity, from the covariance matrix.

Zheng et al. 2018, Algorithm 1: an augmented Lagrangian whose inner problems are solved with
L-BFGS-B over W = W+ - W-. Both parts are at least 0, with diagonals fixed at 0. The loss 1/2 tr((I
- W)' S (I - W)) needs only the covariance S, so its run time does not depend on n.
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
PROGRESS = 0.25  # the penalty grows unless a dual step reduces h to this share
GROWTH = 10.0


@dataclass
class Trace:
    """Current weights (d, d) before pruning, and one entry per inner solve or gradient."""

    weights: Matrix
    objective: list[float] = field(default_factory=list)
    h: list[float] = field(default_factory=list)
    epsilon: list[float] = field(default_factory=list)
    status: str = "complete"


@contextmanager
def keeping(trace: Trace) -> Iterator[None]:
    """Keep the trace if the budget or the user ends the work, and record the reason in it."""
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
    """Return 1/2 tr((I - W)' S (I - W)) and its gradient -S (I - W)."""
    rest = _identity(len(w)) - w
    product = covariance @ rest
    return 0.5 * float((rest * product).sum()), -product


def fold_parts(parts: Matrix, d: int) -> Matrix:
    """Return W = W+ - W- from the flat doubled vector (2 d^2,)."""
    return (parts[: d * d] - parts[d * d :]).reshape(d, d)


def doubled_bounds(d: int, known: Known | None = None) -> Bounds:
    """Return the doubled vector's bounds: 0 on the diagonal and if barred, otherwise >= 0."""
    from scipy.optimize import Bounds  # slow to import, and many runs need only least_squares

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
    """Run Algorithm 1's outer loop and fill the trace; yields after every inner solve.

    ``inner`` minimises the penalised problem from a point, at a penalty and a multiplier. The
    recorded objective is the loss on ``covariance`` plus the l1 penalty.
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

    ``l1`` is the penalty's weight, one number or one per edge; ``tolerance`` is the h(W) at which
    to stop. Forbidden directed edges keep the weight 0. A cancelled run keeps its results so far.
    Each inner solve is a step of the run's trace, so use it only if the covariance may be shown:
    for released covariances, or runs without a guarantee.
    """
    from scipy.optimize import minimize  # slow to import, and many runs need only least_squares

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
