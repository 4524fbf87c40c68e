"""Tables, bands, stability and the smallest sufficient epsilon."""

from dataclasses import replace

import numpy as np
import pytest

from engine import load_dataset, run, sweep
from engine.graphs.metrics import SCORES
from engine.serialise import result_dict
from engine.studies.summary import (
    bands,
    edge_stability,
    frame,
    summary,
    varied,
)

GRID = {"epsilon": [0.1, 1.0, 10.0], "delta": 1e-3, "guarantee": "published"}


@pytest.fixture(scope="module")
def results():
    return list(sweep(load_dataset("asia", n=3000), ["priv_pc", "pc"], GRID, 5))


def test_the_table_has_one_row_a_run(results):
    table = frame(results)
    assert len(table) == 20
    assert varied(table) == ["epsilon"]
    row = table[(table["algorithm"] == "priv_pc") & (table["epsilon"] == 1.0)].iloc[0]
    same = next(
        r for r in results if r.algorithm == "priv_pc" and r.values["epsilon"] == 1 and r.seed == 0
    )
    assert row["skeleton_f1"] == same.metrics_all.skeleton_f1
    assert row["edges"] == len(same.skeleton)
    assert row["claimed_epsilon"] == same.claimed.epsilon


CHILD = {"epsilon": 1.0}


def test_scores_of_the_tested_links_are_those_of_a_run():
    """Strict Priv-PC on Child ends early: pairs are left that were not tested to the end."""
    data = load_dataset("child", n=2000)
    [cell] = sweep(data, "priv_pc", CHILD, 1)
    alone = run("priv_pc", data, seed=0, **CHILD)
    assert alone.untested
    assert alone.metrics_all is not None
    assert {frozenset(pair) for pair in cell.skeleton} == alone.skeleton
    assert cell.ci_tests_by_order == alone.ci_tests_by_order
    assert cell.proven == alone.proven
    assert cell.metrics_tested == alone.metrics_tested
    assert cell.counts == alone.counts
    assert cell.metrics_all == alone.metrics_all
    assert cell.untested == tuple(map(tuple, result_dict(alone)["untested"]))
    ours, single = cell.as_dict(), result_dict(alone)
    assert ours["metrics_tested"] == single["metrics_tested"]
    assert ours["untested"] == single["untested"]
    assert all(ours["metrics_all"][k] == single["metrics_all"][k] for k in ours["metrics_all"])
    row = frame([cell]).iloc[0]
    assert row["tested_skeleton_f1"] == alone.metrics_tested.skeleton_f1 != row["skeleton_f1"]
    assert row["untested"] == len(alone.untested)
    [shown] = summary(frame([cell])).to_dict("records")
    assert shown["skeleton F1"] == alone.metrics_tested.skeleton_f1
    assert shown["F1, all as links"] == alone.metrics_all.skeleton_f1
    found = edge_stability([cell])
    assert len(found) == len(alone.skeleton) - len(alone.untested)


def test_bands_are_quantiles_over_the_seeds(results):
    table = frame(results)
    points = bands(table, "skeleton_f1")
    assert list(points[points["algorithm"] == "priv_pc"]["x"]) == [0.1, 1.0, 10.0]
    part = table[(table["algorithm"] == "priv_pc") & (table["epsilon"] == 1.0)]["skeleton_f1"]
    point = points[(points["algorithm"] == "priv_pc") & (points["epsilon"] == 1.0)].iloc[0]
    assert point["median"] == part.median()
    assert [point["low"], point["high"]] == pytest.approx(np.percentile(part, [10, 90]))
    tests = table[table["algorithm"] == "priv_pc"].groupby("epsilon")["ci_tests"].apply(list)
    drawn = bands(table, "ci_tests").set_index(["algorithm", "epsilon"]).loc["priv_pc"]
    for epsilon, some in tests.items():
        ends = np.percentile(some, [10, 90])
        assert drawn.loc[epsilon, ["low", "high"]].tolist() == pytest.approx(ends)
    assert (point["sure_low"], point["sure_high"]) == (part.min(), part.max())  # of five runs
    assert point["count"] == 5
    shown = summary(table)
    assert shown[shown["algorithm"] == "priv_pc"]["claimed"].is_monotonic_increasing
    assert len(shown) == 4
    assert list(SCORES.values()) == [name for name in shown if name in SCORES.values()]
    assert shown["directed F1"].tolist() == bands(table, "directed_f1")["median"].tolist()
    for end in ("low", "high"):
        assert shown[end].tolist() == bands(table)[end].tolist()


def test_without_a_true_graph_links_are_counted(results):
    found = [replace(result, metrics_all=None, metrics_tested=None) for result in results]
    shown = summary(frame(found))
    assert {"links", "tests", "proven"} < {*shown}
    assert not {*SCORES.values(), "low", "high"} & {*shown}
    assert shown["runs"].sum() == len(results)


def test_edge_stability_is_a_share_of_the_seeds(results):
    truth = load_dataset("asia", n=100).truth
    shares = edge_stability(results, truth)
    assert shares["share"].between(0, 1).all()
    assert shares["true"].sum() == 8 * 4  # eight true edges at three epsilons, and for pc
    one = shares[(shares["algorithm"] == "pc") & (shares["share"] > 0)]
    found = next(r for r in results if r.algorithm == "pc").skeleton
    assert set(one["edge"]) == {f"{a} - {b}" for a, b in found}
    assert (one["share"] == 1).all()
