"""Take the documents' pictures of the running app: ``python -m scripts.pictures [NAME ...]``.

Each is taken in both themes at one size: NAME.png in the light one and NAME-dark.png; the slider of
Explore is a moving picture, dial.gif and dial-dark.gif. ``--old`` names the pictures that are older
than the sources of their page, which ``make lint`` prints. Chromium is needed.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image
    from playwright.sync_api import Browser, Page, ViewportSize

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
KEPT = FOLDER / "sources.json"  # picture -> digest of its page's sources when it was taken
SIZE: ViewportSize = {"width": 1280, "height": 800}
THEMES = {"": "light", "-dark": "dark"}
COLOURS = 64  # colours of a picture, because the pages are flat
DIAL = range(0, 40, 3)  # places of the slider, of 40
RUNS = 'button:has-text("Cancel")'  # a job is under way
WAITS = ", ".join([RUNS, *(f'[data-testid="st{n}"]' for n in ("Spinner", "Skeleton", "Progress"))])
MOMENT = 350  # milliseconds that the moving picture shows each
# Sources of every page: a change there makes every picture older than its page.
SHARED = (".streamlit/config.toml", "pages/shell/__init__.py", "pages/shell/style.css")


def _nothing(page: Page) -> None:
    """Show the page as it opens."""


def _next_order(page: Page) -> None:
    for _ in range(2):
        page.get_by_role("button", name="Next order").click()


def _asked(page: Page) -> None:
    page.get_by_role("button", name="X-ray shadow?").last.click()
    _settle(page)
    page.get_by_role("button", name="Presenter mode").click()


def _spent(page: Page) -> None:
    clock = page.locator(".money input.clock")
    clock.press("End")
    clock.blur()


# Name -> the page's folder and other sources, its address, and the actions before the picture.
SEARCH, PERSON, BUDGET = (f"/learn?step={step}" for step in ("search", "person", "budget"))
RUN = "data=asia&n=100000&algorithm=marginal_pc&epsilon=1&seed=0"
PICTURES: dict[str, tuple[tuple[str, ...], str, Callable[[Page], None]]] = {
    "scene": (("pages/scene", "static/scene"), "/", _nothing),
    "run": (("pages/run", "pages/draw"), f"/run?{RUN}", _nothing),
    "report": (("pages/report", "pages/draw"), f"/report?{RUN}", _asked),
    "learn_search": (("pages/learn", "static/scene"), SEARCH, _next_order),
    "learn_person": (("pages/learn", "static/scene"), PERSON, _nothing),
    "learn_money": (("pages/learn", "static/scene"), BUDGET, _spent),
    "dial": (("pages/scene", "static/scene"), "/", _nothing),
}


def digest(name: str) -> str:
    """Return a digest of the sources of a picture's page."""
    found = hashlib.sha256()
    for place in (*SHARED, *PICTURES[name][0]):
        path = ROOT / place
        for file in sorted(path.rglob("*.*")) if path.is_dir() else [path]:
            if file.suffix != ".pyc":
                found.update(file.read_bytes())
    return found.hexdigest()


def old() -> list[str]:
    """Return the pictures that are older than the page they show."""
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    return [name for name in PICTURES if kept.get(name) != digest(name)]


def take(browser: Browser, url: str, name: str, theme: str) -> list[Image.Image]:
    """Return a page's picture in a theme, or the frames of the moving one."""
    _, address, touch = PICTURES[name]
    context = browser.new_context(base_url=url, viewport=SIZE, reduced_motion="reduce")
    context.set_default_timeout(120_000)
    page = context.new_page()
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    try:
        page.goto(address)
        _settle(page)
        touch(page)
        _settle(page)
        if name != "dial":
            return [_shot(page)]
        frames = []
        for place in DIAL:
            dial = page.locator(".scene input[type=range]").first
            dial.fill(str(place))
            dial.blur()
            page.wait_for_timeout(200)
            frames.append(_shot(page))
        return [*frames, *frames[-2:0:-1]]  # there and back
    finally:
        context.close()


def _settle(page: Page) -> None:
    """Wait until the script has been idle and nothing has been pending for two seconds."""
    resting = '[data-testid="stApp"][data-test-script-state="notRunning"]'
    calm = 0
    while calm < 4:
        page.wait_for_selector(resting)
        page.wait_for_timeout(500)
        waits = page.locator(WAITS).count()
        calm = calm + 1 if page.locator(resting).count() and not waits else 0


def _shot(page: Page) -> Image.Image:
    from PIL import Image

    seen = page.screenshot(animations="disabled", caret="hide")
    return Image.open(io.BytesIO(seen)).convert("RGB")


def _save(frames: list[Image.Image], file: Path) -> None:
    """Write a picture, or a moving one, with few colours, all frames with the same."""
    from PIL import Image

    plain = Image.Dither.NONE
    some = [frames[0], frames[len(frames) // 2]]  # the ends of the slider have all colours
    wide = Image.new("RGB", (2 * frames[0].width, frames[0].height))
    for place, frame in enumerate(some):
        wide.paste(frame, (place * frame.width, 0))
    few = wide.quantize(COLOURS, dither=plain)
    first, *rest = [frame.quantize(palette=few, dither=plain) for frame in frames]
    if rest:
        first.save(file, save_all=True, append_images=rest, duration=MOMENT, loop=0)
    else:
        first.save(file, optimize=True)


def main(names: list[str]) -> None:
    """Take the pictures of these names, or all."""
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import CHROMIUM_ARGS, CHROMIUM_NAMES
    from tests.serving import served

    path = next(filter(None, map(shutil.which, CHROMIUM_NAMES)))
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        budgets = {"DP_CAUSAL_EXPLORER_BUDGETS": f"{folder}/budgets.db"}
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGS)
        with served(Path(folder), **budgets) as url:
            for name in names or PICTURES:
                before = digest(name)
                for ending, theme in THEMES.items():
                    frames = take(browser, url, name, theme)
                    file = FOLDER / f"{name}{ending}.{'gif' if len(frames) > 1 else 'png'}"
                    _save(frames, file)
                    print(f"{file.relative_to(ROOT)}: {file.stat().st_size // 1000} kB", flush=True)
                kept[name] = before
        browser.close()
    KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["--old"]:
        for name in old():
            print(
                f"docs/pictures: {name} is older than its page: python -m scripts.pictures {name}"
            )
    else:
        main(sys.argv[1:])
