"""The Sieve page in a real browser: look, change the score, move m."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

RESTING = '[data-testid="stApp"][data-test-script-state="notRunning"]'


def test_journey(page: Page, screenshots: Path) -> None:
    page.goto("/sieve")
    page.wait_for_function("() => document.querySelectorAll('.js-plotly-plot').length === 4")
    page.wait_for_selector(RESTING)
    page.screenshot(path=screenshots / "sieve.png", full_page=True)
    page.get_by_text("|z|", exact=True).first.click()
    page.get_by_text("Distance α in |z|").wait_for()
    page.get_by_text("Best m (section 3.2)").click()
    page.get_by_text("m as a share of n").wait_for()
    page.wait_for_selector(RESTING)
    page.screenshot(path=screenshots / "sieve_z.png", full_page=True)
    assert page.locator('[data-testid="stException"]').count() == 0
    assert page.blocked == []  # type: ignore[attr-defined]
