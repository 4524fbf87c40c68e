"""Background knowledge in a real browser: drag a tier, run."""

import json

import pytest

from engine.story.modules import bundle
from tests.browser.steps import addressed, findings, go, moment, settle, unfold

ADDRESS = "/run?data=asia&algorithm=marginal_pc&n=20000&epsilon=10"
_TIERS = """() => [...[...document.querySelectorAll("*")].find((e) => e.shadowRoot?.querySelector(
  ".board"))?.shadowRoot.querySelectorAll(".tier") ?? []].map(
  (t) => [...t.querySelectorAll(".chip")].map((c) => c.dataset.name))"""


def at_rest(page):
    """The run behind the dialog begins by itself, a moment after a change: until it is drawn."""
    moment(page, 800)
    settle(page)


def test_drag_a_tier_and_run(page, screenshots):
    go(page, ADDRESS)
    settle(page)
    unfold(page, "More settings")
    assert "none" in page.locator(".st-key-run-known button:visible").inner_text()
    page.locator(".st-key-run-known button:visible").click()
    page.locator(".board .chip").first.wait_for()
    page.locator('.chip[data-name="smoke"]').drag_to(page.locator(".tier.fresh"))
    for _ in range(2):  # by keyboard, into the first tier and then into a new one
        at_rest(page)
        page.locator('.chip[data-name="bronc"]').focus()
        page.keyboard.press("ArrowRight")
    # The board is drawn anew after each key; meanwhile it is not there.
    wanted = json.dumps([["smoke"], ["bronc"], []], separators=(",", ":"))
    page.wait_for_function(
        f"(wanted) => JSON.stringify(({_TIERS})().slice(1)) === wanted", arg=wanted
    )
    page.get_by_text("1 of 8").wait_for()
    for name in ("tub", "either"):
        page.locator(f'.chip[data-name="{name}"]').click()
    page.locator(".way").first.get_by_text("causes", exact=True).click()
    settle(page)
    page.get_by_text("2 of 8").wait_for()
    page.screenshot(path=screenshots / "known.png")
    at_rest(page)
    assert findings(page) == []
    page.keyboard.press("Escape")
    page.locator(".st-key-run-known button:visible", has_text="2 tiers, 1 arrow").wait_for()
    page.locator(".st-key-run button").click()
    page.get_by_text("fixes 2 of").wait_for()
    settle(page)
    addressed(page, "known=")


_HAND = """([code, kind, act]) => {
  const Kind = new Function(`${code}; return modules.${kind};`)();
  const root = document.body.appendChild(document.createElement("div")), told = [], seen = [];
  const made = new Kind(root, {rested: (at) => told.push(at), known: (known) => told.push(known)});
  new Function("made", "root", "seen", act)(made, root, seen);
  root.remove();
  return [seen, told.length]; }"""
_BOARD = """const chip = () => root.querySelector("[data-name=c]");
  const show = (tiers, digest) =>
    made.show({names: ["a", "b", "c"], tiers, forbidden: [], required: [], digest});
  const look = (was) => seen.push([JSON.stringify(made.tiers.filter((t) => t.length)),
    was === chip()]);
  show([], "none");
  made.move("a", 0); made.move("b", 0);
  const was = chip();
  show([["a"]], "first"); look(was);       // the answer to where the hand was
  show([["b", "a"]], "both"); look(was);   // to where it is, in an order of the page's own
  show([["c"]], "other"); look(was);       // a file
  show([["a", "b"]], "back"); look(was);   // Back: no answer any more
  made.move("c", 0);
  show([["a", "b"]], "refused"); look(was);  // what was before, with a problem"""
_PLAN = """const betas = [0, 0.1, 0.2, 0.3], row = betas.map(() => [[0, 3, 1, 100]]);
  const show = (one, two) => made.show({betas, plans: {one: row, two: row}, at: {one, two}});
  const drag = (name, to) => {
    const dial = made.dials[name]; dial.max = "3"; dial.value = String(to);
    dial.dispatchEvent(new Event("input")); dial.dispatchEvent(new Event("change")); };
  const look = () => seen.push([made.one, made.two, made.dials.two.disabled]);
  show(1, 1); look();
  drag("one", 2); drag("one", 3); look();
  show(2, 1); look();  // the answer to where the hand was
  show(3, 1); look();  // to where it is
  show(1, 1); look();  // Back"""
_BOTH = '[["a","b"]]'


@pytest.mark.parametrize(
    ("kind", "act", "wanted", "said"),
    [("board.Board", _BOARD,
      [[_BOTH, True], [_BOTH, True], ['[["c"]]', False], *[[_BOTH, False]] * 2], 3),
     ("plan.Plan", _PLAN,
      [[1, 1, False], [3, 1, True], [3, 1, True], [3, 1, False], [1, 1, False]], 2)],
    ids=["board", "plan"],
)  # fmt: skip
def test_a_hand_is_ahead_of_what_the_page_answers(page, kind, act, wanted, said):
    """Nothing that was said is taken back, and nothing is drawn anew under a drag."""
    assert page.evaluate(_HAND, [bundle(kind.split(".")[0]), kind, act]) == [wanted, said]
