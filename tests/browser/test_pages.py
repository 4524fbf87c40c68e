"""Every declared page in a real browser: whole, readable in both themes, all of it in reach."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from pages.shell import PAGES
from tests.browser import steps

BODY = (
    '.js-plotly-plot, iframe, [data-testid="stDataFrame"], [data-testid="stMetric"], '
    '[data-testid="stHtml"] img, [data-testid="stFileUploader"], .scene svg, '
    ".st-key-study-find"  # what is tried begins with a press
)
FIRST = ("learn", "pairs", "table", "trust")  # Run and Report say it of themselves
OPEN_MENU = '[data-testid="stExpandSidebarButton"]'
_CAP = """() => { const cap = document.createElement("div"); cap.id = "cap";
  cap.style = "position: fixed; inset: 0; z-index: 999999"; document.body.append(cap); }"""
WHOLE = """() => !document.querySelector('[data-testid="stSkeleton"]')"""


@pytest.fixture(scope="module")
def visitor(page):
    """Who walks from page to page by the navigation, and what its console complains of."""
    complaints = []

    def note(message):
        # Streamlit's own search for its server's root: it asks below the page first.
        if message.type == "error" and "/run/_stcore/" not in message.location["url"]:
            complaints.append(f"{message.text} ({message.location['url']})")

    page.goto("/")  # as a new visitor, whatever journeys came before
    steps.settle(page)
    page.on("console", note)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page, complaints
    show_menu(page)


@pytest.fixture(scope="module", params=PAGES, ids=lambda p: p.name)
def entry(request, visitor):
    """The page that is walked to, once for all that is asked of it."""
    page, complaints = visitor
    complaints.clear()
    steps.walk(page, request.param.title)
    page.locator(BODY).first.wait_for(state="attached")
    steps.settle(page)
    page.wait_for_function(WHOLE)
    show_menu(page)
    return request.param


def show_menu(page):
    """The side menu, as a new visitor finds it: the page before may have been left without."""
    button = page.locator(OPEN_MENU)
    if button.is_visible():
        button.click()
        steps.at_rest(page)


def test_it_opens(visitor, screenshots, entry):
    page, complaints = visitor
    page.screenshot(path=screenshots / f"page_{entry.name}.png", full_page=True)
    if entry.name in FIRST:
        page.set_viewport_size({"width": 1440, "height": 900})
        words, controls = steps.first_screen(page)
        assert words <= 120, words
        assert controls <= 25, controls
        page.set_viewport_size(steps.SIZE)
    assert steps.findings(page) == []

    # The other theme, in which the next page opens then. Its elements are the same.
    dark = page.evaluate("() => matchMedia('(prefers-color-scheme: dark)').matches")
    page.emulate_media(color_scheme="light" if dark else "dark")
    steps.shaded(page, steps.WHITE if dark else steps.DARK)
    steps.moment(page, 400)  # the app looks for it now and then, and draws the page anew
    steps.settle(page)
    page.screenshot(path=screenshots / f"page_{entry.name}_other.png")
    assert steps.findings(page, steps.COLOUR) == []
    for dial in page.locator(".scene .dial").all():  # its empty end is no lamp in the dark
        shot = Image.open(BytesIO(dial.screenshot())).convert("L")
        assert np.ptp(np.asarray(shot)[:, -40:-8]) < 128
    assert page.locator(steps.BROKEN).count() == 0
    assert complaints == []
    assert page.blocked == []


@pytest.fixture
def resized(page):
    yield page
    page.set_viewport_size(steps.SIZE)


_IN_MENU = 'querySelectorAll("[data-testid=stSidebar] :is(" + kinds + ")")'


def test_everything_that_can_be_pressed_is_on_top(resized, entry):
    for size in steps.SIZES:
        steps.look(resized, size)
        assert resized.get_by_test_id("stMainMenu").bounding_box()["x"] < size["width"]
    resized.locator(OPEN_MENU).click()
    steps.at_rest(resized)
    found = resized.evaluate(steps.COVERED.replace("querySelectorAll(kinds)", _IN_MENU))
    assert found["covered"] == []
    assert found["asked"] >= len(PAGES)
    resized.locator('[data-testid="stSidebarCollapseButton"] button').click()


def test_axe_sees_a_faint_heading(visitor):
    heading = visitor[0].locator("h1").first
    heading.evaluate("(e) => { e.style.color = 'rgb(128 128 128 / 10%)'; }")
    assert [found.split(":")[0] for found in steps.findings(visitor[0], steps.COLOUR)] == [
        "color-contrast"
    ]
    heading.evaluate("(e) => { e.style.color = ''; }")


def test_what_is_covered_is_seen(page):
    page.evaluate(_CAP)
    found = page.evaluate(steps.COVERED)
    page.evaluate("() => document.getElementById('cap').remove()")
    assert len(found["covered"]) == found["asked"] > 10
