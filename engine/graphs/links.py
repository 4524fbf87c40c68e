"""Names and styles of each class of edges, defined once for all uses.

Every picture, legend, table, caption and sentence takes its word, colour, dash, weight and marker
from :data:`MARKS`. :data:`FOUND` is the headline's count, which is the sum of four of the classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class LinkClass(StrEnum):
    """The class of one pair that is adjacent in the ground truth or in the learned graph."""

    CORRECT = "correct"
    NOT_IDENTIFIABLE = "not_identifiable"
    UNDIRECTED = "undirected"
    REVERSED = "reversed"
    FALSE_POSITIVE = "false_positive"
    MISSED = "missed"
    UNTESTED = "untested"


@dataclass(frozen=True)
class Mark:
    """The name and the line style of a class of edges.

    ``word`` is its name in legends and tables. ``said`` is a sentence with its count: {n} is the
    number, {of} the number of true edges, and [s] an s for the plural. ``dash`` and ``width`` are
    in pixels; ``marker`` is a sign at the middle of the line.
    """

    word: str
    said: str
    light: str
    dark: str
    dash: tuple[int, ...] = ()
    width: float = 2.0
    marker: str | None = None

    def ink(self, theme: str) -> str:
        """Return the colour in the theme "light" or "dark"."""
        return self.dark if theme == "dark" else self.light

    def counted(self, n: int, of: int = 0) -> str:
        """Return the count of the class as a part of a sentence."""
        words = self.said.replace("[s]", "" if (of or n) == 1 else "s")
        return words.format(n=f"{n:,}" if n else "no" if "{of}" not in words else "0", of=f"{of:,}")


# In a light and in a dark theme.
_GREY, _FAINT = ("#5b6577", "#a9b4c6"), ("#8592a8", "#7d8ba3")
_BLUE, _GREEN = ("#0072b2", "#56b4e9"), ("#00785a", "#22b58a")
_PURPLE, _ORANGE = ("#a8467f", "#dd8fbb"), ("#b34700", "#e69f00")

# Dash, width and marker distinguish the classes without their colours. A pair that is not fully
# tested is fainter than a missed one, because the run has no finding about it.
MARKS: Mapping[LinkClass | None, Mark] = {
    None: Mark("Link", "{n} link[s]", *_GREY),
    LinkClass.CORRECT: Mark("Found, correct", "{n} correct", *_BLUE, width=3.0),
    LinkClass.NOT_IDENTIFIABLE: Mark(
        "Found, not identifiable",
        "{n} whose direction the data cannot identify",
        *_GREEN,
        width=3.0,
        marker="circle",
    ),
    LinkClass.UNDIRECTED: Mark("Found, undirected", "{n} undirected", *_PURPLE, (16, 4), 3.0),
    LinkClass.REVERSED: Mark("Found, reversed", "{n} reversed", *_PURPLE, (16, 4), 3.0, "diamond"),
    LinkClass.FALSE_POSITIVE: Mark(
        "False positive", "{n} false positive[s]", *_ORANGE, (9, 5), 2.4
    ),
    LinkClass.MISSED: Mark("Missed", "{n} missed", *_GREY, (2, 6)),
    LinkClass.UNTESTED: Mark(
        "Not fully tested", "{n} pair[s] not fully tested", *_FAINT, (1, 9), 1.6
    ),
}
FOUND = Mark("Found", "{n} of {of} true link[s] found", *_BLUE, width=3.0)


def marks_data(theme: str) -> dict[str, dict[str, Any]]:
    """Return the table with :data:`FOUND` as JSON types, for the browser's drawings."""
    same = ("word", "said", "width", "marker")
    named = {"found": FOUND} | {kind.value: MARKS[kind] for kind in LinkClass}
    return {
        kind: {name: getattr(mark, name) for name in same}
        | {"ink": mark.ink(theme), "dash": " ".join(map(str, mark.dash)) or "none"}
        for kind, mark in named.items()
    }
