"""An analyst with a file: upload it, look at it, run on it, sweep it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.steps import BROKEN, EXCEPTION, moment, settle, unfold, walk

if TYPE_CHECKING:
    from playwright.sync_api import Page

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"


def test_an_analyst_from_upload_to_the_smallest_epsilon(new_page: Page, screenshots: Path) -> None:
    page = new_page
    page.goto("/table")
    unfold(page, "Another dataset: yours again, or a public one")
    page.get_by_text("forward-sampled").wait_for()
    page.wait_for_selector(".js-plotly-plot")
    settle(page)
    page.screenshot(path=screenshots / "data.png", full_page=True)

    box = page.locator(".st-key-data-network input")
    box.click()
    box.fill("Your own")
    box.press("Enter")
    page.get_by_text("Upload a table first").first.wait_for()
    files = page.locator('input[type="file"]')
    bad = {"name": "bad.csv", "mimeType": "text/csv", "buffer": b"a,b\n1,2\n3\n"}
    files.nth(0).set_input_files(bad)
    page.get_by_text("Line 3 of bad.csv has another number of cells").first.wait_for()
    settle(page)
    assert page.locator(EXCEPTION).count() == 0
    page.screenshot(path=screenshots / "data_error.png")

    files.nth(0).set_input_files(SAMPLES / "asia_2000.csv")
    page.get_by_text("2,000 rows, 8 columns").wait_for()
    files.nth(1).set_input_files(SAMPLES / "asia_edges.csv")
    page.get_by_text("Nothing is stated of this table yet").wait_for()
    page.get_by_test_id("stFileChipName").get_by_text("asia_edges.csv").wait_for()
    moment(page, 1000)  # the second file arrives in a script run of its own
    settle(page)
    assert page.locator("iframe").count() == 0  # nothing exact until it is asked for
    page.get_by_text("Show exact numbers of your own data").click()
    page.wait_for_selector("iframe")
    settle(page)
    page.screenshot(path=screenshots / "data_own.png", full_page=True)

    walk(page, "Run")
    page.get_by_text("Settings changed – press Run.").wait_for()
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("every rerun spends ε").wait_for()
    settle(page)
    unfold(page, "More: scores")
    page.get_by_text("1 run on these data").wait_for()
    assert page.locator("iframe").count() == 2
    page.screenshot(path=screenshots / "run_own.png", full_page=True)
    assert "seed" not in page.url
    assert page.blocked == []  # type: ignore[attr-defined]

    assert page.locator(BROKEN).count() == 0
    assert page.blocked == []  # type: ignore[attr-defined]
