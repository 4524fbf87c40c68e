"""Arrows reversed: which answers change, compared with networkx and the CPDAG."""

import networkx as nx
import numpy as np
import pytest

from engine import InputError
from engine.data.networks import load_network
from engine.teaching.turning import CYCLE, _turned, questions, turning


def test_answers_are_those_of_d_separation():
    network = load_network("asia")
    found = turning(network.dag(), network.names)
    every, rng = list(questions(found.d)), np.random.default_rng(3)
    assert len(every) == 1792
    true = nx.DiGraph(_turned(found.arrows, 0, found.d))
    for mask in rng.choice(len(found.kinds), 12, replace=False):
        if found.kinds[mask] == CYCLE:
            continue
        changed = set(found.changed[found.kinds[mask]])
        graph = nx.DiGraph(_turned(found.arrows, mask, found.d))
        for k in rng.choice(len(every), 60, replace=False):
            x, y, given = every[k]
            answers = [nx.is_d_separator(g, {x}, {y}, set(given)) for g in (true, graph)]
            assert (answers[0] != answers[1]) == (k in changed)
    # In a triangle every order of the three answers alike: nothing is ever independent.
    triangle = nx.DiGraph([("a", "b"), ("a", "c"), ("b", "c")])
    assert sorted(turning(triangle, ["a", "b", "c"]).kinds) == [CYCLE] * 2 + [0] * 6
    network = load_network("sachs")
    with pytest.raises(InputError, match="At most 10 arrows"):
        turning(network.dag(), network.names)
