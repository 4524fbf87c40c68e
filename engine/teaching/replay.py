"""Replay a finished search: the tests of each pair, and the results that removed edges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.context import Step


def scenes(steps: Sequence[Step]) -> Iterator[tuple[Step, tuple[str, str], bool]]:
    """Yield each step about a pair in order, its pair, and True if it removed the link.

    A search begins with the complete graph. It works with any trace that has steps about pairs.
    """
    gone: set[frozenset[str]] = set()
    for step in steps:
        if step.x is None or step.y is None or step.order is None:
            continue
        link = frozenset((step.x, step.y))
        removed = step.decision == "independent" and link not in gone
        if removed:
            gone.add(link)
        yield step, (step.x, step.y), removed
