"""Reference mechanisms: algorithms that count, one for each mechanism and one for each fault.

An audit that does not find the faults proves nothing: each is a mistake that papers, or code, have
made. None of them is in the registry.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.algorithm import Algorithm, Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.privacy.budget import PrivateBudget
from engine.privacy.ledger import Ledger
from engine.privacy.mechanisms import (
    AboveThreshold,
    analytic_gaussian,
    exponential,
    gaussian,
    laplace,
)
from engine.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class CountParameters(PrivateBudget):
    """A budget, as every private algorithm has."""


def ones(data: Dataset, column: int = 0) -> float:
    """How many rows do not hold the column's first level; one record moves it by at most 1."""
    return float(np.count_nonzero(data.codes[:, column]))


# One mechanism each; its input moves by exactly what it pays for ----------------------


def by_laplace(data: Dataset, params: CountParameters, session: RunContext) -> None:
    """A count with Laplace noise."""
    scale = 1 / params.epsilon
    _show(session, laplace(session, ones(data), sensitivity=1, scale=scale, label="Laplace"))


def by_analytic_gaussian(data: Dataset, params: CountParameters, session: RunContext) -> None:
    """Five counts with the least Gaussian noise for (ε, δ)."""
    counts = [ones(data, j) for j in range(min(5, data.d))]
    noisy, _ = analytic_gaussian(
        session,
        counts,
        sensitivity=math.sqrt(len(counts)),
        epsilon=params.epsilon,
        delta=params.delta,
    )
    for value in noisy:
        _show(session, float(value))


def by_gaussian(data: Dataset, params: CountParameters, session: RunContext) -> None:
    """A count with Gaussian noise under zCDP."""
    sigma = 1 / math.sqrt(2 * session.ledger.limit)
    _show(session, gaussian(session, [ones(data)], sensitivity=1, sigma=sigma).item())


def by_exponential(data: Dataset, params: CountParameters, session: RunContext) -> None:
    """One of two options; one record moves their utilities in opposite directions."""
    utilities = [ones(data), -ones(data)]
    _show(session, float(exponential(session, utilities, epsilon=params.epsilon)))


def by_sparse_vector(data: Dataset, params: CountParameters, session: RunContext) -> None:
    """Up to twenty noisy comparisons at the price of one."""
    _compare(session, _round(session, params.epsilon), data, 20)


# Faults ---------------------------------------------------------------------------------


def sound(data: Dataset, params: CountParameters, session: RunContext) -> None:
    """No fault: a count with the noise it pays for, and a sparse vector of ten counts."""
    half = params.epsilon / 2
    _show(session, laplace(session, ones(data), sensitivity=1, scale=1 / half, label="count"))
    _compare(session, _round(session, half), data, 10)


def too_little_noise(data: Dataset, params: CountParameters, session: RunContext) -> None:
    """30 % less noise than is charged."""
    exact = ones(data)
    noisy = laplace(session, exact, sensitivity=1, scale=1 / params.epsilon, label="count")
    _show(session, exact + 0.7 * (noisy - exact))


def gaussian_refresh(data: Dataset, params: CountParameters, session: RunContext) -> None:
    """A sparse vector with a threshold refreshed with Gaussian noise (the authors' code)."""
    run = _round(session, params.epsilon)
    run.noisy_threshold = gaussian(
        session, [5.0], sensitivity=0.0, sigma=2 / params.epsilon, label="refresh"
    ).item()
    _compare(session, run, data, 100)


def uncharged_answer(data: Dataset, params: CountParameters, session: RunContext) -> None:
    """A second answer is paid for from somebody else's ledger."""
    _show(session, laplace(session, ones(data), sensitivity=1, scale=1 / params.epsilon))
    elsewhere = replace(session, ledger=Ledger())
    _show(session, laplace(elsewhere, ones(data), sensitivity=1, scale=1 / params.epsilon))


def data_normaliser(data: Dataset, params: CountParameters, session: RunContext) -> None:
    """A share of the rows that hold something, charged as if it were a share of all rows."""
    share = ones(data) / max(1.0, ones(data, 1))
    sensitivity = 1 / data.n
    _show(session, laplace(session, share, sensitivity=sensitivity, scale=sensitivity))


def shared_seed(data: Dataset, params: CountParameters, session: RunContext) -> None:
    """Two releases, their epsilons added up, each with a generator of the same secret seed."""
    secret = int(session.randomness.permutation(1 << 11)[0])
    for share in (1 / 3, 2 / 3):
        shared = replace(session, randomness=Randomness(secret))
        scale = 1 / (share * params.epsilon)
        _show(session, laplace(shared, ones(data), sensitivity=1, scale=scale))


def _round(session: RunContext, epsilon: float) -> AboveThreshold:
    return AboveThreshold(
        session,
        threshold=5.0,
        sensitivity=1,
        threshold_scale=2 / epsilon,
        query_scale=4 / epsilon,
        label="sparse vector",
    )


def _compare(session: RunContext, run: AboveThreshold, data: Dataset, most: int) -> None:
    for _ in range(most):
        above = run.above(ones(data))
        session.emit("count", "above" if above else "below", code="a noisy comparison")
        if above:
            break


def _show(session: RunContext, value: float) -> None:
    session.emit("count", "released", code="a count was released with noise", value=value)


Work = Callable[[Dataset, Any, RunContext], None]


def _basic(data: Dataset, params: Any) -> Ledger:
    return Ledger(params.total)


def _zcdp(data: Dataset, params: Any) -> Ledger:
    return Ledger(params.total, method="zcdp")


def _counting(work: Work, ledger: Callable[[Dataset, Any], Ledger] = _basic) -> Algorithm:
    def run(data: Dataset, params: Any, session: RunContext) -> Outcome:
        work(data, params, session)
        session.close()
        return Outcome(matrix=np.zeros((data.d, data.d), dtype=bool))

    return Algorithm(
        key=work.__name__,
        title=work.__name__.replace("_", " ").capitalize(),
        family="reference",
        params=CountParameters,
        run=run,
        reference="tests",
        summary=(work.__doc__ or "").strip(),
        ledger=ledger,
    )


MECHANISMS = {
    one.key: one
    for one in (
        _counting(by_laplace),
        _counting(by_gaussian, _zcdp),
        _counting(by_analytic_gaussian),
        _counting(by_exponential),
        _counting(by_sparse_vector),
    )
}
SOUND = _counting(sound)
FAULTS = {
    work.__name__: _counting(work)
    for work in (too_little_noise, gaussian_refresh, uncharged_answer, data_normaliser, shared_seed)
}
