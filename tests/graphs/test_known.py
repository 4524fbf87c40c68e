"""Knowledge on graphs: MPDAGs against enumeration, fixed directions, possible separators."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from engine import Knowledge, load_dataset, run
from engine.graphs.cpdag import matrix_of
from engine.graphs.dags import MOST_COLUMNS, classes
from engine.graphs.known import Known, known_of, truth_cpdag
from engine.graphs.orientation import by_sets, mpdag_of_dag, reachable
from engine.graphs.weighed_colliders import arrow_probabilities, orient, sampled_dags, unshielded
from engine.knowledge import FULL, ORIENTS, USES
from engine.statistics.oracle import Separation
from scripts.orientations import all_dags, dags_on, facts_of
from tests.graphs.small import graph, has_cycle

NAMES = "abcd"


def test_mpdags_are_what_all_allowed_dags_of_a_class_have_in_common():
    """Against every DAG of four nodes, for knowledge of all kinds drawn at random."""
    rng, dags = np.random.default_rng(0), all_dags(4)
    by_class = {}
    for dag in dags:
        by_class.setdefault(mpdag_of_dag(dag).tobytes(), []).append(dag)
    richer = 0
    for dag in dags:
        known = Known(facts_of(dag, NAMES, rng, FULL), NAMES)
        fits = [
            other
            for other in by_class[mpdag_of_dag(dag).tobytes()]
            if not (other & known.barred).any() and (other | ~known.required).all()
        ]
        assert any((other == dag).all() for other in fits)
        union = np.any(fits, axis=0)
        found = mpdag_of_dag(dag, known)
        assert (found == union).all(), (dag, known.knowledge)
        richer += bool((found != mpdag_of_dag(dag)).any())
    assert richer > 150


def test_only_what_may_be_an_ancestor_may_separate():
    """And that is enough: with the oracle the true MPDAG is found, whatever is known."""
    rng = np.random.default_rng(1)
    for dag in rng.choice(np.array(all_dags(4)), 60, replace=False):
        known = Known(facts_of(dag, NAMES, rng, FULL), NAMES)
        true = Separation(nx.relabel_nodes(
            nx.from_numpy_array(dag.astype(int), create_using=nx.DiGraph),
            dict(enumerate(NAMES))), NAMES)  # fmt: skip
        for x, y in combinations(range(4), 2):
            if dag[x, y] or dag[y, x]:
                continue
            others = [z for z in range(4) if z not in (x, y) and known.may_separate(z, x, y)]
            sets = (s for k in range(3) for s in combinations(others, k))
            assert any(true.separated(x, y, s) for s in sets)


def tiers_of(name, cuts, use="full"):
    """True tiers of a bundled network, of about the same size."""
    data = load_dataset(name, n=100)
    order = list(nx.lexicographical_topological_sort(data.truth))
    parts = np.array_split(np.arange(len(order)), cuts)
    return Knowledge(tiers=[[order[i] for i in part] for part in parts], use=use)


@pytest.mark.parametrize("use", ["full", ORIENTS])
@pytest.mark.parametrize("name", ["asia", "sachs", "child"])
@pytest.mark.parametrize("stable", [False, True])
def test_with_the_oracle_pc_finds_the_true_mpdag(name, use, stable):
    data = load_dataset(name, n=2000)
    known = tiers_of(name, 3, use)
    free = run("pc", data, statistic="oracle", stable=stable, max_order=8)
    found = run("pc", data, statistic="oracle", stable=stable, max_order=8, knowledge=known)
    assert (found.matrix == truth_cpdag(data.truth, data.names, known)).all()
    assert found.metrics_all.directed_f1 == 1.0
    assert (found.ci_tests < free.ci_tests) == (use == "full")


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("key", ["pc", "priv_pc", "curate_pc", "marginal_pc"])
def test_a_pair_that_is_known_to_be_apart_costs_no_arrow(key, use):
    """The set that separates Burglary from Earthquake is what shows the collider at Alarm."""
    apart = [("Burglary", "Earthquake"), ("Earthquake", "Burglary")]
    data = load_dataset("earthquake", n=100_000)
    values = {} if key == "pc" else {"epsilon": 100.0}
    free = run(key, data, seed=1, **values)
    found = run(key, data, seed=1, knowledge=Knowledge(forbidden=apart, use=use), **values)
    assert free.metrics_all.directed_f1 == found.metrics_all.directed_f1 > 0.8


def test_a_pair_that_is_known_to_be_apart_is_asked_about_where_a_direction_rests_on_it():
    data = load_dataset("cancer", n=2000)
    both = [("Pollution", "Smoker"), ("Smoker", "Pollution")]
    for known, asks in (
        (Knowledge(forbidden=both), True),
        (Knowledge(roots=["Pollution", "Smoker"]), False),  # all arrows of both are known
        (Knowledge(forbidden=both, leaves=["Pollution"]), False),  # Pollution points at nothing
        (Knowledge(forbidden=both, tiers=[["Smoker", "Pollution"], ["Cancer", "Dyspnoea", "Xray"]]),
         False),
    ):  # fmt: skip
        found = run("pc", data, statistic="oracle", max_order=3, knowledge=known)
        asked = {frozenset((step.x, step.y)) for step in found.steps if step.kind == "test"}
        assert (frozenset(both[0]) in asked) == asks
        assert known.leaves or found.metrics_all.directed_f1 == 1.0


def test_chains_turn_only_what_is_free():
    """Shares with knowledge are those of the allowed DAGs, weighted as without it."""
    skeleton = graph(4, "0-1", "1-2", "2-3", "0-2")
    weights = {(0, 2, 3): 1.0, (1, 2, 3): -0.5}
    known = Known(Knowledge(forbidden=[("b", "a"), ("d", "c")]), NAMES)
    total, expected = 0.0, np.zeros((4, 4))
    for dag in dags_on(skeleton):
        if not (dag & known.barred).any():
            colliders = [t for t in weights if dag[t[0], t[1]] and dag[t[2], t[1]]]
            weight = float(np.exp(sum(weights[t] for t in colliders)))
            allowed = mpdag_of_dag(dag, known)
            total += weight
            expected += weight * (allowed & ~allowed.T)
    found = arrow_probabilities(sampled_dags(skeleton, weights, known), weights, known)
    assert np.abs(found - expected / total).max() < 0.12  # 100 draws
    assert found[[0, 2, 1], [1, 3, 0]].tolist() == [1.0, 1.0, 0.0]
    turned = orient(skeleton, weights, known=known).cpdag
    assert not (turned & ~turned.T & known.barred).any()


def test_knowledge_around_a_cycle_makes_none():
    """Arrows that knowledge and a skeleton would close to a cycle are not told, nor turned back."""
    known = Known(Knowledge(forbidden=[("b", "a"), ("c", "b"), ("a", "c")]), "abc")
    skeleton = ~np.eye(3, dtype=bool)
    assert not known.fixed_arrows(skeleton).any()
    found = orient(skeleton, {}, known=known).cpdag
    arrows = found & ~found.T
    assert not has_cycle(arrows)
    assert not (arrows & known.barred).any()
    assert ((found | found.T) == skeleton).all()


def test_settled_counts_directions():
    data = load_dataset("asia", n=100)
    skeleton = matrix_of(data.truth, data.names)
    whole = Known(tiers_of("asia", 8), data.names)
    assert whole.fixed(skeleton) == (8, 8)
    assert Known(Knowledge(roots=["smoke"]), data.names).fixed(skeleton) == (2, 8)
    assert known_of(None, data.names) is known_of(Knowledge(), data.names) is None


def test_reachable():
    chain = np.eye(20, k=1, dtype=bool)
    assert (reachable(chain) == np.triu(np.ones((20, 20), dtype=bool), 1)).all()


def test_no_path_of_a_drawn_graph_leads_to_an_earlier_tier():
    """Also through columns in no tier, by the PC loop's sets, listed or sampled."""
    rng = np.random.default_rng(0)
    opened = 0
    for number in range(50):
        d = int(rng.integers(4, 9))
        names = [f"c{i}" for i in range(d)]
        first, *second = (names[i] for i in rng.permutation(d)[:3])
        known = Known(Knowledge(tiers=[[first], second]), names)
        skeleton = np.triu(rng.random((d, d)) < 0.45, 1)
        skeleton |= skeleton.T
        triples = list(unshielded(skeleton))
        weights = {triple: float(rng.normal(0, 3)) for triple in triples}
        sets = {frozenset((a, b)): [frozenset[int]()] for a, z, b in triples if rng.random() < 0.7}
        by_votes = by_sets(skeleton, sets, known)
        opened += bool(by_votes.contradicted)
        for found in (by_votes.matrix, orient(skeleton, weights, known=known).cpdag):
            ways = reachable(found & ~found.T)
            start = names.index(first)
            assert not any(ways[names.index(name), start] for name in second)
            assert ((found | found.T) == skeleton).all()
        dags = [dag for dag, _ in sampled_dags(skeleton, weights, known)] if number < 8 else []
        if d <= MOST_COLUMNS:
            dags += [dag for each in classes(skeleton, known) for dag in each.members]
        assert all(map(known.in_time, dags))
    assert opened > 5
