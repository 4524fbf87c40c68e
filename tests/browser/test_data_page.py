"""A new user: from a table to a release and an effect."""

import csv
import io
import random
import re

from tests.browser.steps import BROKEN, enter, settle, unfold


def clinic():
    """Three visits of each patient; who smokes dies more often. The last names are hostile."""
    draw = random.Random(3)
    rows = [["patient", "admitted", "https://e.vil/smokes", ":material/home: www.e.vil"]]
    for k in range(1200):
        smokes = draw.choice(["yes", "no", "no"])
        died = draw.random() < (0.5 if smokes == "yes" else 0.1)
        day = f"20{draw.randint(15, 23)}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
        rows.append([f"P{k // 3:05d}", day, smokes, "yes" if died else "no"])
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return {"name": "clinic.csv", "mimeType": "text/csv", "buffer": out.getvalue().encode()}


def plain(page):
    """Whether no foreign name has become a link or an icon."""
    icons = page.get_by_test_id("stIconMaterial").filter(has_text=re.compile("^home$"))
    return page.locator('[href*="e.vil"]').count() == icons.count() == 0


def test_from_a_file_to_a_release(new_page, screenshots):
    page = new_page
    page.goto("/my-data")
    settle(page)
    page.locator('input[type="file"]').first.set_input_files(clinic())
    page.get_by_text("1,200 rows").wait_for()
    settle(page)
    page.locator(".st-key-journey-columns a, .st-key-journey-here a").first.click()
    page.locator(".st-key-schema-open label").click()
    page.get_by_text("it is a date, from 2015 to 2023, of which the year").wait_for()
    page.get_by_text("patient: one value has up to 3 rows.").wait_for()
    page.locator(".st-key-cards-several label", has_text="Yes").click()
    page.get_by_text("Orders a person's rows, and has no other use.").wait_for()  # the date
    page.get_by_role("button", name="Declare all as shown").click()
    page.get_by_text("2 of the used columns are declared").wait_for()
    settle(page)
    page.screenshot(path=screenshots / "data_cards.png", full_page=True)
    assert page.get_by_text("e.vil").count() > 0
    assert plain(page)
    page.get_by_role("button", name="Read the table by this schema").click()
    page.get_by_text("strict runs have a guarantee").wait_for()
    assert plain(page)
    assert page.get_by_text("400 persons").count() > 0
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
    assert plain(page)
    assert page.locator(BROKEN).count() == 0
    assert page.blocked == []
