"""The one orienter: no cycle for any evidence, exact facts, and a run's report of it."""

import json

import networkx as nx
import numpy as np
import pytest

from engine import Knowledge, load_dataset, run
from engine.graphs.known import Known
from engine.graphs.orientation import by_dag, by_sets, by_strength
from engine.graphs.weighed_colliders import unshielded
from engine.knowledge import USES
from engine.serialise import result_dict
from scripts.orientations import (
    BY_ORACLE,
    bundled,
    facts_of,
    faults,
    unlabelled_dags,
    wrong_with_facts,
)
from tests.graphs.small import graph, has_cycle


@pytest.mark.parametrize(("nodes", "times"), [(3, 4), (4, 3)])
def test_with_the_oracle_facts_give_the_maximal_pdag(nodes, times):
    """All kinds of true facts, both uses; the whole is ``python -m scripts.orientations facts``."""
    tried, wrong = wrong_with_facts(nodes, times)
    assert tried == 2 * times * len(unlabelled_dags(nodes))
    assert not wrong


def test_no_graph_of_a_run_has_a_cycle():
    """Also with true facts. The whole is ``python -m scripts.orientations cycles``."""
    results = list(bundled(("sachs",), 2, (*BY_ORACLE, "marginal_pc", "gram_notears")))
    assert not [fault for result in results for fault in faults(result)]
    assert any(result.contradicted for result in results)


def test_what_contradicts_is_told():
    """Mek -> Raf -> PKC -> Jnk -> PKA -> Mek, as the evidence has it, is no causal graph."""
    found = run("pc", load_dataset("sachs", n=1000, seed=11))
    assert not faults(found)
    (i, j) = min(found.contradicted)
    pair = sorted((found.names[i], found.names[j]))
    assert pair in result_dict(found)["contradicted"]
    json.dumps(result_dict(found))
    said = found.summary().directions
    assert said == "The arrows of 1 link contradict each other, so it is drawn as a line."
    assert said in str(found.summary())
    assert run("pc", load_dataset("cancer", n=20_000, seed=0)).summary().directions == ""


def drawn(rng, d):
    """Links, separating sets and strengths of no meaning, and facts that agree with each other."""
    skeleton = np.triu(rng.random((d, d)) < 0.5, 1)
    skeleton |= skeleton.T
    sets = {}
    for x, y in np.argwhere(np.triu(~skeleton, 1)).tolist():
        sets[frozenset((x, y))] = [frozenset(np.flatnonzero(rng.random(d) < 0.3).tolist())]
    strengths = rng.integers(0, 4, (d, d)) / 4  # many alike
    order = rng.permutation(d)
    dag = np.triu(rng.random((d, d)) < 0.4, 1)[np.ix_(order, order)]
    return skeleton, sets, strengths, dag


@pytest.mark.parametrize("use", USES)
def test_whatever_the_evidence_a_dag_has_all_arrows(use):
    """It keeps what is required and allowed, in the order of time, and columns have no order."""
    rng, told = np.random.default_rng(0), 0
    for _ in range(60):
        d = int(rng.integers(3, 9))
        names = [f"c{i}" for i in range(d)]
        skeleton, sets, strengths, dag = drawn(rng, d)
        facts = facts_of(dag, names, rng, use)
        known = Known(facts, names)
        if use == USES[0]:
            skeleton = known.joined(skeleton)
        turn = rng.permutation(d)
        place = np.argsort(turn)
        moved = {frozenset(place[[*p]].tolist()): [frozenset(place[[*s]].tolist()) for s in some]
                 for p, some in sets.items()}  # fmt: skip
        again = Known(facts, [names[i] for i in turn])
        ways = [
            (by_sets(skeleton, sets, known),
             by_sets(skeleton[np.ix_(turn, turn)], moved, again)),
            (by_strength(skeleton, strengths, known, 0.2),
             by_strength(skeleton[np.ix_(turn, turn)], strengths[np.ix_(turn, turn)], again, 0.2)),
            (by_dag(dag, known), by_dag(dag[np.ix_(turn, turn)], again)),
        ]  # fmt: skip
        for found, other in ways:
            arrows = found.matrix & ~found.matrix.T
            assert not has_cycle(arrows | known.earlier)
            assert not (arrows & known.barred).any()
            links = found.matrix | found.matrix.T
            assert not (known.required & links & ~arrows).any()
            assert all(found.matrix[i, j] and found.matrix[j, i] for i, j in found.contradicted)
            assert (other.matrix == found.matrix[np.ix_(turn, turn)]).all()
            assert {tuple(sorted((int(turn[i]), int(turn[j])))) for i, j in other.contradicted} == (
                found.contradicted
            )
            told += bool(found.contradicted)
    assert told > 30


def test_an_earlier_stage_wins_and_within_a_stage_none():
    """0 -> 1 -> 2 -> 0: a required arrow is kept, a forbidden one's reverse yields to it."""
    skeleton = ~np.eye(3, dtype=bool)
    alike = np.array([[0, 0.9, 0], [0, 0, 0.9], [0.9, 0, 0]])
    found = by_strength(skeleton, alike, None, 0.4)
    assert (found.matrix == skeleton).all()
    assert len(found.contradicted) == 3
    graded = alike - np.array([[0, 0, 0], [0, 0, 0.1], [0.2, 0, 0]])
    assert by_strength(skeleton, graded, None, 0.4).contradicted == {(0, 2)}
    around = [("b", "a"), ("c", "b"), ("a", "c")]  # forbidden: the cycle a -> b -> c -> a is left
    known = Known(Knowledge(forbidden=around[1:], required=[("a", "b")]), "abc")
    found = by_sets(skeleton, {}, known)
    assert (found.matrix == graph(3, "0>1", "1-2", "0-2")).all()
    assert found.contradicted == {(0, 2), (1, 2)}
    assert known.fixed_arrows(skeleton).sum() == 1


def test_a_link_that_knowledge_denies_stays_a_line_where_it_only_turns():
    """Links are found as without it, so that it may find one that may point neither way."""
    known = Known(Knowledge(forbidden=[("a", "b"), ("b", "a")], use="orients"), "abc")
    found = by_sets(graph(3, "0-1", "1-2"), {frozenset((0, 2)): [frozenset()]}, known)
    assert (found.matrix == graph(3, "0-1", "2>1")).all()
    assert found.contradicted == {(0, 1)}


def test_no_arrow_rests_on_a_pair_that_no_set_separated():
    """0 -> 1 - 2: with 0 and 2 known to be apart and not asked about, 1 may be a collider."""
    apart = [("a", "c"), ("c", "a")]
    known = Known(Knowledge(forbidden=apart, required=[("a", "b")]), "abc")
    links, pair = graph(3, "0-1", "1-2"), frozenset((0, 2))
    assert (by_sets(links, {}, known).matrix == graph(3, "0>1", "1-2")).all()
    assert (by_sets(links, {pair: [frozenset()]}, known).matrix == graph(3, "0>1", "2>1")).all()
    assert (by_sets(links, {pair: [frozenset({1})]}, known).matrix == graph(3, "0>1", "1>2")).all()


def test_strengths_of_an_oracle_leave_nothing_to_contradict():
    """A DAG's own colliders, all as strong, give its CPDAG."""
    rng = np.random.default_rng(2)
    for _ in range(30):
        dag = np.triu(rng.random((7, 7)) < 0.4, 1)
        skeleton, strengths = dag | dag.T, np.zeros((7, 7))
        for a, z, b in unshielded(skeleton):
            if dag[a, z] and dag[b, z]:
                strengths[a, z] = strengths[b, z] = 1.0
        found, exact = by_strength(skeleton, strengths, None, 0.4), by_dag(dag)
        assert (found.matrix == exact.matrix).all()
        assert not found.contradicted | exact.contradicted
        assert nx.is_directed_acyclic_graph(nx.DiGraph(exact.matrix & ~exact.matrix.T))
