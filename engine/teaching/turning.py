"""Which arrows may point either way: a small graph with every choice of its arrows turned round.

A question asks whether two variables are independent once others are known; a graph answers it by
d-separation. Two graphs that answer all questions alike cannot be told apart by any data (Verma and
Pearl 1990: they have the same links and the same unshielded colliders).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import networkx as nx

from engine.errors import InputError
from engine.graphs.separation import Separation

MOST_ARROWS = 10  # 1,024 graphs
Question = tuple[int, int, tuple[int, ...]]
CYCLE = -1


@dataclass(frozen=True)
class Turning:
    """``arrows`` of the true graph as places of names; graph k has those turned whose bit is set.

    ``kinds[k]`` is the kind of graph k, ``CYCLE`` where its arrows go round; all graphs of a kind
    answer alike. ``changed[kind]`` holds the places among :func:`questions` of those that it
    answers otherwise than the true graph, which is of kind 0. ``independent`` holds the true
    graph's own answers.
    """

    d: int
    arrows: tuple[tuple[int, int], ...]
    kinds: tuple[int, ...]
    changed: tuple[tuple[int, ...], ...]
    independent: tuple[bool, ...]


def questions(d: int) -> Iterator[Question]:
    """Every pair x < y with every set of others, fewest others first."""
    for size in range(d - 1):
        for x, y in combinations(range(d), 2):
            for given in combinations([z for z in range(d) if z not in (x, y)], size):
                yield x, y, given


def turning(dag: nx.DiGraph, names: Sequence[str]) -> Turning:
    """Turn every choice of arrows round, and see what changes.

    Args:
        dag: Acyclic, at most ``MOST_ARROWS`` arrows.
        names: Its nodes, in the order of the columns.

    Raises:
        InputError: With more arrows.

    Examples:
        >>> chain = nx.DiGraph([("a", "b"), ("b", "c")])
        >>> found = turning(chain, ["a", "b", "c"])
        >>> found.kinds  # only the graph whose arrows meet in b can be told apart
        (0, 0, 1, 0)
    """
    at = {name: k for k, name in enumerate(names)}
    arrows = tuple(sorted((at[a], at[b]) for a, b in dag.edges))
    if len(arrows) > MOST_ARROWS:
        raise InputError(f"At most {MOST_ARROWS} arrows can be turned here; it has {len(arrows)}.")
    every = list(questions(len(names)))
    known: dict[frozenset[tuple[int, int, int]], int] = {}
    kinds: list[int] = []
    answers: list[list[bool]] = []
    for mask in range(2 ** len(arrows)):
        graph = _graph(arrows, mask, len(names))
        if not nx.is_directed_acyclic_graph(graph):
            kinds.append(CYCLE)
            continue
        meets = _colliders(graph)
        if meets not in known:
            known[meets] = len(known)
            asked = Separation(graph, range(len(names)))  # type: ignore[arg-type]
            answers.append([asked.separated(*q) for q in every])
        kinds.append(known[meets])
    changed = tuple(
        tuple(k for k, (a, b) in enumerate(zip(answers[0], other, strict=True)) if a != b)
        for other in answers
    )
    return Turning(len(names), arrows, tuple(kinds), changed, tuple(answers[0]))


def _graph(arrows: Sequence[tuple[int, int]], mask: int, d: int) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(d))
    graph.add_edges_from((b, a) if mask >> k & 1 else (a, b) for k, (a, b) in enumerate(arrows))
    return graph


def _colliders(graph: nx.DiGraph) -> frozenset[tuple[int, int, int]]:
    """Where two arrows meet whose tails are not linked."""
    return frozenset(
        (a, c, b)
        for c in graph
        for a, b in combinations(sorted(graph.predecessors(c)), 2)
        if not graph.has_edge(a, b) and not graph.has_edge(b, a)
    )
