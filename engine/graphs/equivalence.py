"""The Markov equivalence classes of all DAGs on one small skeleton."""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple

import numpy as np

from engine.graphs.cpdag import Adjacency
from engine.graphs.known import Known

MOST_COLUMNS = 6  # 720 orders of the columns: each gives a DAG


class Class(NamedTuple):
    """One of its DAGs, what all share (the CPDAG; with knowledge the MPDAG), and all of them.

    All are (d, d) boolean.
    """

    dag: Adjacency
    graph: Adjacency
    members: tuple[Adjacency, ...]


def classes(skeleton: Adjacency, known: Known | None = None) -> list[Class]:
    """All classes of DAGs on the symmetric (d, d) skeleton that turn no arrow that is known.

    None has a path to an earlier tier, unless all have.

    Two DAGs on one skeleton are equivalent if they have the same unshielded colliders (Verma and
    Pearl 1990). ValueError for more than ``MOST_COLUMNS`` columns.
    """
    d = len(skeleton)
    if d > MOST_COLUMNS:
        raise ValueError(f"Not all DAGs of {d} columns are listed: {MOST_COLUMNS} at most.")
    fixed = np.zeros_like(skeleton) if known is None else known.fixed_arrows(skeleton)
    found: dict[bytes, list[Adjacency]] = {}
    allowed = [dag for dag in _dags(skeleton) if not (dag & fixed.T).any()]
    if known is not None:  # all, where links and knowledge contradict each other
        allowed = [dag for dag in allowed if known.in_time(dag)] or allowed
    for dag in allowed:
        found.setdefault(colliders(dag, skeleton).tobytes(), []).append(dag)
    return [Class(some[0], np.logical_or.reduce(some), tuple(some)) for some in found.values()]


def _dags(skeleton: Adjacency) -> list[Adjacency]:
    """Every acyclic way to turn the skeleton's links, once."""
    found: dict[bytes, Adjacency] = {}
    for order in permutations(range(len(skeleton))):
        place = np.argsort(order)
        dag = skeleton & (place[:, None] < place[None, :])
        found[dag.tobytes()] = dag
    return list(found.values())


def colliders(dag: Adjacency, skeleton: Adjacency) -> Adjacency:
    """(d, d, d): [a, z, b] where a -> z <- b and a and b are not joined."""
    both = dag[:, :, None] & dag.T[None, :, :]
    apart = ~skeleton
    np.fill_diagonal(apart, False)
    out: Adjacency = both & apart[:, None, :]
    return out
