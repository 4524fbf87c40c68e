"""The Sweep page in a real browser: start, watch, leave, come back, cancel, resume, finish."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.steps import BROKEN, addressed, enter, moment, settle, unfold, walk

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAME = "browser test of the sweep page"
FOLDER = Path(__file__).resolve().parents[2] / "studies"


@pytest.fixture(autouse=True)
def no_file_stays() -> Iterator[None]:
    """The study's file goes before and after the test."""
    for _ in range(2):
        for path in FOLDER.glob(f"{NAME.replace(' ', '?')}.db*"):
            path.unlink()
        if _ == 0:
            yield


def done(page: Page) -> int:
    """How many runs are finished, as the page says."""
    words = page.get_by_text(re.compile(r"[\d,]+ of [\d,]+ runs")).first.inner_text()
    return int(re.search(r"([\d,]+) of", words)[1].replace(",", ""))  # type: ignore[index]


def saved(page: Page, button: str, folder: Path) -> Path:
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def handed_on(page: Page, folder: Path) -> None:
    """The study as a figure and as a file; the file opened again; a point of it as a run."""
    settle(page)
    unfold(page, "Figure for a paper")
    page.get_by_text("two columns").click()
    settle(page)
    drawn = saved(page, "Figure", folder).read_bytes()
    assert drawn.startswith(b"%PDF")
    width = float(re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", drawn)[1])  # type: ignore[index]
    assert abs(width - 7.0 * 72) < 1
    file = saved(page, "Study (file)", folder)
    assert file.name == f"{NAME.replace(' ', '_')}.db"
    page.locator(".st-key-sweep-file input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Open file").click()
    page.get_by_text(f"{file.stem} · 290 of 290 runs · finished").wait_for()
    page.locator(".st-key-sweep-curves .points path").first.wait_for()
    settle(page)
    point = page.locator(".st-key-sweep-curves .points path").nth(1)
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    moment(page, 150)
    page.mouse.click(x, y)
    page.wait_for_url("**/run?*")
    settle(page)
    assert page.locator(BROKEN).count() == 0
    addressed(page, "data=asia")
    addressed(page, "epsilon=0.3")


def test_journey(page: Page, screenshots: Path, tmp_path: Path) -> None:
    walk(page, "Sweep")
    page.get_by_text("145 of 145 runs").wait_for()
    page.wait_for_selector(".js-plotly-plot")
    settle(page)
    page.screenshot(path=screenshots / "sweep.png", full_page=True)

    enter(page, "sweep-seeds", "10")
    enter(page, "sweep-name", NAME)
    page.get_by_role("button", name="Start", exact=True).click()
    cancel = page.get_by_role("button", name="Cancel", exact=True)
    cancel.wait_for()
    page.get_by_text(re.compile(r"[1-9]\d* of 290 runs")).first.wait_for()
    page.screenshot(path=screenshots / "sweep_running.png")
    cancel.click()
    page.get_by_text("cancelled; what is finished is kept").wait_for()
    kept = done(page)
    assert 0 < kept < 290

    page.get_by_role("button", name="Resume", exact=True).click()
    cancel.wait_for()
    walk(page, "Data")
    page.get_by_text("forward-sampled").wait_for()
    walk(page, "Sweep")
    page.get_by_text(NAME).first.wait_for()
    page.get_by_text("290 of 290 runs · finished").wait_for()
    settle(page)
    page.screenshot(path=screenshots / "sweep_finished.png", full_page=True)
    assert page.locator(BROKEN).count() == 0

    page.reload()  # a new session finds the study in its file, by the address
    page.get_by_text("290 of 290 runs · finished").wait_for()
    page.goto("/sweep")
    page.get_by_text("145 of 145 runs").wait_for()
    settle(page)  # a click on what is being drawn may be lost
    unfold(page, "Saved studies")
    page.locator(".st-key-sweep-chosen input").fill(NAME)  # others may be kept there too
    page.keyboard.press("Enter")
    settle(page)
    page.get_by_role("button", name="Open study").click()
    page.get_by_text("290 of 290 runs · finished").wait_for()

    handed_on(page, tmp_path)
    assert page.blocked == []  # type: ignore[attr-defined]
