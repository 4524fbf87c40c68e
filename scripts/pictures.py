"""Take the pictures of pages that the documents show: ``python -m scripts.pictures [NAME ...]``.

A server of its own and Chromium (apt-get install chromium); names are those in docs/pictures,
without their endings. Some are taken by the browser tests, and only copied from there.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from benchmarks.soak import served
from tests.browser.steps import settle

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
TESTS = ROOT / "artifacts" / "screenshots"
PORT = 8690
COLOURS = 128
_DIAL = """(at) => { for (const e of document.querySelectorAll("*")) {
  const dial = e.shadowRoot?.querySelector("input.dial"); if (!dial) continue;
  dial.value = at; dial.dispatchEvent(new Event("input", {bubbles: true})); } }"""
_REPORT = (
    "/report?report.question=Does+smoking+cause+lung+cancer+among+our+patients%3F"
    "&report.author=Dr.+Example&report.date=1+May+2026"
)


def scene(page: Page) -> Image.Image:
    """The opening page."""
    _open(page, "/", ".dial")
    return _shot(page)


def report(page: Page) -> Image.Image:
    """The report, with what a presenter typed."""
    _open(page, _REPORT, ".report")
    page.get_by_text("repetitions at each ε").wait_for()
    settle(page)
    page.get_by_text("Drawing the curve").wait_for(state="detached")
    settle(page)
    return _shot(page)


def dial(page: Page) -> list[Image.Image]:
    """The dial of the opening page, pulled from all to nothing and back; the frames."""
    page.set_viewport_size({"width": 1200, "height": 800})
    _open(page, "/?algorithm=priv_pc&epsilon=10", ".dial")
    place = page.locator(".scene").bounding_box()
    assert place is not None
    place["height"] = min(place["height"], 780 - place["y"])
    frames = []
    for at in (*range(39, 4, -1), *range(5, 39, 2)):
        page.evaluate(_DIAL, at)
        page.wait_for_timeout(200)  # a link fades
        frames.append(_read(page.screenshot(clip=place)))
    return frames


TAKEN: dict[str, Callable[[Page], Image.Image]] = {"scene": scene, "report": report}
# What a journey of the browser tests (make test) leads to is taken there.
TESTED = {
    "learn_search": "learn_search",
    "learn_person": "learn_person",
    "learn_money": "learn_money",
}


def main(names: list[str]) -> int:
    """Take what is named; all of them without a name."""
    wanted = names or [*TAKEN, "dial", *TESTED]
    for name in wanted:
        if name in TESTED and (made := TESTS / f"{TESTED[name]}.png").exists():
            picture = Image.open(made)
            _save(picture.crop((0, 0, picture.width, min(picture.height, 1000))), name)
    with tempfile.TemporaryDirectory() as folder, served(PORT, Path(folder) / "log", folder):
        _take(wanted)
    return 0


def _take(wanted: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=path, args=flags)
        for name in wanted:
            if name not in (*TAKEN, "dial"):
                continue
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(120_000)
            if name == "dial":
                _animate(dial(page))
            else:
                _save(TAKEN[name](page), name)
            page.close()
        browser.close()


def _open(page: Page, address: str, there: str = "h1, h2") -> None:
    page.goto(f"http://127.0.0.1:{PORT}{address}")
    page.locator(there).first.wait_for()
    settle(page)
    page.wait_for_timeout(1500)


def _shot(page: Page) -> Image.Image:
    return _read(page.screenshot())


def _read(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png)).convert("RGB")


def _save(picture: Image.Image, name: str) -> None:
    picture.convert("RGB").quantize(COLOURS).save(PICTURES / f"{name}.png", optimize=True)
    print(name, (PICTURES / f"{name}.png").stat().st_size)


def _animate(frames: list[Image.Image]) -> None:
    """One GIF with one palette: what does not change between frames is not written again."""
    width = 900
    small = [
        f.resize((width, round(f.height * width / f.width)), Image.Resampling.LANCZOS)
        for f in frames
    ]
    several = Image.new("RGB", (width, small[0].height * len(small[::5])))
    for k, frame in enumerate(small[::5]):
        several.paste(frame, (0, k * frame.height))
    # Few pixels are red, and they are what one looks for.
    palette = several.quantize(250, method=Image.Quantize.MAXCOVERAGE)
    first, *rest = [f.quantize(palette=palette, dither=Image.Dither.NONE) for f in small]
    path = PICTURES / "dial.gif"
    first.save(path, save_all=True, append_images=rest, duration=110, loop=0, optimize=True)
    print("dial", path.stat().st_size)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
