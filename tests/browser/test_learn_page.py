"""A teacher's ten minutes, from the first step to the coins, in one page and mostly by keys."""

import csv
import io
import math
import re

import pytest

from engine.teaching.sieving import Sieve
from pages.learn.steps import WAY
from tests.browser import steps

_SPENT = r"([\d.]+) of 100 coins .*?(\d+) of \d+ true links? found, (no|\d+) false positive"
DESK = {"width": 1280, "height": 720}
# What the window's lower edge cuts off, in CSS pixels.
_CUT = """() => { const m = document.querySelector(".stMain");
  return m.scrollHeight - m.clientHeight; }"""


# How large a letter in a picture is on the screen, in CSS pixels.
_LETTER = "(e) => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a"


def on(page, name):
    """To the next step of the tour, by the keyboard."""
    page.get_by_role("button", name="Next", exact=True).press("Enter")
    page.get_by_role("heading", name=name).wait_for()
    steps.settle(page)
    steps.look(page, steps.NARROW)  # on a phone everything that can be pressed is in reach, too
    page.set_viewport_size(DESK)


def carry(page, x, y):
    """Something, by the mouse, from one place to another."""
    page.mouse.move(x[0], y)
    page.mouse.down()
    page.mouse.move(x[1], y, steps=8)
    page.mouse.up()


TITLES = {step.key: step.title for step in WAY}


def test_ten_minutes_from_the_opening_to_the_coins(new_page, screenshots):
    page = new_page  # a side menu that was opened before lies over a narrow one
    page.set_viewport_size(DESK)
    page.goto("/learn?step=cause&data=asia")

    # 1: arrows, and how many answers a turned one changes.
    told = page.locator(".arrows .told")
    steps.settle(page)
    assert page.locator(".arrows .box text").first.evaluate(_LETTER) >= 20
    page.get_by_label("Smoking → Bronchitis: reverse it").press("Enter")
    told.get_by_text("None of 1,792 answers would change").wait_for()
    page.get_by_label("Smoking → Lung cancer: reverse it").press("Enter")
    told.get_by_text("130 of 1,792 answers would change").wait_for()
    page.screenshot(path=screenshots / "learn_truth.png")
    page.get_by_role("button", name="Which may point either way?").press("Enter")
    told.get_by_text("3 of 8 arrows").wait_for()
    assert steps.findings(page) == []

    # The settings, by keys alone: into them, and back to their button.
    button = page.locator(".st-key-learn-settings button").first
    button.press("Enter")
    page.locator(".st-key-learn-data input").wait_for()
    steps.settle(page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.st-key-learn-data') !== null")
    page.keyboard.press("Escape")
    page.locator(".st-key-learn-data").wait_for(state="detached")
    assert button.evaluate("(e) => e === document.activeElement")

    # 2: the search, step by step, with a guess.
    on(page, TITLES["search"])
    player = page.locator(".search")
    player.get_by_text("Before the first test").wait_for()
    steps.settle(page)
    assert player.locator(".box text").first.evaluate(_LETTER) >= 20
    player.get_by_role("button", name="Next order").press("Enter")
    player.get_by_text("Step 1 of").wait_for()
    player.get_by_label("Let me guess first").press("Space")
    player.get_by_role("button", name="One step on").press("Enter")
    player.get_by_text("What will happen?").wait_for()
    player.get_by_role("button", name="It stays").press("Enter")
    player.get_by_text(re.compile(r"You said (so|otherwise)\.")).wait_for()
    player.get_by_text(re.compile(r"you: [01] of 1")).wait_for()
    page.screenshot(path=screenshots / "learn_search.png")
    player.get_by_label("Jump to the step").select_option(index=2)
    player.get_by_label("Let me guess first").press("Space")
    player.get_by_label("Step", exact=True).press("End")
    player.get_by_text("8 links left").wait_for()
    assert steps.findings(page) == []

    # 3: noise on one test. What falls is as likely as the area says; T is passed by keys and back.
    on(page, TITLES["noise"])
    canvas, said = page.locator("canvas.noise"), page.locator(".noise-scene .sentence")
    page.wait_for_function("(e) => e.innerText.includes('of 1200')", arg=said.element_handle())
    fell = re.search(r"(\d+) of 1200 draws.* in the long run ([\d.]+) in 100", said.inner_text())
    assert fell
    # 1,200 draws: 4 standard errors are at most 5.8 in 100
    assert abs(int(fell[1]) / 12 - float(fell[2])) < 6.0
    before, box = said.inner_text().split(".")[0], canvas.bounding_box()
    assert box
    start = float(canvas.get_attribute("aria-valuenow") or 0)
    canvas.focus()
    while said.inner_text().split(".")[0] == before:
        page.keyboard.press("ArrowLeft")
    assert float(canvas.get_attribute("aria-valuenow") or 0) < start
    carry(page, (box["x"] + 40, box["x"] + box["width"] - 60), box["y"] + box["height"] - 46)
    assert said.inner_text().split(".")[0] == before
    page.screenshot(path=screenshots / "learn_noise.png")

    # 4: a person. A guess, the bound, a thousand guesses.
    on(page, TITLES["person"])
    page.get_by_role("button", name="Choose the person who matters most").press("Enter")
    shows = steps.state(page, "person")
    assert shows["scores"] == pytest.approx([9.28212, 9.27273], abs=1e-5)
    assert shows["scale"] == pytest.approx(0.009487, abs=1e-6)
    best = 0.69514  # 1 - e^(-gap / 2 scale) / 2
    assert (shows["best"], shows["wall"]) == pytest.approx((best, 0.73106), abs=1e-5)
    page.get_by_role("button", name="Release one output").press("Enter")
    page.get_by_role("button", name="It was A").press("Enter")
    page.get_by_text(re.compile(r"Right: [01] of 1,")).wait_for()
    page.get_by_role("button", name="Release another").wait_for()
    page.get_by_role("button", name="A thousand guesses").press("Enter")
    page.get_by_text(re.compile(r"Right: \d+ of 1000,")).wait_for()
    share = steps.state(page, "person")["right"] / 1000
    assert abs(share - best) < 5 * math.sqrt(best * (1 - best) / 1000)
    page.locator(".person .dial").press("End")
    shows = steps.state(page, "person")
    assert shows["epsilon"] == 10
    assert shows["best"] == pytest.approx(0.99645, abs=1e-5)
    page.screenshot(path=screenshots / "learn_person.png")
    assert steps.findings(page) == []
    page.set_viewport_size(steps.NARROW)
    page.locator(".person.narrow").wait_for()
    assert page.locator(".person .tables").evaluate("(e) => e.scrollWidth <= e.clientWidth")
    page.set_viewport_size(DESK)

    # 5: the record. Nothing has moved that nobody moved.
    on(page, TITLES["bound"])
    said, record = page.locator(".record-scene .sentence"), page.locator(".record:not(.below)")
    said.get_by_text("1.58e-6").first.wait_for()
    assert "The record has not moved" in said.inner_text()
    box = record.bounding_box()
    assert box
    unit = box["width"] / 860
    carry(page, (box["x"] + 168 * unit, box["x"] + 330 * unit), box["y"] + 217 * unit)
    text = said.inner_text()
    assert "to 0.466: outside its bound" in text
    assert "strength went from 0.0893" in text
    assert text.rstrip().endswith("inside its bound of 0.019.")
    page.screenshot(path=screenshots / "learn_bound.png")
    record.press("ArrowLeft")
    assert said.inner_text() != text

    # 6: the coins.
    on(page, TITLES["budget"])
    page.locator(".money .said b").first.wait_for()
    for key in ("Home", "ArrowRight"):
        page.locator(".money .dial").press(key)
    assert steps.state(page, "money")["epsilon"] == 0.0119
    ways = page.locator(".money .way").all_inner_texts()
    # Coins, found, false positives, and whether the budget ended: the engine's runs at this ε.
    spent = [(100, "1", "no", True), (48.5, "2", "1", False), (100, "6", "3", False)]
    for words, wanted in zip(ways, spent, strict=True):
        coins, *links = re.search(_SPENT, words).groups()
        assert (float(coins), *links, "The budget was exhausted" in words) == wanted
    steps.settle(page)
    page.screenshot(path=screenshots / "learn_money.png")
    page.wait_for_url(re.compile("epsilon=0[.]0119"))  # the dial tells it at rest
    # Where spending once finds the most and does not win, with more false positives.
    for _ in range(4):
        page.locator(".money .dial").press("ArrowRight")
    assert steps.state(page, "money")["outcome"] == "more"
    page.get_by_text("it does not win").wait_for()
    page.locator(".money .clock").press("Home")
    page.get_by_text("The questions have not begun").first.wait_for()
    assert steps.findings(page) == []
    on(page, TITLES["shuffle"])
    on(page, TITLES["study"])
    assert page.locator(steps.BROKEN).count() == 0
    assert page.blocked == []


def test_presenter_mode_cuts_nothing(page):
    page.set_viewport_size(DESK)
    steps.go(page, f"/learn?step={WAY[0].key}&present=1&data=asia&shuffles=1&epsilon=1.0")
    for step in WAY:
        page.get_by_role("heading", name=step.title).wait_for()
        steps.settle(page)
        page.wait_for_function(f"() => ({_CUT})() <= 0", timeout=20_000)
        for letter in page.locator(".box text:visible").all():
            assert letter.evaluate(_LETTER) >= 20, step.key
        page.keyboard.press("ArrowRight")  # as a remote control does
    page.keyboard.press("ArrowLeft")
    page.get_by_role("heading", name=WAY[-2].title).wait_for()
    steps.settle(page)
    page.keyboard.press("Escape")
    page.get_by_role("navigation", name="App pages").wait_for()
    page.set_viewport_size(steps.SIZE)


def test_a_wall_and_three_phones_survive_reloads(browser, app_server, screenshots):
    def opened(address, size):
        context = browser.new_context(base_url=app_server, viewport=size)  # a storage per phone
        page = context.new_page()
        page.goto(address)
        return page

    wall = opened("/learn?step=person&data=cancer", DESK)
    wall.get_by_role("button", name="Teach a class").click()
    where = wall.get_by_text("To try the room now, open").inner_text()
    [code] = re.findall(r"/j(\w{4}) ", where)
    wall.wait_for_url(re.compile("wall="))
    phones = [opened(f"/j{code.lower()}", steps.NARROW) for _ in range(3)]
    for phone in phones:
        for name in ("Polluted air", "Smoking → Lung", "X-ray"):
            phone.get_by_role("button", name=name).click()
        phone.get_by_role("button", name="Vote", exact=True).click()
        phone.get_by_text("You chose").wait_for()
    phones[0].screenshot(path=screenshots / "learn_phone.png")
    assert steps.findings(phones[0]) == []
    for page in (wall, phones[0]):
        page.reload()
    phones[0].get_by_text("You chose").wait_for()
    wall.get_by_text("Joined: 3. Voted: 3.").wait_for()
    wall.get_by_role("button", name="Show the answer").click()
    wall.get_by_text("choices were right").wait_for()
    assert steps.findings(wall) == []
    wall.screenshot(path=screenshots / "learn_wall_links.png")
    wall.get_by_role("radio", name="Was this person in?").click()
    wall.get_by_role("button", name="Ask it").click()
    for phone, name in zip(phones, "ABB", strict=True):
        phone.get_by_role("button", name=name, exact=True).click()
        phone.get_by_text(f"You chose {name}").wait_for()
    phones[1].reload()
    phones[1].get_by_role("button", name="B", exact=True).click()  # no second vote
    phones.append(opened(f"/j{code}", steps.NARROW))  # late
    phones[3].get_by_role("button", name="B", exact=True).click()
    wall.get_by_text("Joined: 4. Voted: 4.").wait_for()
    wall.get_by_role("button", name="Show the answer").click()
    wall.get_by_text("right by luck").wait_for()
    phones[0].get_by_text("It came from").wait_for()  # without a touch
    wall.screenshot(path=screenshots / "learn_wall_person.png")
    wall.get_by_role("radio", name="How much would you pay?").click()
    wall.get_by_role("button", name="Ask it").click()
    phones[0].get_by_role("button", name="Vote", exact=True).click()
    wall.get_by_text("Joined: 4. Voted: 1.").wait_for()
    paid = phones[0].get_by_text("You chose").inner_text().removeprefix("You chose ").rstrip(".")
    wall.get_by_role("button", name="Show the answer").click()
    wall.get_by_text(f"median is {paid}").wait_for()
    wall.locator(".st-key-answer .js-plotly-plot").wait_for()
    wall.screenshot(path=screenshots / "learn_wall_price.png")
    assert steps.findings(wall) == []
    with wall.expect_download() as kept:
        wall.get_by_role("button", name="Results as CSV").click()
    table = csv.DictReader(io.StringIO(kept.value.path().read_text(encoding="utf-8")))
    cast = {(row["question"], row["option"]): row["votes"] for row in table if row["votes"] != "0"}
    picked = ("Polluted air → Lung cancer", "Smoking → Lung cancer", "Lung cancer → X-ray shadow")
    sent = {("1", name): "3" for name in picked}
    assert cast == sent | {("2", "A"): "1", ("2", "B"): "3", ("3", paid): "1"}
    wall.get_by_role("button", name="Close the room").click()
    phones[0].get_by_text("the server restarted").wait_for()
    for page in (wall, *phones):
        page.context.close()


def test_a_threshold_in_the_hand_moves_the_charts(page, screenshots):
    steps.go(page, "/learn?step=sieve&data=cancer&sieve.scale=z")
    canvas = page.locator(".sieve-scene canvas")
    canvas.wait_for()
    steps.settle(page)
    before = steps.state(page, "sieve-scene")
    box = canvas.bounding_box()
    assert box
    x = lambda v: box["x"] + (v + 0.96) / 8.96 * box["width"]  # noqa: E731
    y = box["y"] + box["height"] - 46
    page.mouse.move(x(before["level"]) - 2, y)
    page.mouse.down()
    page.mouse.move(x(2.3), y, steps=6)
    held = steps.state(page, "sieve-scene")
    level, lowered = Sieve("kendall", "strict", "z", held["t"], held["w"], 1.0).levels()
    assert held["t"] < before["t"]
    assert (held["level"], held["lowered"]) == pytest.approx((level, lowered))
    page.mouse.up()
    steps.settle(page)
    steps.addressed(page, f"sieve.threshold={held['t']}")
    page.screenshot(path=screenshots / "sieve_scene.png")
    steps.go(page, "/learn?step=orders&data=cancer")
    page.locator(".plan-scene .sentence b").wait_for()
    steps.settle(page)
    first = steps.state(page, "plan-scene")
    page.locator(".plan-scene .dial").first.press("End")
    steps.settle(page)
    page.wait_for_function("() => location.search.includes('plan.beta1=1.0')")
    assert steps.state(page, "plan-scene")["coins"] != first["coins"]
    page.screenshot(path=screenshots / "plan_scene.png")
    steps.go(page, "/learn")  # as it was, for those who come after
    steps.settle(page)
    assert page.locator(steps.BROKEN).count() == 0
