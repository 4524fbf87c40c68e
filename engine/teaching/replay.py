"""A finished search as a sequence of scenes: what was asked, what it decided, which links are left.

For pages that play a search back (Learn). Works on any trace whose steps are about pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.context import Step

Pair = frozenset[str]


@dataclass(frozen=True)
class PairStep:
    """One step about a pair. ``removed`` is True where it took the link away.

    ``links`` is the number of links left after it; ``first`` is True for an order's first step.
    """

    order: int
    x: str
    y: str
    given: tuple[str, ...]
    kind: str
    decision: str
    reason: str
    removed: bool
    links: int
    first: bool


def scenes(steps: Sequence[Step], names: Sequence[str]) -> Iterator[PairStep]:
    """The steps about pairs, in order, beginning from the complete graph on ``names``."""
    gone: set[Pair] = set()
    whole, before = len(names) * (len(names) - 1) // 2, -1
    for step in steps:
        if step.x is None or step.y is None or step.order is None:
            continue
        pair = frozenset((step.x, step.y))
        removed = step.decision == "independent" and pair not in gone
        if removed:
            gone.add(pair)
        yield PairStep(
            order=step.order,
            x=step.x,
            y=step.y,
            given=step.given,
            kind=step.kind,
            decision=step.decision,
            reason=step.reason,
            removed=removed,
            links=whole - len(gone),
            first=step.order != before,
        )
        before = step.order


@dataclass(frozen=True)
class OrderCount:
    """What a search did at one order: its steps by kind, and how many links went."""

    order: int
    kinds: dict[str, int]
    removed: int


def by_order(played: Sequence[PairStep]) -> list[OrderCount]:
    """One count an order, from 0."""
    counts: list[OrderCount] = []
    for scene in played:
        while len(counts) <= scene.order:
            counts.append(OrderCount(len(counts), {}, 0))
        old = counts[scene.order]
        kinds = old.kinds | {scene.kind: old.kinds.get(scene.kind, 0) + 1}
        counts[scene.order] = OrderCount(scene.order, kinds, old.removed + scene.removed)
    return counts
