"""Colours of charts: told apart in light and dark, in grey, and by the colour-blind."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from engine.studies.figures import COLOURS
from pages.shell.inks import PALETTES
from tests.ui.colours import EYES, apart, contrast, lab, nearest

# CIEDE2000: 1 is just seen side by side; what a legend names must be told apart from afar. In grey
# seven colours of 3:1 and more share some fifty steps of lightness.
LEAST = {eye: 20.0 if eye == "usual" else 5.0 if eye == "grey" else 10.0 for eye in EYES}
ON_PAGE = 3.0  # WCAG 2.2, 1.4.11: what one must see of a graphic
ON_PAPER = 2.2  # eight colours share the lightness there is, and each line has a mark and a dash
SETS = {
    **{f"lines, {look}": (one.lines, one.background, ON_PAGE) for look, one in PALETTES.items()},
    **{f"bars, {look}": (one.bars, one.background, ON_PAGE) for look, one in PALETTES.items()},
    "paper": (COLOURS, "#ffffff", ON_PAPER),
}


def too_near(colours: Sequence[str]) -> dict[str, tuple[float, str, str]]:
    """By eye, the worst pair of colours that this eye could take for one."""
    found = {eye: nearest(list(colours), eye) for eye in EYES}
    return {eye: worst for eye, worst in found.items() if worst[0] < LEAST[eye]}


@pytest.mark.parametrize("name", SETS)
def test_colours_are_told_apart_by_every_eye_and_from_the_sheet(name: str) -> None:
    colours, sheet, least = SETS[name]
    assert too_near(colours) == {}
    assert [c for c in colours if contrast(c, sheet) < least] == []


def test_what_looks_alike_is_found() -> None:
    """Two blues; an orange and a brown that deuteranopes take for one; the same grey twice."""
    assert set(too_near(["#0072b2", "#3a86b7"])) >= {"usual", "tritanopia"}
    assert "deuteranopia" in too_near(["#b34700", "#8a6a00"])
    assert set(too_near(["#00785a", "#a8467f"])) == {"grey"}


def test_streamlits_own_charts_have_the_same_colours() -> None:
    theme = tomllib.loads(Path(".streamlit/config.toml").read_text())["theme"]
    for look, palette in PALETTES.items():
        assert tuple(theme[look]["chartCategoricalColors"]) == palette.lines


def test_the_distance_is_ciede2000() -> None:
    """Pairs and distances as Sharma, Wu and Dalal (2005) print them, table 1."""
    table = [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1.3802, -84.2814), (50, 0, -82.7485), 1.0000),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((50, 2.5, 0), (50, 0, -2.5), 4.3065),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ]
    one, two, wanted = (np.array(side, dtype=float) for side in zip(*table, strict=True))
    np.testing.assert_allclose(apart(one, two), wanted, atol=5e-5)


def test_greys_stay_grey_for_every_eye() -> None:
    """The simulations move colours, not lightness without colour."""
    for eye in EYES:
        seen = lab(["#000000", "#777777", "#ffffff"], eye)
        np.testing.assert_allclose(seen, lab(["#000000", "#777777", "#ffffff"]), atol=0.3)
