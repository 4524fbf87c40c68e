"""Directions from graded evidence: weights of colliders give each direction a probability.

For each unshielded triple a - z - b the textbook rule only decides, separately from all others,
whether z is in the sets that separated a and b. Here every triple has a weight, the log odds that z
is a collider, and the probability of a DAG on the skeleton follows from its colliders:

    P(DAG) proportional to exp( sum of the weights of its unshielded colliders ).

Strong evidence overrules weak contradicting evidence, and acyclicity is part of the model. The
distribution is sampled by single edge reversals (Madigan and York 1995), in chains at several
temperatures that swap their states (Geyer 1991). The probability of a direction is the share of
samples with it in their CPDAG. The direction is drawn if this exceeds a threshold.

The module reads a skeleton and released numbers, and the chains follow a fixed sequence of numbers
instead of random ones. It therefore costs no ε.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.compiled import kernel
from engine.graphs.cpdag import Adjacency
from engine.graphs.known import Known
from engine.graphs.orientation import Pair, by_strength, mpdag_of_dag

MAJORITY, STRONGEST = "majority", "strongest"
ORIENTATIONS = (MAJORITY, STRONGEST)

Triple = tuple[int, int, int]  # a, z, b with a < b: a - z - b, and a, b not adjacent
Evidence = Callable[[int, int, tuple[int, ...]], float]
# The evidence for directions: the log odds of colliders, or the log evidence of each class.
DirectionEvidence = Mapping[Triple, float] | tuple[float, ...]

# The odds of a triple are limited to e^10 to 1, because its evidence is approximate, and three
# certain triples may overrule a wrong one.
MOST_LOG_ODDS = 10.0
# A set that separates the pair with odds of e^5 to 1 counts as certain; beyond that the odds of
# independence would only depend on the number of levels.
MOST_INDEPENDENCE = 5.0
# An edge has three possible marks: a direction is drawn if it is more probable than this and than
# its reverse.
EARNED = 0.4
# Pictures, tables and files show a less probable direction as undirected. On true edges of Child (n
# = 5,000, epsilon = 1, 12 draws) 37 of 180 directions are wrong, and 3 of the 53 above this limit.
SHOWN = 0.6
MOST_SETS = 400  # per pair; hubs have too many and get no larger sizes
TEMPERATURES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
SWEEPS, BURN, THIN = 500, 200, 3
MOST_REVERSALS = 6_000_000  # in total; wide graphs get fewer sweeps
MOST_PROBABLE = 20  # DAGs that are returned
START = 2013  # start of the chains' numbers: a public sequence, the same for every run


class Orientation(NamedTuple):
    """``cpdag`` (d, d) boolean; ``arrows`` (d, d), ``arrows[i, j]`` is the probability of i -> j.

    One minus ``arrows[i, j] + arrows[j, i]`` is the probability that the data do not identify the
    edge's direction. ``contradicted`` has the undirected edges (i, j), i < j, whose direction would
    close a cycle with more probable ones. ``evidence`` is the evidence for all directions.
    ``probable`` has the DAGs that the chains visited most often, at most ``MOST_PROBABLE``, with
    the number of visits.
    """

    cpdag: Adjacency
    contradicted: frozenset[Pair]
    arrows: NDArray[np.float64]
    evidence: DirectionEvidence | None = None
    probable: Sequence[tuple[Adjacency, int]] = ()


def unshielded(skeleton: Adjacency) -> Iterator[Triple]:
    """Return all a - z - b of a symmetric (d, d) skeleton with a and b not adjacent, a < b."""
    for z in range(len(skeleton)):
        for a, b in combinations(np.flatnonzero(skeleton[z]).tolist(), 2):
            if not skeleton[a, b]:
                yield a, z, b


def separators(
    skeleton: Adjacency,
    a: int,
    b: int,
    largest: int,
    known: Known | None = None,
    *,
    by_position: bool = False,
) -> list[tuple[int, ...]]:
    """List sets of up to ``largest`` neighbours of a or b, smallest first.

    If a size would give more than ``MOST_SETS`` sets, it is left out with all larger sizes, because
    a choice among its sets would depend on the column order. Background knowledge restricts the
    sets to possible ancestors of a or b. With ``by_position`` the first ``MOST_SETS`` sets are
    taken, as version 0.3 did.
    """
    others = [z for z in range(len(skeleton)) if z not in (a, b)]
    if known is not None and (links_known := known.on_links):
        others = [z for z in others if links_known.may_separate(z, a, b)]
    sides = [[z for z in others if skeleton[side, z]] for side in (a, b)]
    if by_position:
        sets = (
            s for size in range(largest + 1) for near in sides for s in combinations(near, size)
        )
        return list(dict.fromkeys(islice(sets, 2 * MOST_SETS)))[:MOST_SETS]
    shared = len({*sides[0]} & {*sides[1]})
    found: dict[tuple[int, ...], None] = {}
    for size in range(largest + 1):
        more = sum(math.comb(len(near), size) for near in sides) - math.comb(shared, size)
        if len(found) + more > MOST_SETS:
            break
        found |= dict.fromkeys(s for near in sides for s in combinations(near, size))
    return list(found)


def collider_weights(
    skeleton: Adjacency,
    dependence: Evidence,
    largest: int,
    known: Known | None = None,
    *,
    by_position: bool = False,
) -> dict[Triple, float]:
    """Return the log odds that the middle node is a collider, for each unshielded triple.

    ``dependence(a, b, given)``, a < b, is the log Bayes factor of dependence. z is not a collider
    if sets with z separate a and b better than sets without it. The log odds compare the mean Bayes
    factors of independence over the sets without z and over the sets with z, as the log of their
    ratio. ``by_position`` is for :func:`separators`.
    """
    tested: dict[tuple[int, int], list[tuple[float, tuple[int, ...]]]] = {}
    odds: dict[Triple, float] = {}
    for a, z, b in unshielded(skeleton):
        if (a, b) not in tested:
            sets = separators(skeleton, a, b, largest, known, by_position=by_position)
            tested[a, b] = [(min(-dependence(a, b, s), MOST_INDEPENDENCE), s) for s in sets]
        without = [v for v, s in tested[a, b] if z not in s]
        within = [v for v, s in tested[a, b] if z in s]
        odds[a, z, b] = _log_mean_exp(without) - _log_mean_exp(within)
    return odds


def _log_mean_exp(values: Sequence[float]) -> float:
    """Return the log of the mean of exp(values), bounded so that differences are defined."""
    bounded = np.clip(values, -1e6, 1e6)
    return float(np.logaddexp.reduce(bounded)) - math.log(len(values)) if values else -1e6


def orient(
    skeleton: Adjacency,
    weights: Mapping[Triple, float],
    known: Known | None = None,
    *,
    by_position: bool = False,
) -> Orientation:
    """Return the directions with a probability above ``EARNED``, and the probability of each.

    ``skeleton`` is (d, d) symmetric; ``weights`` come from :func:`collider_weights`.
    :func:`engine.graphs.orientation.by_strength` draws the directions, the known ones first, and
    the chains only reverse the others. Names and order of the columns make no difference: a
    canonical node order is computed first, and indistinguishable nodes get the mean of their
    probabilities. Above ``MOST_LOG_ODDS`` weights only serve to distinguish nodes; with
    ``by_position`` the columns' order does, as in version 0.3.
    """
    exact = _own_ranks(skeleton, weights)
    weights = {t: min(max(w, -MOST_LOG_ODDS), MOST_LOG_ODDS) for t, w in weights.items()}
    ranks = _own_ranks(skeleton, weights)
    order = np.argsort(ranks, kind="stable") if by_position else np.lexsort((exact, ranks))
    place = np.argsort(order)
    moved = {
        (min(place[a], place[b]), int(place[z]), max(place[a], place[b])): weight
        for (a, z, b), weight in weights.items()
    }
    if known is not None:
        known = known.ordered(order.tolist())
    links, back = skeleton[np.ix_(order, order)], np.ix_(place, place)
    met = sampled_dags(links, moved, known)
    arrows = arrow_probabilities(met, moved, known)
    # Knowledge distinguishes nodes that would otherwise be alike.
    if not (known and known.knowledge) and links.any():
        some = np.argwhere(links)
        of = np.unique(ranks[order][some], axis=0, return_inverse=True)[1].ravel()
        shares = arrows[links]  # in the order of argwhere
        arrows[links] = (np.bincount(of, shares) / np.bincount(of))[of]
    graph, lines = by_strength(links, arrows, known, EARNED)
    named = ((int(order[i]), int(order[j])) for i, j in lines)
    contradicted = frozenset((min(pair), max(pair)) for pair in named)
    often = sorted(met, key=lambda each: -each[1])[:MOST_PROBABLE]
    probable = [(dag[back], times) for dag, times in often]
    return Orientation(graph[back], contradicted, arrows[back], weights, probable)


def _own_ranks(skeleton: Adjacency, weights: Mapping[Triple, float]) -> NDArray[np.int64]:
    """Return a rank (d,) of every node that depends on skeleton and weights, not on its number.

    Nodes are distinguished by their weights as the middle and as an end, then by those of their
    neighbours, and so on (colour refinement). Indistinguishable nodes get the same rank.
    """
    seen: list[tuple[list[float], list[float]]] = [([], []) for _ in skeleton]
    for (a, z, b), weight in weights.items():
        for v, role in ((z, 0), (a, 1), (b, 1)):
            seen[v][role].append(round(weight, 6))
    keys: list[Any] = [(sorted(middle), sorted(end)) for middle, end in seen]
    kinds = 0
    while True:
        ordered = sorted(keys)
        ranks = np.array([bisect_left(ordered, key) for key in keys], np.int64)
        if kinds == len(set(ranks.tolist())):
            return ranks
        kinds = len(set(ranks.tolist()))
        near = (sorted(ranks[row].tolist()) for row in skeleton)
        keys = list(zip(ranks.tolist(), near, strict=True))


def arrow_probabilities(
    met: Sequence[tuple[Adjacency, int]],
    weights: Mapping[Triple, float],
    known: Known | None = None,
) -> NDArray[np.float64]:
    """Return (d, d): the share of sampled DAGs with i -> j in their CPDAG (or MPDAG)."""
    arrows, total = np.zeros(met[0][0].shape), 0
    a, z, b = _columns(weights)
    graphs: dict[bytes, Adjacency] = {}
    for dag, times in met:
        # DAGs with the same CPDAG have the same unshielded colliders.
        key = (dag[a, z] & dag[b, z] if known is None else dag).tobytes()
        if key not in graphs:
            graphs[key] = mpdag_of_dag(dag, known)
        arrows += times * (graphs[key] & ~graphs[key].T)
        total += times
    return arrows / total


def _columns(weights: Mapping[Triple, float]) -> NDArray[np.int64]:
    """Return the triples as (3, triples)."""
    return np.array([*weights], np.int64).reshape(-1, 3).T


def sampled_dags(
    skeleton: Adjacency, weights: Mapping[Triple, float], known: Known | None = None
) -> list[tuple[Adjacency, int]]:
    """Return the DAGs on the skeleton that the chains visited, with the number of visits.

    DAGs with a path to an earlier tier are left out, unless all have one because edges and
    knowledge contradict each other.
    """
    if not skeleton.any():
        return [(skeleton, 1)]
    # The chains use lists of neighbours: ``near[u, k]`` is the k-th neighbour of u (-1 after the
    # last), ``place[u, v]`` is the k of v, and ``table[z, k, l]`` is the weight of the collider at
    # z of its k-th and l-th neighbours.
    place = skeleton.cumsum(axis=1, dtype=np.int64) - 1
    near = np.full((len(skeleton), int(place.max()) + 1), -1, np.int64)
    u, v = np.nonzero(skeleton)
    near[u, place[u, v]] = v
    table = np.zeros((*near.shape, near.shape[1]))
    a, z, b = _columns(weights)
    table[z, place[z, a], place[z, b]] = table[z, place[z, b], place[z, a]] = [*weights.values()]
    fixed = np.zeros_like(skeleton) if known is None else known.fixed_arrows(skeleton)
    depths = np.zeros(len(fixed))  # the length of the longest path of fixed directions to each node
    for _ in depths:
        depths = np.where(fixed, depths[:, None] + 1.0, 0.0).max(axis=0)
    # In one layout, because numba would compile for each other one.
    edges = np.ascontiguousarray(np.argwhere(np.triu(skeleton & ~fixed & ~fixed.T)))
    sweeps = min(SWEEPS, max(60, MOST_REVERSALS // (max(1, len(edges)) * len(TEMPERATURES))))
    graph = (near, place, table, edges, depths)
    numbers = np.array([START], np.uint64)
    met = _temper(graph, np.array(TEMPERATURES), sweeps, sweeps * BURN // SWEEPS, numbers)
    found = [
        (np.frombuffer(dag, dtype=bool).reshape(skeleton.shape), times)
        for dag, times in Counter(dag.tobytes() for dag in met).items()
    ]
    return found if known is None else [f for f in found if known.in_time(f[0])] or found


@kernel()
def _next(numbers):  # type: ignore[no-untyped-def]
    """Return the next of a fixed sequence in [0, 1): SplitMix64 (Steele, Lea, Flood 2014)."""
    numbers[0] += np.uint64(0x9E3779B97F4A7C15)
    z = numbers[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)) / 9007199254740992.0  # 53 bits, so below 1


@kernel()
def _leads(dag, near, start, goal, stack, seen):  # type: ignore[no-untyped-def]
    """Return whether a directed path leads from start to goal."""
    seen[:] = False
    stack[0], top = start, 1
    while top > 0:
        top -= 1
        u = stack[top]
        for v in near[u]:
            if v >= 0 and dag[u, v] and not seen[v]:
                if v == goal:
                    return True
                seen[v] = True
                stack[top] = v
                top += 1
    return False


@kernel()
def _reverse(dag, graph, e, temperature, chance, stack, seen):  # type: ignore[no-untyped-def]
    """Try to reverse edge e; return the change of the log probability, 0 if e stays.

    Reversing i -> j removes the colliders of i at j and adds those of j at i.
    """
    near, place, table, edges = graph[0], graph[1], graph[2], graph[3]
    i, j = edges[e, 0], edges[e, 1]
    if dag[j, i]:
        i, j = j, i
    gain = 0.0
    for k, q in enumerate(near[j]):
        if q >= 0 and q != i and dag[q, j]:
            gain -= table[j, place[j, i], k]
    for k, q in enumerate(near[i]):
        if q >= 0 and dag[q, i]:
            gain += table[i, place[i, j], k]
    if chance >= math.exp(min(gain / temperature, 0.0)):
        return 0.0
    dag[i, j] = False
    cycle = _leads(dag, near, i, j, stack, seen)
    dag[i, j], dag[j, i] = cycle, not cycle
    return 0.0 if cycle else gain


@kernel()
def _start(graph, count, numbers):  # type: ignore[no-untyped-def]
    """Return (DAG, log probability) of each chain, with edges along a shuffled node order.

    Nodes with a greater depth come later, so that no chain starts with a fixed direction reversed.
    """
    near, table, depths = graph[0], graph[2], graph[4]
    d = len(depths)
    dags, logs, rank = np.zeros((count, d, d), np.bool_), np.zeros(count), np.empty(d)
    for t in range(count):
        for u in range(d):
            rank[u] = depths[u] + _next(numbers)
        for u in range(d):
            for k, v in enumerate(near[u]):
                if v >= 0 and rank[v] < rank[u]:
                    dags[t, v, u] = True
                    for q in range(k):
                        if dags[t, near[u, q], u]:
                            logs[t] += table[u, k, q]
    return dags, logs


@kernel()
def _temper(graph, temperatures, sweeps, burn, numbers):  # type: ignore[no-untyped-def]
    """Return (states, d, d): the coldest chain's DAG, every ``THIN`` sweeps after ``burn``."""
    near, edges = graph[0], graph[3]
    count, d = len(temperatures), len(near)
    dags, logs = _start(graph, count, numbers)
    at, kept = np.arange(count), 0  # the chain at each temperature
    states = np.zeros(((sweeps - burn + THIN - 1) // THIN, d, d), np.bool_)
    stack, seen = np.zeros(d, np.int64), np.zeros(d, np.bool_)
    for s in range(sweeps):
        for t in range(count):
            c = at[t]
            for _ in range(len(edges)):
                # Sometimes no edge is reversed. If all reversals were accepted, their number would
                # otherwise have the same parity at the end of every sweep, and half of the DAGs
                # would never be visited.
                e = int(_next(numbers) * (len(edges) + 1))
                chance = _next(numbers)
                if e < len(edges):
                    logs[c] += _reverse(dags[c], graph, e, temperatures[t], chance, stack, seen)
        for t in range(count - 1):
            cooler = 1 / temperatures[t] - 1 / temperatures[t + 1]
            if _next(numbers) < math.exp(min((logs[at[t + 1]] - logs[at[t]]) * cooler, 0.0)):
                at[t], at[t + 1] = at[t + 1], at[t]
        if s >= burn and (s - burn) % THIN == 0:
            for u in range(d):  # entry by entry, because assigning a slice takes seconds to compile
                for v in range(d):
                    states[kept, u, v] = dags[at[0], u, v]
            kept += 1
    return states
