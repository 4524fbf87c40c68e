"""The study of what knowledge is worth, in the small: levels, scores, tables, the picture."""

import networkx as nx
import numpy as np

from benchmarks import knowledge
from benchmarks.knowledge import FALSE, FALSE_ORIENTS, NONE, against_dag, levels_of
from engine import load_dataset
from engine.graphs.known import Known
from engine.registry import ALGORITHMS

DATA = load_dataset("cancer", n=2000)
TRUTH = DATA.truth
assert TRUTH is not None


def test_true_levels_are_true_and_the_false_one_bars_one_true_arrow():
    found = levels_of(TRUTH)
    assert list(found) == [NONE, "two tiers", "four tiers", "complete order", FALSE, FALSE_ORIENTS]
    for name, known in found.items():
        if known is not None:
            wrong = [arc for arc in TRUTH.edges if not known.allows(*arc)]
            assert bool(wrong) == (name in (FALSE, FALSE_ORIENTS))
    assert found[NONE] is None


def test_the_tables_and_the_picture(monkeypatch):
    monkeypatch.setattr(knowledge, "ALGORITHMS", {k: ALGORITHMS[k] for k in ("pc", "marginal_pc")})
    runs = knowledge.study(DATA, 1)
    assert len(runs) == 6 * (3 + 1)
    whole = runs[runs["knowledge"] == "complete order"]
    assert (whole["directed_dag"] == whole["skeleton_f1"]).all()  # every link is turned right
    assert (whole["alone_dag"] == whole["directed_dag"]).all()
    assert (runs[runs["knowledge"] == NONE]["alone_dag"] == 0.0).all()
    assert (whole["arrows_wrong"] == 0).all()
    means = knowledge.by_network(runs)
    assert set(means["runs"]) == {1}
    table = knowledge.summary(means)
    keys = ["algorithm", "epsilon", "knowledge"]
    counts = means.set_index(keys)[["arrows_right", "arrows_wrong"]]
    for row in table.to_dict("records"):
        right, wrong = counts.loc[row["algorithm"], row["ε"], row["knowledge"]]
        share = f"{wrong / (right + wrong):.3f}" if wrong else "0"
        assert row["wrong arrows"] == ("–" if right + wrong == 0 else share)
    assert "<svg" in knowledge.picture(means)


def test_wrong_arrows_are_those_on_true_links():
    dag = np.zeros((4, 4), dtype=bool)
    dag[0, 1] = dag[1, 2] = dag[2, 3] = True
    found = np.zeros((4, 4), dtype=bool)
    found[0, 1] = found[2, 1] = found[3, 0] = True  # right, reversed, false
    found[2, 3] = found[3, 2] = True  # open
    assert knowledge.arrows_of(found, dag) == (1, 1)


def test_scores_against_the_graph_itself():
    chain = np.zeros((3, 3), dtype=bool)
    chain[0, 1] = chain[1, 2] = True
    assert against_dag(chain, chain) == 1.0
    assert against_dag(chain | chain.T, chain) == 0.0
    known = Known(levels_of(nx.DiGraph([("a", "b"), ("b", "c")]))["complete order"], "abc")
    assert (known.turned(chain | chain.T) == chain).all()
