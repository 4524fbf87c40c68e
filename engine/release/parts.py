"""What releases of different people have in common, so that they can be one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from engine.errors import InputError, show
from engine.knowledge import Knowledge
from engine.privacy.accounting import Guarantee
from engine.release.file import Release

MOST_PARTS = 50


def assembled(parts: Sequence[Release], applied: Knowledge | None) -> Release:
    """What combined releases state of themselves; the graph is still that of one of the parts.

    InputError for one that is given twice, for other schemas or parameters, with the first
    difference, and for knowledge of columns that there are not.
    """
    if not 2 <= len(parts) <= MOST_PARTS:
        raise InputError(f"Combine 2 to {MOST_PARTS} releases, not {len(parts)}.")
    for one, other in combinations(parts, 2):
        pair = f"{show(one.name)} and {show(other.name)}"
        if one.releases[0].steps == other.releases[0].steps:
            raise InputError(f"{pair} are one release: its people would be counted twice.")
        _refuse_different(one, other, pair)
    if applied is not None:
        applied.check_names(parts[0].names)
    best = max(parts, key=lambda part: part.total.epsilon)
    names = " + ".join(part.name for part in parts)
    return replace(
        best,
        name=names if len(names) <= 120 else f"{len(parts)} releases",
        rows=sum(part.rows for part in parts),
        schema=replace(best.schema, rows=None, knowledge=None),
        total=Guarantee(best.total.epsilon, max(part.total.delta for part in parts)),
        releases=(),
        labels=(),
        applied=applied,
        parts=tuple(parts),
        signature=None,
    )


def _refuse_different(one: Release, other: Release, pair: str) -> None:
    """InputError, with the first difference, unless both are of one schema and one search."""
    a, b = ([*r.schema.columns, r.schema.person] for r in (one, other))
    for k in range(max(len(a), len(b))):
        left, right = (some[k] if k < len(some) else None for some in (a, b))
        if left != right:
            raise InputError(
                f"{pair} have different schemas: {_difference(left, right)}. Combine releases of "
                "one schema."
            )
    for name, value in one.params.items():
        if name not in ("epsilon", "delta") and other.params.get(name) != value:
            raise InputError(f"{pair} were made with different parameters: {show(name)}.")


def _difference(left: Any, right: Any) -> str:
    """The first fact in which two columns, or rules for persons, differ."""
    if type(left) is not type(right) or getattr(left, "name", 0) != getattr(right, "name", 0):
        named = [getattr(each, "name", "no more columns") for each in (left, right)]
        return f"column {show(named[0])} against {show(named[1])}"
    pairs = [(k, v, vars(right)[k]) for k, v in vars(left).items() if v != vars(right)[k]]
    field, one, other = pairs[0]
    return (
        f"{field!r} of {show(getattr(left, 'name', 'person'))}: {show(one)} against {show(other)}"
    )
