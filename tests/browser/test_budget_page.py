"""The Budget page in a real browser: look, go strict, move a margin."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pages.draw.scene import script
from tests.browser.steps import BROKEN, settle, walk

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_journey(page: Page, screenshots: Path) -> None:
    walk(page, "Budget")
    page.wait_for_function("() => document.querySelectorAll('.js-plotly-plot').length === 4")
    settle(page)
    page.screenshot(path=screenshots / "budget.png", full_page=True)
    page.get_by_text("Strict", exact=True).click()
    page.get_by_text("Strict runs add up in ρ").wait_for()
    entry = page.locator(".st-key-budget-initial input")
    entry.fill("2")
    entry.press("Enter")
    page.get_by_text("the multiplicative increment does not fall").wait_for()
    settle(page)
    assert page.locator(BROKEN).count() == 0
    assert page.blocked == []  # type: ignore[attr-defined]


_HAND = """(code) => {
  const Plan = new Function(code.replace(/export default.*/, "") + "; return Plan;")();
  const root = document.body.appendChild(document.createElement("div")), told = [];
  const plan = new Plan(root, {rested: (at) => told.push(at)}), betas = [0, 0.1, 0.2, 0.3];
  const plans = {one: betas.map(() => [[0, 3, 1, 100]]), two: betas.map(() => [[0, 3, 1, 100]])};
  const show = (one, two) => plan.show({betas, plans, at: {one, two}, digest: `${one} ${two}`});
  const drag = (name, to) => {
    const dial = plan.dials[name]; dial.max = "3"; dial.value = String(to);
    dial.dispatchEvent(new Event("input")); dial.dispatchEvent(new Event("change")); };
  const seen = [], look = () => seen.push([plan.at.one, plan.at.two, plan.dials.two.disabled]);
  show(1, 1); look();
  drag("one", 2); drag("one", 3); look();
  show(2, 1); look();  // the answer to where the hand was
  show(3, 1); look();  // to where it is
  show(1, 1); look();  // Back
  root.remove();
  return [seen, told.length]; }"""


def test_a_hand_is_ahead_of_what_the_page_answers(page: Page) -> None:
    seen, told = page.evaluate(_HAND, script("plan"))
    assert told == 2
    assert seen == [[1, 1, False], [3, 1, True], [3, 1, True], [3, 1, False], [1, 1, False]]
