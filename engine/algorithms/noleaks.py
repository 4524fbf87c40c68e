"""NOLEAKS (Ma et al. 2022): NOTEARS with noisy gradients, in published and strict mode."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from engine.algorithm import Algorithm, Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.params import again, param
from engine.privacy.accounting import Guarantee, analytic_gaussian_sigma
from engine.privacy.budget import PublishedForm
from engine.score.acyclicity import Matrix
from engine.score.descent import (
    NoisyDescentParameters,
    claimed_sensitivity,
    descend,
    ledger,
    published_data,
    published_gradient,
)
from engine.score.learned import oracle_threshold
from engine.score.optimiser import Trace, doubled_bounds, dual_ascent, least_squares, penalised

PRIVATE_ROWS, PUBLIC_SHARE = 5_000, 0.01  # from the authors' program


@dataclass(frozen=True, kw_only=True)
class NoleaksParameters(NoisyDescentParameters, PublishedForm):
    """Parameters of NOLEAKS. In published mode epsilon and delta apply to each gradient."""

    form: str = again(
        PublishedForm,
        "form",
        help="Published: the paper's text, or the program of its authors, which made the printed "
        "numbers. The program takes 5,000 of the rows and counts their share of the total. It "
        "chooses the edge threshold with the best skeleton F1 against the true graph.",
    )

    gradients: int = param(
        400,
        low=1,
        high=5_000,
        tuned=(20, 2_000),
        title="Gradients",
        help="The number of noisy gradients that share the total of a strict run.",
        when={"guarantee": ("strict",)},
    )

    def private_rows(self, data: Dataset) -> int | None:
        """Return the program's number of private rows, or None for all rows."""
        few = PRIVATE_ROWS * (1 + PUBLIC_SHARE)
        return PRIVATE_ROWS if self.programmed and data.n >= few else None

    def pruned_at(self, weights: Matrix, data: Dataset) -> float:
        """Return the edge threshold; the program chooses it with the ground truth, if known."""
        best = oracle_threshold(weights, data) if self.programmed else None
        return best.threshold if best else super().pruned_at(weights, data)


H_TOLERANCE = 1e-8


def published(data: Dataset, params: NoleaksParameters, context: RunContext, trace: Trace) -> None:
    """Run the paper's loop: L-BFGS-B on noisy gradients, its line search on public rows.

    Between gradients it uses h(W) and the loss, computed from released weights and public rows.
    """
    from scipy.optimize import minimize  # slow to import, and strict runs do not need it

    d = data.d
    rows = params.private_rows(data)
    shown = params.public_rows if rows is None else round(PUBLIC_SHARE * rows)
    covariance, public = published_data(data, params.scores(True), shown, context, rows)
    clip = params.clip_at(strict=False)
    stated = claimed_sensitivity(clip, d, rows or data.n)
    sigma = analytic_gaussian_sigma(params.epsilon, params.delta, stated)
    l1, bounds = params.l1(data, True), doubled_bounds(d, context.links_known)

    def inner(start: Matrix, penalty: float, multiplier: float) -> Matrix:
        def value(at: Matrix) -> float:
            loss = partial(least_squares, covariance=public)
            return penalised(at, loss, l1, penalty, multiplier, d)[0]

        def slope(at: Matrix) -> Matrix:
            def loss(w: Matrix) -> tuple[float, Matrix]:
                noisy = published_gradient(w, covariance, clip, sigma, context, len(trace.epsilon))
                trace.epsilon.append(params.epsilon)
                return 0.0, noisy

            return penalised(at, loss, l1, penalty, multiplier, d)[1]

        return np.asarray(minimize(value, start, method="L-BFGS-B", jac=slope, bounds=bounds).x)

    for _ in dual_ascent(inner, public, l1, trace, H_TOLERANCE):
        pass


def claimed(trace: Trace, params: NoleaksParameters, data: Dataset) -> Guarantee:
    """Return the Claimed ε and δ: the sums over the gradients, times the share of rows."""
    count = len(trace.epsilon) * (params.private_rows(data) or data.n) / data.n
    return Guarantee(count * params.epsilon, count * params.delta)


def run(data: Dataset, params: NoleaksParameters, context: RunContext) -> Outcome:
    """Run; ``epsilon``, ``delta`` are per gradient if published, the cap if strict."""
    equal = [params.epsilon / params.gradients] * params.gradients
    total = partial(claimed, params=params, data=data)
    return descend(data, params, context, published, total, equal)


ALGORITHM = Algorithm(
    key="noleaks",
    title="NOLEAKS",
    family="score-based",
    params=NoleaksParameters,
    run=run,
    reference="Ma et al. 2022",
    summary="As NOTEARS, but each step down the slope sees a noisy slope only, and is paid for.",
    ledger=ledger,
    epsilon_pays="a gradient",
    epsilon_unit="gradient",
    # its number of gradients is fixed in advance, so without noise it differs from NOTEARS
    parent=None,
)
