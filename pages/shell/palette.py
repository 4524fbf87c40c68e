"""Every colour that the theme's settings do not reach."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from engine.registry import NON_PRIVATE, TITLES

# In the order of .streamlit/config.toml's chartCategoricalColors; the last is the grey. Found by
# search: every eye tells them apart, in grey too (tests/ui/test_colours.py measures it).
INKS = {
    "light": ("#0072b2", "#d55416", "#02304c", "#da5aff", "#5c3500", "#366843", "#574b50"),
    "dark": ("#56b4e9", "#ffaf64", "#ff0c30", "#a922e8", "#fdff3d", "#77a077", "#d4dbd6"),
}
PLAIN = 100  # styles from here on are grey: no privacy, or a mere reference
_GROUPS = {
    "light": ("#8c8f94", "#0072b2", "#7a2f00"),
    "dark": ("#d4dbd6", "#56b4e9", "#d9661f"),
}
_HEAT = {"light": ("#ffffff", "#0072b2"), "dark": ("#1a2230", "#2f8fc6")}
_FONT = {"light": "#1a2230", "dark": "#e9edf4"}
# How well a price holds: variables of the page, so that a change of theme reaches them at once.
_PRICES = {
    "light": {"fine": "#00674d", "doubtful": "#8a5a00", "nothing": "#a8321f"},
    "dark": {"fine": "#35c99a", "doubtful": "#e6b422", "nothing": "#ff9580"},
}
BADGE_OWN, BADGE_PUBLIC = "#b34700", "#00785a"
RUNNING = "#2f7fd0"  # the bar of a run that goes on


def style_of(key: str) -> int:
    """An algorithm's place in the palette, the same on every page."""
    private = [k for k in TITLES if k not in NON_PRIVATE]
    if key in private:
        return private.index(key)
    return PLAIN + list(TITLES).index(key) if key in TITLES else PLAIN


def ink(style: int) -> str:
    """The style's colour in the theme that is shown."""
    *palette, grey = INKS[theme()]
    return grey if style >= PLAIN else palette[style % len(palette)]


def price_ink(level: str, look: str | None = None) -> str:
    """The colour of a price that is "fine", "doubtful" or "nothing"; in the theme that is shown."""
    return _PRICES[look or theme()][level]


def group_inks() -> tuple[str, ...]:
    """Colours of bars side by side: planned, planned again, spent."""
    return _GROUPS[theme()]


def heat_inks() -> tuple[str, str]:
    """Colours of the shares 0 and 1; the first is that of the sheet."""
    return _HEAT[theme()]


def font_ink() -> str:
    """The colour of words."""
    return _FONT[theme()]


def muted_ink() -> str:
    """The colour of small print: 4.5:1 at least on the page and on the sidebar."""
    return {"light": "#4d5666", "dark": "#b3bdcc"}[theme()]


def link_ink() -> str:
    """The colour of links in words."""
    return {"light": "#2457b8", "dark": "#8db4ff"}[theme()]


def see_through(colour: str, share: float) -> str:
    """A hex colour with an opacity, as Plotly takes it."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share})"


@dataclass(frozen=True)
class Look:
    """Colours of a graph's frame and nodes."""

    background: str
    node: str
    border: str
    font: str
    faded: str


LOOKS = {
    "light": Look("#ffffff", "#eef2f8", "#8592a8", _FONT["light"], "#c3cad6"),
    "dark": Look("#10151e", "#232d3d", "#6b7a92", _FONT["dark"], "#465268"),
}


# Which of the two themes the browser shows -----------------------------------------------


def theme() -> str:
    """ "light" or "dark", as the browser shows the app."""
    return "dark" if st.context.theme.type == "dark" else "light"
