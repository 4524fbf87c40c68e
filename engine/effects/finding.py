"""The numbers of a causal effect as data; :mod:`engine.effects.words` makes sentences of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.effects.estimate import PROJECTION, Contrast, Estimate, Interval


@dataclass(frozen=True, eq=False, repr=False)
class Finding:
    """The effect of setting ``cause`` to ``level``, compared with ``reference``, on ``outcome``.

    It is a difference between the probabilities of ``event`` or, if ``in_unit``, between means;
    ``asked`` is the contrast in codes. ``acts`` is the probability that the cause affects the
    outcome, or None if no path of edges joins them. ``reverse`` is the probability that the outcome
    causes the cause. Both are at most .95, because columns may be missing. ``answers`` has one
    estimate per adjustment set, heaviest first. ``refusal`` is a sentence with the reason why there
    are no numbers, or None if there are numbers.
    """

    cause: str
    outcome: str
    level: str
    reference: str
    event: str
    in_unit: bool
    asked: Contrast
    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    acts: float | None
    reverse: float
    answers: tuple[Estimate, ...]
    refusal: str | None

    def risk(self, level: str) -> Interval:
        """Return the probability of the event, or the mean, if the cause had this level."""
        at = self.cause_levels.index(level)
        return hull([answer.mean(at) for answer in self.answers])

    @property
    def cause_levels(self) -> tuple[str, ...]:
        """The levels of the cause."""
        return self.levels[self.names.index(self.cause)]

    @property
    def risks(self) -> dict[str, Interval] | None:
        """Return :meth:`risk` of each distinguishable level of the cause, or None if refused."""
        if self.refusal is not None:
            return None
        clear = np.isfinite([answer.means for answer in self.answers]).all(axis=0)
        told = [self.cause_levels[k] for k in np.flatnonzero(clear)]
        return {level: self.risk(level) for level in told}

    @property
    def difference(self) -> Interval | None:
        """The difference between ``level`` and ``reference``, or None if it is refused."""
        if self.refusal is not None:
            return None
        whole = hull([answer.difference for answer in self.answers])
        return whole.within(-self.asked.span, self.asked.span)

    @property
    def estimates(self) -> tuple[float, ...]:
        """The smallest and largest estimate of the difference over the sets; empty if refused."""
        found = [a.difference.value for a in self.answers]
        return () if self.refusal is not None else (min(found), max(found))

    @property
    def cut(self) -> bool:
        """Return whether an estimate was outside the range of the outcome's values."""
        found = [a.means[[self.asked.level, self.asked.reference]] for a in self.answers]
        least, most = min(self.asked.values), max(self.asked.values)
        return any(bool(((means < least) | (means > most)).any()) for means in found)

    @property
    def adjusted(self) -> tuple[tuple[str, ...], ...]:
        """The adjustment sets, heaviest first."""
        return tuple(tuple(self.names[z] for z in answer.adjusted) for answer in self.answers)

    @property
    def projected(self) -> bool:
        """True if an answer is a linear projection."""
        return any(answer.method == PROJECTION for answer in self.answers)

    @property
    def method(self) -> str:
        """The method of all answers if they share one, otherwise "linear projection"."""
        found = {answer.method for answer in self.answers}
        return found.pop() if len(found) == 1 else PROJECTION


def hull(found: Sequence[Interval]) -> Interval:
    """Return the middle of all values, and the ends of all intervals together."""
    values = [each.value for each in found]
    middle = values[0] if len(values) == 1 else (min(values) + max(values)) / 2
    return Interval(middle, min(each.low for each in found), max(each.high for each in found))
