"""Properties of every orientation: ``python -m scripts.orientations [facts|cycles|worth]``.

``facts``: with the d-separation oracle PC gives the maximal PDAG of truth and facts, for all DAGs
of up to five nodes and facts that are drawn at random. ``cycles``: no graph of a run has a directed
cycle. ``worth``: true facts do not lower the directed F1 on data. The tests run a part of it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product
from typing import Any

import networkx as nx
import numpy as np
from numpy.random import Generator

from engine import ALGORITHMS, Dataset, Knowledge, load_dataset, run
from engine.data.imagined import random_network
from engine.graphs.cpdag import Adjacency, digraph_of, matrix_of
from engine.knowledge import USES
from engine.result import RunResult

NETWORKS = ("cancer", "earthquake", "survey", "asia", "sachs", "child", "insurance")
ROWS, SAMPLES, EPSILONS = (1000, 5000, 20_000), 10, (0.3, 1.0, 10.0)
MODELS, TIMES, SILENT = 200, 10, 1e7
BY_ORACLE = ("pc", "priv_pc", "svt_pc", "gauss_pc", "curate_pc", "em_pc")
KEYS = [key for key, a in ALGORITHMS.items() if a.columns is None and not a.chooses]

# All DAGs, and true facts about one -------------------------------------------------------


def dags_on(links: Adjacency) -> list[Adjacency]:
    """Return every way to turn the links that closes no cycle, by brute force."""
    pairs, found = np.argwhere(np.triu(links)).tolist(), []
    for turned in product((False, True), repeat=len(pairs)):
        dag = np.zeros_like(links)
        for (i, j), back in zip(pairs, turned, strict=True):
            dag[(j, i) if back else (i, j)] = True
        if nx.is_directed_acyclic_graph(nx.DiGraph(dag)):
            found.append(dag)
    return found


def all_dags(d: int) -> list[Adjacency]:
    """Return every labelled DAG of d nodes: 3 of two, 25 of three, 543 of four, 29,281 of five."""
    return [dag for links in _upper(d) for dag in dags_on(links | links.T)]


def unlabelled_dags(d: int) -> list[Adjacency]:
    """Return one DAG per class up to names: 2 of two nodes, 6 of three, 31 of four, 302 of five."""
    turns = [list(turn) for turn in permutations(range(d))]
    found = {min(dag[np.ix_(turn, turn)].tobytes() for turn in turns): dag for dag in _upper(d)}
    return list(found.values())


def _upper(d: int) -> Iterator[Adjacency]:
    """Yield every upper triangular (d, d) matrix: all DAGs with the nodes in this order."""
    places = np.triu_indices(d, 1)
    for there in product((False, True), repeat=len(places[0])):
        dag = np.zeros((d, d), dtype=bool)
        dag[places] = there
        yield dag


def equivalent(dag: Adjacency) -> tuple[bytes, bytes]:
    """Return the common part of a Markov class: edges and unshielded colliders (Verma, Pearl)."""
    links = dag | dag.T
    near = links | np.eye(len(dag), dtype=bool)
    heads = dag[:, None, :] & dag[None, :, :] & ~near[:, :, None]
    return links.tobytes(), heads.tobytes()


def facts_of(dag: Adjacency, names: Sequence[str], rng: Generator, use: str) -> Knowledge:
    """Draw facts of every kind that are true of the DAG; each kind occurs half of the time."""

    def some(found: Sequence, share: float) -> list:  # type: ignore[type-arg]
        return [one for one in found if rng.random() < share] if rng.random() < 0.5 else []

    d = len(dag)
    named = [(names[i], names[j], bool(dag[i, j])) for i, j in permutations(range(d), 2)]
    joined = dag | dag.T
    both = some([(i, j) for i, j in combinations(range(d), 2) if not joined[i, j]], 0.5)
    order = list(
        nx.lexicographical_topological_sort(
            nx.DiGraph(dag), rng.permutation(d).tolist().__getitem__
        )
    )
    cuts = sorted(rng.integers(0, d + 1, int(rng.integers(1, 4))).tolist())
    parts = [order[a:b] for a, b in zip([0, *cuts], [*cuts, d], strict=True)]
    free = rng.random(d) < rng.choice([0.0, 0.3])
    tiers = [[names[i] for i in part if not free[i]] for part in parts]
    return Knowledge(
        tiers=tiers if rng.random() < 0.5 else [],  # type: ignore[arg-type]
        forbidden=[
            *some([(a, b) for a, b, there in named if not there], 0.2),
            *((names[i], names[j]) for pair in both for i, j in (pair, pair[::-1])),
        ],  # type: ignore[arg-type]
        required=some([(a, b) for a, b, there in named if there], 0.3),  # type: ignore[arg-type]
        roots=some([names[i] for i in range(d) if not dag[:, i].any()], 0.5),  # type: ignore[arg-type]
        leaves=some([names[i] for i in range(d) if not dag[i].any()], 0.5),  # type: ignore[arg-type]
        use=use,
    )


def agrees(dag: Adjacency, names: Sequence[str], facts: Knowledge) -> bool:
    """Return whether no arrow of the DAG contradicts a fact, read off the facts themselves."""
    arrows = {(names[i], names[j]) for i, j in np.argwhere(dag).tolist()}
    tier = {name: k for k, some in enumerate(facts.tiers) for name in some}
    return (
        facts.required <= arrows
        and not facts.forbidden & arrows
        and not any(b in facts.roots or a in facts.leaves for a, b in arrows)
        and not any(tier.get(a, -1) > tier[b] for a, b in arrows if b in tier)
    )


def wrong_with_facts(
    d: int, times: int, keys: Sequence[str] = BY_ORACLE
) -> tuple[int, list[Knowledge]]:
    """Return the number of cases, and the facts of those that a run with the oracle gets wrong.

    Every DAG of d nodes up to their names, ``times`` times with other names and facts, for each use
    of these. The algorithms take turns; private ones run at an epsilon that leaves no noise.
    """
    rng, names = np.random.default_rng(d), [f"v{i}" for i in range(d)]
    tried, wrong = 0, []
    for one, _, use in product(unlabelled_dags(d), range(times), USES):
        turn = rng.permutation(d)
        dag = one[np.ix_(turn, turn)]
        facts = facts_of(dag, names, rng, use)
        alike = [each for each in dags_on(dag | dag.T) if equivalent(each) == equivalent(dag)]
        maximal = np.any([each for each in alike if agrees(each, names, facts)], axis=0)
        truth, key = digraph_of(dag, names), keys[tried % len(keys)]
        data = Dataset.from_codes(
            np.eye(2, d, dtype=int), names, [("0", "1")] * d, truth=truth, public=True
        )
        values: dict[str, Any] = {"epsilon": SILENT} if ALGORITHMS[key].private else {}
        found = run(key, data, statistic="oracle", max_order=d, trace=False, knowledge=facts,
                    stable=bool(rng.random() < 0.5), **values)  # fmt: skip
        tried += 1
        if (found.matrix != maximal).any() or found.contradicted:
            wrong.append(facts)
    return tried, wrong


# Graphs of runs --------------------------------------------------------------------------


def faults(result: RunResult) -> list[str]:
    """Return the faults of the returned and the displayed graph."""
    found = []
    for kind, graph in (("returned", result.matrix), ("displayed", result.displayed_cpdag)):
        arrows = graph & ~graph.T
        if not nx.is_directed_acyclic_graph(nx.DiGraph(arrows)):
            found.append(f"{kind}: a cycle")
        if result.known is not None and (arrows & result.known.barred).any():
            found.append(f"{kind}: a barred arrow")
        if result.known is not None and (result.known.required & ~arrows).any():
            found.append(f"{kind}: a required arrow is missing")
    if not (result.displayed_cpdag & result.displayed_cpdag.T >= lines(result)).all():
        found.append("a contradicted link is no line")
    return found


def lines(result: RunResult) -> Adjacency:
    """Return the contradicted links, (d, d)."""
    out = np.zeros_like(result.matrix)
    for i, j in result.contradicted - result.untested:
        out[i, j] = out[j, i] = True
    return out


def bundled(
    networks: Sequence[str] = NETWORKS, samples: int = SAMPLES, keys: Sequence[str] = KEYS
) -> Iterator[RunResult]:
    """Yield runs of every algorithm on samples of bundled networks, half of them with true
    facts."""
    for name, k in product(networks, range(samples)):
        data = load_dataset(name, n=ROWS[k % 3], seed=k)
        assert data.truth is not None
        dag = matrix_of(data.truth, data.names)
        for key in keys:
            facts = facts_of(dag, data.names, np.random.default_rng(k), "full")
            values: dict[str, Any] = {"epsilon": EPSILONS[k % 3]} if ALGORITHMS[key].private else {}
            yield run(key, data, seed=k, knowledge=facts if k % 2 else None, trace=False, **values)


def extensible(graph: Adjacency) -> bool:
    """Return whether a DAG has the graph's arrows and no other unshielded collider (Dor, Tarsi)."""
    left = set(range(len(graph)))
    while left:
        for x in left:
            near = [y for y in left if graph[x, y] or graph[y, x]]
            open_ = [y for y in near if graph[x, y]]
            if all(graph[y, x] for y in open_) and all(
                graph[y, z] or graph[z, y] for y in open_ for z in near if y != z
            ):
                left.remove(x)
                break
        else:
            return False
    return True


# The gain from true facts on data -------------------------------------------------------


def gains(models: int, keys: Sequence[str]) -> dict[tuple[str, str], list[float]]:
    """Return the gain in directed F1 from true facts, for every algorithm and use of the facts."""
    out: dict[tuple[str, str], list[float]] = {}
    for k in range(models):
        rng = np.random.default_rng(k)
        d = int(rng.integers(4, 11))
        names = [f"v{i}" for i in range(d)]
        levels = [tuple(map(str, range(int(rng.integers(2, 4))))) for _ in names]
        network = random_network(names, levels, int(rng.integers(d - 1, 2 * d)), rng)
        codes, truth = network.sample(int(rng.choice(ROWS)), rng), network.dag()
        data = Dataset.from_codes(codes, names, levels, truth=truth, public=True)
        dag = matrix_of(truth, names)
        for key in keys:
            values: dict[str, Any] = {"epsilon": EPSILONS[k % 3]} if ALGORITHMS[key].private else {}
            free = run(key, data, seed=k, trace=False, **values).metrics_all
            for use in USES:
                facts = facts_of(dag, names, np.random.default_rng(k), use)
                found = run(key, data, seed=k, trace=False, knowledge=facts, **values).metrics_all
                assert free is not None
                assert found is not None
                out.setdefault((key, use), []).append(found.directed_f1 - free.directed_f1)
    return out


def main(argv: Sequence[str]) -> int:
    """Print the attempts and the faults; return 1 if there is a fault."""
    bad = 0
    if not argv or "facts" in argv:
        for d in (2, 3, 4, 5):
            tried, wrong = wrong_with_facts(d, TIMES)
            bad += len(wrong)
            print(f"{d} nodes: {tried:,} cases, {len(wrong)} wrong", *wrong[:3], flush=True)
    if not argv or "cycles" in argv:
        for key in KEYS:
            results = list(bundled(keys=[key]))
            wrong_runs = [fault for result in results for fault in faults(result)]
            bad += len(wrong_runs)
            some = sum(bool(result.contradicted) for result in results)
            kept = sum(extensible(result.matrix) for result in results)
            print(f"{key}: {len(results)} runs, {len(wrong_runs)} faults {wrong_runs[:3]}; {some} "
                  f"with contradictions, {kept} with an extension without more colliders",
                  flush=True)  # fmt: skip
    if not argv or "worth" in argv:
        for (key, use), each in gains(MODELS, KEYS).items():
            error = np.std(each, ddof=1) / math.sqrt(len(each))
            bad += bool(np.mean(each) < -2 * error)
            print(f"{key}, {use}: {np.mean(each):+.3f} ± {error:.3f}", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
