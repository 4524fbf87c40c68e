"""Colours of charts: told apart in light and dark, in grey, and by the colour-blind."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from engine.studies.figures import COLOURS
from pages.draw import PALETTES

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
EYES = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]]
    ),
    "deuteranopia": np.array(
        [[0.3673, 0.8607, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]]
    ),
    "tritanopia": np.array(
        [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]]
    ),
    "grey": np.tile([0.2126, 0.7152, 0.0722], (3, 1)),
}
# Oklab (Ottosson, 2020; CSS Color 4): linear RGB -> cones, cube roots of cones -> colour.
CONES = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]])
OKLAB = np.array([[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]])
# Hundredths of Oklab: 2 is just seen side by side; what a legend names must be told apart from
# afar. In grey seven colours of 3:1 and more share some fifty steps of lightness.
LEAST = {eye: 9.0 if eye == "usual" else 5.0 if eye == "grey" else 5.5 for eye in EYES}
ON_PAGE = 3.0  # WCAG 2.2, 1.4.11: what one must see of a graphic
ON_PAPER = 2.2  # eight colours share the lightness there is, and each line has a mark and a dash
SETS = {
    **{f"lines, {look}": (one.lines, one.background, ON_PAGE) for look, one in PALETTES.items()},
    **{f"bars, {look}": (one.bars, one.background, ON_PAGE) for look, one in PALETTES.items()},
    "paper": (COLOURS, "#ffffff", ON_PAPER),
}


def linear(colours):
    """Linear RGB (count, 3) of hex colours."""
    rgb = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in colours]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def too_near(colours):
    """By eye, the worst pair of colours that this eye could take for one."""
    i, j = np.triu_indices(len(colours), 1)
    found = {}
    for eye, seen_by in EYES.items():
        seen = np.cbrt(np.clip(linear(colours) @ seen_by.T, 0, 1) @ CONES.T) @ OKLAB.T
        gaps = 100 * np.linalg.norm(seen[i] - seen[j], axis=1)
        if gaps.min() < LEAST[eye]:
            found[eye] = (colours[i[gaps.argmin()]], colours[j[gaps.argmin()]])
    return found


def contrast(one, two):
    """WCAG's contrast of two hex colours."""
    low, high = sorted(linear([one, two]) @ EYES["grey"][0])
    return float((high + 0.05) / (low + 0.05))


@pytest.mark.parametrize("name", SETS)
def test_colours_are_told_apart_by_every_eye_and_from_the_sheet(name):
    colours, sheet, least = SETS[name]
    assert too_near(colours) == {}
    assert [c for c in colours if contrast(c, sheet) < least] == []


def test_what_looks_alike_is_found():
    """Two blues; an orange and a brown that deuteranopes take for one; the same grey twice."""
    assert set(too_near(["#0072b2", "#3a86b7"])) >= {"usual", "tritanopia"}
    assert "deuteranopia" in too_near(["#b34700", "#8a6a00"])
    assert set(too_near(["#00785a", "#a8467f"])) == {"grey", "deuteranopia"}
    assert too_near(["#ff0000", "#00ff00", "#0000ff", "#ffffff"]) == {}


def test_streamlits_own_charts_have_the_same_colours():
    theme = tomllib.loads(Path(".streamlit/config.toml").read_text())["theme"]
    for look, palette in PALETTES.items():
        named = *theme[look]["chartCategoricalColors"], theme[look]["grayTextColor"]
        assert named == (*palette.lines, palette.muted)
