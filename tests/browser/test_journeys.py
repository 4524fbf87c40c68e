"""Ways through the app, in a browser that reaches nothing else."""

import re

from pypdf import PdfReader

from engine.data.networks import words
from tests.browser.conftest import opened
from tests.browser.steps import (
    BROKEN,
    addressed,
    enter,
    findings,
    go,
    moment,
    scene_agrees,
    settle,
    state,
    unfold,
    walk,
)

PLAIN = words()  # the names that the bundled networks are shown by


def test_a_presenter_from_a_link_to_files_on_a_stick(new_page, browser, screenshots, tmp_path):
    headline = re.compile(r"^With this privacy: \d of 4 true links found")
    page = new_page
    page.goto("/report?data=cancer&epsilon=3&present=1")
    page.get_by_role("heading", name=headline).wait_for()
    page.get_by_role("button", name="Show everything").click()
    unfold(page, "Question in words")
    page.get_by_role("textbox", name="Question").fill("Does smoking cause an X-ray shadow?")
    page.get_by_role("textbox", name="Author").fill("Dr. Example")
    page.get_by_role("textbox", name="Date").fill("1 May 2026")
    page.get_by_role("textbox", name="Date").press("Enter")
    page.get_by_text("Dr. Example, 1 May 2026").wait_for()
    page.get_by_text("repetitions at each ε").wait_for()
    settle(page)
    addressed(page, "report.question=Does+smoking")
    headline = re.compile(r"^Smok|^X-ray")  # the answer to the question that was typed
    said = page.get_by_role("heading", name=headline).inner_text()
    assert findings(page) == []
    page.screenshot(path=screenshots / "report.png", full_page=True)
    page.emulate_media(media="print")  # paper shows the report alone
    assert not page.get_by_role("navigation", name="App pages").is_visible()
    assert not page.get_by_text("Download", exact=True).is_visible()
    assert not page.get_by_role("textbox", name="Author").is_visible()
    assert page.get_by_role("heading", name=headline).is_visible()
    page.screenshot(path=screenshots / "report_print.png", full_page=True)
    page.emulate_media(media="screen")
    for button, sheets in (("One page (PDF)", 1), ("Slides (PDF)", 6)):
        made = PdfReader(saved(page, button, tmp_path))
        assert len(made.pages) == sheets
        assert said in " ".join(made.pages[0].extract_text().split())
    path = saved(page, "Report (HTML)", tmp_path)
    assert page.locator(BROKEN).count() == 0
    assert page.blocked == []

    # The file asks nobody, and its scene answers a hand as the engine does.
    context = browser.new_context(offline=True)
    asked = []
    sheet = context.new_page()
    sheet.on("request", lambda request: asked.append(request.url))
    sheet.goto(path.as_uri())
    assert sheet.get_by_role("heading", name=said).is_visible()
    assert sheet.get_by_text("Does smoking cause an X-ray shadow?").is_visible()
    graph = sheet.get_by_role("img", name="Learned graph: 5 nodes")
    box = graph.bounding_box()
    assert box["width"] > 300
    for name in PLAIN["cancer"]["nodes"].values():
        assert graph.get_by_text(name, exact=True).is_visible()
    assert sheet.get_by_role("img", name="Links found and false positives").is_visible()
    assert sheet.get_by_role("img", name="A hundred figures, 96 of them lit").is_visible()
    sheet.screenshot(path=screenshots / "report_offline.png", full_page=True)
    scene_agrees(sheet, "cancer")
    sheet.locator(".scene .dial").focus()
    for _ in range(9):
        sheet.keyboard.press("ArrowLeft")
    moment(sheet, 200)
    assert state(sheet)["epsilon"] < 1.5
    scene_agrees(sheet, "cancer")
    assert [a for a in asked if not a.startswith("data:")] == [path.as_uri()]
    context.close()


def saved(page, button, folder):
    """What a button gives, as a file."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


# A page, the expander of a field, the field, a value off its default, and its word in the address.
WAY = (
    ("Run", "", "run-n", "3000", "n=3000"),
    ("Choose ε", "", "study-seeds", "50", "study.seeds=50"),
    ("Cause or effect", "More settings", "pairs-width", "0.7", "pairs.width=0.7"),
    ("Report", "Question in words", "report-author", "Ada", "report.author=Ada"),
    ("Audit", "", "audit-runs", "500", "trust.runs=500"),
)
SLOW = "/run?data=alarm&n=2000&algorithm=pc&threshold=0.9&seed=77"


def field(page, key):
    """Return the text of a field, a slider's number."""
    there = page.locator(f".st-key-{key} input")
    return there.get_attribute("aria-valuetext") or there.input_value()


def test_back_and_forward_a_slow_link_and_two_tabs(new_page, window, app_server):
    page = new_page
    page.goto("/explore?data=cancer")
    page.locator("h1", has_text="Explore").wait_for()
    for title, folded, key, value, word in WAY:
        walk(page, title)
        settle(page)
        if folded:
            unfold(page, folded)
        if page.locator(f".st-key-{key} input[type=range]").count():
            page.locator(f".st-key-{key} input").press("ArrowRight")
        else:
            enter(page, key, value)
        addressed(page, word)
    entries = page.evaluate("history.length")
    pages = [("Explore", "", "", "", "data=cancer"), *WAY]
    for turn, stops in ((page.go_back, pages[-2::-1]), (page.go_forward, pages[1:])):
        for title, _, key, value, word in stops:
            turn()
            page.locator("h1", has_text=title).wait_for()
            settle(page)
            addressed(page, word)
            assert not key or field(page, key) == value, title
    assert page.evaluate("history.length") == entries

    # A link to a slow run shows its dataset and asks; no result of another dataset is shown.
    with opened(window, app_server) as other:
        other.goto("/run?data=cancer&n=2000")
        other.locator(".headline").wait_for()
        go(other, SLOW)
        other.get_by_text("Nothing has been run on this dataset").wait_for()
        other.locator(".st-key-run button").click()
        other.get_by_role("button", name="Cancel").wait_for()
        assert "Alarm" in other.locator(".stMain").inner_text()
        assert other.locator(".headline").count() == other.locator("iframe").count() == 0
        # The first tab goes on with its own request meanwhile, and each keeps its address.
        walk(page, "Run")
        page.locator(".headline").wait_for()
        assert "Cancer" in page.locator(".stMain").inner_text()
        assert field(page, "run-n") == "3000"
        assert "data=alarm" in other.url
        # A reload finds the run that goes on.
        other.reload()
        other.get_by_role("button", name="Cancel").wait_for()
        other.get_by_role("button", name="Cancel").click()
        settle(other)
        assert other.locator(BROKEN).count() == 0
    assert page.locator(BROKEN).count() == 0
