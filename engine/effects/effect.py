"""The effect of setting one variable on another: numbers, a range where the graph leaves one open.

Post-processing of released tensors and of a graph that was learned from them: no row is looked at
and nothing is charged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from engine.effects.adjustment import OPTIMAL, SETS, Version, versions
from engine.effects.estimate import (
    LEVELS,
    PROJECTION,
    Estimate,
    Interval,
    estimate,
    too_many_cells,
)
from engine.errors import InputError, did_you_mean, show
from engine.graphs.cpdag import Adjacency
from engine.marginals.moments import Moments

ASSUMPTION = "This assumes that nothing unmeasured causes both, and that the graph is right."
MOST_WIDTH = 1.0  # of a difference's interval: wider ones say nothing
YES = {"yes", "true", "1", "positive", "present", "on"}


@dataclass(frozen=True, eq=False)
class Effect:
    """What setting ``cause`` does to ``effect``: the chance of ``event`` at ``level`` and ``base``.

    ``versions`` are the ways in which the graph's class directs the links at the cause, ``answers``
    the estimates of those in which the effect is none of its causes, one for each set that is
    adjusted for. ``refusal`` is why there is no number, a sentence; None where there is one.
    """

    cause: str
    effect: str
    level: str
    base: str
    event: str
    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    versions: tuple[Version, ...]
    answers: tuple[Estimate, ...]
    refusal: str | None

    def __repr__(self) -> str:
        """One line: the question, and how many answers there are."""
        told = f"{len(self.answers)} answers" if self.refusal is None else "refused"
        return f"<Effect of {self.cause} on {self.effect}: {told}>"

    def _at(self, name: str, level: str) -> int:
        return self.levels[self.names.index(name)].index(level)

    def risk(self, level: str) -> Interval:
        """Chance of the event if the cause were at this level: all answers together."""
        j, k = self._at(self.cause, level), self._at(self.effect, self.event)
        return _together([answer.risk(j, k) for answer in self.answers])

    @property
    def difference(self) -> Interval:
        """Chance of the event at ``level`` less that at ``base``: all answers together."""
        return self.uncut.within(-1.0, 1.0)

    @cached_property
    def uncut(self) -> Interval:
        """The same as the estimates have it, beyond -1 and 1 too, where no difference is."""
        to, base = self._at(self.cause, self.level), self._at(self.cause, self.base)
        k = self._at(self.effect, self.event)
        return _together([answer.difference(to, base, k) for answer in self.answers])

    @property
    def values(self) -> tuple[float, float]:
        """The least and the largest estimate of the difference over the answers."""
        to, base = self._at(self.cause, self.level), self._at(self.cause, self.base)
        k = self._at(self.effect, self.event)
        found = [float(a.risks[to, k] - a.risks[base, k]) for a in self.answers]
        return min(found), max(found)

    @property
    def reverse(self) -> int:
        """In how many versions the effect is among the causes of the cause."""
        return sum(version.reverse for version in self.versions)

    @property
    def path(self) -> bool:
        """Whether a path leads from cause to effect in any version."""
        return any(version.path for version in self.versions)

    @property
    def method(self) -> str:
        """ "level by level" where every answer is, else "linear projection"."""
        whole = all(answer.method == LEVELS for answer in self.answers)
        return LEVELS if whole else PROJECTION

    def to_json(self) -> dict[str, Any]:
        """All of it, JSON-ready; no numbers where a sentence refuses them."""
        said: dict[str, Any] = {
            "cause": self.cause,
            "effect": self.effect,
            "level": self.level,
            "base": self.base,
            "event": self.event,
            "versions": len(self.versions),
            "reverse": self.reverse,
            "path": self.path,
            "refusal": self.refusal,
            "assumption": ASSUMPTION,
        }
        if self.refusal is not None:
            return said
        adjusted = [[self.names[z] for z in answer.adjusted] for answer in self.answers]
        return said | {
            "method": self.method,
            "adjusted": adjusted,
            "values": list(self.values),
            "difference": [self.difference.low, self.difference.high],
            "risks": {
                level: vars(self.risk(level)) for level in self.levels[self.names.index(self.cause)]
            },
        }


def _together(found: Sequence[Interval]) -> Interval:
    """The middle of all values, and the ends of all intervals."""
    values = [each.value for each in found]
    middle = values[0] if len(values) == 1 else (min(values) + max(values)) / 2
    return Interval(middle, min(each.low for each in found), max(each.high for each in found))


def effect_of(
    moments: Moments,
    names: Sequence[str],
    levels: Sequence[Sequence[str]],
    graph: Adjacency,
    cause: str,
    effect: str,
    *,
    level: str | None = None,
    base: str | None = None,
    event: str | None = None,
    sets: str = OPTIMAL,
) -> Effect:
    """The effect of ``cause`` on ``effect`` under a CPDAG or MPDAG, from released tensors.

    Args:
        moments: The released tensors, with the variance of their noise.
        names: The columns' names, in the order of ``graph`` (d, d) and of ``levels``.
        levels: Each column's levels.
        graph: A CPDAG or MPDAG, [i, j] and not [j, i] for an arrow i -> j.
        cause: The column that is set.
        effect: The column that is looked at.
        level: What the cause is set to; without it its "yes", or its last level.
        base: What that is compared with; without it its "no", or its first level.
        event: The effect's level that is counted; as ``level``.
        sets: What to adjust for: "optimal" or "parents".

    Raises:
        InputError: For names or levels that there are not.
    """
    x, y = _column(names, cause), _column(names, effect)
    if x == y:
        raise InputError("Cause and effect are two different columns.")
    if sets not in SETS:
        raise InputError(f"What to adjust for is one of {', '.join(SETS)}, not {show(sets)}.")
    told, counted = _yes(levels[x]), _yes(levels[y])
    chosen = _level(levels[x], cause, level, told)
    other = 0 if chosen else len(levels[x]) - 1
    compared = _level(levels[x], cause, base, other)
    if chosen == compared:
        raise InputError(f"Compare two different levels of {show(cause)}.")
    hit = _level(levels[y], effect, event, counted)
    ways = versions(graph, x, y, sets)
    answers, refusal = _answers(moments, names, x, y, ways)
    found = Effect(
        cause=cause,
        effect=effect,
        level=levels[x][chosen],
        base=levels[x][compared],
        event=levels[y][hit],
        names=tuple(names),
        levels=tuple(map(tuple, levels)),
        versions=ways,
        answers=answers,
        refusal=refusal,
    )
    return found if refusal is not None else _unless_wide(found)


def _answers(
    moments: Moments, names: Sequence[str], x: int, y: int, ways: Sequence[Version]
) -> tuple[tuple[Estimate, ...], str | None]:
    """One estimate for each set that some version adjusts for; or why there is none."""
    wanted = sorted({way.adjusted for way in ways if not way.reverse})
    if not wanted:
        return (), (
            f"The graph has {names[y]} among the causes of {names[x]}: in it, setting {names[x]} "
            f"changes nothing about {names[y]}, and no number is told."
        )
    found = []
    for adjusted in wanted:
        called = ", ".join(names[z] for z in adjusted)
        if too_many_cells(moments, (x, y, *adjusted)):
            return (), f"Adjusting for {called} makes more groups than can be counted."
        one = estimate(moments, x, y, adjusted)
        if one is None:
            return (), (
                f"The noise hides how {names[x]}{', ' if called else ''}{called} vary together, "
                "so that no effect can be told."
            )
        found.append(one)
    return tuple(found), None


def _unless_wide(found: Effect) -> Effect:
    """Refused where the interval says nothing."""
    told = found.uncut
    if told.width <= MOST_WIDTH and told.low <= 1 and told.high >= -1:
        return found
    anywhere = "open"
    if told == found.difference:
        anywhere = f"anywhere from {100 * told.low:+.0f} to {100 * told.high:+.0f} of 100"
    refusal = (
        f"The noise and the sample leave the effect of {found.cause} on {found.effect} {anywhere}, "
        "which says nothing."
    )
    return replace(found, refusal=refusal)


def _column(names: Sequence[str], name: str) -> int:
    if name not in names:
        raise InputError(f"There is no column {show(name)}.{did_you_mean(str(name), names)}")
    return list(names).index(name)


def _yes(levels: Sequence[str]) -> int:
    """The level that stands for yes; the last where none does."""
    for k, level in enumerate(levels):
        if level.strip().casefold() in YES:
            return k
    return len(levels) - 1


def _level(levels: Sequence[str], name: str, level: str | None, default: int) -> int:
    if level is None:
        return default
    if level not in levels:
        raise InputError(
            f"{show(name)} has no level {show(level)}; it has {', '.join(levels[:12])}."
            f"{did_you_mean(str(level), levels)}"
        )
    return list(levels).index(level)
