"""Directions from graded evidence: colliders weighed against each other, arrows with a probability.

The textbook rule asks of each unshielded triple a - z - b whether z lies in the sets that separated
a and b, yes or no, triple by triple. Here every triple has a weight, the log odds that z is a
collider, and a DAG on the skeleton is as probable as the colliders it has:

    P(DAG) proportional to exp( sum of the weights of its unshielded colliders ).

Strong evidence overrules weak evidence that contradicts it, and acyclicity is part of the model.
The distribution is sampled by single edge reversals (Madigan and York 1995) in chains at several
temperatures that swap their states (Geyer 1991). An arrow's probability is the share of samples
with it in their CPDAG; an arrow is drawn where that exceeds a threshold.

It reads a skeleton and numbers that have been released, and draws nothing at random: the chains
follow a fixed sequence of numbers. It costs no privacy.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.compiled import kernel
from engine.graphs.cpdag import Adjacency
from engine.graphs.known import Known, mpdag_of_dag
from engine.graphs.meek import meek

MAJORITY, STRONGEST = "majority", "strongest"
ORIENTATIONS = (MAJORITY, STRONGEST)

Triple = tuple[int, int, int]  # a, z, b with a < b: a - z - b, and a, b not joined
Evidence = Callable[[int, int, tuple[int, ...]], float]
# What directions follow from: the log odds of colliders, or the log evidence of each class.
DirectionEvidence = Mapping[Triple, float] | tuple[float, ...]

# No triple is surer than e^10 to 1: its evidence rests on approximations, and three sure ones may
# overrule a wrong one.
MOST_LOG_ODDS = 10.0
# A set that separates the pair with odds of e^5 to 1 separates it: beyond that the odds of
# independence only count the levels.
MOST_INDEPENDENCE = 5.0
# An edge has three marks: an arrow is drawn that is more probable than this, and than its reverse.
EARNED = 0.4
# Pictures, tables and files show an arrow that is less probable than this as a plain line. Of the
# arrows on true links of Child (n = 5,000, epsilon = 1, 12 draws) 37 of 180 point the wrong way,
# and 3 of the 53 that are above it.
SHOWN = 0.6
MOST_SETS = 400  # of a pair, smallest first: hubs have too many
TEMPERATURES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
SWEEPS, BURN, THIN = 500, 200, 3
MOST_REVERSALS = 6_000_000  # in all; wide graphs get fewer sweeps
START = 2013  # of the chains' numbers: a public sequence, the same for every run


class Orientation(NamedTuple):
    """``cpdag`` (d, d) boolean; ``arrows`` (d, d), ``arrows[i, j]`` the probability of i -> j.

    What is missing of ``arrows[i, j] + arrows[j, i]`` to 1 is the probability that the edge can be
    turned without changing what the data say. ``evidence`` is what both follow from.
    """

    cpdag: Adjacency
    arrows: NDArray[np.float64]
    evidence: DirectionEvidence | None = None


def unshielded(skeleton: Adjacency) -> Iterator[Triple]:
    """All a - z - b of a symmetric (d, d) skeleton with a and b not joined, a < b."""
    for z in range(len(skeleton)):
        for a, b in combinations(np.flatnonzero(skeleton[z]).tolist(), 2):
            if not skeleton[a, b]:
                yield a, z, b


def separators(
    skeleton: Adjacency, a: int, b: int, largest: int, known: Known | None = None
) -> list[tuple[int, ...]]:
    """Sets of up to ``largest`` neighbours of a, or of b, smallest first, at most ``MOST_SETS``.

    What is known keeps them to what may be an ancestor of a or b.
    """
    sides = [np.flatnonzero(skeleton[side]).tolist() for side in (a, b)]
    if known is not None:
        sides = [[z for z in near if known.may_separate(z, a, b)] for near in sides]
    found: dict[tuple[int, ...], None] = {(): None}
    for size in range(1, largest + 1):
        for near in sides:
            for chosen in combinations(near, size):
                found[chosen] = None
                if len(found) == MOST_SETS:
                    return list(found)
    return list(found)


def collider_weights(
    skeleton: Adjacency, dependence: Evidence, largest: int, known: Known | None = None
) -> dict[Triple, float]:
    """Log odds of each unshielded triple's middle node being a collider.

    ``dependence(a, b, given)``, a < b, is the log Bayes factor of dependence. z is no collider if
    sets with z separate a and b better than sets without: the log ratio of the mean Bayes factor of
    independence over the sets without z to that over the sets with z.
    """
    tested: dict[tuple[int, int], list[tuple[float, tuple[int, ...]]]] = {}
    weights: dict[Triple, float] = {}
    for a, z, b in unshielded(skeleton):
        if (a, b) not in tested:
            sets = separators(skeleton, a, b, largest, known)
            tested[a, b] = [(min(-dependence(a, b, s), MOST_INDEPENDENCE), s) for s in sets]
        without = [v for v, s in tested[a, b] if z not in s]
        within = [v for v, s in tested[a, b] if z in s]
        odds = _log_mean_exp(without) - _log_mean_exp(within)
        weights[a, z, b] = min(max(odds, -MOST_LOG_ODDS), MOST_LOG_ODDS)
    return weights


def _log_mean_exp(values: Sequence[float]) -> float:
    """log of the mean of exp(values); bounded, so that no difference of two is undefined."""
    v = np.clip(np.array(values, dtype=float), -1e6, 1e6)
    top = float(v.max(initial=-1e6))
    return top + math.log(float(np.mean(np.exp(v - top)))) if len(v) else -1e6


def orient(
    skeleton: Adjacency,
    weights: Mapping[Triple, float],
    threshold: float = EARNED,
    known: Known | None = None,
) -> Orientation:
    """Arrows with a probability above ``threshold``, and every arrow's probability.

    ``skeleton`` (d, d) symmetric; ``weights`` as :func:`collider_weights` gives them. Arrows are
    taken in order of probability unless they would close a cycle, then Meek's rules are applied.
    Arrows that are known come first, and the chains turn the others alone. What the columns are
    called and where they stand makes no difference: the order of the nodes is found first, and
    nodes that are alike share their arrows' mean.
    """
    ranks = own_ranks(skeleton, weights)
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    place = np.argsort(order)
    moved = {
        (min(place[a], place[b]), int(place[z]), max(place[a], place[b])): weight
        for (a, z, b), weight in weights.items()
    }
    if known is not None:
        known = Known(known.knowledge, [known.names[i] for i in order])
    links, back = skeleton[np.ix_(order, order)], np.ix_(place, place)
    arrows = arrow_probabilities(links, moved, known)
    if known is None:  # knowledge parts nodes that are alike without it
        arrows = _shared(arrows, links, [ranks[i] for i in order])
    graph = with_arrows(links, arrows, threshold, known)
    return Orientation(graph[back], arrows[back], weights)


def own_ranks(skeleton: Adjacency, weights: Mapping[Triple, float]) -> list[int]:
    """A rank of every node that depends on the skeleton and the weights, not on the nodes' numbers.

    By a node's weights as the middle and as an end, then by its neighbours', and theirs, until no
    more are distinguished (colour refinement); nodes that are alike to the end have the same.
    """
    d = len(skeleton)
    middle: list[list[float]] = [[] for _ in range(d)]
    end: list[list[float]] = [[] for _ in range(d)]
    for (a, z, b), weight in weights.items():
        for v, kept in ((z, middle), (a, end), (b, end)):
            kept[v].append(round(weight, 6))
    seen = [(sorted(m), sorted(e)) for m, e in zip(middle, end, strict=True)]
    ranks, kinds = _ranks(seen), 0
    while kinds < len(set(ranks)):
        kinds = len(set(ranks))
        near = [sorted(ranks[j] for j in np.flatnonzero(row).tolist()) for row in skeleton]
        ranks = _ranks(list(zip(ranks, near, strict=True)))
    return ranks


def _ranks(keys: Sequence[Any]) -> list[int]:
    """The place of each key among all, the same for equal ones."""
    ordered = sorted(keys)
    return [bisect_left(ordered, key) for key in keys]


def _shared(
    arrows: NDArray[np.float64], skeleton: Adjacency, ranks: Sequence[int]
) -> NDArray[np.float64]:
    """The mean of the arrows on links between nodes of the same ranks, in the place of each."""
    if not skeleton.any():
        return arrows
    some = np.argwhere(skeleton)
    links = some[:, 0], some[:, 1]
    of = np.unique(np.array(ranks)[some], axis=0, return_inverse=True)[1].ravel()
    out = np.zeros_like(arrows)
    out[links] = (np.bincount(of, arrows[links]) / np.bincount(of))[of]
    return out


def with_arrows(
    skeleton: Adjacency,
    arrows: NDArray[np.float64],
    threshold: float = EARNED,
    known: Known | None = None,
) -> Adjacency:
    """The skeleton with the arrows (d, d) of a probability above ``threshold``.

    Strongest first, none that closes a cycle; those that are known before; then Meek's rules.
    """
    if known is None:
        return meek(_earned(skeleton.copy(), arrows, threshold))
    graph = _earned(known.turned(skeleton), arrows, threshold, known.earlier)
    done = meek(graph.copy())
    return known.respected(done if known.in_time(done & ~done.T) else graph)


def _earned(
    graph: Adjacency,
    arrows: NDArray[np.float64],
    threshold: float,
    earlier: Adjacency | bool = False,
) -> Adjacency:
    """The graph with arrows above the threshold on its undirected links, in place.

    Strongest first, none closing a cycle, nor one with steps from an ``earlier`` tier to a later.
    """
    wanted = np.argwhere(graph & graph.T & (arrows > threshold) & (arrows > arrows.T))
    for i, j in sorted(wanted.tolist(), key=lambda e: -arrows[e[0], e[1]]):
        if not _leads(graph & ~graph.T | earlier, j, i):
            graph[j, i] = False
    return graph


def _leads(directed: Adjacency, start: int, goal: int) -> bool:
    """Whether a directed path goes from start to goal."""
    seen, reached = np.zeros(len(directed), bool), np.zeros(len(directed), bool)
    reached[start] = True
    while reached.any() and not reached[goal]:
        seen |= reached
        reached = directed[reached].any(axis=0) & ~seen
    return bool(reached[goal])


def arrow_probabilities(
    skeleton: Adjacency, weights: Mapping[Triple, float], known: Known | None = None
) -> NDArray[np.float64]:
    """(d, d): share of the sampled DAGs with i -> j in their CPDAG (with knowledge, MPDAG)."""
    arrows, total = np.zeros(skeleton.shape), 0
    graphs: dict[bytes, Adjacency] = {}
    for dag, times in sampled_dags(skeleton, weights, known):
        key = dag.tobytes() if known is not None else _colliders(dag, weights)
        if key not in graphs:
            graphs[key] = mpdag_of_dag(dag, known)
        arrows += times * (graphs[key] & ~graphs[key].T)
        total += times
    return arrows / total


def _colliders(dag: Adjacency, weights: Mapping[Triple, float]) -> bytes:
    """Which unshielded triples are colliders: what DAGs of one CPDAG have in common."""
    a, z, b = np.array([*weights], np.int64).reshape(-1, 3).T
    return (dag[a, z] & dag[b, z]).tobytes()


def sampled_dags(
    skeleton: Adjacency, weights: Mapping[Triple, float], known: Known | None = None
) -> list[tuple[Adjacency, int]]:
    """The DAGs on the skeleton that the chains met, and how often each.

    None has a path to an earlier tier, unless all have: links and knowledge contradict each other.
    """
    if not skeleton.any():
        return [(skeleton, 1)]
    states, place = _sampled(skeleton, weights, known)
    found = []
    for state, times in Counter(state.tobytes() for state in states).items():
        into = np.frombuffer(state, dtype=bool).reshape(states.shape[1:])
        dag = np.zeros_like(skeleton)
        for (u, v), k in place.items():
            dag[v, u] = into[u, k]
        found.append((dag, times))
    if known is None:
        return found
    return [each for each in found if known.in_time(each[0])] or found


def _sampled(
    skeleton: Adjacency, weights: Mapping[Triple, float], known: Known | None
) -> tuple[NDArray[np.bool_], dict[tuple[int, int], int]]:
    """What :func:`_temper` gives, and the place of v among the neighbours of u.

    The chains see lists of neighbours: ``near[u, k]`` is the k-th of u, ``back[u, k]`` the place of
    u among that one's neighbours, ``table[z, k, l]`` the weight of its k-th and l-th meeting at z.
    """
    d, degree = len(skeleton), skeleton.sum(axis=1).astype(np.int64)
    near = np.full((d, int(degree.max())), -1, np.int64)
    place: dict[tuple[int, int], int] = {}
    for u in range(d):
        for k, v in enumerate(np.flatnonzero(skeleton[u]).tolist()):
            near[u, k], place[u, v] = v, k
    back = np.full_like(near, -1)
    for (u, v), k in place.items():
        back[u, k] = place[v, u]
    table = np.zeros((*near.shape, near.shape[1]))
    for (a, z, b), weight in weights.items():
        table[z, place[z, a], place[z, b]] = table[z, place[z, b], place[z, a]] = weight
    fixed = np.zeros((d, d), dtype=bool) if known is None else known.fixed_arrows(skeleton)
    free = [(u, k) for (u, v), k in place.items() if u < v and not (fixed[u, v] or fixed[v, u])]
    edges = np.array(free, np.int64).reshape(-1, 2)
    sweeps = min(SWEEPS, max(60, MOST_REVERSALS // (max(1, len(edges)) * len(TEMPERATURES))))
    burn = sweeps * BURN // SWEEPS
    numbers = np.array([START], np.uint64)
    graph = (degree, near, back, table, edges, _depths(fixed))
    return _temper(graph, np.array(TEMPERATURES), sweeps, burn, numbers), place


def _depths(fixed: Adjacency) -> NDArray[np.float64]:
    """(d,): the length of the longest path of fixed arrows that ends at each node."""
    depths = np.zeros(len(fixed))
    for _ in range(len(fixed)):
        depths = np.where(fixed, depths[:, None] + 1.0, 0.0).max(axis=0, initial=0.0)
    return depths


@kernel(inner=True)
def _next(numbers):  # type: ignore[no-untyped-def]
    """The next of a fixed sequence of numbers in [0, 1): SplitMix64 (Steele, Lea, Flood 2014)."""
    numbers[0] += np.uint64(0x9E3779B97F4A7C15)
    z = numbers[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)) / 9007199254740992.0  # 53 bits: below 1


@kernel(inner=True)
def _other_path(into, degree, near, start, goal, stack, seen):  # type: ignore[no-untyped-def]
    """Whether a directed path leads from start to goal other than the edge between them."""
    seen[:] = False
    seen[start] = True
    stack[0], top = start, 1
    while top > 0:
        top -= 1
        u = stack[top]
        for k in range(degree[u]):
            v = near[u, k]
            if into[u, k] or seen[v] or (u == start and v == goal):
                continue
            if v == goal:
                return True
            seen[v] = True
            stack[top] = v
            top += 1
    return False


@kernel(inner=True)
def _reverse(into, graph, e, temperature, chance, stack, seen):  # type: ignore[no-untyped-def]
    """Try to reverse edge e; the change of the log probability, 0 if it stays.

    ``into[u, k]`` says that the k-th neighbour of u is its parent. Turning i -> j takes the
    colliders of i at j away and brings those of j at i.
    """
    degree, near, back, table, edges = graph[0], graph[1], graph[2], graph[3], graph[4]
    u, k = edges[e]
    j, kj = u, k
    if not into[u, k]:
        j, kj = near[u, k], back[u, k]
    i, ki = near[j, kj], back[j, kj]
    gain = 0.0
    for q in range(degree[j]):
        if q != kj and into[j, q]:
            gain -= table[j, kj, q]
    for q in range(degree[i]):
        if into[i, q]:
            gain += table[i, ki, q]
    if chance >= math.exp(min(gain / temperature, 0.0)):
        return 0.0
    if _other_path(into, degree, near, i, j, stack, seen):
        return 0.0
    into[j, kj], into[i, ki] = False, True
    return gain


@kernel(inner=True)
def _start(graph, count, numbers):  # type: ignore[no-untyped-def]
    """(into, log probability) of each chain, its edges along a shuffled order of the nodes.

    Nodes of a greater depth come later, so that no chain starts against an arrow that is fixed.
    """
    degree, near, table, depths = graph[0], graph[1], graph[3], graph[5]
    d = len(degree)
    into, logs = np.zeros((count, d, near.shape[1]), np.bool_), np.zeros(count)
    rank = np.empty(d)
    for t in range(count):
        for u in range(d):
            rank[u] = depths[u] + _next(numbers)
        for u in range(d):
            for k in range(degree[u]):
                into[t, u, k] = rank[near[u, k]] < rank[u]
                for q in range(k):
                    if into[t, u, k] and into[t, u, q]:
                        logs[t] += table[u, k, q]
    return into, logs


@kernel()
def _temper(graph, temperatures, sweeps, burn, numbers):  # type: ignore[no-untyped-def]
    """(states, d, most neighbours): the coldest chain's, every ``THIN`` sweeps after ``burn``."""
    degree, near, edges = graph[0], graph[1], graph[4]
    count, d = len(temperatures), len(degree)
    into, logs = _start(graph, count, numbers)
    kept = 0
    states = np.zeros(((sweeps - burn + THIN - 1) // THIN, d, near.shape[1]), np.bool_)
    stack, seen = np.zeros(d, np.int64), np.zeros(d, np.bool_)
    for s in range(sweeps):
        for t in range(count):
            for _ in range(len(edges)):
                # Now and then no edge: where all reversals are accepted, their number would be even
                # or odd at the end of every sweep, and half of the DAGs would not be met.
                e = int(_next(numbers) * (len(edges) + 1))
                chance = _next(numbers)
                if e < len(edges):
                    logs[t] += _reverse(into[t], graph, e, temperatures[t], chance, stack, seen)
        for t in range(count - 1):
            cooler = 1 / temperatures[t] - 1 / temperatures[t + 1]
            if _next(numbers) < math.exp(min((logs[t + 1] - logs[t]) * cooler, 0.0)):
                _swap(into[t], into[t + 1])
                logs[t], logs[t + 1] = logs[t + 1], logs[t]
        if s >= burn and (s - burn) % THIN == 0:
            for u in range(d):
                for k in range(degree[u]):
                    states[kept, u, k] = into[0, u, k]
            kept += 1
    return states


@kernel(inner=True)
def _swap(one, two):  # type: ignore[no-untyped-def]
    """Entry by entry: an assignment of slices takes seconds to compile."""
    for u in range(one.shape[0]):
        for k in range(one.shape[1]):
            one[u, k], two[u, k] = two[u, k], one[u, k]
