"""A picture of the documents, taken again, is the one that they show."""

import pytest
from PIL import Image, ImageChops

from scripts import pictures

DIFFERENT = 40  # of 255: a pixel of another drawing, not of another rasterizer
MOST = 0.02  # of all pixels


def share(one, other):
    """Return the share of pixels that differ between two pictures, at a quarter of their size."""
    small = [image.convert("L").resize((320, 200)) for image in (one, other)]
    told = ImageChops.difference(*small).histogram()
    return sum(told[DIFFERENT:]) / sum(told)


@pytest.mark.parametrize("ending", pictures.THEMES)
def test_a_picture_taken_again_is_the_one_of_the_documents(ending, browser, app_server):
    [taken] = pictures.take(browser, app_server, "scene", pictures.THEMES[ending])
    kept, other = (
        Image.open(pictures.FOLDER / f"{name}{ending}.png") for name in ("scene", "learn_search")
    )
    assert kept.size == tuple(pictures.SIZE.values())
    assert share(taken, kept) < MOST < share(taken, other)


def test_every_picture_is_there_in_both_themes_and_knows_its_page(monkeypatch):
    files = {path.name for path in pictures.FOLDER.iterdir()} - {pictures.KEPT.name}
    assert files == {
        f"{name}{ending}.{'gif' if name == 'dial' else 'png'}"
        for name in pictures.PICTURES
        for ending in pictures.THEMES
    }
    monkeypatch.setattr(pictures, "SHARED", ("app.py",))  # other sources than they were taken of
    assert pictures.old() == list(pictures.PICTURES)
