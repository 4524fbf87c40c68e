"""CURATE's plan, Lemma 1's two errors and the score for every position of three dials.

All plans are made from public facts. The scores come from ordinary runs (:func:`sweep`), with a few
noise seeds per setting.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from statistics import fmean
from typing import Any

from engine.algorithms.curate_pc import CuratePC, CuratePCParameters, ledger
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.privacy.ledger import BudgetExhausted
from engine.randomness import Randomness
from engine.search.skeleton import Graph
from engine.studies.study import sweep
from engine.studies.tune import public, score_of

CURATE = "curate_pc"
DIALS = ("threshold", "beta1", "beta2")
BETAS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
THRESHOLDS = (0.01, 0.02, 0.05, 0.1, 0.2)
DRAWS = 8
MOST_COLUMNS = 12  # with more, even the plans take too long
COINS = 100

Share = tuple[int, int, float, float, float, float]  # one order, see `planned`


def margins(
    data: Dataset,
    epsilon: float,
    *,
    guarantee: str = "strict",
    objective: str = "skeleton_f1",
    thresholds: Sequence[float] = THRESHOLDS,
    betas: Sequence[float] = BETAS,
    draws: int = DRAWS,
    **how: Any,
) -> dict[str, Any] | None:
    """Compute plans and scores for every choice of T, beta1 and beta2.

    Args:
        data: A bundled network's rows, at most ``MOST_COLUMNS`` columns.
        epsilon: The privacy budget of each run.
        guarantee: "strict" or "published".
        objective: The score: "skeleton_f1" or "directed_f1", of the fully tested links.
        thresholds: Values of T, rising.
        betas: Values of both margins, rising.
        draws: Number of runs per setting, with seeds 0, 1, ...
        how: ``stop``, ``on_progress`` of :func:`engine.sweep`.

    Returns:
        JSON types with everything that an interactive page needs; None if it was stopped. "plans"
        and "scores" (per draw) have an entry for every choice, the last dial fastest. "best" is the
        position of the highest mean score on each dial, "default" has the scores of the defaults.

    Raises:
        InputError: For private data, data without a truth, and too many columns.

    Examples:
        >>> from engine import load_dataset
        >>> cancer = load_dataset("cancer", n=1_000)
        >>> found = margins(cancer, 1.0, thresholds=[0.05], betas=[0.2, 0.4], draws=2)
        >>> len(found["scores"]), len(found["plans"][1])
        (4, 4)
    """
    public([data])
    if data.d > MOST_COLUMNS:
        raise InputError(f"Margins are tried on at most {MOST_COLUMNS} columns here.")
    fixed = {"epsilon": epsilon, "guarantee": guarantee}
    dials = dict(zip(DIALS, map(list, (thresholds, betas, betas)), strict=True))
    scores: dict[tuple[float, ...], list[float]] = {at: [] for at in product(*dials.values())}
    for result in sweep(data, CURATE, {**fixed, **dials}, draws, **how):
        scores[tuple(result.values[name] for name in DIALS)].append(score_of(result, objective))
    if any(len(some) < draws for some in scores.values()):
        return None
    plans = [planned(data, **fixed, **dict(zip(DIALS, at, strict=True))) for at in scores]
    default = [score_of(r, objective) for r in sweep(data, CURATE, fixed, draws)]
    best = max(scores, key=lambda at: fmean(scores[at]))
    return {
        "thresholds": list(thresholds),
        "betas": list(betas),
        "epsilon": epsilon,
        "plans": [[[float(f"{v:.6g}") for v in share] for share in plan] for plan in plans],
        "scores": [[round(score, 3) for score in some] for some in scores.values()],
        "default": [round(score, 3) for score in default],
        "best": [some.index(value) for some, value in zip(dials.values(), best, strict=True)],
    }


def planned(data: Dataset, **values: Any) -> list[Share]:
    """Return CURATE's plan before its first test, from public facts; empty if there is none.

    Args:
        data: The number of rows, columns and levels is read from it.
        values: The algorithm's parameters.

    Returns:
        For each order: its number, its tests, the epsilon of each, its share of ``COINS`` coins,
        and Lemma 1's two rates. The bounds are (1 + e^(-rate epsilon)) / 2.
    """
    params = CuratePCParameters.build(values)
    rule = CuratePC(data, params, RunContext(Randomness(0), ledger(data, params), data.names))
    try:
        rule.begin_order(0, Graph(data.d))
    except BudgetExhausted:
        return []
    plan = rule.planned[0]
    rates = rule._objective([budget.order for budget in plan])
    total = sum(budget.cost for budget in plan)
    return [
        (b.order, b.tests, b.epsilon, COINS * b.cost / total, float(one), float(two))
        for b, one, two in zip(plan, rates.rate1, rates.rate2, strict=True)
    ]
