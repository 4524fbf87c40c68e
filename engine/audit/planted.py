"""Faults planted on purpose: an audit that does not find them proves nothing.

Toy algorithms that count the ones of a column, each with one of the mistakes that papers and their
code have made. They are in no registry and know the mechanisms alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.algorithm import Algorithm, Outcome
from engine.data.dataset import Dataset
from engine.privacy.budget import PrivateBudget
from engine.privacy.ledger import Ledger
from engine.privacy.mechanisms import AboveThreshold, gaussian, laplace
from engine.randomness import Randomness
from engine.session import Session


@dataclass(frozen=True, kw_only=True)
class PlantedParameters(PrivateBudget):
    """A budget, as every private algorithm has."""


def ones(data: Dataset, column: int = 0) -> float:
    """How many rows do not hold the column's first level; one record moves it by at most 1."""
    return float(np.count_nonzero(data.codes[:, column]))


def sound(data: Dataset, params: PlantedParameters, session: Session) -> None:
    """No fault: a count with the noise it pays for, and a sparse vector of ten counts."""
    half = params.epsilon / 2
    _show(session, laplace(session, ones(data), sensitivity=1, scale=1 / half, label="count"))
    run = _round(session, half)
    for _ in range(10):
        above = run.above(ones(data))
        session.emit("count", "above" if above else "below", reason="a noisy comparison")
        if above:
            break


def too_little_noise(data: Dataset, params: PlantedParameters, session: Session) -> None:
    """30 % less noise than is charged."""
    exact = ones(data)
    noisy = laplace(session, exact, sensitivity=1, scale=1 / params.epsilon, label="count")
    _show(session, exact + 0.7 * (noisy - exact))


def gaussian_refresh(data: Dataset, params: PlantedParameters, session: Session) -> None:
    """A sparse vector whose threshold is refreshed with Gaussian noise (the authors' code)."""
    run = _round(session, params.epsilon)
    run.noisy_threshold = gaussian(
        session, [5.0], sensitivity=0.0, sigma=2 / params.epsilon, label="refresh"
    ).item()
    for _ in range(100):
        above = run.above(ones(data))
        session.emit("count", "above" if above else "below", reason="a noisy comparison")
        if above:
            break


def uncharged_answer(data: Dataset, params: PlantedParameters, session: Session) -> None:
    """A second answer is paid for from somebody else's ledger."""
    _show(session, laplace(session, ones(data), sensitivity=1, scale=1 / params.epsilon))
    elsewhere = replace(session, ledger=Ledger())
    _show(session, laplace(elsewhere, ones(data), sensitivity=1, scale=1 / params.epsilon))


def data_normaliser(data: Dataset, params: PlantedParameters, session: Session) -> None:
    """A share of the rows that hold something, charged as if it were a share of all rows."""
    share = ones(data) / max(1.0, ones(data, 1))
    sensitivity = 1 / data.n
    _show(session, laplace(session, share, sensitivity=sensitivity, scale=sensitivity))


def shared_seed(data: Dataset, params: PlantedParameters, session: Session) -> None:
    """Two releases whose epsilons are added up, each with a generator of the same secret seed."""
    secret = int(session.randomness.permutation(1 << 16)[0])
    for share in (1 / 3, 2 / 3):
        twin = replace(session, randomness=Randomness(secret))
        scale = 1 / (share * params.epsilon)
        _show(session, laplace(twin, ones(data), sensitivity=1, scale=scale))


def _round(session: Session, epsilon: float) -> AboveThreshold:
    return AboveThreshold(
        session,
        threshold=5.0,
        sensitivity=1,
        threshold_scale=2 / epsilon,
        query_scale=4 / epsilon,
        label="sparse vector",
    )


def _show(session: Session, value: float) -> None:
    session.emit("count", "released", reason="a count was released with noise", value=value)


Work = Callable[[Dataset, Any, Session], None]


def _planted(work: Work) -> Algorithm:
    def run(data: Dataset, params: Any, session: Session) -> Outcome:
        work(data, params, session)
        session.close()
        return Outcome(cpdag=np.zeros((data.d, data.d), dtype=bool))

    return Algorithm(
        key=work.__name__,
        title=work.__name__.replace("_", " "),
        family="planted",
        params=PlantedParameters,
        run=run,
        private=True,
        reference="a fault planted on purpose",
        summary=(work.__doc__ or "").strip(),
        ledger=lambda data, params: Ledger(params.total),
    )


SOUND = _planted(sound)
FAULTS = {
    work.__name__: _planted(work)
    for work in (
        too_little_noise,
        gaussian_refresh,
        uncharged_answer,
        data_normaliser,
        shared_seed,
    )
}
