"""The Compare page in a real browser: look, add a run, unpin one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

RESTING = '[data-testid="stApp"][data-test-script-state="notRunning"]'
DRAWN = """(n) => { const f = [...document.querySelectorAll("iframe")];
  return f.length === n && f.every((e) => e.contentDocument?.body?.dataset.drawn); }"""


def test_journey(page: Page, screenshots: Path) -> None:
    page.goto("/compare")
    page.wait_for_function(DRAWN, arg=2)
    page.get_by_role("button", name="Run and pin").wait_for()
    page.locator(".st-key-compare-seed input").fill("3")
    page.locator(".st-key-compare-seed input").press("Enter")
    page.wait_for_selector(RESTING)
    page.get_by_role("button", name="Run and pin").click()
    page.wait_for_function(DRAWN, arg=3)
    page.wait_for_selector(RESTING)
    page.screenshot(path=screenshots / "compare.png", full_page=True)
    page.get_by_role("button", name="Unpin").first.click()
    page.wait_for_function(DRAWN, arg=2)
    assert page.locator('[data-testid="stException"]').count() == 0
    assert page.blocked == []  # type: ignore[attr-defined]
