"""From one DAG to a better one, link by link."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from engine.graphs.cpdag import Adjacency
from engine.graphs.known import Known, reachable


def climbed(
    start: Adjacency,
    value: Callable[[Adjacency], float],
    addable: Adjacency,
    known: Known | None = None,
) -> Adjacency:
    """The DAG (d, d) from ``start`` up where no step of :func:`neighbours` raises the value."""
    best, reached = start, value(start)
    while True:
        found = [(value(dag), dag) for dag in neighbours(best, addable, known)]
        top = max(found, key=lambda f: f[0], default=(reached, best))
        if top[0] <= reached:
            return best
        reached, best = top


def neighbours(
    dag: Adjacency, addable: Adjacency, known: Known | None = None
) -> Iterator[Adjacency]:
    """The DAGs with a link less, a link turned, or a link more of those that are ``addable``.

    None takes a link away that is required, or adds or turns an arrow that is barred.
    """
    allowed = np.ones_like(dag) if known is None else ~known.barred
    kept = np.zeros_like(dag) if known is None else known.linked
    ways = reachable(dag)
    for i, j in np.argwhere(dag).tolist():
        less = dag.copy()
        less[i, j] = False
        if not kept[i, j]:
            yield less
        if allowed[j, i] and not reachable(less)[i, j]:
            turned = less.copy()
            turned[j, i] = True
            yield turned
    for i, j in np.argwhere(addable & allowed & ~dag & ~dag.T & ~ways.T).tolist():
        if i != j:
            more = dag.copy()
            more[i, j] = True
            yield more
