"""What holds on every page: contrast and names, Back and Reload, the theme's switch, Tab."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import axe_playwright_python
import pytest

from pages.components.navigation import PAGES

if TYPE_CHECKING:
    from playwright.sync_api import Page

RESTING = '[data-testid="stApp"][data-test-script-state="notRunning"]'
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
# WCAG 2.2 dropped the rule on unique ids, and axe after it: tables number their cells from 0.
SERIOUS = """async () => (await axe.run(document, {
  resultTypes: ["violations"], rules: {"duplicate-id-active": {enabled: false}}}))
  .violations.filter((v) => ["serious", "critical"].includes(v.impact))
  .map((v) => v.id + ": " + v.nodes.map((n) => n.html.slice(0, 120)).join(" | "))"""
WHITE, DARK = "rgb(255, 255, 255)", "rgb(16, 21, 30)"


def settle(page: Page) -> None:
    """Until the script rests and stays so: a change may be a moment away."""
    page.wait_for_timeout(250)
    page.locator(".st-key-progress").wait_for(state="detached", timeout=60_000)
    page.wait_for_selector(RESTING, timeout=60_000)
    page.wait_for_timeout(150)
    page.wait_for_selector(RESTING)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(page: Page, theme: str) -> None:
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    found = {}
    for entry in PAGES:
        page.goto(f"/{entry.url}")
        page.locator("h1").first.wait_for()
        settle(page)
        page.evaluate(AXE)
        found[entry.name] = page.evaluate(SERIOUS)
    assert found == {entry.name: [] for entry in PAGES}


def test_back_brings_the_run_before(page: Page) -> None:
    page.goto("/run?data=cancer&n=2000")
    page.locator(".headline").wait_for()
    settle(page)
    first = page.locator(".headline").inner_text()
    entry = page.locator(".st-key-param-epsilon input")
    entry.fill("0.05")
    entry.press("Enter")
    page.get_by_text("Settings changed").wait_for()
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("ε = 0.05 for the whole run").wait_for()
    settle(page)
    assert "epsilon=0.05" in page.url
    page.go_back()
    page.get_by_text("ε = 1 for the whole run").wait_for()
    settle(page)
    assert page.locator(".headline").inner_text() == first
    assert entry.input_value() == "1"
    page.go_forward()
    page.get_by_text("ε = 0.05 for the whole run").wait_for()


def test_reload_keeps_what_compare_and_sieve_show(page: Page) -> None:
    page.goto("/compare?data=cancer&n=2000")
    settle(page)
    page.locator(".st-key-compare-seed input").fill("5")
    page.locator(".st-key-compare-seed input").press("Enter")
    settle(page)
    page.get_by_role("button", name="Run and pin").click()
    page.get_by_text("C · Priv-PC").first.wait_for()
    settle(page)
    page.reload()
    page.get_by_text("C · Priv-PC").first.wait_for()
    page.goto("/sieve?data=cancer&n=2000")
    settle(page)
    page.get_by_text("|z|", exact=True).first.click()
    page.get_by_text("Distance α in |z|").wait_for()
    settle(page)
    page.reload()
    page.get_by_text("Distance α in |z|").wait_for()


def test_the_menus_theme_reaches_frames_at_once(page: Page) -> None:
    page.goto("/run?data=cancer&n=2000")
    page.locator(".headline").wait_for()
    settle(page)
    shade = """(wanted) => [...document.querySelectorAll("iframe")].every((f) =>
      f.contentDocument?.body
      && getComputedStyle(f.contentDocument.body).backgroundColor === wanted)"""
    page.wait_for_function(shade, arg=WHITE)
    page.locator('[data-testid="stMainMenu"] button').first.click()
    page.locator("text=Dark").last.click()
    page.wait_for_function(shade, arg=DARK)


def test_a_click_on_a_node_brings_out_its_neighbours_and_its_edges(page: Page) -> None:
    page.goto("/run?n=20000")
    page.locator(".headline").wait_for()
    settle(page)
    page.get_by_role("tab", name="Edge table").click()
    frame = page.frames[1]
    frame.wait_for_function("() => document.body.dataset.drawn")
    at = frame.evaluate("() => network.canvasToDOM(network.getPosition(ids['either']))")
    box = page.locator("iframe").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + at["x"], box["y"] + at["y"])
    page.wait_for_function(
        """() => [...document.querySelectorAll("iframe")].every(
             (f) => f.contentDocument.body.dataset.node === "either")"""
    )
    settle(page)
    assert page.locator(".st-key-run-node input").input_value() == "either"
    faded = frame.evaluate("() => nodes.get().filter((n) => n.opacity < 1).map((n) => n.label)")
    assert "asia" in faded
    assert "lung" not in faded


def test_tab_leaves_a_table_at_once(page: Page) -> None:
    page.goto("/compare?data=cancer&n=2000")
    page.locator('[data-testid="stDataFrame"]').first.wait_for()
    settle(page)
    page.locator('[data-testid="stDataFrame"] canvas').first.focus()
    inside = "() => Boolean(document.activeElement.closest('[data-testid=\"stDataFrame\"]'))"
    assert page.evaluate(inside)
    first = page.evaluate_handle("document.activeElement.closest('[data-testid=\"stDataFrame\"]')")
    for _ in range(2):
        page.keyboard.press("Tab")
    assert not page.evaluate("(table) => table.contains(document.activeElement)", first)
