"""A new user with files: bad, odd; then a table of their own to a release and an effect."""

import csv
import io
import random

from tests.browser.steps import BROKEN, EXCEPTION, enter, settle, unfold


def text(name, rows):
    """A CSV file to drop."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return {"name": name, "mimeType": "text/csv", "buffer": out.getvalue().encode()}


def odd():
    """60 columns: names with marks, quotes, commas and line ends, gaps, constants."""
    names = [f'"{k}", <b>ä*{k}*</b>' + ("\n" if k == 7 else "") for k in range(58)]
    rows = [[f"{r % (k % 5 + 2)}" if r % 11 else "" for k in range(58)] for r in range(300)]
    return text("odd.csv", [[*names, "same", " = 1+1"]] + [[*r, "x", f"a{n}"] for n, r in
                            enumerate(rows)])  # fmt: skip


def clinic():
    """An id, a date, gaps, free text; who smokes dies more often."""
    draw = random.Random(3)
    rows = [["patient", "admitted", "age", "smokes", "note", "died"]]
    for k in range(1200):
        smokes = draw.choice(["yes", "no", "no"])
        died = draw.random() < (0.5 if smokes == "yes" else 0.1)
        age = "" if draw.random() < 0.07 else draw.randint(18, 95)
        day = f"20{draw.randint(15, 23)}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
        said = f"came with {draw.random()} complaints"
        rows.append([f"P{k:05d}", day, age, smokes, said, "yes" if died else "no"])
    return text("clinic.csv", rows)


def test_from_a_file_to_a_release(new_page, screenshots):
    page = new_page
    page.goto("/table")
    files = page.locator('input[type="file"]')
    files.first.set_input_files(text("bad.csv", [["a", "b"], [1, 2], [3]]))
    page.get_by_text("Line 3 of bad.csv has another number of cells").first.wait_for()
    settle(page)
    page.screenshot(path=screenshots / "data_error.png")
    files.first.set_input_files(odd())
    page.get_by_text("300 rows, 58 columns").wait_for()
    settle(page)
    assert page.locator(EXCEPTION).count() == 0
    files.first.set_input_files(clinic())
    page.get_by_text("1,200 rows").wait_for()
    settle(page)
    page.locator(".st-key-journey-columns a, .st-key-journey-here a").first.click()
    page.locator(".st-key-schema-open label").click()
    page.get_by_text("it is a date, from 2015 to 2023, of which the year").wait_for()
    page.locator(".st-key-card-1-out label").click()
    for card in (1, 2, 3, 5):
        page.locator(f".st-key-card-{card}-stated label").click()
        settle(page)
    page.screenshot(path=screenshots / "data_cards.png", full_page=True)
    page.get_by_role("button", name="Read the table by this schema").click()
    page.get_by_text("strict runs have a guarantee").wait_for()
    page.locator(".st-key-journey-budget a").click()
    page.locator(".st-key-new-name").wait_for()
    enter(page, "new-name", "clinic")
    page.get_by_role("button", name="Declare", exact=True).click()
    page.locator(".st-key-release-sure label").click()
    page.locator(".st-key-release-go button:enabled").click()
    page.get_by_text("Released under").wait_for()
    unfold(page, "How much? Effects")
    page.locator(".st-key-release-effects").get_by_text("From the file alone").wait_for()
    settle(page)
    page.screenshot(path=screenshots / "data_released.png", full_page=True)
    assert page.locator(BROKEN).count() == 0
    assert page.blocked == []
