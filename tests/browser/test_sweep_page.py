"""The Sweep page in a real browser: start, watch, leave, come back, cancel, resume, finish."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

RESTING = '[data-testid="stApp"][data-test-script-state="notRunning"]'
NAME = "browser test of the sweep page"
FOLDER = Path(__file__).resolve().parents[2] / "studies"


@pytest.fixture(autouse=True)
def no_file_stays() -> Iterator[None]:
    """The study's file goes before and after the test."""
    for _ in range(2):
        for path in FOLDER.glob(f"{NAME}.db*"):
            path.unlink()
        if _ == 0:
            yield


def enter(page: Page, key: str, value: str) -> None:
    field = page.locator(f".st-key-{key} input")
    field.fill(value)
    field.press("Enter")
    page.wait_for_timeout(300)
    page.wait_for_selector(RESTING)


def done(page: Page) -> int:
    """How many runs are finished, as the page says."""
    words = page.get_by_text(re.compile(r"[\d,]+ of [\d,]+ runs")).first.inner_text()
    return int(re.search(r"([\d,]+) of", words)[1].replace(",", ""))  # type: ignore[index]


def test_journey(page: Page, screenshots: Path) -> None:
    page.goto("/sweep")
    page.get_by_text("145 of 145 runs").wait_for()
    page.wait_for_selector(".js-plotly-plot")
    page.wait_for_selector(RESTING)
    page.screenshot(path=screenshots / "sweep.png", full_page=True)

    enter(page, "sweep-seeds", "20")
    enter(page, "sweep-name", NAME)
    page.get_by_role("button", name="Start", exact=True).click()
    cancel = page.get_by_role("button", name="Cancel", exact=True)
    cancel.wait_for()
    page.wait_for_selector(".js-plotly-plot")
    page.screenshot(path=screenshots / "sweep_running.png")

    page.get_by_role("link", name="Data").click()
    page.get_by_text("forward-sampled").wait_for()
    page.get_by_role("link", name="Sweep").click()
    page.get_by_text(NAME).first.wait_for()
    cancel.click()
    page.get_by_text("cancelled; what is finished is kept").wait_for()
    kept = done(page)
    assert 0 < kept < 580

    page.get_by_role("button", name="Resume", exact=True).click()
    page.get_by_text("580 of 580 runs · finished").wait_for(timeout=90_000)
    page.wait_for_selector(RESTING)
    page.screenshot(path=screenshots / "sweep_finished.png", full_page=True)
    assert page.locator('[data-testid="stException"]').count() == 0

    page.reload()  # a new session finds the study in its file, by the address
    page.get_by_text("580 of 580 runs · finished").wait_for()
    page.goto("/sweep")
    page.get_by_text("145 of 145 runs").wait_for()
    page.get_by_text("Saved studies").click()
    page.get_by_role("button", name="Open study").click()
    page.get_by_text("580 of 580 runs · finished").wait_for()
    assert page.blocked == []  # type: ignore[attr-defined]
