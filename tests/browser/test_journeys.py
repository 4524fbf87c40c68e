"""A presenter's way through the app, in a browser that reaches nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.steps import BROKEN, RESTING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def test_a_presenter_from_a_link_to_a_page_that_opens_offline(
    new_page: Page, browser: Browser, screenshots: Path, tmp_path: Path
) -> None:
    page = new_page
    page.goto("/report?data=cancer&n=2000&epsilon=3&present=1")
    page.get_by_role("heading", name="At ε = 3 for the whole run").wait_for()
    page.get_by_role("button", name="Show everything").click()
    page.get_by_text("repetitions at each ε").wait_for()
    page.wait_for_selector(RESTING)
    page.screenshot(path=screenshots / "report.png", full_page=True)
    page.emulate_media(media="print")  # paper shows the report alone
    assert not page.get_by_role("navigation", name="App pages").is_visible()
    assert not page.get_by_text("Take it with you").is_visible()
    assert page.get_by_role("heading", name="At ε = 3 for the whole run").is_visible()
    page.screenshot(path=screenshots / "report_print.png", full_page=True)
    page.emulate_media(media="screen")
    with page.expect_download() as download:
        page.get_by_role("button", name="Report (HTML)").click()
    path = tmp_path / "report.html"
    download.value.save_as(path)
    assert page.locator(BROKEN).count() == 0
    assert page.blocked == []  # type: ignore[attr-defined]

    context = browser.new_context(offline=True)
    asked: list[str] = []
    sheet = context.new_page()
    sheet.on("request", lambda request: asked.append(request.url))
    sheet.goto(path.as_uri())
    assert sheet.get_by_role("heading", name="At ε = 3 for the whole run").is_visible()
    graph = sheet.get_by_role("img", name="Learned graph: 5 nodes")
    box = graph.bounding_box()
    assert box is not None
    assert box["width"] > 300
    for name in ("Pollution", "Smoker", "Cancer", "Xray", "Dyspnoea"):
        assert graph.get_by_text(name, exact=True).is_visible()
    assert sheet.get_by_role("img", name="Links found and invented").is_visible()
    sheet.screenshot(path=screenshots / "report_offline.png", full_page=True)
    assert asked == [path.as_uri()]
    context.close()
