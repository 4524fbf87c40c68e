"""Recommended settings: what the file says, what the documents say; which of them is offered."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from benchmarks import recommended as measuring
from benchmarks.written import between
from engine import load_dataset, run
from engine.registry import algorithm
from engine.studies import recommended as kept
from engine.studies.recommended import Score, ranked, read, recommended, study
from engine.studies.tune import axes, tunable


def test_the_documents_tables_are_the_files() -> None:
    found = read(json.loads(kept.KEPT.read_text(encoding="utf-8")))
    for mark, write in measuring.TABLES.items():
        page = measuring.SETTINGS if mark.endswith("settings") else measuring.RESULTS
        assert between(page, mark) == write(found)


def test_no_network_is_both_searched_on_and_told_on() -> None:
    searched, told = measuring.halves()
    assert not set(searched) & set(told)
    assert abs(len(searched) - len(told)) <= 1
    made = study()
    assert list(made.reported_on) == told
    assert all(set(names) <= set(searched) for names in made.searched.values())
    for one in made.cells.values():
        assert [r.network for r in one.reported] == told
        assert {r.tuned["skeleton_f1"].runs for r in one.reported} == {measuring.TOLD}
    assert measuring.TOLD >= 20


def test_every_recommended_setting_can_be_run_and_was_searched_for() -> None:
    data = load_dataset("cancer", n=500)
    for (key, epsilon), one in study().cells.items():
        if not one.params:
            continue
        algorithm(key).params.build({"epsilon": epsilon, "guarantee": "strict", **one.params})
        own = {axis.name: axis for axis in axes(key, study().rows, tunable(key))}
        for name, value in one.params.items():
            axis = own[name]
            assert value in axis.values if axis.values else axis.low <= value <= axis.high
        assert run(key, data, seed=0, epsilon=epsilon, **one.params).public
        assert measuring.surely(one.fresh, one.default)


def test_a_told_score_is_that_of_the_runs() -> None:
    """One cell of the file, run again: samples, seeds and the rule of what counts."""
    one = study().cells["em_pc", 1.0]
    found = measuring.scores("em_pc", "earthquake", {"epsilon": 1.0, "delta": 1e-6, **one.params})
    told = next(r for r in one.reported if r.network == "earthquake")
    for name, values in found.items():
        assert told.tuned[name].mean == pytest.approx(Score.of(values).mean, abs=1e-4)
        assert told.tuned[name].error == pytest.approx(Score.of(values).error, abs=1e-4)


@pytest.mark.parametrize(
    ("epsilon", "at"),
    [(0.1, 0.1), (0.04, 0.1), (0.3, 0.1), (0.4, 1.0), (3.0, 1.0), (5.0, 10.0), (30.0, 10.0)],
)
def test_the_nearest_epsilon_is_told(epsilon: float, at: float) -> None:
    found = kept._nearest("priv_pc", epsilon)
    assert found is not None
    assert found.epsilon == at
    offered = recommended("priv_pc", epsilon, study().rows)
    assert offered is (found if found.better else None)
    assert recommended("priv_pc", epsilon, 100_000) is None  # the study says nothing of that n


def test_an_epsilon_far_from_all_and_what_was_not_tuned_have_none() -> None:
    for epsilon in (0.01, 100.0, 0.0, -1.0, math.nan, math.inf):
        assert recommended("priv_pc", epsilon, 20_000) is None
    for key in ("pc", "marginal_pc"):
        assert recommended(key, 1.0, 20_000) is None


def test_the_best_stand_first() -> None:
    found = ranked(1.0)
    means = [one.elsewhere for one in found]
    assert means == sorted(means, reverse=True)
    assert all(one.epsilon == 1.0 and one.runs for one in found)
    assert not {one.algorithm for one in found} & set(measuring.OURS)
    assert means[0] == pytest.approx(
        sum(r.tuned["skeleton_f1"].mean for r in found[0].reported) / 3
    )


def test_every_published_algorithm_was_tuned_and_four_settings_do_not_carry_over() -> None:
    """As the document counts them; a mean over networks, tuned against default."""
    cells = study().cells
    tuned = {key for key, _ in cells} - set(measuring.OURS)
    assert tuned == set(measuring.RUNS)
    assert {e for _, e in cells} == set(measuring.EPSILONS)
    assert len(cells) == len({*measuring.RUNS, *measuring.OURS}) * len(measuring.EPSILONS)
    changed = {case for case, one in cells.items() if one.params}
    assert len(changed) == 12
    lost = {case for case in changed if not cells[case].better}
    assert lost == {("gauss_pc", 0.1), ("noleaks", 1), ("noleaks", 10), ("curate_notears", 1)}


def test_the_default_stays_unless_it_is_surely_beaten() -> None:
    plain = Score(0.5, 0.03, 20)
    assert not measuring.surely(Score(0.59, 0.04, 20), plain)  # 1.8 errors
    assert measuring.surely(Score(0.61, 0.04, 20), plain)  # 2.2
    assert not measuring.surely(Score(0.3, 0.01, 20), plain)


def test_a_study_that_is_not_there_recommends_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(kept, "KEPT", tmp_path / "none.json")
    study.cache_clear()
    assert recommended("priv_pc", 1.0, 20_000) is None
    assert ranked(1.0) == []
    study.cache_clear()
