"""Exact P(y | do(x)) of a benchmark network, by elimination from its probability tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import networkx as nx
import numpy as np

from engine.data.networks import Network, load_network
from engine.marginals.contrasts import Array

Factor = tuple[tuple[int, ...], Array]


@lru_cache(maxsize=4096)
def interventional(name: str, cause: str, effect: str) -> Array:
    """Return P(effect | do(cause)) of a benchmark network, (cause levels, effect levels)."""
    network = load_network(name)
    x, y = network.names.index(cause), network.names.index(effect)
    found = joint(network, (x, y), cut=(x,))
    found.flags.writeable = False
    return found


def joint(network: Network, keep: Sequence[int], cut: Sequence[int] = ()) -> Array:
    """Return the joint table of the kept columns; ``cut`` columns are set and have no parents.

    The method is variable elimination (Koller and Friedman 2009, chapter 9): variables that are not
    ancestors are left out, and the variable with the smallest resulting table is eliminated first.
    """
    position = {name: i for i, name in enumerate(network.names)}
    dag = network.dag()
    dag.remove_edges_from([(p, network.names[x]) for x in cut for p in network.parents[x]])
    needed = {network.names[k] for k in keep}
    needed |= {a for k in tuple(needed) for a in nx.ancestors(dag, k)}
    factors: list[Factor] = []
    for j in sorted(position[name] for name in needed):
        if j not in cut:
            scope = (*(position[p] for p in network.parents[j]), j)
            shape = [len(network.states[k]) for k in scope]
            factors.append((scope, network.tables[j].reshape(shape)))
    sizes = [len(states) for states in network.states]
    factors += [((k,), np.ones(sizes[k])) for k in keep]
    hidden = {k for scope, _ in factors for k in scope} - set(keep)
    while hidden:
        costs = {k: _cost(factors, k, sizes) for k in hidden}
        gone = min(sorted(hidden), key=costs.__getitem__)
        mine = [f for f in factors if gone in f[0]]
        scope = tuple(sorted({k for s, _ in mine for k in s} - {gone}))
        factors = [f for f in factors if gone not in f[0]] + [(scope, _product(mine, scope))]
        hidden.discard(gone)
    return _product(factors, tuple(keep))


def _cost(factors: Sequence[Factor], variable: int, sizes: Sequence[int]) -> int:
    scope = {k for s, _ in factors if variable in s for k in s}
    return math.prod(sizes[k] for k in scope)


def _product(factors: Sequence[Factor], keep: tuple[int, ...]) -> Array:
    """Multiply the factors and sum over all variables that are not kept."""
    names = sorted({k for scope, _ in factors for k in scope} | set(keep))
    at = {k: i for i, k in enumerate(names)}
    arguments: list[object] = []
    for scope, values in factors:
        arguments += [values, [at[k] for k in scope]]
    return np.asarray(np.einsum(*arguments, [at[k] for k in keep], optimize="greedy"))  # type: ignore[call-overload]
