"""DAGs with few columns: their equivalence classes on a skeleton, and a search for better DAGs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from engine.graphs.cpdag import Adjacency
from engine.graphs.known import Known
from engine.graphs.orientation import apart_of, reachable

MOST_COLUMNS = 6  # 720 column orders, each of which gives a DAG


class Class(NamedTuple):
    """One DAG of the class, the graph common to all (the CPDAG or MPDAG), and all DAGs.

    All are (d, d) boolean.
    """

    dag: Adjacency
    graph: Adjacency
    members: tuple[Adjacency, ...]


def classes(skeleton: Adjacency, known: Known | None = None) -> list[Class]:
    """Return all classes of DAGs on the symmetric (d, d) skeleton that reverse no known edge.

    DAGs with a path to an earlier tier are left out, unless all DAGs have one.

    Two DAGs on one skeleton are equivalent if they have the same unshielded colliders (Verma and
    Pearl 1990). Raises ValueError for more than ``MOST_COLUMNS`` columns.
    """
    d = len(skeleton)
    if d > MOST_COLUMNS:
        raise ValueError(f"All DAGs are listed for at most {MOST_COLUMNS} columns, not for {d}.")
    fixed = np.zeros_like(skeleton) if known is None else known.fixed_arrows(skeleton)
    every: dict[bytes, Adjacency] = {}  # each acyclic orientation of the skeleton, once
    for order in permutations(range(d)):
        place = np.argsort(order)
        dag = skeleton & (place[:, None] < place)
        every[dag.tobytes()] = dag
    allowed = [dag for dag in every.values() if not (dag & fixed.T).any()]
    if known is not None:  # keep all if edges and knowledge contradict each other
        allowed = [dag for dag in allowed if known.in_time(dag)] or allowed
    found: dict[bytes, list[Adjacency]] = {}
    for dag in allowed:
        found.setdefault(colliders(dag, skeleton).tobytes(), []).append(dag)
    return [Class(some[0], np.logical_or.reduce(some), tuple(some)) for some in found.values()]


def colliders(dag: Adjacency, skeleton: Adjacency) -> Adjacency:
    """Return (d, d, d): [a, z, b] is True if a -> z <- b and a and b are not adjacent."""
    both: Adjacency = dag[:, :, None] & dag.T[None, :, :]
    return both & apart_of(skeleton)[:, None, :]


def climbed(
    start: Adjacency,
    value: Callable[[Adjacency], float],
    addable: Adjacency,
    known: Known | None = None,
    *,
    by_position: bool = False,
) -> Adjacency:
    """Climb from ``start`` to a DAG (d, d) that no step of :func:`neighbours` improves.

    A step may start at any member of the DAG's class. All members have the same ``value``, and the
    column order determines which of them is current. With ``by_position`` a step starts at that
    one only, as in version 0.3.
    """
    best, reached = start, value(start)
    while True:
        found = {
            dag.tobytes(): dag for member in ((best,) if by_position else _alike(best, known))
            for dag in neighbours(member, addable, known)
        }  # fmt: skip
        top, dag = max(((value(dag), dag) for dag in found.values()), key=itemgetter(0),
                       default=(reached, best))  # fmt: skip
        if top <= reached:
            return best
        best, reached = dag, top


def _alike(dag: Adjacency, known: Known | None) -> tuple[Adjacency, ...]:
    """Return the members of a DAG's class, or only the DAG if knowledge contradicts it."""
    key = dag.tobytes()
    every = (each.members for each in classes(dag | dag.T, known))
    return next((some for some in every if any(m.tobytes() == key for m in some)), (dag,))


def neighbours(
    dag: Adjacency, addable: Adjacency, known: Known | None = None
) -> Iterator[Adjacency]:
    """List the DAGs with one edge removed, reversed, or added from the ``addable`` edges.

    No step removes a required edge, or adds or reverses an edge into a forbidden direction.
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
