"""The opening page in a real browser: the dial answers by itself, and all that speaks agrees."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine import load_dataset, run
from engine.studies.scenes import kept_scene
from pages.report import files as report_files
from pages.report.brief import Heading, brief_of
from pages.shell.runs import Shown
from pages.shell.settings import Settings, Source, filled
from tests.browser.steps import BROKEN, SIZE, addressed, at_rest, go, moment, settle, walk

if TYPE_CHECKING:
    from playwright.sync_api import Page

SCENE = ".scene"
_FRAMES = """() => { const seen = []; window.seen = seen; let last = performance.now();
  const look = (now) => { seen.push(now - last); last = now; requestAnimationFrame(look); };
  requestAnimationFrame(look); }"""


def state(page: Page) -> dict[str, Any]:
    """The frame that is shown."""
    found: dict[str, Any] = json.loads(page.locator(SCENE).get_attribute("data-state") or "{}")
    return found


def numbers(page: Page) -> dict[str, float]:
    """What the sentence says."""
    text = page.locator(".scene .sentence").inner_text()
    found = re.match(r"([\d.]+) of (\d+) true links found, (no|[\d.]+) false positives?", text)
    assert found, text
    values = (float(n.replace("no", "0")) for n in found.groups())
    return dict(zip(("found", "of", "invented"), values, strict=True))


def counted(kept: Any, shown: dict[str, Any]) -> dict[str, float]:
    """What the engine says of the same frame, run again."""
    assert shown["epsilon"] in kept["epsilons"]
    data, values = load_dataset("asia", n=kept["rows"]), {"epsilon": shown["epsilon"]}
    result = run(shown["algorithm"], data, seed=shown["draw"], guarantee="strict", **values)
    counts = result.counts
    assert counts is not None
    return {
        "found": counts.found,
        "of": counts.true,
        "invented": counts.invented,
    }


def drag(page: Page, share: float, steps: int = 30) -> None:
    """The dial, by its thumb, to a share of its width."""
    box = page.locator(".scene .dial").bounding_box()
    assert box
    at = float(page.locator(".scene .dial").evaluate("(e) => e.value / e.max"))
    x = lambda part: box["x"] + 8 + part * (box["width"] - 16)  # noqa: E731
    y = box["y"] + box["height"] / 2
    page.mouse.move(x(at), y)
    page.mouse.down()
    page.mouse.move(x(share), y, steps=steps)


def test_a_hand_on_the_dial(page: Page, screenshots: Path) -> None:
    sent: list[Any] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda data: sent.append(data)))
    page.goto("/scene?data=asia&algorithm=priv_pc&epsilon=1")
    page.locator(".scene .sentence b").first.wait_for()
    settle(page)
    kept = kept_scene("asia")
    page.screenshot(path=screenshots / "scene.png")
    # e / (1 + e) is 73.1 %: what bounds an attacker is rounded up.
    assert "right at most 74 times in 100" in page.locator(".scene .sentence").inner_text()

    # While the dial is held the server hears nothing, and every frame is the engine's.
    sent.clear()
    page.evaluate(_FRAMES)
    rng = np.random.default_rng(0)
    for share in rng.random(4):
        drag(page, float(share))
        moment(page, 60)
        assert numbers(page) == counted(kept, state(page))
    assert sent == []
    page.mouse.up()
    settle(page)
    assert len(sent) > 0
    addressed(page, f"epsilon={state(page)['epsilon']}")

    # The table and the links on the picture are those of the sentence.
    page.keyboard.press("s")
    shown = numbers(page)
    lines = page.locator(".scene .stage .link").evaluate_all(
        "(all) => all.filter((g) => +g.querySelector('.wire').style.opacity === 1)"
        ".map((g) => g.getAttribute('class'))"
    )
    kinds = [line.split()[1] for line in lines]
    assert kinds.count("false_positive") == shown["invented"]
    assert sum(k in ("found", "unidentified", "line", "reversed") for k in kinds) == shown["found"]
    page.keyboard.press("g")
    settle(page)
    addressed(page, "ghost")
    average = numbers(page)
    page.get_by_role("button", name="As a table").click()
    table = page.locator(".scene tbody").element_handle()
    rows = page.locator(".scene tbody tr").all_inner_texts()
    cells = [row.split("\t") for row in rows]
    total = sum(int(c[3].split()[0]) for c in cells if c[2] == "yes")
    draws = int(cells[0][3].split()[-1])
    assert round(total / draws, 1) == average["found"]
    # Drawn anew with the same rows it is the same table: a selection in it stays.
    page.set_viewport_size({"width": 1280, "height": 900})
    at_rest(page)
    page.set_viewport_size(SIZE)
    at_rest(page)
    assert table is not None
    assert table.evaluate("(e) => e.isConnected")
    page.get_by_role("button", name="As a table").click()
    page.screenshot(path=screenshots / "scene_ghost.png")
    assert page.locator(BROKEN).count() == 0
    assert page.blocked == []  # type: ignore[attr-defined]


def test_keyboard_typing_and_the_way_to_run(page: Page) -> None:
    walk(page, "Scene")
    page.locator(".scene .sentence b").first.wait_for()
    settle(page)
    page.locator(".scene .dial").focus()
    if not state(page)["ghost"]:
        page.keyboard.press("g")
        settle(page)
    walk(page, "Scene")
    page.locator(".scene .sentence b").first.wait_for()
    settle(page)
    assert state(page)["ghost"]  # the menu brings the page as it was left
    page.locator(".scene .dial").focus()
    page.keyboard.press("Escape")
    settle(page)
    assert not state(page)["ghost"]
    addressed(page, "ghost", there=False)
    before = state(page)["epsilon"]
    page.keyboard.press("ArrowLeft")
    settle(page)
    assert state(page)["epsilon"] < before
    addressed(page, f"epsilon={state(page)['epsilon']}")
    page.locator(".scene .value").click()
    before = state(page)["epsilon"]
    page.locator(".scene .typed").fill("7")
    page.keyboard.press("Escape")
    settle(page)
    assert state(page)["epsilon"] == before
    page.locator(".scene .value").click()
    page.locator(".scene .typed").fill("0.25")
    page.keyboard.press("Enter")
    settle(page)
    assert page.locator(".scene .typed").count() == 0
    assert abs(np.log(state(page)["epsilon"] / 0.25)) < 0.1
    page.go_back()
    settle(page)
    assert state(page)["epsilon"] == before
    page.get_by_text("Priv-PC", exact=True).click()
    settle(page)
    shown, said = state(page), numbers(page)
    page.get_by_role("button", name="Make it yours").click()
    page.get_by_text("Priv-PC").first.wait_for()
    settle(page)
    addressed(page, "/run")
    addressed(page, f"epsilon={shown['epsilon']}")
    addressed(page, f"seed={shown['draw']}")
    assert f"{said['found']:.0f} of {said['of']:.0f}" in page.locator(".stMain").inner_text()
    assert page.locator(BROKEN).count() == 0


def test_the_reports_file_holds_the_scene_and_asks_nobody(
    new_page: Page, tmp_path: Path, screenshots: Path
) -> None:
    settings = Settings(Source("asia"), "priv_pc", filled("priv_pc", {"epsilon": 1.0}), 0)
    data = load_dataset("asia")
    shown = Shown(settings, data, run("priv_pc", data, seed=0, **settings.params))
    file = tmp_path / "report.html"
    made = brief_of(shown, None, Heading(), "light")
    file.write_text(report_files.page(shown, made), "utf-8")
    asked: list[str] = []
    new_page.on("request", lambda request: asked.append(request.url))
    new_page.goto(file.as_uri())
    new_page.locator(".scene .sentence b").first.wait_for()
    kept = kept_scene("asia")
    assert numbers(new_page) == counted(kept, state(new_page))
    new_page.locator(".scene .dial").focus()
    for _ in range(9):
        new_page.keyboard.press("ArrowLeft")
    moment(new_page, 200)
    assert state(new_page)["epsilon"] < 0.5
    assert numbers(new_page) == counted(kept, state(new_page))
    new_page.screenshot(path=screenshots / "report_file.png", full_page=True)
    assert [a for a in asked if not a.startswith("data:")] == [file.as_uri()]


def test_a_score_is_dragged_over_the_threshold(page: Page, screenshots: Path) -> None:
    go(page, "/learn?step=noise")
    canvas = page.locator("canvas.noise")
    canvas.wait_for()
    said = page.locator(".noise-scene .sentence")
    page.wait_for_function("(e) => e.innerText.includes('of 1200')", arg=said.element_handle())
    found = re.search(r"(\d+) of 1200 draws.* the red area is ([\d.]+) in 100", said.inner_text())
    assert found
    other, area = int(found.group(1)) / 12, float(found.group(2))
    assert abs(other - area) < 6.0  # 1,200 draws: 4 standard errors are at most 5.8 in 100
    before = said.inner_text().split(".")[0]
    box = canvas.bounding_box()
    assert box
    start = float(canvas.get_attribute("aria-valuenow") or 0)
    canvas.focus()
    while said.inner_text().split(".")[0] == before:  # the keyboard moves the score below T
        page.keyboard.press("ArrowLeft")
    assert float(canvas.get_attribute("aria-valuenow") or 0) < start
    page.mouse.move(box["x"] + 40, box["y"] + box["height"] - 46)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 60, box["y"] + box["height"] - 46, steps=5)
    page.mouse.up()
    assert said.inner_text().split(".")[0] == before
    page.screenshot(path=screenshots / "learn_noise.png")


def test_one_record_is_moved_and_a_published_bound_fails(page: Page, screenshots: Path) -> None:
    go(page, "/learn?step=bound")
    said = page.locator(".record-scene .sentence")
    said.get_by_text("1.58e-6").first.wait_for()
    assert "The record is where it was" in said.inner_text()
    box = page.locator(".record").bounding_box()
    assert box
    unit = box["width"] / 860
    page.mouse.move(box["x"] + 168 * unit, box["y"] + 214 * unit)
    page.mouse.down()
    page.mouse.move(box["x"] + 330 * unit, box["y"] + 220 * unit, steps=8)
    text = said.inner_text()
    page.mouse.up()
    assert "to 0.452: outside its fence" in text
    assert "|z| went from 0.126" in text
    assert text.rstrip().endswith("inside its fence of 0.0268.")
    page.screenshot(path=screenshots / "learn_bound.png")
    page.locator(".record").focus()
    page.keyboard.press("ArrowLeft")
    assert said.inner_text() != text
