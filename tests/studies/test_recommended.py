"""Recommended settings: the file and the documents agree; which of them is suggested."""

import math
from statistics import fmean

import pytest

from benchmarks import recommended as measuring
from benchmarks.written import between
from engine import load_dataset, run
from engine.registry import algorithm
from engine.studies import recommended as kept
from engine.studies.recommended import Score, ranked, recommended, study
from engine.studies.tune import axes

CONTENT = measuring.kept()
CELLS = measuring.cells(CONTENT)


def test_the_documents_tables_are_the_files():
    for mark, write in measuring.TABLES.items():
        page = measuring.SETTINGS if mark.endswith("settings") else measuring.RESULTS
        assert between(page, mark) == write(CONTENT)
    assert f"n = {CONTENT['rows']:,}" in measuring.SETTINGS.read_text(encoding="utf-8")


def test_no_network_is_both_searched_on_and_told_on():
    searched, told = measuring.halves()
    assert not set(searched) & set(told)
    assert abs(len(searched) - len(told)) <= 1
    assert all(set(one.on) <= set(searched) and list(one.elsewhere) == told for one in study())
    assert all(s.runs == measuring.TOLD for one in study() for s in one.elsewhere[told[0]])
    assert measuring.TOLD >= 20


def test_every_algorithm_was_tuned_and_every_setting_can_be_run():
    data = load_dataset("cancer", n=500)
    assert {(one.algorithm, one.epsilon) for one in study()} == {
        (key, epsilon) for key in measuring.RUNS for epsilon in measuring.EPSILONS
    }
    assert {key for key, _ in CELLS} == {*measuring.RUNS, *measuring.OURS}
    for one in study():
        key, epsilon = one.algorithm, one.epsilon
        own = {axis.name: axis for axis in axes(key, one.rows)}
        for name, value in one.params.items():
            axis = own[name]
            ends = axis.values[0], axis.values[-1]
            assert value in axis.values or (axis.spec.tuned and ends[0] <= value <= ends[1])
        algorithm(key).params.build({"epsilon": epsilon, "guarantee": "strict", **one.params})
        assert run(key, data, seed=0, epsilon=epsilon, **one.params).public
        cell = CELLS[key, epsilon]
        found = Score(*cell["fresh"]), Score(*cell["default"])
        assert not one.params or measuring.surely(*found)


def test_a_told_score_is_that_of_the_runs():
    """One cell of the file, run again: samples, seeds and the rule of what counts."""
    one = CELLS["em_pc", 1.0]
    values = {"epsilon": 1.0, "delta": 1e-6, **one["params"]}
    found = measuring.scores("em_pc", "earthquake", values)
    for name, some in found.items():
        told = one["reported"]["earthquake"]["tuned"][name]
        assert told[:2] == pytest.approx([Score.of(some).mean, Score.of(some).error], abs=1e-4)


@pytest.mark.parametrize(
    ("epsilon", "at"),
    [(0.1, 0.1), (0.04, 0.1), (0.3, 0.1), (0.4, 1.0), (3.0, 1.0), (5.0, 10.0), (30.0, 10.0)],
)
def test_the_nearest_epsilon_is_told_where_it_beats_the_default(epsilon, at):
    for one in study():
        if one.epsilon == at:
            offered = recommended(one.algorithm, epsilon, one.rows)
            assert offered is (one if one.better else None)
            assert recommended(one.algorithm, epsilon, 5 * one.rows) is None  # says nothing of it
            gaps = [tuned.mean - default.mean for tuned, default in one.elsewhere.values()]
            assert not one.better or fmean(gaps) > 0


def test_an_epsilon_far_from_all_and_what_was_not_tuned_have_none():
    rows = CONTENT["rows"]
    for epsilon in (0.01, 100.0, 0.0, -1.0, math.nan, math.inf):
        assert recommended("priv_pc", epsilon, rows) is None
        assert ranked(epsilon) == []
    for key in ("pc", "marginal_pc"):
        assert recommended(key, 1.0, rows) is None


def test_the_best_stand_first():
    found = ranked(1.0)
    means = [fmean(tuned.mean for tuned, _ in one.elsewhere.values()) for one in found]
    assert means == sorted(means, reverse=True)
    assert {one.algorithm for one in found} == set(measuring.RUNS)
    assert {one.epsilon for one in found} == {1.0}


def test_the_default_stays_unless_it_is_surely_beaten():
    plain = Score(0.5, 0.03, 20)
    assert not measuring.surely(Score(0.59, 0.04, 20), plain)  # 1.8 errors
    assert measuring.surely(Score(0.61, 0.04, 20), plain)  # 2.2
    assert not measuring.surely(Score(0.3, 0.01, 20), plain)


def test_a_study_that_is_not_there_recommends_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(kept, "KEPT", tmp_path / "none.json")
    study.cache_clear()
    assert recommended("priv_pc", 1.0, CONTENT["rows"]) is None
    assert ranked(1.0) == []
    study.cache_clear()
