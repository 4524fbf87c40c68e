"""What a total epsilon affords under each increment of a descent (CURATE 2024, Lemma 2)."""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import InputError
from engine.score.budgets import INCREMENTS, iterations, schedule
from engine.theory import affordable_iterations

# k counts iterations from 0, I is their number. "rising" is no paper's; see engine.score.budgets.
FORMULAS = {
    "multiplicative": "ε₀^(1 + k/I)",
    "additive": "ε₀ (1 + k/I)",
    "exponential": "ε₀ e^(k/I)",
    "rising": "ε₀ 10^(k/I), ours",
}
OURS = "rising"
SMALLEST, LARGEST = 1e-9, 1e7  # of a total and of an initial ε, as algorithms declare them


@dataclass(frozen=True)
class Growth:
    """One increment: epsilon of each iteration (none if not one is affordable).

    ``lemma2`` is the real number of iterations that Lemma 2 affords; None for ours, which it does
    not cover.
    """

    increment: str
    epsilons: tuple[float, ...]
    lemma2: float | None

    @property
    def formula(self) -> str:
        """The epsilon of iteration k as a formula."""
        return FORMULAS[self.increment]


def growths(total: float, initial: float) -> list[Growth]:
    """Every increment from ``initial`` on under a total.

    Raises InputError for numbers that are out of bounds, or where no increment affords an
    iteration.
    """
    if not all(SMALLEST <= number <= LARGEST for number in (total, initial)):
        raise InputError(
            f"The total and the initial ε must be at least {SMALLEST:g} and at most {LARGEST:g}."
        )
    found = [_growth(total, initial, kind) for kind in INCREMENTS]
    if not any(growth.epsilons for growth in found):
        raise InputError(f"A total of {total:g} affords no iteration that starts at {initial:g}.")
    return found


def _growth(total: float, initial: float, kind: str) -> Growth:
    exact = None if kind == OURS else affordable_iterations(total, initial, kind)
    try:
        count = iterations(total, initial, kind)
    except InputError:
        return Growth(kind, (), exact)
    return Growth(kind, schedule(initial, count, kind), exact)
