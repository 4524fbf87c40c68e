"""Which variables to adjust for: over all graphs of a class, and the set that leaves least noise.

A CPDAG or MPDAG stands for many DAGs. For a cause x they differ, for our purpose, in x's parents
alone: each set of them that the class allows is one *version* (IDA: Maathuis, Kalisch and Bühlmann
2009; with background knowledge, Perković, Kalisch and Maathuis 2017). With all links at x directed
the effect is identified, and of all valid sets the parents of the variables between x and y are
optimal (Henckel, Perković and Maathuis 2022).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from engine.errors import InputError
from engine.graphs.cpdag import Adjacency
from engine.graphs.known import reachable
from engine.graphs.meek import meek
from engine.graphs.weighed_colliders import unshielded

OPTIMAL, PARENTS = "optimal", "parents"
SETS = (OPTIMAL, PARENTS)
MOST_OPEN = 12  # undirected links at the cause; each doubles the versions to look at


@dataclass(frozen=True)
class Version:
    """What one way to direct the links at the cause says of its effect.

    ``reverse``: the effect is among the causes of the cause, so setting the cause changes nothing.
    ``path``: some directed path leads from cause to effect, or may. ``adjusted``: what to adjust
    for, in column order; empty in the reverse case.
    """

    parents: tuple[int, ...]
    adjusted: tuple[int, ...]
    reverse: bool
    path: bool


def versions(graph: Adjacency, x: int, y: int, sets: str = OPTIMAL) -> tuple[Version, ...]:
    """Every version of the class for the effect of x on y; ``graph`` (d, d) a CPDAG or MPDAG.

    A learned graph need not stand for any DAG: where no version is consistent, those that make no
    new collider at x are taken, and the graph's own arrows where there is none of these either.
    """
    ways = _directed_at(graph.tobytes(), len(graph), x)
    return tuple(dict.fromkeys(_version(whole, x, y, sets) for whole in ways))


@lru_cache(maxsize=256)  # of one cause all effects are asked about, one after the other
def _directed_at(matrix: bytes, d: int, x: int) -> tuple[Adjacency, ...]:
    """The (d, d) graph with all links at x directed, in every way that its class allows."""
    graph = np.frombuffer(matrix, dtype=bool).reshape(d, d)
    near = np.flatnonzero(graph[x] & graph[:, x]).tolist()
    if len(near) > MOST_OPEN:
        raise InputError(
            f"The graph leaves {len(near)} links at the cause open; at most {MOST_OPEN} can be "
            "looked through."
        )
    local = list(_without_new_colliders(graph, x, near))
    closed = [whole for whole in map(meek, local) if _consistent(graph, whole)]
    return tuple(closed or local or [graph & ~(graph & graph.T & _beside(x, len(graph)))])


def _beside(x: int, d: int) -> Adjacency:
    out = np.zeros((d, d), dtype=bool)
    out[x] = out[:, x] = True
    return out


def _without_new_colliders(graph: Adjacency, x: int, near: list[int]) -> Iterator[Adjacency]:
    """Some of the open neighbours made parents of x, that are joined to each other parent."""
    parents = np.flatnonzero(graph[:, x] & ~graph[x]).tolist()
    linked = graph | graph.T
    for size in range(len(near) + 1):
        for chosen in combinations(near, size):
            pairs = [*combinations(chosen, 2), *((s, p) for s in chosen for p in parents)]
            if all(linked[a, b] for a, b in pairs):
                out = graph.copy()
                for z in near:
                    out[(x, z) if z in chosen else (z, x)] = False
                yield out


def _consistent(graph: Adjacency, whole: Adjacency) -> bool:
    """Whether directing links made no cycle and no unshielded collider that was not there."""
    arrows = whole & ~whole.T
    if reachable(arrows).diagonal().any():
        return False
    before = graph & ~graph.T
    return all(
        before[a, z] and before[b, z]
        for a, z, b in unshielded(whole | whole.T)
        if arrows[a, z] and arrows[b, z]
    )


def _version(whole: Adjacency, x: int, y: int, sets: str) -> Version:
    arrows = whole & ~whole.T
    parents = tuple(np.flatnonzero(arrows[:, x]).tolist())
    if reachable(arrows)[y, x]:
        return Version(parents, (), reverse=True, path=False)
    on_path = between(whole, x, y)
    if not on_path or sets == PARENTS:
        return Version(parents, parents, reverse=False, path=bool(on_path))
    return Version(parents, _optimal(whole, x, on_path, parents), reverse=False, path=True)


def _optimal(
    whole: Adjacency, x: int, on_path: set[int], parents: tuple[int, ...]
) -> tuple[int, ...]:
    """Parents of what lies between, without what x may act on; x's parents where that fails."""
    arrows = whole & ~whole.T
    forbidden = {x, *on_path}
    for node in on_path:
        forbidden |= may_follow(whole, node)
    found = {int(z) for node in on_path for z in np.flatnonzero(arrows[:, node])} - forbidden
    return parents if set(parents) & forbidden else tuple(sorted(found))


def may_follow(graph: Adjacency, x: int) -> set[int]:
    """What x may act on: the ends of paths along which no arrow points back, x left out.

    Such a path has one without shortcuts among its nodes (Perković et al. 2017, lemma 3.6), so
    paths whose every second node is not joined to the one before the last are all that is walked.
    """
    linked = graph | graph.T
    todo = [(x, int(z)) for z in np.flatnonzero(graph[x])]
    seen = set(todo)
    while todo:
        before, node = todo.pop()
        for z in np.flatnonzero(graph[node]).tolist():
            step = (node, z)
            if z not in (before, x) and not linked[before, z] and step not in seen:
                seen.add(step)
                todo.append(step)
    return {z for _, z in seen}


def between(graph: Adjacency, x: int, y: int) -> set[int]:
    """The nodes on paths from x to y along which no arrow points back: y too, x not."""
    if y not in may_follow(graph, x):
        return set()
    after = may_follow(graph, x)
    return {z for z in after if z == y or y in may_follow(graph, z)}
