"""The Sieve page in a real browser: look, change the score, reload, move m."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.steps import BROKEN, settle, walk

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_journey(page: Page, screenshots: Path) -> None:
    walk(page, "Sieve")
    page.wait_for_function("() => document.querySelectorAll('.js-plotly-plot').length === 4")
    settle(page)
    page.screenshot(path=screenshots / "sieve.png", full_page=True)
    page.get_by_text("|z|", exact=True).first.click()
    page.get_by_text("Distance α in |z|").wait_for()
    settle(page)
    # Other noise is another seed, and the address shows the same noise again.
    scene = page.locator(".sieve-scene")
    first = scene.get_attribute("data-state")
    page.get_by_role("button", name="Shake: other noise").click()
    page.wait_for_url(re.compile(r"sieve\.seed=1"))
    settle(page)
    shaken = scene.get_attribute("data-state")
    assert shaken != first
    page.reload()
    page.get_by_text("Distance α in |z|").wait_for()
    settle(page)
    assert scene.get_attribute("data-state") == shaken
    page.get_by_text("Best m (section 3.2)").click()
    page.get_by_text("m as a share of n").wait_for()
    settle(page)
    page.screenshot(path=screenshots / "sieve_z.png", full_page=True)
    assert page.locator(BROKEN).count() == 0
    assert page.blocked == []  # type: ignore[attr-defined]
