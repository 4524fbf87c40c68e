"""A study of datasets with knowledge, and what that alone makes of its links."""

from dataclasses import replace

import numpy as np
import pytest

from engine import Dataset, InputError, Knowledge, load_dataset, run
from engine.graphs.known import READY, ready_sets
from engine.studies.store import ResultStore
from engine.studies.study import sweep
from engine.studies.summary import bands, frame
from engine.studies.trial import knowing, ready_name, study_of

ASIA = load_dataset("asia", n=5_000)
assert ASIA.truth is not None
SETS = ready_sets(ASIA.truth)
FIXED = {"epsilon": 1.0}


def test_a_ready_set_is_that_of_each_network():
    for name in READY:
        for data in study_of(["asia", "cancer"], "pc", {}, 1, name).datasets.values():
            assert data.schema.knowledge == ready_sets(data.truth)[name]


def test_every_run_of_a_study_uses_it():
    """What a cell finds is what a run finds with the same knowledge by name."""
    (cell,) = sweep(ASIA, "marginal_pc", FIXED, [3], knowledge="four tiers")
    same = run("marginal_pc", ASIA, seed=3, knowledge=SETS["four tiers"], **FIXED)
    assert {frozenset(pair) for pair in cell.skeleton} == same.skeleton
    assert cell.metrics_all == same.metrics_all


def test_a_store_keeps_what_knew_more_apart(tmp_path):
    with ResultStore(tmp_path / "s.db") as store:
        for knowledge in (None, "two tiers", SETS["two tiers"], SETS["complete order"]):
            list(sweep(ASIA, "priv_pc", FIXED, 1, knowledge=knowledge, store=store))
        assert len(list(store.results())) == 3  # a ready set by name or as it is, is one


def test_a_table_never_takes_them_for_one():
    """A store may hold both, and so may two studies that were put together."""
    plain, knows = ASIA, knowing(ASIA, "complete order")
    runs = [r for data in (plain, knows) for r in sweep(data, "priv_pc", FIXED, 2)]
    points = bands(frame(runs), "directed_f1")
    assert list(points["count"]) == [2, 2]
    wanted = {f"asia ({data.fingerprint[-4:]})" for data in (plain, knows)}
    assert set(points["dataset"]) == wanted
    assert set(frame(runs[:2])["dataset"]) == {"asia"}


def test_what_cannot_be_stated():
    with pytest.raises(InputError, match="two tiers, four tiers, complete order, not 'tiers'"):
        knowing(ASIA, "tiers")
    with pytest.raises(InputError, match="no true graph of asia to cut two tiers from"):
        knowing(replace(ASIA, truth=None), "two tiers")
    with pytest.raises(InputError, match="not a column"):
        knowing(ASIA, Knowledge(roots=["smok"]))
    assert ready_name("complete-order") == "complete order"
    assert ready_name("known.json") is None


def test_private_rows_without_a_schema_are_not_declared_by_it():
    """A schema made of the levels that were found would pass for one that was stated."""
    own = Dataset.from_codes(np.array([[0, 1], [1, 0]]), ["a", "b"])
    with pytest.raises(InputError, match="declare one first"):
        knowing(own, Knowledge(roots=["a"]))
    stated = Dataset.from_codes(np.array([[0, 1], [1, 0]]), ["a", "b"], [["n", "y"]] * 2)
    knows = knowing(stated, Knowledge(roots=["a"]))
    assert knows.schema.columns == stated.schema.columns
    assert knows.identity != stated.identity
