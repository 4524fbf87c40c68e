"""Estimate the effect of setting one variable on another, averaged over plausible graphs.

This is post-processing of released tensors and of the graph learned from them: it reads no row and
charges nothing. In some plausible DAGs the outcome causes the cause; their total weight is the
probability of that. Each other DAG determines an adjustment set. The sets are used in order of
weight until they have a share of :data:`COVERED` of the remaining weight. Their intervals are
reported as one, from the lowest end to the highest.

Each set has several estimates, and the first one that excludes something is used: the full set, the
set with rare levels merged after the noise, the parents of the cause, and these with rare levels
merged. Using the narrower of two intervals instead would answer more questions, but the coverage
would be lower.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.effects import words
from engine.effects.adjustment import OPTIMAL, PARENTS, SETS, adjustment_set
from engine.effects.estimate import (
    Contrast,
    Estimate,
    Interval,
    estimate,
    hidden,
    too_many_cells,
)
from engine.effects.finding import Finding, hull
from engine.effects.outcome import column_of, contrast_of, event_label
from engine.effects.plausible import Plausible
from engine.errors import InputError, show
from engine.marginals.moments import Moments

COVERED = 0.95  # of the weight of the graphs in which the outcome does not cause the cause
# upper limit for the reported probability of a direction, because columns may be missing
MOST_SURE = 0.95

Set = tuple[int, ...]


class Effect(Finding):
    """A causal effect with its sentences (:class:`engine.effects.finding.Finding`)."""

    def __repr__(self) -> str:
        """Return the sentence and its notes."""
        return " ".join([self.sentence, *self.notes])

    def to_json(self) -> dict[str, Any]:
        """Return the attributes, ready for JSON; an interval has its value, low and high."""
        moved, risks = self.difference, self.risks
        plain = ("cause", "outcome", "acts", "reverse", "refusal")
        return {name: getattr(self, name) for name in plain} | {
            "cause_level": self.level,
            "reference": self.reference,
            "outcome_level": self.event,
            "values": list(self.asked.values) if self.in_unit else None,
            "method": self.method,
            "adjustment": [list(names) for names in self.adjusted],
            "folded": any(answer.folded for answer in self.answers),
            "estimates": list(self.estimates) or None,
            "difference": None if moved is None else vars(moved),
            "risks": None if risks is None else {k: vars(risk) for k, risk in risks.items()},
            "sentence": self.sentence,
            "assumption": words.ASSUMPTION,
        }

    @property
    def sentence(self) -> str:
        """The effect in a sentence, or the reason why no number is reported."""
        return words.sentence(self)

    @property
    def notes(self) -> tuple[str, ...]:
        """The sentences that belong to it, with the assumption last."""
        return words.notes(self)


def effect_of(
    moments: Moments,
    names: Sequence[str],
    levels: Sequence[Sequence[str]],
    dags: Plausible,
    cause: str,
    outcome: str,
    *,
    cause_level: str | None = None,
    reference: str | None = None,
    outcome_level: object = None,
    values: Sequence[float] | None = None,
    adjustment: str | Sequence[str] = OPTIMAL,
    corrected: Sequence[Estimate] = (),
) -> Effect:
    """Estimate the effect of ``cause`` on ``outcome`` over plausible DAGs, from released tensors.

    Args:
        moments: The released tensors, with the variance of their noise.
        names: The columns' names, in the order of the DAGs (d, d) and of ``levels``.
        levels: Each column's levels.
        dags: The plausible DAGs (:func:`engine.effects.plausible.plausible`).
        cause: The column that is set.
        outcome: The column whose change is estimated.
        cause_level: The level the cause is set to; by default "yes", or else its last level.
        reference: The level for comparison; by default "no", or else its first level.
        outcome_level: The outcome level to count, a list of levels, or a range of numbers as ">=
            350" (:func:`engine.effects.outcome.counted`).
        values: A number for each level of the outcome; means are then compared, in its unit.
        adjustment: "optimal" or "parents", from plausible graphs, or the names of a known set.
        corrected: The estimates for questions of the release; those for the same contrast are used
            first.

    Raises:
        InputError: If a name or level is unknown.
    """
    asked = contrast_of(
        names, levels, cause, outcome, cause_level=cause_level, reference=reference,
        outcome_level=outcome_level, values=values,
    )  # fmt: skip
    x, y = asked.cause, asked.outcome
    named = None
    if not isinstance(adjustment, str):
        named, adjustment = tuple(sorted(column_of(names, z) for z in adjustment)), OPTIMAL
        if {x, y} & {*named}:
            raise InputError("The adjustment set must not contain the cause or the outcome.")
    elif adjustment not in SETS:
        raise InputError(f"The adjustment is one of {', '.join(SETS)}, not {show(adjustment)}.")
    hits = [] if values is not None else [k for k, value in enumerate(asked.values) if value]
    acts, reverse, wanted = weighed(dags, x, y, adjustment) if dags.dags else (None, 0.0, [])
    wanted = wanted if named is None else [(named, named)]
    answers: list[Estimate] = []
    refusal: str | None = words.UNTIMELY
    if dags.dags:
        ready = {each.adjusted: each for each in corrected if each.asked == asked}
        answers, refusal = _answers(moments, names, levels, asked, wanted, ready)
    return Effect(
        cause=cause,
        outcome=outcome,
        level=levels[x][asked.level],
        reference=levels[x][asked.reference],
        event=event_label(levels[y], hits),
        in_unit=values is not None,
        asked=asked,
        names=tuple(names),
        levels=tuple(map(tuple, levels)),
        acts=None if acts is None else min(acts, MOST_SURE),
        reverse=min(reverse, MOST_SURE),
        answers=tuple(answers),
        refusal=refusal,
    )


def weighed(
    dags: Plausible, x: int, y: int, adjustment: str
) -> tuple[float | None, float, list[tuple[Set, Set]]]:
    """Return P(x affects y), P(y affects x), and the sets for :data:`COVERED` of the weight.

    Each set comes with the parents of the cause in the same DAG, the next set to try. The first
    number is None if no path in the skeleton leads from x to y.
    """
    acts, reverse, by_set = 0.0, 0.0, Counter[tuple[Set, Set]]()
    for dag, ways, weight in zip(dags.dags, dags.ways, dags.weights.tolist(), strict=True):
        if ways[y, x]:
            reverse += weight
            continue
        acts += weight * ways[x, y]
        best, parents = (adjustment_set(dag, ways, x, y, sets) for sets in (adjustment, PARENTS))
        by_set[best, parents] += weight
    wanted: list[tuple[Set, Set]] = []
    missing = COVERED * sum(by_set.values()) - 1e-12
    for chosen, weight in sorted(by_set.items(), key=lambda item: (-item[1], item[0])):
        if missing > 0:
            wanted.append(chosen)
            missing -= weight
    return (min(acts, 1.0) if dags.joined[x, y] else None), min(reverse, 1.0), wanted


def _answers(
    moments: Moments,
    names: Sequence[str],
    levels: Sequence[Sequence[str]],
    asked: Contrast,
    wanted: Sequence[tuple[Set, Set]],
    ready: Mapping[Set, Estimate],
) -> tuple[list[Estimate], str | None]:
    """Return the estimate for each wanted set, or a sentence with the reason if there is none."""
    x, mine = asked.cause, levels[asked.cause]
    lost = hidden(moments, x)
    if unseen := [mine[at] for at in (asked.level, asked.reference) if lost[at]]:
        return [], " ".join(words.hidden_level(names[x], level) for level in unseen)
    if not wanted:
        return [], words.always_reversed(names[x], names[asked.outcome])
    found: dict[Set, Estimate] = {}
    for best, parents in wanted:
        rungs = [ready[s] for s in (best, parents) if s in ready]
        rungs += _ladder(moments, asked, best, parents)
        held = next((each for each in rungs if _tells(each.difference, asked.span)), None)
        if held is None:
            lost_levels = _unseen(moments, names, levels, (x, asked.outcome, *best))
            return [], " ".join([_why(moments, names, asked, best, rungs), *lost_levels])
        found.setdefault(held.adjusted, held)
    whole = hull([each.difference for each in found.values()])
    if not _tells(whole, asked.span):
        return [], words.too_wide(names[x], names[asked.outcome], whole, asked)
    return list(found.values()), None


def _tells(found: Interval, span: float) -> bool:
    """Return whether an interval excludes anything useful: it must be narrower than the span."""
    return found.width <= span and found.low <= span and found.high >= -span


def _ladder(moments: Moments, asked: Contrast, best: Set, parents: Set) -> Iterator[Estimate]:
    """Yield the possible estimates for a set, starting with the fewest assumptions."""
    for chosen in dict.fromkeys((best, parents)):
        if too_many_cells(moments, (asked.cause, asked.outcome, *chosen)):
            continue
        for fold in (False, True):
            found = estimate(moments, asked, chosen, fold=fold)
            if found is not None:
                yield found


def _why(
    moments: Moments, names: Sequence[str], asked: Contrast, best: Set, rungs: list[Estimate]
) -> str:
    """Explain why no estimate for a set excludes anything."""
    if rungs:
        return words.too_wide(names[asked.cause], names[asked.outcome], rungs[0].difference, asked)
    called = tuple(names[z] for z in best)
    if too_many_cells(moments, (asked.cause, asked.outcome, *best)):
        return words.too_many_groups(called)
    return words.hidden_covariance(names[asked.cause], called)


def _unseen(
    moments: Moments,
    names: Sequence[str],
    levels: Sequence[Sequence[str]],
    columns: Sequence[int],
) -> Iterator[str]:
    """Return a sentence for each level that the noise hides."""
    for i in sorted(columns):
        for level, lost in zip(levels[i], hidden(moments, i).tolist(), strict=True):
            if lost:
                yield words.hidden_level(names[i], level)


_RENAMED = {"level": "cause_level", "base": "reference", "event": "outcome_level",
            "sets": "adjustment"}  # fmt: skip


def current_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Rename the options of version 0.3, with a warning; version 0.5 refuses them."""
    for name in options.keys() & _RENAMED.keys():
        warnings.warn(f"{name} is called {_RENAMED[name]}", DeprecationWarning, stacklevel=3)
    return {_RENAMED.get(name, name): value for name, value in options.items()}
