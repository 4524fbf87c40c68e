"""CURATE's margins by hand: its plan, Lemma 1's two errors and the score, for every place of three
dials, ready to be dragged.

All plans are made from public facts; the scores are those of ordinary runs (:func:`sweep`), a few
draws of the noise a setting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.algorithms.curate_pc import CuratePC, CuratePCParameters, ledger
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.privacy.ledger import BudgetExhausted
from engine.randomness import Randomness
from engine.search.skeleton import Graph
from engine.studies.study import Progress, sweep
from engine.studies.tune import score_of

CURATE = "curate_pc"
BETAS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
THRESHOLDS = (0.01, 0.02, 0.05, 0.1, 0.2)
DRAWS = 8
MOST_COLUMNS = 12  # with more, the plans alone take longer than one waits
COINS = 100

Array = NDArray[np.float64]


@dataclass(frozen=True)
class OrderShare:
    """What a plan gives to an order: tests, epsilon of each, coins, and Lemma 1's two rates: the
    bounds are (1 + e^(-rate epsilon)) / 2.
    """

    order: int
    tests: int
    epsilon: float
    coins: float
    rate1: float
    rate2: float


@dataclass(frozen=True, eq=False)
class Margins:
    """Plans and scores over three dials; ``at`` numbers a place of each.

    ``plans`` (threshold, beta1, beta2) -> what each order gets, none where the total allows no
    plan; ``scores`` (thresholds, beta1s, beta2s, draws), NaN where not run yet.
    """

    data: Dataset
    epsilon: float
    guarantee: str
    objective: str
    thresholds: tuple[float, ...]
    betas: tuple[float, ...]
    plans: dict[tuple[int, int, int], tuple[OrderShare, ...]]
    scores: Array
    default: Array = field(repr=False)  # (draws,) of the default setting

    def best(self) -> tuple[int, int, int]:
        """The place with the highest mean score."""
        means = np.nan_to_num(self.scores.mean(axis=3), nan=-1.0)
        t, one, two = np.unravel_index(int(means.argmax()), means.shape)
        return int(t), int(one), int(two)

    def values(self, at: tuple[int, int, int]) -> dict[str, float]:
        """The parameters of a place."""
        t, one, two = at
        named = {"threshold": self.thresholds[t], "beta1": self.betas[one]}
        return {**named, "beta2": self.betas[two]}

    def as_dict(self) -> dict[str, Any]:
        """JSON types: everything that a page needs to follow a hand."""
        places = list(np.ndindex(*self.scores.shape[:3]))
        return {
            "thresholds": list(self.thresholds),
            "betas": list(self.betas),
            "epsilon": self.epsilon,
            "plans": [
                [
                    [s.order, s.tests, *(float(f"{v:.4g}") for v in _numbers(s))]
                    for s in self.plans[place]
                ]
                for place in places
            ],
            "scores": [[round(float(v), 3) for v in self.scores[place]] for place in places],
            "default": [round(float(v), 3) for v in self.default],
            "best": list(self.best()),
        }


def _numbers(share: OrderShare) -> tuple[float, ...]:
    return share.epsilon, share.coins, share.rate1, share.rate2


def margins(
    data: Dataset,
    epsilon: float,
    *,
    guarantee: str = "strict",
    objective: str = "skeleton_f1",
    thresholds: Sequence[float] = THRESHOLDS,
    betas: Sequence[float] = BETAS,
    draws: int = DRAWS,
    cancelled: Callable[[], bool] = lambda: False,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Margins | None:
    """Plans and scores for every choice of T, beta1 and beta2.

    Args:
        data: A bundled network's rows, at most ``MOST_COLUMNS`` columns.
        epsilon: Of the whole run.
        guarantee: "strict" or "published".
        objective: What is scored: "skeleton_f1" or "directed_f1", of the links tested to the end.
        thresholds: Places of T, rising.
        betas: Places of both margins, rising.
        draws: Runs of each setting, seeds 0, 1, ...
        cancelled: Polled.
        on_progress: Called after each run.

    Returns:
        All of it; None where it was stopped.

    Raises:
        InputError: For private data, data without a truth, and too many columns.

    Examples:
        >>> from engine import load_dataset
        >>> cancer = load_dataset("cancer", n=1_000)
        >>> found = margins(cancer, 1.0, thresholds=[0.05], betas=[0.2, 0.4], draws=2)
        >>> found.scores.shape, len(found.plans[0, 0, 1])
        ((1, 2, 2, 2), 4)
    """
    if not data.public or data.truth is None:
        raise InputError("Margins are tried on public networks: every run would spend budget.")
    if data.d > MOST_COLUMNS:
        raise InputError(f"Margins are tried on at most {MOST_COLUMNS} columns here.")
    fixed = {"epsilon": epsilon, "guarantee": guarantee}
    grid = {"threshold": list(thresholds), "beta1": list(betas), "beta2": list(betas)}
    scores = np.full((len(thresholds), len(betas), len(betas), draws), np.nan)
    where = {
        (t, one, two): (i, j, k)
        for (i, t), (j, one), (k, two) in product(
            enumerate(thresholds), enumerate(betas), enumerate(betas)
        )
    }
    results = sweep(
        data, CURATE, {**fixed, **grid}, draws, cancelled=cancelled, on_progress=on_progress
    )
    for result in results:
        v = result.values
        place = where[v["threshold"], v["beta1"], v["beta2"]]
        scores[(*place, result.seed)] = score_of(result, objective)
    if np.isnan(scores).any():
        return None
    plans = {
        (i, j, k): planned(data, **fixed, threshold=t, beta1=one, beta2=two)
        for (t, one, two), (i, j, k) in where.items()
    }
    default = np.array([score_of(r, objective) for r in sweep(data, CURATE, fixed, draws)])
    return Margins(
        data, epsilon, guarantee, objective, tuple(thresholds), tuple(betas), plans, scores, default
    )  # fmt: skip


def planned(data: Dataset, **values: Any) -> tuple[OrderShare, ...]:
    """CURATE's plan before its first test, from public facts alone; empty where none fits.

    Args:
        data: Gives the number of rows, columns and levels.
        values: The algorithm's parameters.
    """
    params = CuratePCParameters.build(values)
    rule = CuratePC(data, params, RunContext(Randomness(0), ledger(data, params), data.names))
    try:
        rule.begin_order(0, Graph(data.d))
    except BudgetExhausted:
        return ()
    plan = rule.planned[0]
    rates = rule._objective([budget.order for budget in plan])
    total = sum(budget.cost for budget in plan)
    return tuple(
        OrderShare(b.order, b.tests, b.epsilon, COINS * b.cost / total, float(one), float(two))
        for b, one, two in zip(plan, rates.rate1, rates.rate2, strict=True)
    )
