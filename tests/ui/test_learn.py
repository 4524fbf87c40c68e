"""The Learn page: every step opens, has an address, and the game counts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from engine import load_dataset, run
from engine.teaching.neighbours import guess_bound
from engine.teaching.replay import scenes
from pages.draw.player import player
from pages.learn.search import ring
from pages.learn.view import STEPS


def address(app: AppTest) -> dict[str, str]:
    """The query parameters, each once."""
    found = app.query_params
    return {k: v if isinstance(v, str) else v[0] for k, v in found.items()}


@pytest.mark.parametrize("step", STEPS, ids=lambda s: s.key)
def test_every_step_opens_from_its_address(open_app: Callable[..., AppTest], step: object) -> None:
    key, title = step.key, step.title  # type: ignore[attr-defined]
    app = open_app("learn", step=key, network="cancer", total="2", draw="1")
    assert not app.exception
    assert not app.error
    said = " ".join(h.value for h in app.get("html"))
    assert title in said
    assert "Where to read on" in said
    assert address(app)["step"] == key
    assert address(app)["network"] == "cancer"


def test_the_way_through_the_tour(open_app: Callable[..., AppTest]) -> None:
    app = open_app("learn")
    for step in STEPS[1:3]:
        app.button(key="learn-next").click().run()
        assert address(app)["step"] == step.key
    app.button(key="learn-back").click().run()
    assert address(app)["step"] == STEPS[1].key
    app = open_app("learn", step="nonsense", total="-3", network="<b>")
    assert address(app)["step"] == STEPS[0].key
    assert not app.exception


def metrics(app: AppTest) -> dict[str, str]:
    return {m.label: m.value for m in app.metric}


def test_the_game_counts_and_shows_its_limit(open_app: Callable[..., AppTest]) -> None:
    app = open_app("learn", step="person", network="cancer")
    for played in range(1, 4):
        app.button(key="learn-guess-A").click().run()
        assert re.match(rf"[0-{played}] of {played} ", metrics(app)["You"])
    assert any("came from" in m.value for m in app.markdown)
    app.button(key="learn-guess-many").click().run()
    share = float(metrics(app)["Best guesser"].rstrip("%")) / 100
    best = float(metrics(app)["Best possible here"].rstrip("%")) / 100
    assert metrics(app)["Limit at this ε"] == f"{guess_bound(1.0):.1%}"
    assert share == pytest.approx(best, abs=0.06)
    app.select_slider(key="learn-game-epsilon").set_value(5.0).run()
    assert metrics(app)["You"] == "0 of 0"  # another game
    assert metrics(app)["Limit at this ε"] == f"{guess_bound(5.0):.1%}"


def test_draw_again_adds_six_outcomes(open_app: Callable[..., AppTest]) -> None:
    app = open_app("learn", step="draws", network="cancer")
    assert any("All 6 draws" in m.value for m in app.markdown)
    app.button(key="learn-draw").click().run()
    assert any("All 12 draws" in m.value for m in app.markdown)


def test_the_player_holds_the_whole_search_and_names_as_text() -> None:
    data = load_dataset("cancer", n=2000)
    result = run("pc", data)
    names = ("</script><b>x</b>", *data.names[1:])
    played = [
        s for s in scenes(result.steps, data.names) if data.names[0] not in (s.x, s.y, *s.given)
    ]
    page = player(names, played, result, ring(names, 600, 300), theme="dark")
    assert page.count("</script>") == 1
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    held = json.loads(re.search(r"const D = (.*);\n", page)[1])  # type: ignore[index]
    assert held["names"][0] == names[0]
    assert len(held["scenes"]) == len(played)
    assert [s[0] for s in held["scenes"]] == [s.order for s in played]
