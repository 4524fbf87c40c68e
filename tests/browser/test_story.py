"""The story opened from a disk, with the network cut."""

import json
import re

import numpy as np
import pytest

from engine.story import steps
from engine.story.page import write
from engine.teaching.money import purses

KEYS = tuple(steps.WORDS)
LOOKS = {
    "phone": ("dark", 390, 844),
    "tablet": ("light", 820, 1180),
    "wall": ("light", 1440, 900),
}
TO = """(key) => { const e = document.querySelector(`#${key} h2`).getBoundingClientRect();
  scrollTo(0, scrollY + e.top - innerHeight * 0.55); }"""
# Milliseconds between frames while the page scrolls or the dial moves.
MOVE = """async (scrolled) => {
  const gaps = [], dial = document.querySelector(".dial"), most = Number(dial.max);
  let last = await new Promise(requestAnimationFrame);
  for (let k = 0; k < 90; k++) {
    if (scrolled) scrollBy(0, document.documentElement.scrollHeight / 90);
    else { dial.value = String(most * Math.abs(((k / 15) % 2) - 1));
      dial.dispatchEvent(new Event("input")); }
    const now = await new Promise(requestAnimationFrame);
    gaps.push(now - last);
    last = now;
  }
  return gaps.slice(1);
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The story's folder, inside a site."""
    site = tmp_path_factory.mktemp("site")
    (site / "start").mkdir()
    (site / "start" / "first-run.html").touch()
    with pytest.MonkeyPatch.context() as patch:
        # Three draws of the hospitals, and the purse of one ε: enough for their pictures.
        patch.setattr(steps, "DRAWS", 3)
        patch.setattr(steps, "purses", lambda d, key, at: purses(d, key, [1]) * len(at))
        write(site / "story")
    return site / "story"


@pytest.fixture
def page(browser):
    """A page without a network, that keeps the errors of its scripts in ``faults``."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    yield page
    context.close()


def shown(page):
    return json.loads(page.locator(".stage").get_attribute("data-state"))


def test_files_are_small_words_few_and_nothing_is_fetched(folder, browser):
    files = list(folder.iterdir())
    assert sum(f.stat().st_size for f in files) < 1_500_000
    texts = [f.read_text() for f in files]
    assert not any(re.search(r'(src|href)="(http|//)|@import|url\(', text) for text in texts)
    # The style sheet has the colours of links in both themes.
    assert not any(f'"{m.light}"' in t for t in texts for name, m in steps.MARKS.items() if name)
    context = browser.new_context(java_script_enabled=False, offline=True)
    plain = context.new_page()
    plain.goto((folder / "index.html").as_uri())
    assert tuple(f.get_attribute("id") for f in plain.locator(".step").all()) == KEYS
    for step in plain.locator(".step").all():
        assert len(step.locator("> p").inner_text().split()) <= 60
        assert all(svg.is_visible() for svg in step.locator("svg").all())
    assert plain.locator("svg").count() >= 9
    assert plain.locator("#table a").count() == 3
    context.close()


def test_the_graph_follows_the_reader_at_every_size(folder, page, screenshots):
    for look, (scheme, width, height) in LOOKS.items():
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.set_viewport_size({"width": width, "height": height})
        page.goto((folder / "index.html").as_uri())
        page.locator(".stage[data-state]").wait_for()
        for key in KEYS:
            page.evaluate(TO, key)
            page.locator(f".stage[data-state*='\"{key}\"']").wait_for()
            page.screenshot(path=screenshots / f"story_{key}_{look}.png")
            box = page.locator(".dial").bounding_box()
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= height, key
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        letter = page.locator(".stage .box text").first.evaluate(
            "(e) => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a"
        )
        assert letter >= 10, look
    assert page.faults == []


def test_the_dial_changes_every_step_and_frames_keep_up(folder, page):
    page.set_viewport_size({"width": 1100, "height": 800})
    page.goto((folder / "index.html").as_uri())
    page.locator(".stage[data-state]").wait_for()
    for scrolled in (True, False):
        # A slow page is slow each time; a machine that is busy for a second is not.
        assert any(np.median(page.evaluate(MOVE, scrolled)) <= 17.5 for _ in range(4)), scrolled
    said = []
    for key in ("line", "guessing", "once"):
        page.evaluate(TO, key)
        page.locator(f".stage[data-state*='\"{key}\"']").wait_for()
        for place in ("Home", "End"):
            page.locator(".dial").press(place)
            said.append(page.locator(".stage .sentence").inner_text())
    assert len(set(said)) == 6
    assert "At most 51 of 100" in said[2]
    assert shown(page)["epsilon"] == 10
    assert page.faults == []
