"""Tune: what the page says is what the engine found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from engine import load_dataset, sweep
from engine.graphs.known import ready_sets
from engine.studies.analysis import frame
from engine.studies.tuning import Score, Search
from pages.draw.recommended import score
from pages.tune.form import LEAST, MAP, MARGINS
from pages.tune.state import TuneJob
from pages.tune.view import gap_words

SMALL = {"tune.networks": "cancer", "tune.n": "1000", "tune.runs": "60"}


def words(app: AppTest) -> str:
    """The headline, whose numbers stay with their signs."""
    return " ".join(h.value for h in app.subheader).replace("\N{NO-BREAK SPACE}", " ")


def test_the_headline_is_the_searchs(open_app: Callable[..., AppTest]) -> None:
    app = open_app("tune", **SMALL)
    fixed = {"epsilon": 1.0, "guarantee": "strict"}
    data = load_dataset("cancer", n=1000)
    found = Search("priv_pc", data, fixed, ["tweak", "subsample"], runs=60).tune()
    for name, value in found.params.items():
        assert (f"{value:,}" if name == "subsample" else f"{value}") in words(app)
    fresh, chosen = app.metric
    assert fresh.value == f"{found.fresh.mean:.2f} ± {found.fresh.error:.2f}"
    assert chosen.value == f"{found.chosen.mean:.2f} ± {found.chosen.error:.2f}"
    assert any(c.value == gap_words(found.gap) for c in app.caption)
    app.button(key="tune-open").click().run()
    assert not app.exception
    shown = app.session_state["shown"]
    assert shown.settings.source.name == "cancer"
    if found.params:
        assert shown.result.params.as_dict()["tweak"] == found.params["tweak"]


def test_an_error_is_never_rounded_to_none() -> None:
    assert score(Score(0.8412, 0.0041, 20)) == "0.841 ± 0.004"
    assert score(Score(0.8412, 0.0061, 20)) == "0.84 ± 0.01"
    assert score(Score(1.0, 0.0, 20)) == "1.00 ± 0.00"
    assert score(Score(0.5, float("nan"), 1)) == "0.50"
    assert score(Score.of([])) == "–"


def test_what_luck_was_is_said_where_there_was_some() -> None:
    assert gap_words(0.031) == "It looked 0.03 better than it is: the best is partly luck."
    assert "not known" in gap_words(float("nan"))
    assert gap_words(-0.02) == gap_words(0.0) == "It looked no better than it is on fresh seeds."


def test_a_search_is_told_what_is_known(open_app: Callable[..., AppTest]) -> None:
    told = {"tune.known": "complete-order", "tune.objective": "directed_f1", "tune.over": "tweak"}
    app = open_app("tune", **SMALL, **told)
    assert app.selectbox(key="tune-known").value == "complete-order"
    found = app.session_state["tune_job"].found
    assert found.alone.mean == pytest.approx(found.fresh.mean)
    said = f"known arrows alone: directed F1 {found.alone.mean:.2f}"
    assert any(said in c.value for c in app.caption)
    app.button(key="tune-open").click().run()
    assert not app.exception
    known = app.session_state["shown"].settings.known
    assert known == ready_sets(load_dataset("cancer", n=10).truth)["complete order"]


@pytest.mark.parametrize("word", ["five-tiers", "{}"])
def test_a_link_that_knows_nonsense_is_told_nothing(
    open_app: Callable[..., AppTest], word: str
) -> None:
    app = open_app("tune", **SMALL, **{"tune.known": word, "tune.over": "tweak"})
    assert not app.exception
    assert app.selectbox(key="tune-known").value == ""


def test_a_map_shows_the_means_of_its_cells(open_app: Callable[..., AppTest]) -> None:
    app = open_app("tune", **SMALL, **{"tune.goal": MAP, "tune.over": "epsilon,tweak"})
    app.run()
    job = app.session_state["tune_job"]
    assert len(job.runs) == 7 * 7 * 4
    grid = {name: sorted({r.values[name] for r in job.runs}) for name in ("epsilon", "tweak")}
    wanted = frame(sweep(load_dataset("cancer", n=1000), "priv_pc", grid, 4))
    means = wanted.groupby(["epsilon", "tweak"])["tested_skeleton_f1"].mean().astype(float)
    assert f"{means.max():.2f}" in words(app)
    (table,) = [t.value for t in app.dataframe]
    assert sorted(table["Skeleton F1"]) == pytest.approx(sorted(means))


def test_a_maps_best_is_called_as_in_the_list(open_app: Callable[..., AppTest]) -> None:
    more = {"tune.goal": MAP, "tune.over": "tweak,subsample", "tune.n": "5000", "tune.seeds": "1"}
    app = open_app("tune", **{**SMALL, **more})
    best = app.selectbox(key="tune-setting").value
    assert "," in best.partition("m = ")[2]  # thousands apart
    assert f"best at {best}" in words(app).replace("\N{NO-BREAK SPACE}", " ")


def test_the_least_epsilon_is_told_as_a_range(open_app: Callable[..., AppTest]) -> None:
    more = {"tune.goal": LEAST, "tune.target": "0.3", "tune.over": "tweak"}
    app = open_app("tune", **SMALL, **more)
    found = app.session_state["tune_job"].found
    assert found.may is not None
    assert f"ε = {found.may:g}" in words(app)
    (table,) = [t.value for t in app.dataframe]
    assert list(table["ε"]) == [f"{e:g}" for e in found.found]
    job = app.session_state["tune_job"]
    assert {e: t.fresh for e, t in job.ended.items()} == {
        e: t.fresh for e, t in found.found.items()
    }
    said = dict(zip(table["ε"], table["For 0.3"], strict=True))
    assert found.missed is None or said[f"{found.missed:g}"] == "too low"
    assert said[f"{found.met:g}"] == "enough"
    job.problem = "The process came to an end."  # what ended before that stays on screen
    app.run()
    assert list(app.dataframe[0].value["For 0.3"]) == list(table["For 0.3"])
    job.problem = ""  # others may ask the same


def test_how_far_a_range_is_goes_over_all_its_searches() -> None:
    job = TuneJob({"goal": LEAST, "algorithm": "priv_pc", "networks": [], "elsewhere": []})
    seen = []
    for behind in (0, 4, 5):
        job._begun(1.78, behind, 8)
        for done in (0, 30, 60):
            job._note(done, 60, 90.0)
            seen.append(job.share)
    assert seen == [at / 8 for at in (0, 0.5, 1, 4, 4.5, 5, 5, 5.5, 6)]
    assert job.so_far() == [
        "ε = 1.78, then at most 2 more", "60 of 60 runs", "about 90 s left at ε = 1.78"
    ]  # fmt: skip


def test_margins_by_hand_are_in_the_address(open_app: Callable[..., AppTest]) -> None:
    """A link sets them; a word that no dial has is left out."""
    link = {"tune.beta1": "0.5", "tune.beta2": "0.25", "tune.threshold": "0.1"}
    app = open_app("tune", **SMALL, **link, **{"tune.goal": MARGINS, "tune.seeds": "2"})
    at = app.session_state["tune_by_hand"]
    assert at == {"threshold": 0.1, "beta1": 0.5, "beta2": 0.2}
    assert app.query_params["tune.beta1"] == "0.5"
    assert "tune.beta2" not in app.query_params
    job = app.session_state["tune_job"]
    assert not {"beta1", "beta2", "threshold"} & set(job.asked)  # nothing is run for a drag
    app.button(key="tune-margins-open").click().run()
    params = app.session_state["shown"].result.params.as_dict()
    assert {name: params[name] for name in at} == at


def test_changed_fields_say_that_the_answer_is_older(open_app: Callable[..., AppTest]) -> None:
    app = open_app("tune", **SMALL)
    before = words(app)
    app.select_slider(key="tune-n").set_value(5_000).run()
    assert words(app) == before
    assert any("have changed" in i.value for i in app.info)
    app.multiselect(key="tune-networks").set_value([]).run()
    app.button(key="tune-go").click().run()
    assert any("at least one dataset" in e.value for e in app.error)


def test_a_stopped_search_keeps_what_it_knows(open_app: Callable[..., AppTest]) -> None:
    app = open_app("tune", **SMALL)
    job = app.session_state["tune_job"]
    assert job.found is not None
    object.__setattr__(job.found, "whole", False)
    app.run()
    assert any("Stopped early" in i.value for i in app.info)
    object.__setattr__(job.found, "whole", True)
    # One that was stopped before its first run has nothing to tell but that.
    none, found = Score.of([]), job.found
    job.found = replace(found, chosen=none, fresh=none, default=none, tried=(), whole=False)
    app.run()
    assert not app.exception
    assert {m.value for m in app.metric} == {"–"}
    job.found = found
