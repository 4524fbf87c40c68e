"""Every declared page in a real browser: it opens, whole and without a complaint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pages.components.navigation import PAGES, PageEntry

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Page

RESTING = '[data-testid="stApp"][data-test-script-state="notRunning"]'
BODY = (
    '.js-plotly-plot, iframe, [data-testid="stDataFrame"], [data-testid="stMetric"], '
    '[data-testid="stHtml"] img, [data-testid="stFileUploader"]'
)
WHOLE = """() => !document.querySelector('[data-testid="stSkeleton"]')"""
BROKEN = '[data-testid="stException"], [data-testid="stAlertContentError"]'


@pytest.mark.parametrize("entry", PAGES, ids=lambda p: p.name)
def test_it_opens(page: Page, screenshots: Path, entry: PageEntry) -> None:
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        # Streamlit's own search for its server's root: it asks below the page first.
        searching = f"/{entry.url}/_stcore/" in message.location["url"]
        if message.type == "error" and not searching:
            complaints.append(f"{message.text} ({message.location['url']})")

    page.on("console", note)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"/{entry.url}")
    page.locator("h1", has_text=entry.title).wait_for()
    page.locator(BODY).first.wait_for(state="attached")
    page.wait_for_selector(RESTING)
    page.wait_for_function(WHOLE)
    page.screenshot(path=screenshots / f"page_{entry.name}.png", full_page=True)
    assert page.locator(BROKEN).count() == 0
    assert complaints == []
    assert page.blocked == []  # type: ignore[attr-defined]
