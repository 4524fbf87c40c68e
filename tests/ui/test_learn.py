"""The Learn page: every step opens, has an address, and the game counts."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from engine import run
from engine.graphs.links import MARKS, LinkClass
from engine.studies.repeat import usual
from engine.studies.scenes import ABSENT
from engine.teaching import sieving
from engine.teaching.lessons import query
from engine.teaching.neighbours import farthest, moves
from engine.teaching.replay import scenes
from engine.theory import best_subsample
from pages.learn.now import DRAWS, METHOD
from pages.learn.shuffle import ALGORITHMS
from pages.learn.steps import STEPS, WAY
from pages.learn.tour import PEOPLE, ROWS
from pages.shell.settings import bundled
from tests.ui.steps import Open, address, press, told


def test_the_way_through_the_tour(open_app: Open) -> None:
    app = open_app("learn")
    next_, back = "learn-next", "learn-back"
    presses = (next_, next_, "learn-aside-draws", next_, back)
    steps = (WAY[1].key, WAY[2].key, "draws", WAY[3].key, WAY[2].key)  # an aside goes on, too
    for button, step in zip(presses, steps, strict=True):
        assert address(press(app, button))["step"] == step
    app = open_app("learn", step="nonsense", epsilon="-3", data="<b>")
    assert address(app).get("step", STEPS[0].key) == STEPS[0].key
    assert not app.exception


def test_a_shuffles_legend_names_what_its_pictures_hold(open_app: Open) -> None:
    """Nothing is missed in a picture that draws no missed link."""
    app = open_app("learn", step="shuffle", data="cancer", shuffles="1", epsilon="0.5")
    said = [h.value for h in app.get("html")]
    assert sum(h.count("<figcaption>") for h in said) == len(ALGORITHMS)
    legend = next(
        h for h in said if MARKS[LinkClass.FALSE_POSITIVE].word in h and "<figcaption>" not in h
    )
    assert MARKS[LinkClass.MISSED].word not in legend


def data_of(app: AppTest) -> dict[str, Any]:
    """What the last component on the page was given."""
    found: dict[str, Any] = json.loads(app.get("bidi_component")[-1].proto.json)
    return found


def test_everybodys_answers_and_every_replacement_are_the_engines(open_app: Open) -> None:
    given = data_of(open_app("learn", step="person", data="survey"))
    data = bundled("survey", PEOPLE, 0)
    asked = query(data, *data.names[:2])
    every, pair = moves(data, asked), farthest(data, asked, 1.0)
    table, across = np.array(given["table"]), len(given["levels"][1])
    assert np.bincount(given["cells"], minlength=table.size).tolist() == table.ravel().tolist()
    assert (given["z"], given["sensitivity"]) == (every.z, every.sensitivity)
    assert given["z"] == pytest.approx(pair.exact[0])
    source, target = given["farthest"]
    assert given["moved"][source][target] == pytest.approx(pair.exact[1])
    for (old, new), z in every.moved.items():
        at, to = (cell[1] * across + cell[2] for cell in (old, new))
        assert given["moved"][at][to] == z
    codes = data.row_codes()[:, [asked.x, asked.y]]
    assert given["cells"] == (codes[:, 0] * across + codes[:, 1]).tolist()


@pytest.mark.parametrize("scale", ["p", "z"])
def test_what_is_dragged_on_the_sieve_has_the_engines_numbers(open_app: Open, scale: str) -> None:
    query = {"sieve.scale": scale, "sieve.threshold": "0.15", "sieve.tweak": "0.03"}
    given = data_of(open_app("learn", step="sieve", data="cancer", **query))
    data = bundled("cancer", ROWS, 0)
    at = given["thresholds"][given["at"][0]], given["tweaks"][given["at"][1]]
    assert at == (0.15, 0.03)
    sizes = [sample["m"] for sample in given["samples"]]
    assert sizes == sorted(sizes)  # pushed to the right a dial gives more rows
    assert sizes[given["at"][2]] == best_subsample(1.0, ROWS)
    values, truth = sieving.exact_scores(data, "kendall", "strict", scale)
    shown = [math.nan if v is None else v for v in given["scores"]]
    assert np.allclose(shown, values, atol=1e-6, equal_nan=True)
    assert given["truth"] == truth.tolist()
    for t, w, m in ((0, 0, 1), (9, 4, 0), (29, 12, 20)):
        sample = given["samples"][m]
        threshold, tweak = given["thresholds"][t], given["tweaks"][w]
        sieve = sieving.Sieve("kendall", "strict", scale, threshold, tweak, 1.0, sample["m"])
        level, lowered = sieve.levels()
        assert given["levels"][t][w] == [level, min(lowered, 16.0)]
        assert (sample["a"], sample["b"], sample["sd"]) == sieve.noise(data)


def test_curates_coins_are_the_runs_own_first_plan(open_app: Open) -> None:
    app = open_app("learn", step="orders", data="cancer", **{"plan.beta1": "0.35"})
    given, data = data_of(app), bundled("cancer", ROWS, 0)
    assert (given["betas"][given["at"]["one"]], given["betas"][given["at"]["two"]]) == (0.35, 0.4)
    for hand, one, two in (("one", 0.1, 0.4), ("two", 0.35, 0.9), ("one", 0.35, 0.4)):
        at = given["betas"].index(one if hand == "one" else two)
        result = run("curate_pc", data, epsilon=1.0, beta1=one, beta2=two)
        planned = result.diagnostics.allocation.planned[0]
        total = sum(b.cost for b in planned)
        expected = [[b.order, b.tests, b.epsilon, 100 * b.cost / total] for b in planned]
        assert np.allclose(given["plans"][hand][at], expected)


def test_a_search_is_played_as_it_was_run(open_app: Open) -> None:
    given = data_of(open_app("learn", step="search", data="survey"))
    data = bundled("survey", ROWS, 0)
    result = run("pc", data, seed=0, statistic="oracle")
    played = list(scenes(result.steps))
    assert [b[0] for b in given["beats"]] == [s.order for s, _, _ in played]
    assert [b[5] for b in given["beats"]] == [removed for _, _, removed in played]
    assert [[data.names[k] for k in b[3]] for b in given["beats"]] == [
        list(s.given) for s, _, _ in played
    ]
    gone = sum(b[5] for b in given["beats"])
    assert gone == given["end"].count(ABSENT)


def test_what_if_counts_real_runs_and_leads_to_a_plan(open_app: Open) -> None:
    app = open_app("learn", step="now", data="cancer")
    app.select_slider(key="learn-people").set_value(1_000).run()
    results = [run(METHOD, bundled("cancer", 1_000, 0), seed=s, epsilon=1.0) for s in range(DRAWS)]
    found = usual([r.counts.found for r in results if r.counts])
    words = next(m.value for m in app.markdown if "usually finds" in m.value)
    range_ = f"{found.low}" if found.low == found.high else f"{found.low} to {found.high}"
    assert f"**{range_}** of 4 true links" in words
    (link,) = [link.proto for link in app.get("page_link") if "Plan with" in link.proto.label]
    assert "plan.rows=1000" in link.query_string
    app = open_app("study", data="own", **{"plan.rows": "1000"})
    assert app.number_input(key="plan-rows").value == 1_000


def test_draw_again_adds_six_outcomes(open_app: Open) -> None:
    app = open_app("learn", step="draws", data="cancer")
    assert "All 6 draws" in told(app)
    press(app, "learn-draw")
    assert "All 12 draws" in told(app)
