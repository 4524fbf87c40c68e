"""The Learn page: every step opens, has an address, and the game counts."""

import json
import re
from base64 import b64decode
from collections import Counter

from engine import load_dataset, run
from engine.effects.width import width
from engine.studies.repeat import usual
from engine.studies.scenes import ABSENT, UNTESTED
from engine.theory import best_subsample
from pages.learn import now, search
from pages.learn.steps import STEPS, WAY
from pages.learn.tour import rows_of
from pages.shell.settings import bundled
from tests.ui.steps import address, press, told


def test_the_way_through_the_tour(open_app):
    app = open_app("learn")
    next_, back = "learn-next", "learn-back"
    presses = (next_, next_, "learn-aside-draws", next_, back)
    steps = (WAY[1].key, WAY[2].key, "draws", WAY[3].key, WAY[2].key)  # an aside goes on, too
    for button, step in zip(presses, steps, strict=True):
        assert address(press(app, button))["step"] == step
    app = open_app("learn", step="once")  # an address of version 0.3
    assert address(app)["step"] == "budget"
    app = open_app("learn", step="nonsense", epsilon="-3", data="<b>")
    assert address(app).get("step", STEPS[0].key) == STEPS[0].key
    assert not app.exception


def test_what_a_played_search_leaves_is_what_the_run_left():
    """In a run that ended early, with pairs that were not tested."""
    data = load_dataset("asia", n=20_000)
    result = run("priv_pc", data, seed=1)
    ends = Counter(search.played_back(data, result)["end"])
    assert ends[UNTESTED] == len(result.untested_pairs) > 0
    links = sum(n for state, n in ends.items() if state not in (ABSENT, UNTESTED))
    assert links == len(result.skeleton - result.untested_pairs) > 0


def data_of(app):
    """What the last component on the page was given."""
    return json.loads(app.get("bidi_component")[-2].proto.json)


def test_a_link_sets_what_is_dragged(open_app):
    query = {"sieve.scale": "z", "sieve.threshold": "0.15", "sieve.tweak": "0.03"}
    given = data_of(open_app("learn", step="sieve", data="cancer", **query))
    t, tweak, m, _ = given["at"]
    assert (given["thresholds"][t], given["tweaks"][tweak], given["scale"]) == (0.15, 0.03, "z")
    assert given["samples"][m]["m"] == best_subsample(1.0, rows_of("cancer"))
    given = data_of(open_app("learn", step="orders", data="cancer", **{"plan.beta1": "0.35"}))
    assert (given["betas"][given["at"]["one"]], given["betas"][given["at"]["two"]]) == (0.35, 0.4)


def test_what_if_counts_real_runs_and_leads_to_a_plan(open_app):
    app = open_app("learn", step="now", data="cancer")
    app.select_slider(key="learn-people").set_value(1_000).run()
    data, seeds = bundled("cancer", 1_000, 0), range(now.DRAWS)
    results = [run(now.ONCE, data, seed=s, epsilon=1.0) for s in seeds]
    found = usual([r.counts.found for r in results if r.counts])
    words = next(m.value for m in app.markdown if "usually finds" in m.value)
    range_ = f"{found.low}" if found.low == found.high else f"{found.low} to {found.high}"
    assert f"**{range_}** of 4 true links" in words
    app.selectbox(key="learn-question-cancer").set_value(("Smoker", "Cancer")).run()
    half = width(rows=1_000, epsilon=1.0, delta=1e-6, share=0.7, levels=2, span=1.0).half
    price = next(m.value for m in app.markdown if "will be known to" in m.value)
    told_of = f"of Smoking on the chance of Lung cancer will be known to about ± {100 * half:.1f}"
    assert told_of in price
    (link,) = [link.proto for link in app.get("page_link") if "Forecast with" in link.proto.label]
    assert "plan.rows=1000" in link.query_string
    app = open_app("choose-epsilon", data="own", **{"plan.rows": "1000"})
    assert app.number_input(key="plan-rows").value == 1_000


def test_draw_again_adds_six_outcomes(open_app):
    app = open_app("learn", step="draws", data="cancer")
    assert "All 6 draws" in told(app)
    press(app, "learn-draw")
    assert "All 12 draws" in told(app)
    coded = re.findall(r"svg[+]xml;base64,([^\"]+)", told(app, "html"))
    drawn = [svg for svg in (b64decode(one).decode() for one in coded) if "Draw " in svg]
    assert len(drawn) == 6
    for svg in drawn:  # small, and with names
        assert re.search(r"<text[^>]*>Lung cancer<", svg)
        assert "display:none" not in svg
