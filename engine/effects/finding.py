"""The numbers of a causal effect as data; :mod:`engine.effects.words` puts them in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.effects.estimate import PROJECTION, Contrast, Estimate, Interval


@dataclass(frozen=True, eq=False, repr=False)
class Finding:
    """The effect of setting ``cause`` to ``level``, compared with ``reference``, on ``outcome``.

    It is a difference of the chances of ``event`` or, ``in_unit``, of means; ``asked`` is the
    contrast in codes. ``acts`` is the probability that the cause acts on the outcome, None where no
    edges lead from one to the other; ``reverse`` that the outcome is among the causes of the cause;
    both are at most .95, as columns may be missing. ``answers`` are the estimates, one per
    adjustment set, heaviest first. ``refusal`` is a sentence that says why there are no numbers;
    None where there are.
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
        """Return the chance of the event, or the mean, if the cause were at this level."""
        at = self.cause_levels.index(level)
        return hull([answer.mean(at) for answer in self.answers])

    @property
    def cause_levels(self) -> tuple[str, ...]:
        """The levels of the cause."""
        return self.levels[self.names.index(self.cause)]

    @property
    def risks(self) -> dict[str, Interval] | None:
        """Return :meth:`risk` of each distinguishable cause level; None where it is refused."""
        if self.refusal is not None:
            return None
        clear = np.isfinite([answer.means for answer in self.answers]).all(axis=0)
        told = [self.cause_levels[k] for k in np.flatnonzero(clear)]
        return {level: self.risk(level) for level in told}

    @property
    def difference(self) -> Interval | None:
        """The difference between ``level`` and ``reference``; None where it is refused."""
        if self.refusal is not None:
            return None
        whole = hull([answer.difference for answer in self.answers])
        return whole.within(-self.asked.span, self.asked.span)

    @property
    def estimates(self) -> tuple[float, ...]:
        """The least and the largest estimate of the difference over the sets; none if refused."""
        found = [a.difference.value for a in self.answers]
        return () if self.refusal is not None else (min(found), max(found))

    @property
    def cut(self) -> bool:
        """Return whether an estimate lay outside the range of the outcome's values."""
        found = [a.means[[self.asked.level, self.asked.reference]] for a in self.answers]
        least, most = min(self.asked.values), max(self.asked.values)
        return any(bool(((means < least) | (means > most)).any()) for means in found)

    @property
    def adjusted(self) -> tuple[tuple[str, ...], ...]:
        """The sets that are adjusted for, heaviest first."""
        return tuple(tuple(self.names[z] for z in answer.adjusted) for answer in self.answers)

    @property
    def projected(self) -> bool:
        """Whether an answer is a linear projection."""
        return any(answer.method == PROJECTION for answer in self.answers)

    @property
    def method(self) -> str:
        """ "doubly robust" or "level by level" where every answer is, else "linear projection"."""
        found = {answer.method for answer in self.answers}
        return found.pop() if len(found) == 1 else PROJECTION


def hull(found: Sequence[Interval]) -> Interval:
    """Return the middle of all values, and the ends of all intervals."""
    values = [each.value for each in found]
    middle = values[0] if len(values) == 1 else (min(values) + max(values)) / 2
    return Interval(middle, min(each.low for each in found), max(each.high for each in found))
