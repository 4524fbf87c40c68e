"""The Tune page in a real browser: from a score to a setting, a map, a figure, a hand on CURATE."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.browser.conftest import opened
from tests.browser.steps import BROKEN, go, moment, serious, settle, unfold

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Locator, Page

SMALL = {"tune.networks": "cancer", "tune.n": "1000", "tune.runs": "60", "tune.seeds": "2"}


_ASKS = """([name, word]) => new URLSearchParams(location.search).get(name) === word"""
_SHOWS = """([name, value]) => [...document.querySelectorAll("*")]
  .flatMap((e) => [...(e.shadowRoot?.querySelectorAll(".margins-scene") ?? [])])
  .some((e) => JSON.parse(e.dataset.state)[name] === value)"""


def tune(goal: str, **more: str) -> str:
    """The address of a question."""
    named = {f"tune.{name}": value for name, value in more.items()}
    return "/tune?" + urlencode({**SMALL, "tune.goal": goal, **named})


@pytest.fixture(scope="module")
def visitor(window: BrowserContext, app_server: str) -> Iterator[Page]:
    """The app as a visitor finds it: journeys before may have folded the form away."""
    with opened(window, app_server) as page:
        page.goto("/")
        settle(page)
        yield page


def search(page: Page, goal: str, **more: str) -> None:
    """Ask the question; the page shows its last answer until then."""
    go(page, tune(goal, **more))
    settle(page)
    page.get_by_role("button", name="Search", exact=True).click()


def press(page: Page, place: Locator, across: float = 0.5, down: float = 0.5) -> None:
    """Click inside of what is drawn, as a hand does."""
    place.scroll_into_view_if_needed()
    box = place.bounding_box()
    assert box
    x, y = box["x"] + across * box["width"], box["y"] + down * box["height"]
    page.mouse.move(x, y)
    moment(page, 150)  # Plotly looks for what is under the hand now and then
    page.mouse.click(x, y)


def asked(page: Page) -> dict[str, str]:
    """What the address of the Run page asks for."""
    page.wait_for_url("**/run?*")
    settle(page)
    assert page.locator(BROKEN).count() == 0
    return {name: words[0] for name, words in parse_qs(urlsplit(page.url).query).items()}


def state(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page.locator(".margins-scene").get_attribute("data-state"))  # type: ignore[arg-type]
    return found


def test_from_a_score_to_a_setting_and_its_figure(
    visitor: Page, screenshots: Path, tmp_path: Path
) -> None:
    page = visitor
    search(page, "least ε", target="0.3", over="tweak")
    page.get_by_role("heading", name=re.compile(r"Skeleton F1 0.3 from")).wait_for()
    chart = page.locator(".st-key-tune-least")
    chart.locator(".points path").first.wait_for()
    settle(page)
    page.screenshot(path=screenshots / "tune_least.png", full_page=True)
    unfold(page, "Figure for a paper")
    page.get_by_text("that no search used; the band is two standard errors").last.wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Figure", exact=True).click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    assert path.name == "priv_pc_tuned.pdf"
    content = path.read_bytes()
    assert content.startswith(b"%PDF")
    assert b"/FontFile2" in content
    press(page, chart.locator(".points path").first)
    run = asked(page)
    assert (run["data"], run["n"], run["algorithm"]) == ("cancer", "1000", "priv_pc")
    assert float(run["epsilon"]) in (0.01, 0.0178, 0.0316, 0.0562, 0.1, 0.178, 0.316, 0.562, 1.0)


def test_a_cell_of_a_map_opens_its_run(visitor: Page, screenshots: Path) -> None:
    page = visitor
    search(page, "map of two", networks="asia", over="tweak,subsample")
    page.get_by_role("heading", name=re.compile("best at Threshold tweak t")).wait_for()
    settle(page)
    page.screenshot(path=screenshots / "tune_map.png", full_page=True)
    cells = page.locator(".st-key-tune-map .hm image")
    press(page, cells, 0.03, 0.04)  # a corner of the cell at the top left, far from its middle
    run = asked(page)
    assert (run["data"], run["tweak"], run["subsample"]) == ("asia", "0.0", "1000")
    page.go_back()
    page.locator(".st-key-tune-map .hm image").wait_for()
    settle(page)
    press(page, page.locator(".st-key-tune-map .hm image"), 0.97, 0.96)
    run = asked(page)
    assert (run["tweak"], run["subsample"]) == ("0.1", "200")


def test_a_hand_on_the_margins(visitor: Page, screenshots: Path) -> None:
    page = visitor
    sent: list[Any] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda data: sent.append(data)))
    page.goto(tune("margins by hand"))
    page.locator(".margins-scene .grip").first.wait_for()
    settle(page)
    page.screenshot(path=screenshots / "tune_margins.png", full_page=True)
    assert serious(page) == []
    before = state(page)
    for name, field in (("one", "beta1"), ("t", "threshold")):
        box = page.locator(f".margins-scene .handle.{name} .grip").bounding_box()
        assert box
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        sent.clear()
        page.mouse.move(x - 160, y, steps=20)
        held = state(page)
        assert (
            held[field] > before[field]
        )  # a wider margin, a higher T: the curve lies further left
        assert held["coins"] != before["coins"]
        moment(page, 300)
        assert sent == []  # while it is held the server hears nothing
        page.mouse.up()
        settle(page)
        assert len(sent) > 0
        before = state(page)
        page.wait_for_function(_ASKS, arg=[f"tune.{field}", str(before[field])])
    page.locator(".margins-scene .handle.two").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")  # the focus stays on the handle
    settle(page)
    assert state(page)["beta2"] == 0.5
    page.wait_for_function(_ASKS, arg=["tune.beta2", "0.5"])
    page.go_back()  # one rest of the hand is one step
    page.wait_for_function(_SHOWS, arg=["beta2", before["beta2"]])
    assert state(page)["threshold"] == before["threshold"]
    page.go_forward()
    page.wait_for_function(_SHOWS, arg=["beta2", 0.5])
    page.reload()
    page.locator(".margins-scene .grip").first.wait_for()
    settle(page)
    assert {**before, "beta2": 0.5}.items() >= {
        name: state(page)[name] for name in ("threshold", "beta1", "beta2")
    }.items()
    page.get_by_role("button", name="Open run").click()
    run = asked(page)
    final = {name: float(run[name]) for name in ("threshold", "beta1", "beta2")}
    assert final == {**{n: before[n] for n in final}, "beta2": 0.5}
