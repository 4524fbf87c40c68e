"""Drawings on pages: graphs, charts, the scene. This module has the colours that the theme's
settings do not reach, and the drawings made of colours only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.registry import NON_PRIVATE, TITLES
from engine.words.run import Promise
from pages.shell.words import safe, theme

PLAIN = 100  # styles from here on are grey: no privacy, or a mere reference
_SIGNS = {"fine": "✔", "doubtful": "▲", "nothing": "✖"}


@dataclass(frozen=True)
class Palette:
    """Colours in one theme.

    ``lines`` are those of styles, in the order of .streamlit/config.toml's chartCategoricalColors,
    the last of them grey; ``bars`` are drawn side by side (planned, planned again, spent); ``heat``
    are the shares 0 and 1. ``prices`` are the colours for the strength of a guarantee. ``muted`` is
    small print.
    """

    lines: tuple[str, ...]
    bars: tuple[str, ...]
    heat: tuple[str, str]
    prices: Mapping[str, str]
    background: str
    node: str
    border: str
    faded: str
    font: str
    muted: str


# Found by search: everybody can tell them apart, also in grey (tests/ui/test_colours.py measures
# it).
PALETTES = {
    "light": Palette(
        ("#0072b2", "#d55416", "#02304c", "#da5aff", "#5c3500", "#366843", "#574b50"),
        ("#8c8f94", "#0072b2", "#7a2f00"),
        ("#ffffff", "#0072b2"),
        {"fine": "#00674d", "doubtful": "#8a5a00", "nothing": "#a8321f"},
        "#ffffff", "#eef2f8", "#8592a8", "#c3cad6", "#1a2230", "#4d5666",
    ),
    "dark": Palette(
        ("#56b4e9", "#ffaf64", "#ff0c30", "#a922e8", "#fdff3d", "#77a077", "#d4dbd6"),
        ("#d4dbd6", "#56b4e9", "#d9661f"),
        ("#1a2230", "#2f8fc6"),
        {"fine": "#35c99a", "doubtful": "#e6b422", "nothing": "#ff9580"},
        "#10151e", "#232d3d", "#6b7a92", "#465268", "#e9edf4", "#b3bdcc",
    ),
}  # fmt: skip


def palette() -> Palette:
    """Return the colours of the theme that is shown."""
    return PALETTES[theme()]


def style_of(key: str) -> int:
    """Return an algorithm's place in the palette, the same on every page."""
    private = [k for k in TITLES if k not in NON_PRIVATE]
    if key in private:
        return private.index(key)
    return PLAIN + list(TITLES).index(key) if key in TITLES else PLAIN


def ink(style: int) -> str:
    """Return the style's colour in the theme that is shown."""
    *lines, grey = palette().lines
    return grey if style >= PLAIN else lines[style % len(lines)]


def see_through(colour: str, share: float) -> str:
    """Return a hex colour with an opacity, in Plotly's format."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share})"


def promise_html(promise: Promise, look: str | None = None) -> str:
    """Return the guarantee in the field's terms, with a sign and in its colour."""
    ink = PALETTES[look or theme()].prices[promise.level]
    return (
        f'<span style="display:inline-block;border:2px solid {ink};border-radius:.8rem;'
        f'color:{ink};font-weight:600;padding:.1rem .7rem;line-height:1.35">'
        f'<span aria-hidden="true">{_SIGNS[promise.level]}</span> {safe(promise.terms)}</span>'
    )
