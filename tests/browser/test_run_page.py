"""The Run page in a real browser that can reach nothing but the app."""

from tests.browser import steps

CHANGED = "Settings changed – press Run"


def wait_drawn(page):
    """Until no run goes on, the script rests and every graph is on screen."""
    page.wait_for_selector(".stMainBlockContainer .st-key-result")
    steps.settle(page)
    page.wait_for_selector("iframe")
    steps.drawn(page)


def ran(page):
    """Until a change is run: at once, or with the button where the page asks for it."""
    steps.settle(page)
    if page.get_by_text(CHANGED).count():
        page.locator(".st-key-run button").click()
        page.get_by_text(CHANGED).wait_for(state="detached")
    steps.settle(page)


SIGHTS = {"h1": 1, ".headline": 1, "iframe": 2, "div.legend": 1, ".stPlotlyChart:visible": 3}


def one_screen(page):
    """Header, sentence, graphs, legend and charts without scrolling; on phones what was found."""
    for width, height in ((1280, 720), (1440, 900)):
        page.set_viewport_size({"width": width, "height": height})
        steps.at_rest(page)
        for sight, many in SIGHTS.items():
            boxes = [one.bounding_box() for one in page.locator(sight).all()]
            assert len(boxes) == many, sight
            assert max(b["y"] + b["height"] for b in boxes) <= height, (sight, width)
    page.set_viewport_size({"width": 390, "height": 844})
    steps.at_rest(page)
    truth, learned = (one.bounding_box() for one in page.locator("iframe").all())
    assert learned["y"] + learned["height"] <= min(844, truth["y"])
    page.set_viewport_size({"width": 1440, "height": 900})
    steps.at_rest(page)


def test_journey(new_page, screenshots):
    """The algorithms' own levers and three charts in sight, in both themes; a node; a preset."""
    page, told, theme = new_page, [], b"theme-watch-state__events"  # a visit keeps what is unfolded
    page.on("websocket", lambda w: w.on("framesent", lambda sent: told.append(theme in sent)))
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/run?data=asia&algorithm=curate_pc")  # from a link
    levers = {"curate_pc": ("beta1", "beta2"), "priv_pc": ("tweak", "subsample")}
    for algorithm, names in levers.items():
        if algorithm == "priv_pc":
            steps.go(page, "/run?data=asia&algorithm=priv_pc")
        wait_drawn(page)
        words, controls = steps.first_screen(page)
        assert words <= 140, words  # the charts among them
        assert controls <= 25, controls
        for name in ("epsilon", *names):
            box = page.locator(f".st-key-param-{name} input").last.bounding_box()
            assert box["y"] + box["height"] <= 900, name
        page.wait_for_function(
            "() => document.querySelectorAll('.stPlotlyChart .main-svg').length >= 3"
        )
        one_screen(page)
        page.get_by_text("You are here").first.wait_for()
        if algorithm == "curate_pc":
            steps.shaded(page, steps.DARK)
            page.screenshot(path=screenshots / "run_dark.png")
            page.locator('[data-testid="stMainMenu"] button').first.click()
            page.locator("text=Light").last.click()
            steps.shaded(page, steps.WHITE)  # at once, without another click
            page.keyboard.press("Escape")
    page.set_viewport_size(steps.SIZE)
    page.screenshot(path=screenshots / "run.png", full_page=True)
    assert page.locator("iframe").count() == 2
    box = page.locator("iframe").first.bounding_box()
    assert box["width"] > 300

    steps.unfold(page, "More: scores")
    steps.settle(page)
    page.get_by_role("tab", name="Edge table").click()
    steps.settle(page)
    frame = page.frames[1]
    at = frame.evaluate("() => network.canvasToDOM(network.getPosition(ids['either']))")
    box = page.locator("iframe").first.bounding_box()
    page.mouse.click(box["x"] + at["x"], box["y"] + at["y"])
    page.wait_for_function(
        """() => [...document.querySelectorAll("iframe")].every(
             (f) => f.contentDocument.body.dataset.node === "either")"""
    )
    steps.settle(page)
    assert page.locator(".st-key-run-node input").input_value() == "TB or cancer"
    faded = frame.evaluate("() => nodes.get().filter((n) => n.opacity < 1).map((n) => n.name)")
    assert "asia" in faded
    assert "lung" not in faded

    steps.unfold(page, "More settings")
    page.locator(".stMain").evaluate("(e) => e.scrollTo(0, 0)")
    before = page.locator("iframe").first.bounding_box()
    page.get_by_role("radio", name="Paper setting").click()
    ran(page)
    page.locator(".stMain").evaluate("(e) => e.scrollTo(0, 0)")
    steps.at_rest(page)
    assert page.locator("iframe").first.bounding_box() == before  # nothing jumps
    assert page.locator(".st-key-result").evaluate("e => getComputedStyle(e).opacity") == "1"
    page.locator(".headline").get_by_text("Proven ε").wait_for()
    page.screenshot(path=screenshots / "run_published.png", full_page=True)
    page.get_by_text("Overlay", exact=True).click()
    steps.drawn(page, frames=1)
    steps.addressed(page, "guarantee=published")
    assert sum(told) == 1  # what else were sent by itself would take the place of what is pressed
    assert page.blocked == []


def test_bad_input_and_a_fast_series(page, screenshots):
    steps.go(page, "/run?data=cancer&n=2000&seed=1")
    wait_drawn(page)
    entries = page.evaluate("history.length")
    steps.unfold(page, "More settings")
    first = page.locator(".headline").inner_text()
    steps.enter(page, "param-epsilon", "-1")
    ran(page)
    page.get_by_role("alert").get_by_text("epsilon must be at least").wait_for()
    page.locator(".st-key-notice").get_by_text(
        "A field of the form has an invalid value"
    ).wait_for()
    assert page.locator("iframe").count() == 2
    page.screenshot(path=screenshots / "run_error.png")

    steps.enter(page, "param-epsilon", "0.05")
    ran(page)
    page.get_by_text("ε = 0.05 for the whole run").wait_for()
    steps.settle(page)
    steps.addressed(page, "epsilon=0.05")
    assert page.evaluate("history.length") == entries  # what is typed is no step of Back
    steps.enter(page, "param-epsilon", "1")
    page.get_by_text("ε = 1 for the whole run").wait_for()
    steps.settle(page)
    assert page.locator(".headline").inner_text() == first
    assert page.locator(".st-key-param-epsilon input").input_value() == "1"

    # The last of a series is what is shown.
    steps.unfold(page, "More settings")
    page.evaluate("window.lag = 400")
    seed = page.locator(".st-key-run-seed input")  # half a menu wide: too narrow for step buttons
    for pause in (0, 350, 150, 450, 0):
        seed.press("ArrowUp")
        page.wait_for_timeout(pause)
    steps.moment(page, 1000)
    page.evaluate("window.lag = 0")
    ran(page)
    page.wait_for_function("() => location.search.includes('seed=6')")
    wait_drawn(page)
    assert page.get_by_text(CHANGED).count() == 0
    strip = page.locator(".stMain").inner_text()
    assert "NOISE SEED" not in strip
    assert seed.input_value() == "6"
    assert strip.count("\n6\n") >= 1  # the strip's

    # What was typed stays, whatever is pressed at once: the slider next to a typed ε shows the one
    # before for a while, and so does the address.
    stable = page.locator("[data-testid=stSidebar]").get_by_text("PC-stable", exact=True)
    epsilon = page.locator(".st-key-param-epsilon input[type=number]")
    page.evaluate("window.lag = 600")
    for pressed in (stable, page.locator(".st-key-run button"), stable):
        epsilon.fill("5" if epsilon.input_value() != "5" else "2")
        epsilon.press("Enter")
        wanted = epsilon.input_value()
        steps.moment(page, 200)
        pressed.click()
        steps.moment(page, 200)
    steps.moment(page, 1000)
    page.evaluate("window.lag = 0")
    ran(page)
    page.wait_for_function(f"() => location.search.includes('epsilon={wanted}.0')")
    assert epsilon.input_value() == wanted
    slider = page.locator(".st-key-param-epsilon-slider input")
    assert slider.get_attribute("aria-valuetext") == wanted
