"""The budget of a run, answer by answer, with the total as 100 coins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.result import RunResult
from engine.runner import run

COINS = 100
_LETTERS = {"independent": "i", "dependent": "d", "passed": "p"}


@dataclass(frozen=True)
class Purse:
    """One strict run, answer by answer.

    Answer k is about the pair at place ``pairs[k]`` of ``itertools.combinations``. ``decisions[k]``
    is "i" (independent: the link is removed), "d" (dependent) or "p" (passed a sieve). ``coins[k]``
    is the number of coins charged up to this answer. ``before`` lists the charges before the first
    answer, in coins; ``ended`` is False if the budget was exhausted before the last question.
    """

    pairs: tuple[int, ...]
    decisions: str
    coins: tuple[float, ...]
    before: tuple[tuple[str, float], ...]
    ended: bool

    @property
    def paid(self) -> float:
        """Number of coins charged in total."""
        return self.coins[-1] if self.coins else 0.0


def purse(result: RunResult) -> Purse:
    """Trace a run's coins; raises InputError if the run has no cap."""
    account = result.ledger
    if account.cap is None:
        raise InputError("Coins are shares of a total: only a strict run has one.")
    d = len(result.names)
    column = {name: k for k, name in enumerate(result.names)}
    place = {pair: k for k, pair in enumerate(combinations(range(d), 2))}
    pairs, decisions, coins, paid = [], [], [], 0.0
    for step in result.steps:
        paid += COINS * sum(account.cost(c.event) for c in step.charges) / account.most
        if step.x is None or step.y is None or step.decision not in _LETTERS:
            continue
        pairs.append(place[column[step.x], column[step.y]])  # a query names x before y
        decisions.append(_LETTERS[step.decision])
        coins.append(paid)
    asked = {step.kind for step in result.steps}
    before = tuple(
        (label, COINS * cost / account.most)
        for label, cost in account.by_label().items()
        if label not in asked
    )
    ended = result.status == "complete"
    return Purse(tuple(pairs), "".join(decisions), tuple(coins), before, ended)


def purses(
    data: Dataset, key: str, epsilons: Sequence[float], seed: int = 0, **values: Any
) -> list[Purse]:
    """Trace the coins of one strict run per epsilon, with one seed; public data only."""
    if not data.public:
        raise InputError("Every run spends ε, so this comparison is shown on bundled data only.")
    return [
        purse(run(key, data, seed=seed, epsilon=epsilon, guarantee="strict", **values))
        for epsilon in epsilons
    ]
