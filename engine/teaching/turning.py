"""Find arrows that may point either way: a small graph with every choice of reversed arrows.

A question asks whether two variables are independent given others; a graph answers it by
d-separation. No data can distinguish two graphs that answer all questions alike (Verma and Pearl
1990: they have the same links and the same unshielded colliders).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import networkx as nx
import numpy as np

from engine.errors import InputError
from engine.graphs.cpdag import Adjacency
from engine.graphs.dags import colliders
from engine.score.acyclicity import is_acyclic
from engine.statistics.oracle import Separation

MOST_ARROWS = 10  # 1,024 graphs
Question = tuple[int, int, tuple[int, ...]]
CYCLE = -1


@dataclass(frozen=True)
class Turning:
    """``arrows`` of the true graph by places of names; graph k reverses those with a bit in k.

    ``kinds[k]`` is the kind of graph k, ``CYCLE`` if it has a cycle; all graphs of a kind give the
    same answers. ``changed[kind]`` holds the places in :func:`questions` whose answers differ from
    those of the true graph, which has kind 0. ``independent`` holds the answers of the true graph.
    """

    d: int
    arrows: tuple[tuple[int, int], ...]
    kinds: tuple[int, ...]
    changed: tuple[tuple[int, ...], ...]
    independent: tuple[bool, ...]


def questions(d: int) -> Iterator[Question]:
    """Return every pair x < y with every set of others, smallest sets first."""
    for size in range(d - 1):
        for x, y in combinations(range(d), 2):
            for given in combinations([z for z in range(d) if z not in (x, y)], size):
                yield x, y, given


def turning(dag: nx.DiGraph, names: Sequence[str]) -> Turning:
    """Reverse every choice of arrows, and compare the answers.

    Args:
        dag: Acyclic, with at most ``MOST_ARROWS`` arrows.
        names: Its nodes, in the order of the columns.

    Raises:
        InputError: If it has more arrows.

    Examples:
        >>> chain = nx.DiGraph([("a", "b"), ("b", "c")])
        >>> found = turning(chain, ["a", "b", "c"])
        >>> found.kinds  # only the graph with both arrows into b differs
        (0, 0, 1, 0)
    """
    at = {name: k for k, name in enumerate(names)}
    arrows = tuple(sorted((at[a], at[b]) for a, b in dag.edges))
    if len(arrows) > MOST_ARROWS:
        raise InputError(f"At most {MOST_ARROWS} arrows can be turned here; it has {len(arrows)}.")
    every = list(questions(len(names)))
    skeleton = _turned(arrows, 0, len(names)) | _turned(arrows, -1, len(names))
    known: dict[bytes, int] = {}
    kinds: list[int] = []
    answers: list[list[bool]] = []
    for mask in range(2 ** len(arrows)):
        graph = _turned(arrows, mask, len(names))
        if not is_acyclic(graph):
            kinds.append(CYCLE)
            continue
        meets = colliders(graph, skeleton).tobytes()
        if meets not in known:
            known[meets] = len(known)
            asked = Separation(nx.DiGraph(graph), range(len(names)))  # type: ignore[arg-type]
            answers.append([asked.separated(*q) for q in every])
        kinds.append(known[meets])
    changed = tuple(
        tuple(k for k, (a, b) in enumerate(zip(answers[0], other, strict=True)) if a != b)
        for other in answers
    )
    return Turning(len(names), arrows, tuple(kinds), changed, tuple(answers[0]))


def _turned(arrows: Sequence[tuple[int, int]], mask: int, d: int) -> Adjacency:
    """Return the graph with the arrows in the mask's bits reversed."""
    graph = np.zeros((d, d), dtype=bool)
    for k, (a, b) in enumerate(arrows):
        graph[(b, a) if mask >> k & 1 else (a, b)] = True
    return graph
