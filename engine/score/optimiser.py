"""NOTEARS: least squares with an l1 penalty and acyclicity, from the covariance matrix alone.

Zheng et al. 2018, Algorithm 1: an augmented Lagrangian whose inner problems are solved with
L-BFGS-B over W = W+ - W-, both parts at least 0 and their diagonals fixed at 0. The loss
1/2 tr((I - W)' S (I - W)) needs the covariance S only, so its cost does not depend on n.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.optimize import Bounds

from engine.context import Cancelled, RunContext
from engine.graphs.known import Known
from engine.score.acyclicity import Matrix, acyclicity

H_TOLERANCE = 1e-5  # the paper's 1e-8 takes several times as long and changes few edges
MAX_PENALTY = 1e16
MAX_DUAL_STEPS = 100
PROGRESS = 0.25  # a dual step must shrink h to this share, or the penalty grows
GROWTH = 10.0


@dataclass(frozen=True)
class Iteration:
    """State after one solve of the inner problem."""

    objective: float
    h: float
    penalty: float
    multiplier: float


@dataclass
class Solution:
    """Weights (d, d), unpruned, and how the solver got there."""

    weights: Matrix
    history: list[Iteration] = field(default_factory=list)
    status: str = "complete"

    @property
    def objective(self) -> tuple[float, ...]:
        """Loss and l1 penalty after each inner solve."""
        return tuple(i.objective for i in self.history)

    @property
    def h(self) -> tuple[float, ...]:
        """h(W) after each inner solve."""
        return tuple(i.h for i in self.history)


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
    """The inner problem's value and gradient over the doubled vector."""
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


def solve(
    covariance: Matrix,
    l1: float | Matrix,
    *,
    check: Callable[[], None] = lambda: None,
    on_iteration: Callable[[Iteration], None] = lambda _: None,
    into: Solution | None = None,
    tolerance: float = H_TOLERANCE,
    known: Known | None = None,
) -> Solution:
    """Minimise over acyclic W; ``covariance`` (d, d) symmetric and positive semi-definite.

    ``l1`` is the penalty's weight, one number or one for each edge; ``tolerance`` the h(W) to stop
    at. Arrows that are ``known`` to be none keep the weight 0. ``check`` may raise to stop;
    ``on_iteration`` sees each inner solve. ``into`` is filled as the solver goes, so that a caller
    that is stopped keeps what was found.
    """
    from scipy.optimize import minimize  # slow to load, and many runs need least_squares alone

    d = len(covariance)
    parts = np.zeros(2 * d * d)
    solution = Solution(fold_parts(parts, d)) if into is None else into
    bounds, h, penalty, multiplier = doubled_bounds(d, known), np.inf, 1.0, 0.0

    def inner(at: Matrix, penalty: float, multiplier: float) -> tuple[float, Matrix]:
        check()
        return penalised(at, lambda w: least_squares(w, covariance), l1, penalty, multiplier, d)

    for _ in range(MAX_DUAL_STEPS):
        while True:
            found = minimize(
                inner,
                parts,
                args=(penalty, multiplier),
                method="L-BFGS-B",
                jac=True,
                bounds=bounds,
            )
            w = fold_parts(found.x, d)
            new = acyclicity(w)[0]
            l1_term = float(np.sum(l1 * (found.x[: d * d] + found.x[d * d :]).reshape(d, d)))
            objective = least_squares(w, covariance)[0] + l1_term
            step = Iteration(objective, new, penalty, multiplier)
            solution.history.append(step)
            on_iteration(step)
            if new <= PROGRESS * h or penalty >= MAX_PENALTY:
                break
            penalty *= GROWTH
        parts, h = found.x, new
        solution.weights = w
        multiplier += penalty * h
        if h <= tolerance or penalty >= MAX_PENALTY:
            break
    return solution


def solve_with_trace(
    covariance: Matrix, l1: float | Matrix, context: RunContext, tolerance: float = H_TOLERANCE
) -> Solution:
    """:func:`solve` with a step in the trace for each inner solve, and a stop that keeps the rest.

    Only for covariances that may be shown: released ones, or runs that promise nothing.
    """
    d = len(covariance)
    solution = Solution(np.zeros((d, d)))

    def show(step: Iteration) -> None:
        context.emit(
            "solve",
            "solved",
            reason=f"the objective is {step.objective:.4g}, the measure of cycles h {step.h:.2e}",
            value=step.objective,
        )

    try:
        solve(
            covariance,
            l1,
            check=context.check,
            on_iteration=show,
            into=solution,
            tolerance=tolerance,
            known=context.known,
        )
    except Cancelled:
        solution.status = "cancelled"
    return solution
