"""Steps that many journeys share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import axe_playwright_python

from pages.shell.navigation import group_of

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

RESTING = '[data-testid="stApp"][data-test-script-state="notRunning"]'
EXCEPTION = '[data-testid="stException"]'
BROKEN = EXCEPTION + ', [data-testid="stAlertContentError"]'
SIZE: ViewportSize = {"width": 1440, "height": 1000}
WHITE, DARK = "rgb(255, 255, 255)", "rgb(16, 21, 30)"
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
# WCAG 2.2 dropped the rule on unique ids, and axe after it: tables number their cells from 0.
# Text in SVG is drawn in its fill, of which axe's contrast rule knows nothing: it never objects to
# it, and needs two thirds of its time for it on a page of charts.
_RULES = """() => axe.configure({rules: [
  {id: "duplicate-id-active", enabled: false},
  {id: "color-contrast", selector: "*:not(text)"}]})"""
_SERIOUS = """async (only) => (await axe.run(document, {
  resultTypes: ["violations"],
  ...(only.length ? {runOnly: {type: "rule", values: only}} : {})}))
  .violations.filter((v) => ["serious", "critical"].includes(v.impact))
  .map((v) => v.id + ": " + v.nodes.map((n) => n.html.slice(0, 120)).join(" | "))"""
COLOUR = ("color-contrast", "link-in-text-block")
_GO = """(address) => { history.pushState({}, "", address);
  window.dispatchEvent(new PopStateEvent("popstate", {state: {}})); }"""
_SHADE = """(wanted) => [...document.querySelectorAll("iframe")].every((f) =>
  f.contentDocument?.body && getComputedStyle(f.contentDocument.body).backgroundColor === wanted)"""
_DRAWN = """(n) => { const f = [...document.querySelectorAll("iframe")];
  return (n === null || f.length === n)
    && f.every((e) => e.contentDocument?.body?.dataset.drawn); }"""


# Streamlit grows an expander frame by frame, whatever motion is asked for.
_STILL = """(e) => new Promise((done) => { let last = -1, same = 0; const look = () => {
  const height = e.getBoundingClientRect().height;
  same = height === last ? same + 1 : 0; last = height;
  same < 12 ? requestAnimationFrame(look) : done(); }; look(); })"""


# Where the page's parts are, and how long they are.
_AT_REST = """() => new Promise((done) => { let last = "", same = 0; const look = () => {
  const parts = document.querySelectorAll(
    "[data-testid=stHeader], [data-testid=stSidebar], .stMain, .stMain .stElementContainer");
  const now = JSON.stringify([innerWidth, ...[...parts].map((e) => {
    const box = e.getBoundingClientRect();
    return [box.left, box.top, box.width, box.height, e.scrollHeight]; })]);
  same = now === last ? same + 1 : 0; last = now;
  same < 8 ? requestAnimationFrame(look) : done(); }; look(); })"""


def settle(page: Page) -> None:
    """Until the script rests and stays so: a change may be a moment away."""
    page.wait_for_timeout(200)
    page.locator(".st-key-progress").wait_for(state="detached")
    page.wait_for_selector(RESTING)
    page.wait_for_timeout(100)
    page.wait_for_selector(RESTING)


def at_rest(page: Page) -> None:
    """Until nothing moves for a tenth of a second: after a change of the window alone."""
    page.evaluate(_AT_REST)
    page.wait_for_selector(RESTING)


def go(page: Page, address: str) -> None:
    """To an address of the app without loading it anew, as Back and Forward do.

    An address of Run is short here: the page, once it has taken it, writes the whole setting.
    """
    page.evaluate(_GO, address)
    if address.startswith("/run?"):
        page.wait_for_function("(a) => location.pathname + location.search !== a", arg=address)


def walk(page: Page, title: str) -> None:
    """To the page of this title, by the navigation."""
    page.locator("header").get_by_role("button", name=group_of(title), exact=True).click()
    page.get_by_role("menuitem", name=title, exact=True).click()
    page.locator("h1", has_text=title).wait_for()


def unfold(page: Page, title: str) -> None:
    """Open the expander of this title, and wait until it has grown.

    A click between would go down on a button and come up beside it, and be lost.
    """
    page.locator("summary", has_text=title).click()
    opened = page.locator("details[open]", has_text=title)
    opened.wait_for()
    opened.evaluate(_STILL)


def enter(page: Page, key: str, value: str) -> None:
    """Write into the field of this key, and wait for the page to have taken it."""
    field = page.locator(f".st-key-{key} input")
    field.fill(value)
    field.press("Enter")
    settle(page)


def shaded(page: Page, background: str) -> None:
    """Until every frame has this background."""
    page.wait_for_function(_SHADE, arg=background)


def drawn(page: Page, frames: int | None = None) -> None:
    """Until every graph is on screen, and there are ``frames`` of them where that is given."""
    page.wait_for_function(_DRAWN, arg=frames)


def serious(page: Page, rules: Sequence[str] = ()) -> list[str]:
    """What axe finds that is serious or critical, by all its rules or by these, frames included."""
    for frame in page.frames:
        frame.evaluate(AXE)
        frame.evaluate(_RULES)
    found: list[str] = page.evaluate(_SERIOUS, list(rules))
    return found
