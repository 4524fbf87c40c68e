"""A new user: from a table to a question, its forecast, a release and the answer."""

import csv
import io
import json
import random
import re

import numpy as np
import pytest

from engine import load_release, plan
from engine.__main__ import main
from tests.browser.steps import BROKEN, enter, settle, unfold

JOINER = "\u2060"  # keeps the page from reading names as links
SMOKES, DIED = "https://e.vil/smokes", ":material/home: www.e.vil"


def panel():
    """Three visits of each patient; who smokes dies more often. The last names are hostile."""
    draw = random.Random(3)
    rows = [["patient", "admitted", SMOKES, DIED]]
    for k in range(1200):
        smokes = draw.choice(["yes", "no", "no"])
        died = draw.random() < (0.5 if smokes == "yes" else 0.1)
        day = f"20{draw.randint(15, 23)}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
        rows.append([f"P{k // 3:05d}", day, smokes, "yes" if died else "no"])
    return rows


def trial():
    """A randomised treatment and a cost in dollars."""
    rng = np.random.default_rng(4)
    treated, severe = rng.random(3_000) < 0.5, rng.random(3_000) < 0.3
    cost = (rng.gamma(4, 100, 3_000) + 300 * severe - 120 * treated).clip(0, 1999).round()
    words = np.where(treated, "new", "old"), np.where(severe, "yes", "no"), cost.astype(int)
    return [["treatment", "severe", "cost"], *np.array(words).T.tolist()]


# Rows, cause and outcome, its counted levels, the columns before the cause.
ASKED = {
    "panel": (panel, SMOKES, DIED, "yes", []),
    "trial": (trial, "treatment", "cost", "the mean, in its unit", ["severe"]),
}


def dropped(name):
    """Its table as a file that is dropped."""
    out = io.StringIO()
    csv.writer(out).writerows(ASKED[name][0]())
    return {"name": f"{name}.csv", "mimeType": "text/csv", "buffer": out.getvalue().encode()}


def plain(page):
    """Whether no foreign name has become a link or an icon."""
    icons = page.get_by_test_id("stIconMaterial").filter(has_text=re.compile("^home$"))
    return page.locator('[href*="e.vil"]').count() == icons.count() == 0


def choose(page, key, *words):
    """Choose from the list of this key."""
    for word in words:
        settle(page)  # a rerun shuts an open list
        page.locator(f".st-key-{key} input").click()
        page.get_by_role("option", name=word, exact=True).click()
        settle(page)
    page.keyboard.press("Escape")


def declared(page, name):
    """Through the columns: what a person is, public bounds, and the declaration."""
    page.locator(".st-key-schema-open label").click()
    page.get_by_role("button", name="Declare all as shown").wait_for()
    if name == "panel":
        page.get_by_text("it is a date, from 2015 to 2023, whose year").wait_for()
        page.get_by_text("patient: one value has up to 3 rows.").wait_for()
        page.locator(".st-key-cards-several label", has_text="Yes").click()
        page.get_by_text("Orders a person's rows and has no other use.").wait_for()  # the date
    if name == "trial":
        enter(page, "card-2-bounds", "0, 2000")
    page.get_by_role("button", name="Declare all as shown").click()
    page.get_by_text("of the used columns are declared").wait_for()
    settle(page)
    assert plain(page)
    page.get_by_role("button", name="Read the table with this schema").click()
    page.get_by_text("strict runs have a guarantee").wait_for()


@pytest.mark.parametrize("name", ASKED)
def test_from_a_file_through_a_question_to_an_answer(new_page, screenshots, tmp_path, capsys, name):
    page, (_, cause, outcome, counted, before) = new_page, ASKED[name]
    page.goto("/my-data")
    settle(page)
    page.locator('input[type="file"]').first.set_input_files(dropped(name))
    page.get_by_text(re.compile(r"[13],[02]00 rows")).first.wait_for()
    settle(page)
    page.locator(".st-key-journey-columns a, .st-key-journey-here a").first.click()
    declared(page, name)
    page.locator(".st-key-journey-budget a").click()
    page.locator(".st-key-new-name").wait_for(state="attached")
    settle(page)
    unfold(page, "Declare a budget")
    enter(page, "new-name", name)
    page.get_by_role("button", name="Declare", exact=True).click()
    page.locator(".st-key-release-sure").wait_for()
    enter(page, "release-epsilon", "3")
    unfold(page, "A question (optional)")
    choose(page, "question-cause", cause)
    choose(page, "question-outcome", outcome)
    choose(page, "question-counted", counted)
    if before:
        choose(page, "question-before", *before)
    if name == "trial":
        enter(page, "question-shares", "0.5, 0.5")
        page.get_by_text(re.compile("known to about .* at public shares 0.5 and 0.5")).wait_for()
    forecast = page.get_by_text("At ε = 3 the effect of").inner_text().replace(JOINER, "")
    settle(page)
    page.screenshot(path=screenshots / f"data_question_{name}.png", full_page=True)
    page.locator(".st-key-release-sure label").click()
    page.locator(".st-key-release-go button:enabled").click()
    page.get_by_text("Released under").wait_for()
    settle(page)
    page.screenshot(path=screenshots / f"data_released_{name}.png", full_page=True)
    with page.expect_download() as given:
        page.locator("[class*=st-key-release-Release] button").click()
    given.value.save_as(path := tmp_path / "r.json")

    paid = load_release(path)
    schema, [asked] = paid.release.schema, paid.release.schema.questions
    assert (asked.cause, asked.outcome) == (cause, outcome)
    assert paid.release.rows == {"panel": 400, "trial": 3_000}[name]
    answer = paid.answer()
    assert answer.difference is not None
    assert answer.in_unit == (name == "trial")
    assert main(["effect", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(answer.to_json()))
    assert answer.sentence in page.locator(".stMain").inner_text().replace(JOINER, "")
    about = {"rows": paid.release.rows, "delta": paid.spent.delta, "draws": 2, "empty": 0}
    found = plan(schema, epsilon=3.0, algorithms="marginal_pc", **about)
    assert found.widths[0].sentences == (forecast,)

    unfold(page, "Causal effects")
    page.locator(".st-key-release-effects").get_by_text("From the file only").wait_for()
    settle(page)
    assert plain(page)
    assert page.locator(BROKEN).count() == 0
    assert page.blocked == []
