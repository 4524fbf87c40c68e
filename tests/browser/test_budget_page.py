"""The Budget page in a real browser: look, go strict, move a margin."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

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
