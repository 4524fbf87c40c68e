"""The effect of setting one variable on another, averaged over the graphs that are plausible.

Post-processing of released tensors and of a graph that was learned from them: no row is looked at
and nothing is charged. In some plausible DAGs the effect is a cause of the cause; their weight is
the probability of that. Each of the others says what to adjust for. The intervals of these sets,
heaviest first until they weigh :data:`COVERED` of what is left, are reported together: from the
lowest end to the highest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from engine.data.column import GAP_LEVELS
from engine.effects.adjustment import OPTIMAL, SETS, adjustment_set
from engine.effects.estimate import (
    LEVELS,
    PROJECTION,
    RARE,
    Estimate,
    Interval,
    estimate,
    share,
    too_many_cells,
)
from engine.effects.plausible import Plausible
from engine.effects.words import of_hundred
from engine.errors import InputError, did_you_mean, show
from engine.marginals.moments import Moments
from engine.percent import probability

ASSUMPTION = "This assumes that nothing unmeasured causes both, and that the links are right."
CUT = (
    "A chance was estimated below 0 or above 100 of 100 and is cut there; the difference is that "
    "of the estimates as they were."
)
KNOWLEDGE = "What is known of the causes (knowledge), which is free, may leave fewer graphs."
UNTIMELY = (
    "What is known of the causes fits no plausible graph: every one leads from a later tier to an "
    "earlier one, and no effect is reported."
)
COVERED = 0.95  # of the weight of the graphs in which the effect does not cause the cause
REVERSE = 0.95  # probability that it does, from which on no number is reported
SAID = 0.05  # probability that it does, from which on the sentence begins with it
MOST_WIDTH = 1.0  # of a difference's interval: wider ones say nothing
YES = {"yes", "true", "positive", "present", "on"}
NO = {"no", "false", "negative", "absent", "off"}


@dataclass(frozen=True, eq=False, repr=False)
class Effect:
    """What setting ``cause`` does to ``effect``: the chance of ``event`` at ``level`` and ``base``.

    ``acts`` is the probability that the cause acts on the effect, None where no links lead from one
    to the other; ``reverse`` that the effect is among the causes of the cause. ``answers`` are the
    estimates, one for each set that is adjusted for. ``refusal`` is why there are no numbers, a
    sentence; None where there are.
    """

    cause: str
    effect: str
    level: str
    base: str
    event: str
    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    acts: float | None
    reverse: float
    answers: tuple[Estimate, ...]
    refusal: str | None

    def __repr__(self) -> str:
        """The sentence and its notes."""
        return " ".join([self.sentence, *self.notes])

    def _at(self, name: str, level: str) -> int:
        return self.levels[self.names.index(name)].index(level)

    def risk(self, level: str) -> Interval:
        """Chance of the event if the cause were at this level: all answers together."""
        j, k = self._at(self.cause, level), self._at(self.effect, self.event)
        return _hull([answer.risk(j, k) for answer in self.answers])

    @property
    def risks(self) -> dict[str, Interval] | None:
        """:meth:`risk` of every level of the cause; None where it is refused."""
        if self.refusal is not None:
            return None
        return {level: self.risk(level) for level in self.levels[self.names.index(self.cause)]}

    @property
    def difference(self) -> Interval | None:
        """Chance of the event at ``level`` less that at ``base``; None where it is refused."""
        return None if self.refusal is not None else self.uncut.within(-1.0, 1.0)

    @cached_property
    def uncut(self) -> Interval:
        """The same as the estimates have it, beyond -1 and 1 too, where no difference is."""
        to, base = self._at(self.cause, self.level), self._at(self.cause, self.base)
        k = self._at(self.effect, self.event)
        return _hull([answer.difference(to, base, k) for answer in self.answers])

    @property
    def values(self) -> tuple[float, float] | None:
        """The least and the largest estimate of the difference; None where it is refused."""
        found = [high - low for high, low in self._chances]
        return None if self.refusal is not None else (min(found), max(found))

    @property
    def _chances(self) -> list[tuple[float, float]]:
        """Of each answer the chances at ``level`` and at ``base`` as they were estimated."""
        to, base = self._at(self.cause, self.level), self._at(self.cause, self.base)
        k = self._at(self.effect, self.event)
        return [(float(a.risks[to, k]), float(a.risks[base, k])) for a in self.answers]

    @property
    def adjusted(self) -> tuple[tuple[str, ...], ...]:
        """The sets that are adjusted for, heaviest first."""
        return tuple(tuple(self.names[z] for z in answer.adjusted) for answer in self.answers)

    @property
    def method(self) -> str:
        """ "level by level" where every answer is, else "linear projection"."""
        whole = all(answer.method == LEVELS for answer in self.answers)
        return LEVELS if whole else PROJECTION

    def to_json(self) -> dict[str, Any]:
        """The attributes as they are, JSON-ready: an interval as its value, low and high."""
        moved, risks = self.difference, self.risks
        plain = ("cause", "effect", "level", "base", "event", "acts", "reverse", "refusal")
        return {name: getattr(self, name) for name in plain} | {
            "method": self.method,
            "adjusted": [list(names) for names in self.adjusted],
            "values": None if self.values is None else list(self.values),
            "difference": None if moved is None else vars(moved),
            "risks": None if risks is None else {k: vars(risk) for k, risk in risks.items()},
            "sentence": self.sentence,
            "assumption": ASSUMPTION,
        }

    @property
    def sentence(self) -> str:
        """What setting the cause does, so many of 100; or why no number is reported."""
        if self.reverse >= REVERSE or self.refusal == UNTIMELY:
            return str(self.refusal)
        acts = f"No path from {self.cause} to {self.effect} was seen."
        if self.acts is not None:
            chance = probability(self.acts)
            acts = f"{self.cause} acts on {self.effect} with a probability of {chance}."
        moved = self.difference
        if self.refusal is not None or moved is None:
            return f"{self.refusal} {acts}"
        unless, least, most = "", *map(of_hundred, self.values or ())
        if self.reverse >= SAID:
            unless = (
                f"Unless {self.effect} is among the causes of {self.cause} (a probability of "
                f"{probability(self.reverse)}; then setting {self.cause} changes nothing about "
                "it): "
            )
        high, low = (of_hundred(self.risk(at).value) for at in (self.level, self.base))
        return (
            f"{unless}{'if' if unless else 'If'} {self.cause} were {self.level} for everyone, "
            f"{self.effect} would be {self.event} for {high} of 100; if it were {self.base}, for "
            f"{low} of 100. The difference is {least if least == most else f'{least} to {most}'} "
            f"of 100; the noise and the sample leave {of_hundred(moved.low)} to "
            f"{of_hundred(moved.high)}. {acts}"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What belongs to the sentence, the assumption last."""
        if self.reverse >= REVERSE or self.refusal == UNTIMELY:
            return (ASSUMPTION,)
        if self.refusal is not None:
            return (KNOWLEDGE, ASSUMPTION)
        sets = " or ".join(" and ".join(names) or "nothing" for names in self.adjusted)
        said = [f"Adjusted for {sets}."]
        if self.method != LEVELS:
            said.append(
                "A linear projection: the released tables hold pairs (and a few triples), not all "
                "these columns together, so where effects do not add up it is their straight line."
            )
        if len(self.answers) > 1:
            said += [f"The range is over the {len(self.answers)} sets that plausible graphs adjust "
                     "for.", KNOWLEDGE]  # fmt: skip
        if any(not 0 <= chance <= 1 for pair in self._chances for chance in pair):
            said.append(CUT)
        return (*said, ASSUMPTION)


def _hull(found: Sequence[Interval]) -> Interval:
    """The middle of all values, and the ends of all intervals."""
    values = [each.value for each in found]
    middle = values[0] if len(values) == 1 else (min(values) + max(values)) / 2
    return Interval(middle, min(each.low for each in found), max(each.high for each in found))


def effect_of(
    moments: Moments,
    names: Sequence[str],
    levels: Sequence[Sequence[str]],
    dags: Plausible,
    cause: str,
    effect: str,
    *,
    level: str | None = None,
    base: str | None = None,
    event: str | None = None,
    sets: str = OPTIMAL,
) -> Effect:
    """The effect of ``cause`` on ``effect`` over plausible DAGs, from released tensors.

    Args:
        moments: The released tensors, with the variance of their noise.
        names: The columns' names, in the order of the DAGs (d, d) and of ``levels``.
        levels: Each column's levels.
        dags: The plausible DAGs (:func:`engine.effects.plausible.plausible`).
        cause: The column that is set.
        effect: The column that is looked at.
        level: What the cause is set to; without it its "yes", or its last level.
        base: What that is compared with; without it its "no", or its first level.
        event: The effect's level that is counted; as ``level``.
        sets: What to adjust for: "optimal" or "parents".

    Raises:
        InputError: For names or levels that there are not.
    """
    x, y = column_of(names, cause), column_of(names, effect)
    if x == y:
        raise InputError("Cause and effect are two different columns.")
    if sets not in SETS:
        raise InputError(f"What to adjust for is one of {', '.join(SETS)}, not {show(sets)}.")
    yes, no = _yes_and_no(levels[x])
    chosen = level_of(levels[x], cause, level, yes)
    compared = level_of(levels[x], cause, base, yes if chosen == no else no)
    if chosen == compared:
        raise InputError(f"Compare two different levels of {show(cause)}.")
    hit = level_of(levels[y], effect, event, _yes_and_no(levels[y])[0])
    acts, reverse, wanted = _weighed(dags, x, y, sets) if dags.dags else (None, 0.0, [])
    answers, refusal = [], None if dags.dags else UNTIMELY
    if reverse >= REVERSE:
        wanted, chance = [], probability(reverse)
        refusal = (
            f"{effect} is among the causes of {cause} with a probability of {chance}: setting "
            f"{cause} then changes nothing about {effect}, and no number is reported."
        )
    for adjusted in wanted:
        many = too_many_cells(moments, (x, y, *adjusted))
        found = None if many else estimate(moments, x, y, adjusted)
        if found is None:
            refusal = _hidden(names, x, adjusted, many)
            break
        answers.append(found)
    made = Effect(
        cause=cause, effect=effect, level=levels[x][chosen], base=levels[x][compared],
        event=levels[y][hit], names=tuple(names), levels=tuple(map(tuple, levels)), acts=acts,
        reverse=reverse, answers=tuple(answers), refusal=refusal,
    )  # fmt: skip
    made = made if refusal is not None else _unless_wide(made)
    if made.refusal is None or not wanted:
        return made
    empty = list(_empty(moments, names, levels, {x, y, *(z for s in wanted for z in s)}))
    return replace(made, refusal=" ".join([made.refusal or "", *empty]))


def _weighed(
    dags: Plausible, x: int, y: int, sets: str
) -> tuple[float | None, float, list[tuple[int, ...]]]:
    """P(x acts on y), P(y acts on x), and what to adjust for: the sets that :data:`COVERED` needs.

    The first is None where the skeleton does not lead from x to y.
    """
    acts, reverse, by_set = 0.0, 0.0, Counter[tuple[int, ...]]()
    for dag, ways, weight in zip(dags.dags, dags.ways, dags.weights.tolist(), strict=True):
        if ways[y, x]:
            reverse += weight
            continue
        acts += weight * ways[x, y]
        by_set[adjustment_set(dag, ways, x, y, sets)] += weight
    wanted: list[tuple[int, ...]] = []
    missing = COVERED * sum(by_set.values()) - 1e-12
    for chosen, weight in sorted(by_set.items(), key=lambda item: (-item[1], item[0])):
        if missing > 0:
            wanted.append(chosen)
            missing -= weight
    return (min(acts, 1.0) if dags.joined[x, y] else None), min(reverse, 1.0), wanted


def _hidden(names: Sequence[str], x: int, adjusted: Sequence[int], many: bool) -> str:
    called = ", ".join(names[z] for z in adjusted)
    if many:
        return f"Adjusting for {called} makes more groups than can be counted."
    how = f"{names[x]}, {called} vary together" if called else f"{names[x]} varies"
    return f"The noise hides how {how}, so that no effect can be reported."


def _empty(
    moments: Moments, names: Sequence[str], levels: Sequence[Sequence[str]], columns: set[int]
) -> Iterator[str]:
    """A sentence for each level that has no record, as far as the noise shows."""
    for i in sorted(columns):
        noise = math.sqrt(moments.variance(i) * (1 - 1 / len(levels[i])))
        for level, found in zip(levels[i], share(moments, i).tolist(), strict=True):
            if found <= max(RARE * noise, 0.5 / moments.n):
                yield f"As far as the noise shows, no record has {names[i]} = {level}."


def _unless_wide(found: Effect) -> Effect:
    """Refused where the interval says nothing."""
    whole = found.uncut
    if whole.width <= MOST_WIDTH and whole.low <= 1 and whole.high >= -1:
        return found
    anywhere = "open"
    if whole == found.difference:
        anywhere = f"anywhere from {100 * whole.low:+.0f} to {100 * whole.high:+.0f} of 100"
    refusal = (
        f"The noise and the sample leave the effect of {found.cause} on {found.effect} {anywhere}, "
        "which says nothing."
    )
    return replace(found, refusal=refusal)


def column_of(names: Sequence[str], name: str) -> int:
    """Where a column stands; InputError for one that there is not."""
    if name not in names:
        raise InputError(f"There is no column {show(name)}.{did_you_mean(name, names)}")
    return list(names).index(name)


def _yes_and_no(levels: Sequence[str]) -> tuple[int, int]:
    """The levels that stand for yes and for no; else the last and the first, but for gaps."""
    there = [k for k, level in enumerate(levels) if level not in GAP_LEVELS]
    there = there if len(there) > 1 else list(range(len(levels)))
    words = [level.strip().casefold() for level in levels]
    if {words[k] for k in there} == {"0", "1"}:
        there.sort(key=words.__getitem__)
    yes = next((k for k in there if words[k] in YES), None)
    no = next((k for k in there if words[k] in NO), None)
    yes = next(k for k in reversed(there) if k != no) if yes is None else yes
    return yes, next(k for k in there if k != yes) if no is None else no


def level_of(levels: Sequence[str], name: str, level: str | None, default: int = 0) -> int:
    """The code of a column's level, or of its default; InputError for one that there is not."""
    if level is None:
        return default
    found = [k for k, held in enumerate(levels) if held == level]
    found = found or [k for k, held in enumerate(levels) if _meant(held) == _meant(level)]
    if len(found) != 1:
        raise InputError(
            f"{show(name)} has no level {show(level)}; it has {', '.join(levels[:12])}."
            f"{did_you_mean(level, levels)}"
        )
    return found[0]


def _meant(level: object) -> float | str:
    """What a level means as a cell does: a number however it is written, a word in any case."""
    word = str(level).strip().casefold()
    with suppress(ValueError):
        return float({"true": "1", "false": "0"}.get(word, word))
    return word
