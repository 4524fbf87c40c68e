"""NOLEAKS (Ma et al. 2022): NOTEARS with noisy gradients, as published and as it would hold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from engine.algorithm import Algorithm, Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.params import param
from engine.privacy.accounting import Guarantee, analytic_gaussian_sigma
from engine.score.acyclicity import Matrix
from engine.score.descent import (
    NoisyDescentParameters,
    claimed_sensitivity,
    descend,
    ledger,
    published_data,
    published_gradient,
)
from engine.score.optimiser import Trace, doubled_bounds, dual_ascent, least_squares, penalised


@dataclass(frozen=True, kw_only=True)
class NoleaksParameters(NoisyDescentParameters):
    """Parameters of NOLEAKS. In published mode epsilon and delta are those of one gradient."""

    gradients: int = param(
        400,
        low=1,
        high=5_000,
        tuned=(20, 2_000),
        title="Gradients",
        help="How many noisy gradients a strict run shares its total among.",
        when={"guarantee": ("strict",)},
    )


H_TOLERANCE = 1e-8


def published(data: Dataset, params: NoleaksParameters, context: RunContext, trace: Trace) -> None:
    """The paper's loop: L-BFGS-B on noisy gradients, its line search on public rows.

    The h(W) and the loss it looks at between gradients come from released weights and public rows.
    """
    from scipy.optimize import minimize  # slow to load, and strict runs do without

    d = data.d
    covariance, public = published_data(data, params.scores(True), params.public_rows, context)
    clip = params.clip_at(strict=False)
    stated = claimed_sensitivity(clip, d, data.n)
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


def claimed(trace: Trace, params: NoleaksParameters) -> Guarantee:
    """The paper's total: the gradients' epsilons and deltas added up."""
    count = len(trace.epsilon)
    return Guarantee(count * params.epsilon, count * params.delta)


def run(data: Dataset, params: NoleaksParameters, context: RunContext) -> Outcome:
    """Published: ``epsilon`` and ``delta`` a gradient, the total is their sum. Strict: the cap."""
    equal = [params.epsilon / params.gradients] * params.gradients
    return descend(data, params, context, published, partial(claimed, params=params), equal)


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
    parent=None,  # follows gradients by a plan fixed in advance; its limit is not NOTEARS' solver
)
