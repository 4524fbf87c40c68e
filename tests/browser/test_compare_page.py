"""The Compare page in a real browser: look, add a run, leave a table, reload, unpin one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.steps import BROKEN, drawn, enter, settle, walk

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_journey(page: Page, screenshots: Path) -> None:
    walk(page, "Compare")
    drawn(page, frames=2)
    enter(page, "compare-seed", "3")
    page.get_by_role("button", name="Run and pin").click()
    drawn(page, frames=3)
    settle(page)
    page.screenshot(path=screenshots / "compare.png", full_page=True)

    # Two Tabs leave a table, however many cells it has.
    page.locator('[data-testid="stDataFrame"] canvas').first.focus()
    inside = "() => Boolean(document.activeElement.closest('[data-testid=\"stDataFrame\"]'))"
    assert page.evaluate(inside)
    table = page.evaluate_handle("document.activeElement.closest('[data-testid=\"stDataFrame\"]')")
    for _ in range(2):
        page.keyboard.press("Tab")
    assert not page.evaluate("(table) => table.contains(document.activeElement)", table)

    page.reload()
    page.get_by_text("C · Priv-PC").first.wait_for()
    drawn(page, frames=3)
    settle(page)
    page.get_by_role("button", name="Unpin").first.click()
    drawn(page, frames=2)
    assert page.locator(BROKEN).count() == 0
    assert page.blocked == []  # type: ignore[attr-defined]
