"""The Pairs page in a real browser: look, change what is released, run the batch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.steps import BROKEN, settle, walk

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_journey(page: Page, screenshots: Path) -> None:
    walk(page, "Pairs")
    page.wait_for_function("() => document.querySelectorAll('.js-plotly-plot').length === 5")
    settle(page)
    page.screenshot(path=screenshots / "pairs.png", full_page=True)
    page.get_by_text("of 100 such releases would say so").wait_for()
    page.get_by_text("Two scores (the paper)").click()
    page.get_by_text("What was released, and what it rests on").click()
    page.get_by_text("the other half is taken as public").wait_for()
    page.get_by_role("button", name="Run all pairs").click()
    page.get_by_text("30 of 30 pairs").wait_for()
    settle(page)
    page.screenshot(path=screenshots / "pairs_batch.png", full_page=True)
    assert page.locator(BROKEN).count() == 0
    assert page.blocked == []  # type: ignore[attr-defined]
