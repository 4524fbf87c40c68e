"""A question in codes: its columns and levels, and the levels of the outcome to count."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import pairwise

from engine.data.column import GAP_LEVELS
from engine.effects.estimate import Contrast
from engine.errors import InputError, did_you_mean, show

YES = {"yes", "true", "positive", "present", "on"}
NO = {"no", "false", "negative", "absent", "off"}
_BELOW = re.compile(r"<\s*(\S+)")
_FROM = re.compile(r"(?:>=|≥)\s*(\S+)")
_BETWEEN = re.compile(r"\[\s*(\S+?)\s*,\s*(\S+?)\s*\)")


def yes_and_no(levels: Sequence[str]) -> tuple[int, int]:
    """Find the levels for yes and no, or else the last and the first, without missing values."""
    there = [k for k, level in enumerate(levels) if level not in GAP_LEVELS]
    there = there if len(there) > 1 else list(range(len(levels)))
    words = [level.strip().casefold() for level in levels]
    if {words[k] for k in there} == {"0", "1"}:
        there.sort(key=words.__getitem__)
    yes = next((k for k in there if words[k] in YES), None)
    no = next((k for k in there if words[k] in NO), None)
    yes = next(k for k in reversed(there) if k != no) if yes is None else yes
    return yes, next(k for k in there if k != yes) if no is None else no


def column_of(names: Sequence[str], name: str) -> int:
    """Return the position of a column, or raise InputError for an unknown name."""
    if name not in names:
        raise InputError(f"There is no column {show(name)}.{did_you_mean(name, names)}")
    return list(names).index(name)


def contrast_of(
    names: Sequence[str],
    levels: Sequence[Sequence[str]],
    cause: str,
    outcome: str,
    *,
    cause_level: str | None = None,
    reference: str | None = None,
    outcome_level: object = None,
    values: Sequence[float] | None = None,
) -> Contrast:
    """Translate a cause, an outcome and their levels to codes; InputError for unknown ones.

    By default the cause's "yes" is compared with "no", or else its last level with its first.
    ``values`` has a number for each level of the outcome; without it ``outcome_level`` is counted
    (:func:`counted`).
    """
    x, y = column_of(names, cause), column_of(names, outcome)
    if x == y:
        raise InputError("Cause and outcome are two different columns.")
    yes, no = yes_and_no(levels[x])
    chosen = level_of(levels[x], cause, cause_level, yes)
    compared = level_of(levels[x], cause, reference, yes if chosen == no else no)
    if chosen == compared:
        raise InputError(f"Compare two different levels of {show(cause)}.")
    if values is None:
        hits = counted(levels[y], outcome, outcome_level)
        values = [k in hits for k in range(len(levels[y]))]
    elif len(values) != len(levels[y]):
        raise InputError(
            f"The question has {len(values)} values; {outcome} has {len(levels[y])} levels."
        )
    return Contrast(x, chosen, compared, y, tuple(map(float, values)))


def level_of(levels: Sequence[str], name: str, level: object, default: int = 0) -> int:
    """Return the code of a column's level, or of its default; InputError for an unknown level."""
    if level is None:
        return default
    found = [k for k, held in enumerate(levels) if held == level]
    found = found or [k for k, held in enumerate(levels) if _meaning(held) == _meaning(level)]
    if len(found) != 1:
        raise InputError(
            f"{show(name)} has no level {show(level)}; it has {', '.join(levels[:12])}."
            f"{did_you_mean(level, levels)}"
        )
    return found[0]


def counted(levels: Sequence[str], name: str, wanted: object) -> tuple[int, ...]:
    """Return the codes of the levels that belong to an event, in order.

    Args:
        levels: The column's levels.
        name: The column's name, for a message.
        wanted: A level, several levels, or a range of numbers as ">= 350", "< 40" or "[350, 500)"
            whose ends are cut points. None means the level for yes, or else the last one.

    Raises:
        InputError: If the column lacks a level, a range cuts through a level, or no level or all
            levels are wanted.
    """
    if wanted is None:
        return (yes_and_no(levels)[0],)
    if isinstance(wanted, Iterable) and not isinstance(wanted, str):
        found = {code for each in wanted for code in counted(levels, name, each)}
    elif isinstance(wanted, str) and wanted not in levels and (span := _range(wanted)):
        found = _inside(levels, name, wanted, span)
    else:
        found = {level_of(levels, name, wanted)}
    if not 0 < len(found) < len(levels):
        raise InputError(f"{show(name)}: an event counts at least one level, and not all of them.")
    return tuple(sorted(found))


def event_label(levels: Sequence[str], codes: Sequence[int]) -> str:
    """Name an event in words: neighbouring ranges of numbers as one, other levels as a list."""
    ranges = [_range(levels[k]) for k in codes]
    joined = all(a and b and a[1] == b[0] for a, b in pairwise(ranges))
    if len(codes) < 2 or not joined or ranges[0] is None or ranges[-1] is None:
        return " or ".join(levels[k] for k in codes)
    low, high = ranges[0][0], ranges[-1][1]
    if math.isinf(low):
        return f"< {high:.6g}"
    return f">= {low:.6g}" if math.isinf(high) else f"[{low:.6g}, {high:.6g})"


def _range(label: str) -> tuple[float, float] | None:
    """Read "< b", "[a, b)" or ">= a" as numbers (low, high), or None for other text."""
    text = label.strip()
    with suppress(ValueError):
        if found := _BELOW.fullmatch(text):
            return -math.inf, float(found[1])
        if found := _FROM.fullmatch(text):
            return float(found[1]), math.inf
        if found := _BETWEEN.fullmatch(text):
            return float(found[1]), float(found[2])
    return None


def _inside(levels: Sequence[str], name: str, wanted: str, span: tuple[float, float]) -> set[int]:
    """Find the levels within a range of numbers; InputError if the range cuts through one."""
    low, high = span
    found = set()
    for k, level in enumerate(levels):
        if (held := _range(level)) is None:
            number = _meaning(level)
            if isinstance(number, float) and low <= number < high:
                found.add(k)
        elif low <= held[0] and held[1] <= high:
            found.add(k)
        elif held[0] < high and low < held[1]:
            raise InputError(
                f"{show(wanted)} cuts through the level {show(level)} of {show(name)}; its levels "
                f"are {', '.join(levels[:12])}."
            )
    return found


def _meaning(level: object) -> float | str:
    """Interpret a level in the same way as a cell: a number in any form, a word in any case."""
    word = str(level).strip().casefold()
    with suppress(ValueError):
        return float({"true": "1", "false": "0"}.get(word, word))
    return word
