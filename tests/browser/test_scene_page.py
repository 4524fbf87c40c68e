"""The opening page in a real browser: the dial answers by itself, and all that speaks agrees."""

import numpy as np

from tests.browser import steps


def drag(page, share, moves=30):
    """The dial, by its thumb, to a share of its width."""
    box = page.locator(".scene .dial").bounding_box()
    assert box
    at = float(page.locator(".scene .dial").evaluate("(e) => e.value / e.max"))
    x = lambda part: box["x"] + 8 + part * (box["width"] - 16)  # noqa: E731
    y = box["y"] + box["height"] / 2
    page.mouse.move(x(at), y)
    page.mouse.down()
    page.mouse.move(x(share), y, steps=moves)


def test_a_hand_on_the_dial(page, screenshots):
    steps.go(page, "/explore?data=asia&algorithm=priv_pc&epsilon=1")
    page.locator(".scene .sentence b").first.wait_for()
    steps.settle(page)
    page.screenshot(path=screenshots / "scene.png")
    # e / (1 + e) is 73.1 %: what bounds an attacker is rounded up.
    assert "right at most 74 times in 100" in page.locator(".scene .hundred").inner_text()
    assert page.locator(".scene").inner_text().count("right at most") == 1
    steps.go(page, "/explore?data=asia&algorithm=priv_pc&epsilon=1&present=1")
    page.get_by_role("navigation", name="App pages").wait_for(state="hidden")
    page.get_by_role("button", name="Show everything").click()
    page.get_by_role("navigation", name="App pages").wait_for()
    steps.settle(page)

    # While the dial is held the server hears nothing, and every frame is the engine's.
    page.evaluate("window.sent = 0")
    rng = np.random.default_rng(0)
    for share in rng.random(4):
        drag(page, float(share))
        steps.moment(page, 60)
        steps.scene_agrees(page, "asia")
    assert page.evaluate("window.sent") == 0
    page.mouse.up()
    steps.settle(page)
    assert page.evaluate("window.sent") > 0
    steps.addressed(page, f"epsilon={steps.state(page)['epsilon']}")

    # The table and the links on the picture are those of the sentence.
    page.keyboard.press("s")
    shown = steps.numbers(page)
    lines = page.locator(".scene .stage .link").evaluate_all(
        "(all) => all.filter((g) => +g.querySelector('.wire').style.opacity === 1)"
        ".map((g) => g.getAttribute('class'))"
    )
    kinds = [line.split()[1] for line in lines]
    assert kinds.count("false_positive") == shown["false_positives"]
    assert (
        sum(k in ("correct", "not_identifiable", "undirected", "reversed") for k in kinds)
        == shown["found"]
    )
    page.keyboard.press("g")
    steps.settle(page)
    steps.addressed(page, "ghost")
    average = steps.numbers(page)
    page.get_by_role("button", name="As a table").click()
    table = page.locator(".scene tbody").element_handle()
    rows = page.locator(".scene tbody tr").all_inner_texts()
    cells = [row.split("\t") for row in rows]
    total = sum(int(c[3].split()[0]) for c in cells if c[2] == "yes")
    draws = int(cells[0][3].split()[-1])
    assert round(total / draws, 1) == average["found"]
    # Drawn anew with the same rows it is the same table: a selection in it stays.
    page.set_viewport_size({"width": 1280, "height": 900})
    steps.at_rest(page)
    page.set_viewport_size(steps.SIZE)
    steps.at_rest(page)
    assert table.evaluate("(e) => e.isConnected")
    page.get_by_role("button", name="As a table").click()
    page.screenshot(path=screenshots / "scene_ghost.png")
    assert page.locator(steps.BROKEN).count() == 0
    assert page.blocked == []


def test_keyboard_typing_and_the_way_to_run(page):
    page.goto("/explore")  # no rows are chosen on Run
    page.locator(".scene .sentence b").first.wait_for()
    steps.settle(page)
    page.locator(".scene .dial").focus()
    if not steps.state(page)["ghost"]:
        page.keyboard.press("g")
        steps.settle(page)
    steps.walk(page, "Explore")
    page.locator(".scene .sentence b").first.wait_for()
    steps.settle(page)
    assert steps.state(page)["ghost"]  # the menu brings the page as it was left
    page.locator(".scene .dial").focus()
    page.keyboard.press("Escape")
    steps.settle(page)
    assert not steps.state(page)["ghost"]
    steps.addressed(page, "ghost", there=False)
    before = steps.state(page)["epsilon"]
    page.keyboard.press("ArrowLeft")
    steps.settle(page)
    assert steps.state(page)["epsilon"] < before
    steps.addressed(page, f"epsilon={steps.state(page)['epsilon']}")
    page.locator(".scene .value").click()
    before = steps.state(page)["epsilon"]
    page.locator(".scene .typed").fill("7")
    page.keyboard.press("Escape")
    steps.settle(page)
    assert steps.state(page)["epsilon"] == before
    entries = page.evaluate("history.length")
    page.locator(".scene .value").click()
    page.locator(".scene .typed").fill("0.25")
    page.keyboard.press("Enter")
    steps.settle(page)
    assert page.locator(".scene .typed").count() == 0
    assert abs(np.log(steps.state(page)["epsilon"] / 0.25)) < 0.1
    assert page.evaluate("history.length") == entries  # what is typed is no step of Back
    page.get_by_text("Priv-PC", exact=True).click()
    steps.settle(page)
    shown, said = steps.state(page), steps.numbers(page)
    page.get_by_role("button", name="Open in Run").click()
    page.get_by_text("Priv-PC").first.wait_for()
    steps.settle(page)
    steps.addressed(page, "/run")
    steps.addressed(page, f"epsilon={shown['epsilon']}")
    steps.addressed(page, f"seed={shown['draw']}")
    assert f"{said['found']:.0f} of {said['of']:.0f}" in page.locator(".stMain").inner_text()
    assert page.locator(steps.BROKEN).count() == 0
