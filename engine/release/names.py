"""Names of budgets: no two that a reader would take for one another.

A total is worth nothing if a second name that looks the same has a total of its own. New names are
of ASCII, and two of them look alike if they are equal but for case, for which sign stands between
two words, or for characters that many fonts draw alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from engine.errors import InputError

_NAME = re.compile(r"(?=.{1,60}\Z)[A-Za-z0-9][A-Za-z0-9._-]*( [A-Za-z0-9._-]+)*")
_ALIKE = (("rn", "m"), ("vv", "w"), ("cl", "d"), ("0", "o"), ("1", "l"), ("5", "s"), ("8", "b"))


def check_name(name: str, others: Iterable[str]) -> None:
    """InputError for a new name that is malformed, or looks like another."""
    if not _NAME.fullmatch(name):
        raise InputError(
            "A budget's name has at most 60 letters, digits, dots, _ and - of ASCII, and single "
            "blanks between words; it starts with a letter or digit."
        )
    for other in others:
        if _drawn(name) == _drawn(other):
            raise InputError(f"There is a budget {other!r} already, which looks the same.")


def _drawn(name: str) -> str:
    """What is left once all that looks alike is the same."""
    found = re.sub(r"[ ._-]+", " ", name).replace("I", "l").casefold()  # I is drawn as a small l
    for one, other in _ALIKE:
        found = found.replace(one, other)
    return found
