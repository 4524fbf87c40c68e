"""Steps that many journeys share."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import axe_playwright_python

from engine import load_dataset, run
from engine.studies.scenes import kept_scene

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

RESTING = '[data-testid="stApp"][data-test-script-state="notRunning"]'
BROKEN = '[data-testid="stException"], [data-testid="stAlertContentError"]'
SIZE: ViewportSize = {"width": 1440, "height": 1000}
NARROW: ViewportSize = {"width": 390, "height": 844}
SIZES: tuple[ViewportSize, ...] = (
    {"width": 1024, "height": 768},
    {"width": 1920, "height": 1080},
    {"width": 640, "height": 360},  # 1280 x 720 at 200 %
    NARROW,
)
WHITE, DARK = "rgb(255, 255, 255)", "rgb(16, 21, 30)"
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
# WCAG 2.2 dropped the rule on unique ids, and axe after it: tables number their cells from 0.
# Streamlit's field for a file is a named region with the role of a decoration.
# Text in SVG is drawn in its fill, of which axe's contrast rule knows nothing: it never objects to
# it, and needs two thirds of its time for it on a page of charts.
_RULES = """() => axe.configure({rules: [
  {id: "duplicate-id-active", enabled: false},
  {id: "presentation-role-conflict", enabled: false},
  {id: "color-contrast", selector: "*:not(text)"}]})"""
_FINDINGS = """async (only) => (await axe.run(document, {
  resultTypes: ["violations"],
  ...(only.length ? {runOnly: {type: "rule", values: only}} : {})}))
  .violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html.slice(0, 120)).join(" | "))"""
COLOUR = ("color-contrast", "link-in-text-block")
_GO = """(address) => { history.pushState({}, "", address);
  window.dispatchEvent(new PopStateEvent("popstate", {state: {}})); }"""
# Words and controls that the window shows, outside pictures. Choices of one group, and a list with
# its arrow, are one control; Streamlit's own menu is none of the page's.
_SEEN = """() => {
  const inside = (b) => b.width > 2 && b.height > 2 && b.top < innerHeight
    && b.bottom > 0 && b.right > 0;
  const shown = (e) => !/^Skip to/.test(e.textContent)
    && !e.closest("svg, script, style, .unseen, [data-testid=stIconMaterial]")
    && !(e.closest("details:not([open])") && !e.closest("summary"))
    && e.checkVisibility({checkOpacity: true, checkVisibilityCSS: true});
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), words = [];
  while (walk.nextNode()) {
    const range = document.createRange(); range.selectNodeContents(walk.currentNode);
    if (inside(range.getBoundingClientRect()) && shown(walk.currentNode.parentElement)) {
      const said = walk.currentNode.textContent.split(/\\s+/);
      words.push(...said.filter((w) => /[\\p{L}\\d]/u.test(w)));
    } }
  const one = "[role=radiogroup], [data-testid=stButtonGroup]";
  const controls = [...document.querySelectorAll(
    "a[href], button:not([aria-label=Open], [data-testid=stMainMenuButton]), input, textarea,"
    + "summary, [role=slider]")].filter((e) => inside(e.getBoundingClientRect()) && shown(e));
  return [words.length, new Set(controls.map((e) => e.closest(one) || e)).size]; }"""
_SHADE = """(wanted) => [...document.querySelectorAll("iframe")].every((f) =>
  f.contentDocument?.body && getComputedStyle(f.contentDocument.body).backgroundColor === wanted)"""
_DRAWN = """(n) => { const f = [...document.querySelectorAll("iframe")];
  return (n === null || f.length === n)
    && f.every((e) => e.contentDocument?.body?.dataset.drawn); }"""


# The next frame; where a browser draws none, as while something is dragged, a moment later: what is
# evaluated has no time limit.
_FRAME = """const frame = (f) => { let first = true;
  const once = () => { if (first) { first = false; f(); } };
  requestAnimationFrame(once); setTimeout(once, 250); };"""
# Where the page's parts are, and how long they are. Streamlit grows an expander frame by frame,
# whatever motion is asked for.
_AT_REST = (
    f"() => {{ {_FRAME}"
    + """ return new Promise((done) => {
  let last = "", same = 0; const look = () => {
  const parts = document.querySelectorAll(
    "[data-testid=stHeader], [data-testid=stSidebar], .stMain, .stMain .stElementContainer");
  const now = JSON.stringify([innerWidth, ...[...parts].map((e) => {
    const box = e.getBoundingClientRect();
    return [box.left, box.top, box.width, box.height, e.scrollHeight]; })]);
  same = now === last ? same + 1 : 0; last = now;
  same < 12 ? frame(look) : done(); }; look(); }); }"""
)


# By the browser's own clock: on a busy machine what it was to send by then would still wait.
_MOMENT = (
    f"(ms) => {{ {_FRAME}"
    + """ return new Promise((done) =>
  setTimeout(() => frame(() => frame(() => done())), ms)); }"""
)


# What a page sent and has no answer to: a busy server begins a script long after it was asked to,
# and until then the page says it rests. With a lag in milliseconds what the server says comes late:
# a browser shows, and sends, what is no longer so.
LINE = """window.sent = window.unanswered = 0;
window.WebSocket = class extends WebSocket {
  constructor(...address) {
    super(...address);
    super.addEventListener("message", () => { window.unanswered = 0; }); }
  late(f) {
    return (e) => window.lag ? setTimeout(() => f.call(this, e), window.lag) : f.call(this, e); }
  set onmessage(f) { super.onmessage = this.late(f); }
  addEventListener(kind, f, how) {
    super.addEventListener(kind, kind === "message" ? this.late(f) : f, how); }
  send(words) { window.sent += 1; window.unanswered += 1; super.send(words); } };"""
_SETTLED = f"""() => !window.unanswered && document.querySelector('{RESTING}')
  && !document.querySelector('[class*="-stop-bar"]')"""


def moment(page: Page, milliseconds: int) -> None:
    """So long, and until what has changed by then is drawn."""
    page.evaluate(_MOMENT, milliseconds)


def settle(page: Page) -> None:
    """Until the script rests and stays so: a change may be a moment away."""
    for milliseconds in (120, 50):
        moment(page, milliseconds)
        page.wait_for_function(_SETTLED, polling=50)


def addressed(page: Page, word: str, there: bool = True) -> None:
    """Until the address holds a word, or holds it no more: it follows the page by a moment."""
    page.wait_for_function(
        "([word, there]) => location.href.includes(word) === there", arg=[word, there]
    )


def at_rest(page: Page) -> None:
    """Until nothing moves for a dozen frames: after a change of the window alone."""
    page.evaluate(_AT_REST)
    page.wait_for_selector(RESTING)


def go(page: Page, address: str) -> None:
    """To an address of the app without loading it anew, as Back and Forward do.

    An address of Run is short here: the page, once it has taken it, writes the whole setting.
    """
    page.evaluate(_GO, address)
    if address.startswith("/run?"):
        page.wait_for_function("(a) => location.pathname + location.search !== a", arg=address)


def walk(page: Page, title: str) -> None:
    """To the page of this title, by the navigation; its links move where the window has changed."""
    at_rest(page)
    page.locator("header").get_by_role("link", name=title, exact=True).click()
    page.locator("h1", has_text=title).wait_for()


def unfold(page: Page, title: str) -> None:
    """Open the expander of this title if it is shut, and wait until it has grown.

    A click between would go down on a button and come up beside it, and be lost.
    """
    opened = page.locator("details[open]", has_text=title)
    if not opened.count():
        page.locator("summary", has_text=title).click()
    opened.wait_for()
    at_rest(page)


def state(page: Page, kind: str = "scene") -> dict[str, Any]:
    """What a component says of itself."""
    found: dict[str, Any] = json.loads(page.locator(f".{kind}").get_attribute("data-state") or "{}")
    return found


def numbers(page: Page) -> dict[str, float]:
    """What the scene's sentence says."""
    text = page.locator(".scene .sentence").inner_text()
    found = re.match(r"([\d.]+) of (\d+) true links found, (no|[\d.]+) false positives?", text)
    assert found, text
    values = (float(n.replace("no", "0")) for n in found.groups())
    return dict(zip(("found", "of", "false_positives"), values, strict=True))


def scene_agrees(page: Page, network: str) -> None:
    """What the scene says of its frame is what the engine says of it, run again."""
    shown, kept = state(page), kept_scene(network)
    assert shown["epsilon"] in kept["epsilons"]
    asked = {"epsilon": shown["epsilon"], "guarantee": "strict"}
    data = load_dataset(network, n=kept["rows"])
    counts = run(shown["algorithm"], data, seed=shown["draw"], **asked).counts
    assert counts is not None
    wrong = counts.false_positives
    assert numbers(page) == {"found": counts.found, "of": counts.true, "false_positives": wrong}


def enter(page: Page, key: str, value: str) -> None:
    """Write into the field of this key, and wait for the page to have taken it."""
    field = page.locator(f".st-key-{key} input")
    field.fill(value)
    field.press("Enter")
    settle(page)


def shaded(page: Page, background: str) -> None:
    """Until every frame has this background."""
    page.wait_for_function(_SHADE, arg=background)


def first_screen(page: Page) -> tuple[int, int]:
    """How many words and controls the window shows without scrolling."""
    words, controls = page.evaluate(_SEEN)
    return words, controls


def drawn(page: Page, frames: int | None = None) -> None:
    """Until every graph is on screen, and there are ``frames`` of them where that is given."""
    page.wait_for_function(_DRAWN, arg=frames)


def findings(page: Page, rules: Sequence[str] = ()) -> list[str]:
    """Return all that axe finds, by all its rules or by these, frames included.

    A document is given axe once: read anew it would have to be compiled anew, too.
    """
    for frame in page.frames:
        if not frame.evaluate("() => 'axe' in window"):
            frame.evaluate(AXE)
            frame.evaluate(_RULES)
    found: list[str] = page.evaluate(_FINDINGS, list(rules))
    return found


# Words on what can be pressed and above a number: cut off they are "Open r…". The steps of Learn
# are a row to be pushed along on a phone. Letters in a drawing: those of 4 pixels are dust.
CUT = """() => {
  const shown = (e) => e.checkVisibility({visibilityProperty: true, opacityProperty: true});
  const every = [...document.querySelectorAll("*")];
  const roots = [document, ...every.flatMap((e) => e.shadowRoot || [])];
  const all = (what) => roots.flatMap((root) => [...root.querySelectorAll(what)]).filter(shown);
  const cut = all("button *, [data-testid=stMetric] *, [data-testid=stButtonGroup] > div")
    .filter((e) => getComputedStyle(e).overflowX !== "visible" && e.scrollWidth > e.clientWidth + 1
      && e.clientWidth > 0 && e.innerText.trim() && !e.closest(".st-key-learn-step"))
    .map((e) => e.innerText.trim().slice(0, 60));
  const size = (e) => { const m = e.getScreenCTM();
    return parseFloat(getComputedStyle(e).fontSize) * Math.hypot(m.a, m.b); };
  const small = all("text").filter((e) => e.textContent.trim() && size(e) < 10)
    .map((e) => `${e.textContent} at ${size(e).toFixed(1)} px`);
  return [...new Set([...cut, ...small])];
}"""
# A slider's field lies under the knob that is drawn for it, a hidden box under its label. What is
# folded away, or in a side menu that is shut, cannot be pressed and is not asked for.
COVERED = """() => {
  const kinds = "button, a[href], input, textarea, select, summary, [role=button], [role=tab]"
    + ", [role=slider], [role=combobox], [role=radio], [role=switch], [role=checkbox]";
  const name = (e) => (e.getAttribute("aria-label") || e.innerText || e.placeholder || e.id)
    .replace(/\\s+/g, " ").trim().slice(0, 50);
  const shut = (e) => {
    const side = e.closest("[data-testid=stSidebar]");
    return side && side.getBoundingClientRect().right < 40; };
  let asked = 0;
  const covered = [];
  // Components draw in a root of their own each.
  const every = [...document.querySelectorAll("*")];
  const roots = [document, ...every.flatMap((e) => e.shadowRoot || [])];
  const inside = (e, top) => {
    for (let at = top; at; at = at.parentNode || at.host) if (at === e) return true; };
  for (const e of roots.flatMap((root) => [...root.querySelectorAll(kinds)])) {
    if (shut(e) || !e.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
    e.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
    const box = e.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    asked += 1;
    const root = e.getRootNode();
    const top = root.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    const own = [e, e.closest("label"), e.closest("[data-testid=stSlider]")];
    if (!own.some((one) => one && inside(one, top))) {
      covered.push(`${e.tagName} "${name(e)}" under ${top ? top.outerHTML.slice(0, 80) : "-"}`);
    }
  }
  document.querySelector(".stMain")?.scrollTo(0, 0);
  return {asked, covered, wide: document.documentElement.scrollWidth - innerWidth};
}"""


# Where the window has become narrow, Streamlit shuts the side menu.
_SHUT = "innerWidth > 768 || !document.elementFromPoint(9, 200)?.closest('.stSidebar')"


def look(page: Page, size: ViewportSize) -> None:
    """At this size nothing that can be pressed is covered, cut off, or out at the side."""
    page.set_viewport_size(size)
    page.wait_for_function(_SHUT)
    at_rest(page)
    found = page.evaluate(COVERED)
    assert found["covered"] == [], (size, found["covered"])
    assert found["asked"] >= 1
    assert found["wide"] <= 0, size
    assert not (cut := page.evaluate(CUT)), (size, cut)
