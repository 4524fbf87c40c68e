"""Errors a person can act on, and the spelling hint they share."""

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    """Bad input of a person; the message is one sentence that says what to do."""


class DataError(InputError):
    """A data file that cannot be used as it is."""


_BRIEF = 60  # characters


def brief(value: object) -> str:
    """``repr(value)`` for a sentence, cut where it is long."""
    try:
        words = repr(value)
    except ValueError:  # an integer of more digits than Python prints
        return "a number of thousands of digits"
    return words if len(words) <= _BRIEF else f"{words[: _BRIEF - 1]}…"


def did_you_mean(word: str, options: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the nearest option, or nothing."""
    by_folded = {option.casefold(): option for option in options}
    near = get_close_matches(word[:_BRIEF].casefold(), by_folded, n=1)
    return f" Did you mean '{by_folded[near[0]]}'?" if near else ""


def show(value: str) -> str:
    """Quote a value for a message, on one line and not too long."""
    return repr(value if len(value) <= 60 else value[:57] + "...")
