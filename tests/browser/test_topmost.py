"""What can be pressed is in reach on the tour, too; of the pages test_pages.py asks it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from pages.learn.steps import STEPS
from tests.browser.steps import COVERED, NARROW, SIZE, SIZES, go, look, settle, walk

if TYPE_CHECKING:
    from playwright.sync_api import Page

_CAP = """() => { const cap = document.createElement("div"); cap.id = "cap";
  cap.style = "position: fixed; inset: 0; z-index: 999999"; document.body.append(cap); }"""


@pytest.fixture
def resized(page: Page) -> Iterator[Page]:
    yield page
    page.set_viewport_size(SIZE)


def test_every_step_of_the_tour(new_page: Page) -> None:
    """In a page of its own: a side menu that was opened before lies over a narrow one."""
    resized = new_page
    resized.goto("/learn")
    settle(resized)
    for step in STEPS:
        resized.set_viewport_size(SIZE)
        go(resized, f"/learn?step={step.key}")
        resized.get_by_role("heading", name=step.title).wait_for()
        settle(resized)
        look(resized, NARROW)


def test_the_tours_settings_open_by_a_click(resized: Page) -> None:
    resized.set_viewport_size(SIZES[0])
    walk(resized, "Learn")
    resized.locator(".st-key-learn-settings button").click(timeout=10_000)
    resized.locator(".st-key-learn-data").wait_for()
    resized.keyboard.press("Escape")


def test_what_is_covered_is_seen(page: Page) -> None:
    walk(page, "Run")
    settle(page)
    page.evaluate(_CAP)
    found = page.evaluate(COVERED)
    page.evaluate("() => document.getElementById('cap').remove()")
    assert len(found["covered"]) == found["asked"] > 10
