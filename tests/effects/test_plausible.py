"""Plausible DAGs: listed and sampled alike, tempered, spread over their classes, as known."""

from dataclasses import replace

import numpy as np
import pytest

from engine import Knowledge, load_dataset, run
from engine.effects import plausible as module
from engine.effects.effect import MOST_SURE, effect_of
from engine.effects.plausible import plausible
from engine.effects.words import UNTIMELY
from engine.graphs.dags import classes
from engine.graphs.known import Known
from engine.graphs.weighed_colliders import MOST_LOG_ODDS
from engine.marginals.diagnostics import MarginalDiagnostics
from tests.effects.models import exact

NAMES = tuple("abcde")
# a - b - c, b - d, c - d, c - e
SKELETON = np.zeros((5, 5), dtype=bool)
for _i, _j in ((0, 1), (1, 2), (1, 3), (2, 3), (2, 4)):
    SKELETON[_i, _j] = SKELETON[_j, _i] = True
WEIGHTS = {(0, 1, 2): 2.0, (0, 1, 3): -1.0, (1, 2, 4): 0.5, (3, 2, 4): -0.5}


def found_of(evidence):
    """Diagnostics with this evidence, and moments of binary columns with little noise."""
    rows = exact(load_dataset("cancer", n=1_000), sd=0.001)
    return MarginalDiagnostics(released=rows, evidence=evidence)


def probabilities(dags):
    found = zip(dags.dags, dags.weights.tolist(), strict=True)
    return {dag.tobytes(): weight for dag, weight in found}


@pytest.mark.parametrize(
    "known",
    [
        None,
        Knowledge(tiers=[["a"], ["b", "c"], ["d", "e"]]),
        Knowledge(tiers=[["a"], ["e"]]),  # e → c → b → a leads through columns in no tier
    ],
)
def test_listed_and_sampled_dags_have_the_same_probabilities(known, monkeypatch):
    """exp(slope * sum of the colliders' weights), and nothing against what is known."""
    stated = None if known is None else Known(known, NAMES)
    monkeypatch.setattr(module, "_slope", lambda *_: 0.5)
    listed = plausible(found_of(WEIGHTS), SKELETON, stated)
    assert sum(listed.weights) == pytest.approx(1)
    scores = [sum(w for (a, z, b), w in WEIGHTS.items() if dag[a, z] and dag[b, z])
              for dag in listed.dags]  # fmt: skip
    expected = np.exp(0.5 * np.array(scores))
    assert listed.weights == pytest.approx(expected / expected.sum())
    assert stated is None or not any((dag & stated.barred).any() for dag in listed.dags)
    monkeypatch.setattr(module, "MOST_COLUMNS", 2)
    chains = plausible(found_of(WEIGHTS), SKELETON, stated)
    for key, weight in probabilities(listed).items():
        assert probabilities(chains).get(key, 0.0) == pytest.approx(weight, abs=0.12)
    if known is not None:
        for found in (listed, chains):
            assert sum(found.weights) == pytest.approx(1)
            assert not any(ways[4, 0] for ways in found.ways)


def test_a_class_s_evidence_is_spread_over_its_members():
    on = classes(SKELETON)
    dags = plausible(found_of(tuple(0.0 for _ in on)), SKELETON, None)
    weights = probabilities(dags)
    for each in on:
        shares = [weights[dag.tobytes()] for dag in each.members]
        assert shares == pytest.approx([1 / len(on) / len(shares)] * len(shares))


def test_voted_directions_leave_the_graph_s_own_class():
    """a → b ← c and nothing else: one DAG of nearly all of the weight, three without a collider."""
    graph = np.zeros((5, 5), dtype=bool)
    graph[0, 1] = graph[2, 1] = True
    dags = plausible(found_of(None), graph, None)
    best = int(np.argmax(dags.weights))
    assert (dags.dags[best] == graph).all()
    assert dags.weights[best] == pytest.approx(1 / (1 + 3 * np.exp(-MOST_LOG_ODDS)), rel=1e-9)
    assert dags.joined[0, 2]
    assert not dags.joined[0, 3]


def test_more_noise_tempers_more():
    quiet = found_of(WEIGHTS)
    assert quiet.released is not None
    loud = replace(quiet, released=exact(load_dataset("cancer", n=1_000), sd=0.2))
    spread = [plausible(some, SKELETON, None).weights.max() for some in (quiet, loud)]
    assert spread[1] < spread[0]


def test_a_run_s_effect_is_over_its_own_evidence():
    """Whole tables, tensors of pairs, and votes; with what is known, x is no cause of smoking."""
    for name, options in (("cancer", {}), ("asia", {}), ("asia", {"orientation": "majority"})):
        data = load_dataset(name, n=20_000, seed=2)
        cause, effect = ("Smoker", "Cancer") if name == "cancer" else ("smoke", "bronc")
        asked = {"epsilon": 1.0, "seed": 2, **options}
        open_ = run("marginal_pc", data, **asked).effect(cause, effect)
        known = Knowledge(roots=[cause])
        stated = run("marginal_pc", data, knowledge=known, **asked).effect(cause, effect)
        assert stated.reverse == 0
        assert stated.acts == MOST_SURE
        assert open_.acts + open_.reverse <= 1 + 1e-9


def test_tiers_that_the_links_contradict_leave_no_graph_and_a_sentence():
    """c → b → a is all that b allows, and a is before c."""
    rows, chain = found_of(WEIGHTS).released, SKELETON & False
    assert rows is not None
    chain[0, 1] = chain[1, 0] = chain[1, 2] = chain[2, 1] = True
    known = Knowledge(tiers=[["a"], ["c"]], forbidden=[("a", "b"), ("b", "c")])
    dags = plausible(found_of({(0, 1, 2): 1.0}), chain, Known(known, NAMES))
    assert not dags.dags
    found = effect_of(rows, NAMES, [("no", "yes")] * 5, dags, "a", "c")
    assert found.sentence == UNTIMELY
    assert (found.acts, found.reverse, found.difference) == (None, 0.0, None)


def test_a_later_tier_does_not_act_on_an_earlier_one_through_free_columns():
    """Of this run .22 of the weight has a path from lung to smoke where arrows alone are barred."""
    known = Knowledge(tiers=[["smoke"], ["lung"]])
    data = load_dataset("asia", n=2_000, seed=4)
    found = run("marginal_pc", data, epsilon=3.0, seed=4, knowledge=known).effect("lung", "smoke")
    assert found.acts == 0
