"""All DAGs on a small skeleton, by their equivalence class, and the climb from one to a better."""

from itertools import combinations

import numpy as np
import pytest

from engine.graphs.dags import MOST_COLUMNS, classes, climbed, neighbours
from engine.graphs.known import Known
from engine.graphs.orientation import mpdag_of_dag
from engine.knowledge import Knowledge
from scripts.orientations import dags_on
from tests.graphs.small import graph, has_cycle

NAMES = tuple("abcdef")


SKELETONS = {
    "chain": graph(4, "0-1", "1-2", "2-3"),
    "star": graph(5, "0-1", "0-2", "0-3", "0-4"),
    "circle": graph(4, "0-1", "1-2", "2-3", "0-3"),
    "circle and a chord": graph(5, "0-1", "1-2", "2-3", "0-3", "1-3", "3-4"),
    "complete": ~np.eye(4, dtype=bool),
    "nothing": graph(3),
}


@pytest.mark.parametrize("name", SKELETONS)
def test_classes_are_those_of_all_dags(name):
    links = SKELETONS[name]
    found = classes(links)
    expected = {}
    for dag in dags_on(links):
        key = mpdag_of_dag(dag).tobytes()
        expected[key] = expected.get(key, 0) + 1
    assert {c.graph.tobytes(): len(c.members) for c in found} == expected
    assert len(found) == len(expected)
    assert all((mpdag_of_dag(c.dag) == c.graph).all() for c in found)


def test_knowledge_leaves_dags_out_and_turns_what_is_left():
    """On a - b - c, with a no effect of b: a -> b; two classes stay, and no DAG with b -> a."""
    links = graph(3, "0-1", "1-2")
    known = Known(Knowledge(forbidden={("b", "a")}), NAMES[:3])
    found = classes(links, known)
    assert sorted(len(c.members) for c in found) == [1, 1]
    assert all(c.graph[0, 1] and not c.graph[1, 0] for c in found)


def test_wide_skeletons_are_refused():
    with pytest.raises(ValueError, match="at most 6"):
        classes(np.zeros((MOST_COLUMNS + 1,) * 2, dtype=bool))


def test_neighbours_differ_by_one_link_and_are_dags():
    dag = np.triu(SKELETONS["circle and a chord"])
    found = list(neighbours(dag, ~np.eye(5, dtype=bool)))
    keys = {n.tobytes() for n in found}
    expected = set()
    for i, j in combinations(range(5), 2):
        for state in ((False, False), (True, False), (False, True)):
            other = dag.copy()
            other[i, j], other[j, i] = state
            if (other != dag).any() and not has_cycle(other):
                expected.add(other.tobytes())
    assert keys == expected
    assert len(found) == len(keys)


def test_a_climb_keeps_to_what_is_known_and_to_what_may_be_added():
    known = Known(Knowledge(required={("a", "b")}, forbidden={("c", "a")}), NAMES[:4])
    start = graph(4, "0>1")
    addable = ~np.eye(4, dtype=bool)
    addable[2, 3] = addable[3, 2] = False
    for dag in neighbours(start, addable, known):
        assert dag[0, 1]
        assert not dag[2, 0]
        assert not dag[2, 3]
        assert not dag[3, 2]
    assert climbed(start, lambda dag: -float(dag.sum()), addable, known)[0, 1]
    most = climbed(start, lambda dag: float(dag.sum()), addable, known)
    assert most.sum() == 5
