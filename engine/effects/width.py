"""Forecast the width of a question's interval from public facts, before a record is read.

    half = 1.96 sqrt( (1.3 max(1/p1, 1/p0) span / (mu n))^2 + 0.2 span^2 (1/(n p1) + 1/(n p0)) )

with p1 and p0 the shares of the two levels of the cause, span the range of the outcome's values,
and mu the budget of the question's number. The first term is the noise of that number at the
largest weight of a record, and the second is the sampling error of two means. The constants were
fitted on random networks. ``KEPT`` has the factors that nine of ten intervals did not exceed
(research/effects.md). There is no such factor if plausible graphs choose the adjustment sets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.effects.estimate import Z95
from engine.effects.plan import asked_of
from engine.effects.words import amount
from engine.graphs.known import known_of
from engine.knowledge import Knowledge
from engine.percent import number
from engine.privacy.accounting import mu_budget
from engine.question import Question, Questions, budget_shares, listed, one_knowledge

NOISE, SAMPLING = 1.3, 0.2
RANDOMISED, NAMED = "randomised", "named set"
KEPT = {RANDOMISED: 1.09, NAMED: 1.9}  # nine of ten intervals are at most this many times as wide
ASSUMED = 3.7  # used instead if the shares of the cause's levels are not declared


@dataclass(frozen=True)
class Width:
    """The expected half width of an interval, and an upper limit for nine of ten releases.

    ``most`` is None if the graph chooses the adjustment sets.
    """

    epsilon: float
    half: float
    most: float | None


def width(
    *,
    rows: int,
    epsilon: float,
    delta: float,
    share: float,
    levels: int,
    span: float,
    shares: tuple[float, float] | None = None,
    known: str | None = None,
) -> Width:
    """Forecast the half width of a question's interval.

    Args:
        rows: Number of records.
        epsilon: The release's ε.
        delta: The release's δ.
        share: The question's share of the budget (:class:`engine.question.Question`).
        levels: The cause's number of levels.
        span: The range of the outcome's values, 1 for an event.
        shares: The shares of the two compared levels, if they are public; otherwise equal shares.
        known: "randomised" or "named set" if the graph does not choose the sets.

    Examples:
        >>> found = width(rows=20_000, epsilon=1.0, delta=1e-6, share=0.7, levels=2, span=1.0,
        ...               shares=(0.5, 0.5), known="randomised")
        >>> round(found.half, 3), round(found.most, 3)
        (0.013, 0.014)
    """
    p1, p0 = shares or (1 / levels, 1 / levels)
    mu = math.sqrt(share / 2) * mu_budget(epsilon, delta)
    noise = NOISE * max(1 / p1, 1 / p0) * span / (mu * rows)
    sampling = SAMPLING * span**2 * (1 / (rows * p1) + 1 / (rows * p0))
    half = Z95 * math.sqrt(noise**2 + sampling)
    if known is None:
        return Width(epsilon, half, None)
    return Width(epsilon, half, half * (KEPT[known] if shares is not None else ASSUMED))


@dataclass(frozen=True)
class Widths:
    """A question's forecast: the width of its interval at each epsilon."""

    question: Question
    in_unit: bool
    found: tuple[Width, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The forecast in words, one sentence per epsilon."""
        return tuple(map(self._sentence, self.found))

    @property
    def aims(self) -> tuple[str, ...]:
        """The effect and the expected half width of its interval, a phrase per epsilon."""
        return tuple(f"{self._effect} to about {self._half(width)}" for width in self.found)

    @property
    def _unit(self) -> str:
        return "" if self.in_unit else " of 100"

    @property
    def _effect(self) -> str:
        what = "mean" if self.in_unit else "chance"
        return f"the effect of {self.question.cause} on the {what} of {self.question.outcome}"

    def _half(self, width: Width) -> str:
        stated = self.question.shares
        at = " at public shares {:g} and {:g}".format(*stated) if stated else ""
        return f"± {amount(width.half, self.in_unit)}{self._unit}{at}"

    def _sentence(self, width: Width) -> str:
        at = f"At ε = {number(width.epsilon)}"
        told = f"{at} {self._effect} will be known to about {self._half(width)}"
        if width.most is None:
            return (
                f"{told} if one adjustment set is enough. No width is guaranteed, because the "
                f"sets depend on the graph. Declare the order of time, or name the set. Fewer "
                f"columns leave fewer sets."
            )
        most = amount(width.most, self.in_unit)
        return f"{told}; in nine of ten releases to at most ± {most}{self._unit}."


def widths(
    questions: Questions,
    names: Sequence[str],
    levels: Sequence[Sequence[str]],
    *,
    rows: int,
    epsilons: Sequence[float],
    delta: float,
    knowledge: Knowledge | None = None,
) -> tuple[Widths, ...]:
    """Forecast the widths of each question from a schema's columns and levels.

    Args:
        questions: One question or several, with cause, outcome and background knowledge, which
            takes precedence over ``knowledge``.
        names: The columns' names.
        levels: Each column's levels.
        rows: Number of records.
        epsilons: Totals to try.
        delta: The δ of every total.
        knowledge: The schema's background knowledge.

    Raises:
        InputError: If the schema lacks a name or level.
    """
    given = listed(questions)
    found = one_knowledge(given, None) or knowledge
    known = known_of(found, names)
    out = []
    for question, share in zip(given, budget_shares(given), strict=True):
        asked = asked_of(question, names, levels)
        cause = asked.contrast.cause
        how = NAMED if asked.adjust is not None else None
        if known is not None and known.barred[:, cause].all():
            how = RANDOMISED
        made = (
            width(rows=rows, epsilon=epsilon, delta=delta, share=share,
                  levels=len(levels[cause]), span=asked.contrast.span, shares=question.shares,
                  known=how)
            for epsilon in epsilons
        )  # fmt: skip
        out.append(Widths(question, question.values is not None, tuple(made)))
    return tuple(out)
