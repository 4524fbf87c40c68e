"""What to adjust for: every version of a class against enumeration, and valid in each of them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from engine import InputError
from engine.effects.adjustment import MOST_OPEN, PARENTS, may_follow, versions
from engine.graphs.cpdag import Adjacency
from engine.graphs.known import Known, mpdag_of_dag, reachable
from engine.graphs.meek import cpdag_of_dag
from tests.graphs.test_known import NAMES, all_dags, drawn

DAGS = all_dags(4)
STACK = np.array(DAGS)


def members(graph: Adjacency, known: Known) -> list[Adjacency]:
    """The DAGs of four nodes that a class with knowledge holds."""
    fits = STACK[((STACK | STACK.transpose(0, 2, 1)) == (graph | graph.T)).all(axis=(1, 2))]
    return [dag for dag in fits if not (dag & ~graph).any()
            and (mpdag_of_dag(dag, known) == graph).all()
            and not (dag & known.barred).any() and (dag | ~known.required).all()]  # fmt: skip


def cases(count: int, seed: int) -> list[tuple[Adjacency, Known]]:
    """MPDAGs of random DAGs under knowledge that is true of them, and plain CPDAGs."""
    rng, found = np.random.default_rng(seed), []
    from engine import Knowledge

    for k, number in enumerate(rng.choice(len(DAGS), count, replace=False)):
        dag = DAGS[number]
        known = Known(drawn(rng, dag) if k % 2 else Knowledge(), NAMES)
        found.append((mpdag_of_dag(dag, known), known))
    return found


def test_versions_are_the_parent_sets_of_the_class() -> None:
    """And what is between, and what comes first, is what is so in the DAGs of each version."""
    for graph, known in cases(60, seed=5):
        inside = members(graph, known)
        for x, y in permutations(range(4), 2):
            by_parents: dict[tuple[int, ...], list[Adjacency]] = {}
            for dag in inside:
                parents = tuple(np.flatnonzero(dag[:, x]).tolist())
                by_parents.setdefault(parents, []).append(dag)
            found = {version.parents: version for version in versions(graph, x, y)}
            assert set(found) == set(by_parents)
            for parents, dags in by_parents.items():
                ways = [reachable(dag) for dag in dags]
                assert found[parents].path == any(way[x, y] for way in ways)
                if found[parents].reverse:
                    assert all(way[y, x] for way in ways)
                if y in parents:
                    assert found[parents].reverse


def test_every_set_gives_the_true_effect_in_every_linear_model_of_its_version() -> None:
    """Random weights on every DAG: the adjusted slope is the sum over directed paths."""
    rng = np.random.default_rng(6)
    checked = 0
    for graph, known in cases(40, seed=7):
        for dag in members(graph, known):
            weights = dag * rng.uniform(0.5, 1.5, dag.shape) * rng.choice([-1, 1], dag.shape)
            total = np.linalg.inv(np.eye(4) - weights)  # [i, j]: of i on j
            covariance = total.T @ np.diag(rng.uniform(0.5, 2, 4)) @ total
            for x, y in permutations(range(4), 2):
                parents = tuple(np.flatnonzero(dag[:, x]).tolist())
                for sets in ("optimal", PARENTS):
                    of = {v.parents: v for v in versions(graph, x, y, sets)}[parents]
                    if of.reverse:
                        assert total[x, y] == pytest.approx(0.0, abs=1e-12)
                        continue
                    some = [x, *of.adjusted]
                    slopes = np.linalg.solve(covariance[np.ix_(some, some)], covariance[some, y])
                    assert slopes[0] == pytest.approx(total[x, y], abs=1e-9)
                    checked += 1
    assert checked > 500


def test_the_optimal_set_leaves_out_what_only_moves_the_cause() -> None:
    """Instrument 0 → 1 → 2 ← 3: for 1 on 2 the parents are {0}, the optimal set is {3}."""
    dag = np.zeros((4, 4), dtype=bool)
    dag[0, 1] = dag[1, 2] = dag[3, 2] = True
    graph = cpdag_of_dag(dag)
    graph[1, 0] = False  # 0 → 1 is known
    assert [v.adjusted for v in versions(graph, 1, 2)] == [(3,)]
    assert [v.adjusted for v in versions(graph, 1, 2, PARENTS)] == [(0,)]


def test_what_may_follow() -> None:
    chain = np.zeros((4, 4), dtype=bool)
    for i in range(3):
        chain[i, i + 1] = chain[i + 1, i] = True
    assert may_follow(chain, 0) == {1, 2, 3}
    chain[2, 1] = False  # 1 → 2
    assert may_follow(chain, 2) == {3}


def test_a_learned_graph_that_no_dag_has_still_answers() -> None:
    """A directed cycle, and an open link whose both ways make a new collider elsewhere."""
    cycle = np.zeros((3, 3), dtype=bool)
    cycle[0, 1] = cycle[1, 2] = cycle[2, 0] = True
    assert versions(cycle, 0, 1)
    assert versions(cycle, 0, 1)[0].reverse  # 1 → 2 → 0
    square = np.zeros((4, 4), dtype=bool)
    for i, j in ((0, 1), (1, 2), (2, 3), (3, 0)):
        square[i, j] = square[j, i] = True  # no chordal graph: no DAG without a collider
    assert {v.parents for v in versions(square, 0, 2)} == {(), (1,), (3,)}


def test_too_many_open_links_are_refused() -> None:
    star = np.zeros((MOST_OPEN + 2, MOST_OPEN + 2), dtype=bool)
    star[0, 1:] = star[1:, 0] = True
    with pytest.raises(InputError, match="links at the cause open"):
        versions(star, 0, 1)
