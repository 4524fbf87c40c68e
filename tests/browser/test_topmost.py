"""What can be pressed is in reach: the topmost thing at its own centre, at every size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from pages.learn.view import STEPS
from pages.shell.navigation import PAGES
from tests.browser.steps import SIZE, at_rest, go, settle, walk

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

NARROW: ViewportSize = {"width": 390, "height": 844}
SIZES: tuple[ViewportSize, ...] = (
    {"width": 1280, "height": 720},
    {"width": 1440, "height": 900},
    {"width": 1920, "height": 1080},
    {"width": 640, "height": 360},  # 1280 x 720 at 200 %
    NARROW,
)
# A slider's field lies under the knob that is drawn for it, a hidden box under its label. What is
# folded away, or in a side menu that is shut, cannot be pressed and is not asked for.
_COVERED = """() => {
  const kinds = "button, a[href], input, textarea, select, summary, [role=button], [role=tab]"
    + ", [role=slider], [role=combobox], [role=radio], [role=switch], [role=checkbox]";
  const name = (e) => (e.getAttribute("aria-label") || e.innerText || e.placeholder || e.id)
    .replace(/\\s+/g, " ").trim().slice(0, 50);
  const shut = (e) => {
    const side = e.closest("[data-testid=stSidebar]");
    return side && side.getBoundingClientRect().right < 40; };
  let asked = 0;
  const covered = [];
  // Components draw in a root of their own each.
  const every = [...document.querySelectorAll("*")];
  const roots = [document, ...every.flatMap((e) => e.shadowRoot || [])];
  const inside = (e, top) => {
    for (let at = top; at; at = at.parentNode || at.host) if (at === e) return true; };
  for (const e of roots.flatMap((root) => [...root.querySelectorAll(kinds)])) {
    if (shut(e) || !e.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
    e.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
    const box = e.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    asked += 1;
    const root = e.getRootNode();
    const top = root.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    const own = [e, e.closest("label"), e.closest("[data-testid=stSlider]")];
    if (!own.some((one) => one && inside(one, top))) {
      covered.push(`${e.tagName} "${name(e)}" under ${top ? top.outerHTML.slice(0, 80) : "-"}`);
    }
  }
  document.querySelector(".stMain")?.scrollTo(0, 0);
  return {asked, covered, wide: document.documentElement.scrollWidth - innerWidth};
}"""
_CAP = """() => { const cap = document.createElement("div"); cap.id = "cap";
  cap.style = "position: fixed; inset: 0; z-index: 999999"; document.body.append(cap); }"""


@pytest.fixture
def resized(page: Page) -> Iterator[Page]:
    yield page
    page.set_viewport_size(SIZE)


def look(page: Page, size: ViewportSize) -> None:
    page.set_viewport_size(size)
    at_rest(page)
    found = page.evaluate(_COVERED)
    assert found["covered"] == [], size
    assert found["asked"] >= 1
    assert found["wide"] <= 0, size


@pytest.mark.parametrize("entry", PAGES, ids=lambda p: p.name)
def test_everything_that_can_be_pressed_is_on_top(resized: Page, entry: object) -> None:
    walk(resized, entry.title)  # type: ignore[attr-defined]
    settle(resized)
    for size in SIZES:
        look(resized, size)
    open_menu = resized.locator('[data-testid="stExpandSidebarButton"]')
    open_menu.click()
    at_rest(resized)
    found = resized.evaluate(_COVERED.replace("querySelectorAll(kinds)", _IN_MENU))
    assert found["covered"] == []
    assert found["asked"] >= len(PAGES)
    resized.locator('[data-testid="stSidebarCollapseButton"] button').click()


_IN_MENU = 'querySelectorAll("[data-testid=stSidebar] :is(" + kinds + ")")'


def test_every_step_of_the_tour(resized: Page) -> None:
    walk(resized, "Learn")
    for step in STEPS:
        go(resized, f"/learn?step={step.key}")
        resized.get_by_role("heading", name=step.title).wait_for()
        settle(resized)
        for size in (SIZES[0], NARROW):
            look(resized, size)
        resized.set_viewport_size(SIZE)


def test_the_tours_settings_open_by_a_click(resized: Page) -> None:
    resized.set_viewport_size(SIZES[0])
    walk(resized, "Learn")
    resized.locator(".st-key-learn-settings button").click(timeout=10_000)
    resized.locator(".st-key-learn-network").wait_for()
    resized.keyboard.press("Escape")


def test_what_is_covered_is_seen(page: Page) -> None:
    walk(page, "Data")
    settle(page)
    page.evaluate(_CAP)
    found = page.evaluate(_COVERED)
    page.evaluate("() => document.getElementById('cap').remove()")
    assert len(found["covered"]) == found["asked"] > 10
