"""CURATE's score-based form (2024, Algorithm 2): NOLEAKS with an epsilon per step.

Lemma 2 gives the number of gradients that a total can pay for under each increment. There is a
published mode, and a strict mode with proven bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from engine.algorithm import WHOLE_RUN, Algorithm, Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.params import param
from engine.privacy.accounting import Guarantee, analytic_gaussian_sigma
from engine.score.acyclicity import Matrix, acyclicity
from engine.score.budgets import INCREMENTS, initial_for, iterations, schedule
from engine.score.descent import (
    NoisyDescentParameters,
    claimed_sensitivity,
    descend,
    ledger,
    published_data,
    published_gradient,
    quasi_newton,
)
from engine.score.optimiser import Trace, least_squares


@dataclass(frozen=True, kw_only=True)
class CurateNotearsParameters(NoisyDescentParameters):
    """Parameters of score-based CURATE. ``epsilon`` is the total in both modes."""

    increment: str = param(
        "multiplicative",
        choices=INCREMENTS,
        title="Increment",
        help="How ε_k changes over I gradients: ε₀^(1+k/I), which falls when ε₀ < 1; ε₀(1+k/I); "
        "ε₀e^(k/I). 'rising' (ours) is ε₀·10^(k/I), which rises for every ε₀.",
    )
    initial: float | str = param(
        "auto",
        kind="float",
        words=("auto",),
        low=1e-9,
        high=1e7,
        tuned=(1e-4, 0.1),
        log=True,
        title="Initial budget ε₀",
        help="ε of the first gradient; Lemma 2 says how many the total then affords. 'auto' "
        "affords 200. Strict mode uses it only for the number and the ratios of the gradients.",
    )

    def check_together(self) -> None:
        """Refuse a total that is too small for one gradient."""
        self.epsilons()

    def epsilons(self) -> tuple[float, ...]:
        """Return epsilon_k of every planned gradient (Lemma 2); the sum is at most ``epsilon``."""
        first = self.initial
        if isinstance(first, str):
            first = initial_for(self.epsilon, self.increment)
        return schedule(first, iterations(self.epsilon, first, self.increment), self.increment)


def published(
    data: Dataset, params: CurateNotearsParameters, context: RunContext, trace: Trace
) -> None:
    """Run Algorithm 2: one noisy gradient of epsilon_k per step, line search on public rows."""
    epsilons, n, l1 = params.epsilons(), data.n, params.l1(data, True)
    covariance, public = published_data(data, params.scores(True), params.public_rows, context)
    clip = params.clip_at(strict=False)
    stated = claimed_sensitivity(clip, data.d, n)

    def gradient(w: Matrix, k: int) -> Matrix:
        sigma = analytic_gaussian_sigma(epsilons[k], params.delta, stated)
        noisy = published_gradient(w, covariance, clip, sigma, context, k)
        trace.epsilon.append(epsilons[k])
        return noisy

    def value(w: Matrix, penalty: float, multiplier: float) -> float:
        h = acyclicity(w)[0]
        loss = least_squares(w, public)[0] + l1 * float(np.abs(w).sum())
        return loss + 0.5 * penalty * h * h + multiplier * h

    quasi_newton(gradient, value, len(epsilons), l1, trace, context.links_known)


def claimed(trace: Trace, params: CurateNotearsParameters) -> Guarantee:
    """Return the Claimed ε and δ: the gradients' epsilons and deltas, added up."""
    return Guarantee(sum(trace.epsilon), params.delta * len(trace.epsilon))


def run(data: Dataset, params: CurateNotearsParameters, context: RunContext) -> Outcome:
    """Run; ``epsilon`` is the Claimed ε if published (``delta`` per gradient), else the cap."""
    plan = params.epsilons()
    total = partial(claimed, params=params)
    return descend(data, params, context, published, total, plan, planned_epsilon=plan)


ALGORITHM = Algorithm(
    key="curate_notears",
    title="CURATE (score-based)",
    family="score-based",
    params=CurateNotearsParameters,
    run=run,
    reference="CURATE 2024, Algorithm 2",
    summary="As NOLEAKS, with a share of the budget that changes from step to step.",
    ledger=ledger,
    epsilon_pays=WHOLE_RUN,
    # its number of gradients is fixed in advance, so without noise it differs from NOTEARS
    parent=None,
)
