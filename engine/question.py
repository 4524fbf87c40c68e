"""A causal question asked before the budget is spent: what does setting one column do to another?

A question is a public fact, like the schema and background knowledge: a person states it before any
record is read. A release with a question spends a share of its budget on it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any

from engine.errors import InputError, is_number, show
from engine.knowledge import Knowledge, parse_json, read_text

# of the budget, on the scale of mu^2: best for the answer; .5 if the graph matters as well
SHARE = 0.7
MOST = 8  # questions per release


@dataclass(frozen=True, kw_only=True)
class Question:
    """A cause, an outcome, and the levels to compare.

    ``levels`` are the reference and the level that the cause is set to. The default is "no" and
    "yes", or else the first and the last level. ``outcome_level`` is the outcome level to count,
    several levels, or a range as ">= 350". ``values`` gives a number for each level of the outcome;
    means are then compared, in its unit. ``mean`` takes these numbers from the schema: the declared
    numbers of the levels, or the midpoints of a numeric column's intervals within its bounds.
    ``known`` is background knowledge. ``adjust`` names the adjustment set, if it is known.
    ``share`` is the part of the budget for the question, on the scale of mu squared; the rest is
    for the graph. Several questions in one release divide one share by their ``weight``. ``shares``
    are public shares of the compared level and of its reference, for the forecast alone: (.5, .5)
    in a randomised trial. Raises InputError if the facts do not fit together.

    Examples:
        >>> Question(cause="treatment", outcome="cost", levels=("no", "yes"))
        Question(cause='treatment', outcome='cost', levels=('no', 'yes'))
    """

    cause: str
    outcome: str
    levels: tuple[str, str] | None = None
    outcome_level: str | tuple[str, ...] | None = None
    values: tuple[float, ...] | None = None
    mean: bool = False
    known: Knowledge | None = None
    adjust: tuple[str, ...] | None = None
    share: float = SHARE
    weight: float = 1.0
    shares: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for name in ("cause", "outcome"):
            if not isinstance(getattr(self, name), str):
                raise InputError(f"A question's {name} is the name of a column.")
        if self.cause == self.outcome:
            raise InputError("Cause and outcome are two different columns.")
        for name in ("levels", "adjust"):
            object.__setattr__(self, name, _texts(getattr(self, name), name))
        if self.levels is not None and len(set(self.levels)) != 2:
            raise InputError(
                "A question has two levels: the reference and the level compared with it."
            )
        if not isinstance(self.outcome_level, str | None):
            object.__setattr__(self, "outcome_level", _texts(self.outcome_level, "outcome_level"))
        if not isinstance(self.mean, bool) or (self.mean and self.values is not None):
            raise InputError(
                "A question's mean is true or false, and cannot be combined with values."
            )
        if self.mean and self.outcome_level is not None:
            raise InputError("A question counts levels or compares means, not both.")
        if self.values is not None:
            object.__setattr__(self, "values", _numbers(self.values))
            if self.outcome_level is not None:
                raise InputError("A question counts levels or compares means by values, not both.")
        for name, low, high in (("share", 0.05, 0.95), ("weight", 0.01, 100)):
            number = getattr(self, name)
            if not is_number(number) or not low <= number <= high:
                raise InputError(
                    f"A question's {name} is from {low:g} to {high:g}; {show(number)} is not."
                )
        if self.shares is not None:
            object.__setattr__(self, "shares", _shares(self.shares))
        if self.adjust is not None and {self.cause, self.outcome} & set(self.adjust):
            raise InputError("The adjustment set must not contain the cause or the outcome.")

    def __repr__(self) -> str:
        """Return the constructor call, without arguments at their defaults."""
        given = [(f.name, getattr(self, f.name)) for f in fields(self)]
        defaults = {f.name: f.default for f in fields(self)}
        shown = ", ".join(f"{name}={value!r}" for name, value in given if value != defaults[name])
        return f"Question({shown})"

    @property
    def names(self) -> tuple[str, ...]:
        """The columns named by the question."""
        return (self.cause, self.outcome, *(self.adjust or ()))

    @property
    def options(self) -> dict[str, Any]:
        """The options for :func:`engine.effects.effect.effect_of`."""
        reference, level = self.levels or (None, None)
        named = {} if self.adjust is None else {"adjustment": self.adjust}
        return {"cause_level": level, "reference": reference, "values": self.values,
                "outcome_level": self.outcome_level} | named  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return the JSON value, without background knowledge, which is in the schema."""
        left_out = {"known", *(["weight"] if self.weight == 1 else [])}
        found = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in left_out}
        found = {k: list(v) if isinstance(v, tuple) else v for k, v in found.items()}
        return {name: value for name, value in found.items() if value not in (None, False)}


def order_of_time(
    cause: str, outcome: str, before: Sequence[str], after: Sequence[str]
) -> Knowledge | None:
    """Return the tiers for columns before and after the cause, or None if there are no columns.

    The outcome is after the cause; other columns are unrestricted.
    """
    if not before and not after:
        return None
    tiers = before, [cause], sorted({*after, outcome})
    return Knowledge(tiers=tuple(tuple(tier) for tier in tiers if tier))


Questions = Question | Sequence[Question]


def listed(value: Any) -> tuple[Question, ...]:
    """Return one question or several as a tuple, or raise InputError for other values.

    Several questions divide one share and must differ.
    """
    found = (value,) if isinstance(value, Question) else value
    if not isinstance(found, Sequence) or not all(isinstance(one, Question) for one in found):
        raise InputError("Give a Question(cause=..., outcome=...), or a list of them.")
    if len(found) > MOST:
        raise InputError(f"A release answers at most {MOST} questions; {len(found)} were given.")
    if len({one.share for one in found}) > 1:
        raise InputError("Several questions divide one share by weight: give them the same share.")
    if any(replace(one, weight=other.weight, shares=other.shares) == other
           for one, other in combinations(found, 2)):  # fmt: skip
        raise InputError("One question occurs twice; give it a larger weight instead.")
    return tuple(found)


def one_knowledge(questions: Sequence[Question], known: Knowledge | None) -> Knowledge | None:
    """Return the background knowledge of questions and their schema or run; InputError for two."""
    found = [each for each in (known, *(one.known for one in questions)) if each]
    if any(each != found[0] for each in found):
        raise InputError(
            "Two different statements of background knowledge (questions, schema or run); keep one."
        )
    return found[0] if found else known


def budget_shares(questions: Sequence[Question]) -> list[float]:
    """Return each question's share of the budget, by weight."""
    total = sum(one.weight for one in questions)
    return [one.share * (one.weight / total) for one in questions]


def load_questions(path: str | os.PathLike[str]) -> tuple[Question, ...]:
    """Read a JSON file with a list of questions; InputError, in one sentence, if it is not one."""
    return parse_questions(parse_json(read_text(path, "file of questions"), "file of questions"))


def parse_questions(content: Any) -> tuple[Question, ...]:
    """Read questions from a JSON list, or raise InputError for another value."""
    if not isinstance(content, list):
        raise InputError("Questions are a JSON list with one object per question.")
    return listed([parse_question(one) for one in content])


def parse_question(content: Any) -> Question:
    """Read a question from its JSON value, or raise InputError for another value."""
    known = {f.name for f in fields(Question)} - {"known"}
    if not isinstance(content, Mapping) or not {"cause", "outcome"} <= content.keys() <= known:
        raise InputError(
            "A question needs a cause and an outcome; all other fields of Question are optional."
        )
    return Question(**content)


def _texts(value: Any, name: str) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not _is_list(value) or not all(isinstance(one, str) for one in value):
        raise InputError(f"A question's {name} must be a list of texts.")
    return tuple(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _shares(value: Any) -> tuple[float, ...]:
    two = _is_list(value) and len(value) == 2 and all(is_number(p) and p > 0 for p in value)
    if not two or sum(value) > 1 + 1e-9:
        raise InputError(
            "The shares of the two levels must be two numbers above 0, at most 1 together."
        )
    return tuple(map(float, value))


def _numbers(value: Any) -> tuple[float, ...]:
    if not _is_list(value) or not all(map(is_number, value)) or len(set(value)) < 2:
        raise InputError("A question's values are numbers, one per level of the outcome.")
    return tuple(map(float, value))
