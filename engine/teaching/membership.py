"""Was the person in? A game for a class, on two neighbouring datasets.

A coin decides which of two datasets is run: as it is, or with one person replaced. Who sees the
outcome guesses. Over many draws of either, the best guesser names for every outcome the dataset
that gives it more often; no guesser can be right more often than (e^epsilon + delta) / (1 +
e^epsilon), whatever he knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.audit.neighbours import from_dataset
from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.registry import algorithm
from engine.result import RunResult
from engine.runner import run
from engine.teaching.neighbours import guess_bound

Edges = frozenset[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class Game:
    """Outcomes of runs on the dataset as it is (``inside``) and with the person replaced.

    ``epsilon`` and ``delta`` are what the runs are proven to spend; inf where nothing can be.
    """

    inside: Counter[Edges]
    outside: Counter[Edges]
    epsilon: float
    delta: float

    @property
    def draws(self) -> int:
        """Runs on each of the two."""
        return self.inside.total()

    @property
    def bound(self) -> float:
        """The share of right guesses that no guesser can beat."""
        return guess_bound(self.epsilon, self.delta)

    def guess(self, outcome: Edges) -> bool:
        """The best guess from the counts: True for "the person was in"."""
        return self.inside[outcome] >= self.outside[outcome]

    def success(self, other: Game) -> float:
        """How often the guesser who has seen these draws is right on other ones: no flattery."""
        if other.draws == 0:
            return 0.5
        right = sum(count for o, count in other.inside.items() if self.guess(o))
        right += sum(count for o, count in other.outside.items() if not self.guess(o))
        return right / (2 * other.draws)


def skeleton(result: RunResult) -> Edges:
    """The usual outcome: which links are shown, without direction."""
    return frozenset((min(pair), max(pair)) for pair in map(tuple, result.skeleton))


def play(
    key: str,
    data: Dataset,
    row: int,
    record: Sequence[int],
    *,
    draws: int = 100,
    seed: int = 0,
    cancelled: Callable[[], bool] = lambda: False,
    values: Mapping[str, Any] | None = None,
) -> Game:
    """Run algorithm ``key`` so many times on the data, and with row ``row`` (from 0) replaced.

    ``record`` are the other person's codes. Both datasets are public ones; the person's own data
    must not be played with, since every draw would spend epsilon. When cancelled, the game ends
    with as many draws on one side as on the other.
    """
    if not algorithm(key).private:
        raise InputError(f"{key} has no noise: the same data give the same outcome every time.")
    if not data.public:
        raise InputError("Every draw of the game spends ε: play it on bundled data, not your own.")
    if draws < 1:
        raise InputError(f"draws must be at least 1; {draws} is not.")
    pair = from_dataset(data, row, record)
    sides: tuple[Counter[Edges], Counter[Edges]] = Counter(), Counter()
    epsilon = delta = 0.0
    for draw in range(draws):
        if cancelled():
            break
        for side, one in enumerate((pair.data, pair.other)):
            result = run(key, one, seed=seed + 2 * draw + side, trace=False, **(values or {}))
            sides[side][skeleton(result)] += 1
            epsilon, delta = max(epsilon, result.spent.epsilon), max(delta, result.spent.delta)
    return Game(*sides, epsilon, delta)


def loudest(data: Dataset) -> tuple[int, tuple[int, ...]]:
    """A person and a replacement that move much: the first row, and its opposite corner."""
    first = data.row_codes(1)[0]
    corner = tuple(
        size - 1 if code < size / 2 else 0
        for code, size in zip(first, data.cardinalities, strict=True)
    )
    return 0, corner
