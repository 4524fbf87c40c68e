"""The story opened from a disk, with the network cut."""

import numpy as np
import pytest

from engine.story import content, frames
from engine.story.page import write
from engine.teaching.money import purses

KEYS = ("scene", "causes", "noise", "person", "budget", "once", "hospitals", "limits")
DRAGGED = ("scene", "noise", "person", "once")
LOOKS = {  # a page opens on a phone, and is made larger
    "phone": ("dark", 390, 844),
    "small": ("light", 640, 400),
    "wall": ("light", 1280, 720),
}
DRAG = """async (dial) => {
  const gaps = [], most = Number(dial.max), least = Number(dial.min);
  let last = await new Promise(requestAnimationFrame);
  for (let k = 0; k < 30; k++) {
    dial.value = String(least + (most - least) * Math.abs(((k / 15) % 2) - 1));
    dial.dispatchEvent(new Event("input"));
    const now = await new Promise(requestAnimationFrame);
    gaps.push(now - last);
    last = now;
  }
  return gaps.slice(1);
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The story's folder."""
    made = tmp_path_factory.mktemp("story")
    with pytest.MonkeyPatch.context() as patch:
        # Of the hospitals three draws, and of the purses one at every ε: enough for their pictures.
        patch.setattr(frames, "DRAWS", 3)
        patch.setattr(content, "purses", lambda d, key, at, k: purses(d, key, [1], k) * len(at))
        write(made)
    return made


@pytest.fixture
def page(browser):
    """A page without a network, that keeps the errors of its scripts in ``faults``."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    yield page
    context.close()


def test_files_are_small_words_few_and_nothing_is_fetched(folder, browser):
    files = list(folder.iterdir())
    assert sum(f.stat().st_size for f in files) < 1_500_000
    assert not any('src="http' in f.read_text() or "@import" in f.read_text() for f in files)
    context = browser.new_context(java_script_enabled=False, offline=True)
    plain = context.new_page()
    plain.goto((folder / "index.html").as_uri())
    assert tuple(f.get_attribute("id") for f in plain.locator(".frame").all()) == KEYS
    for frame in plain.locator(".frame").all():
        assert frame.locator("svg").first.is_visible()
        assert 20 < len(frame.locator("> p").inner_text().split()) <= 90
    context.close()


def test_every_frame(folder, page, screenshots):
    for key in KEYS:
        for look, (scheme, width, height) in LOOKS.items():
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.set_viewport_size({"width": width, "height": height})
            if look == "phone":
                page.goto((folder / f"{key}.html").as_uri())
                if key != "hospitals":
                    page.locator(".scene").first.wait_for()
                    page.locator(".still").wait_for(state="detached")
            page.wait_for_timeout(100)
            page.screenshot(path=screenshots / f"story_{key}_{look}.png", full_page=look == "phone")
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{key} is cut: {wide} px"
            if key == "scene":
                box = page.locator(".dial").bounding_box()
                assert look == "small" or box["y"] + box["height"] <= height
    assert page.faults == []


def test_figures_fill_with_the_dial_and_frames_keep_up(folder, page):
    page.set_viewport_size({"width": 1100, "height": 800})
    for key in DRAGGED:
        page.goto((folder / f"{key}.html").as_uri())
        dial = page.locator(".dial")
        dial.wait_for()
        page.wait_for_timeout(300)
        # A slow page is slow each time; a machine that is busy for a second is not.
        assert any(np.median(dial.evaluate(DRAG)) <= 17.5 for _ in range(4)), key
        if key == "scene":
            filled = ".hundred .chance, .hundred .lit"
            lit = []
            for value in ("min", "max"):
                dial.evaluate(
                    f"(d) => {{ d.value = d.{value}; d.dispatchEvent(new Event('input')); }}"
                )
                page.wait_for_timeout(100)
                lit.append(page.locator(filled).count())
            assert lit == [51, 100]
    assert page.faults == []
