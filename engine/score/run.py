"""What NOLEAKS and score-based CURATE do alike around their gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.algorithm import Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.privacy.accounting import Guarantee
from engine.privacy.budget import PrivateBudget
from engine.privacy.ledger import Ledger
from engine.score.descent import Trace, attempt
from engine.score.learned import learned, report
from engine.score.parameters import GradientParameters, LinearParameters


@dataclass(frozen=True, kw_only=True)
class NoisyDescentParameters(GradientParameters, PrivateBudget, LinearParameters):
    """Parameters of a descent on noisy gradients."""


def ledger(data: Dataset, params: NoisyDescentParameters) -> Ledger:
    """Strict: the cap in zCDP. Published: no cap."""
    if not params.strict:
        return Ledger(delta=params.delta)
    return Ledger(params.total, method="zcdp")


def descend(
    data: Dataset,
    params: NoisyDescentParameters,
    context: RunContext,
    work: Callable[[Dataset, Any, RunContext, Trace], None],
    claimed: Callable[[Trace], Guarantee],
    planned_epsilon: tuple[float, ...] = (),
) -> Outcome:
    """Let ``work`` fill the trace, prune its last weights, and report; keeps what was reached.

    ``claimed`` is the paper's total of the gradients that were taken, asked in published mode only.
    """
    trace = Trace(np.zeros((data.d, data.d)))
    attempt(lambda: work(data, params, context, trace), trace)
    threshold = params.edge_threshold(data, not params.strict)
    result = learned(trace.weights, threshold, known=context.known)
    context.close()
    return Outcome(
        cpdag=result.cpdag,
        status=trace.status,
        claimed=None if params.strict else claimed(trace),
        diagnostics=report(
            result,
            data,
            objective=trace.objective,
            h=trace.h,
            epsilon=trace.epsilon,
            planned_epsilon=planned_epsilon,
        ),
    )
