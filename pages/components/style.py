"""The little CSS that the theme's settings cannot say."""

import streamlit as st

from pages.components.state import theme

_CSS = """
.stMainBlockContainer {padding: 4rem 2.2rem 3rem}
[data-testid="stMetricValue"] {font-size: 1.6rem; font-variant-numeric: tabular-nums}
.st-key-notice {min-height: 4.2rem}
.st-key-presets button {padding: .2rem .55rem; min-height: 2.1rem}
.st-key-presets button p {font-size: .85rem; white-space: nowrap}
/* Run stays in sight while a long form scrolls. */
div:has(> .st-key-run-bar) {position: sticky; bottom: 0; z-index: 5; background: BACKGROUND}
.st-key-run-bar {padding: .7rem 0}
"""
# The theme's primary colour carries white words on buttons; as words on dark it is too dim.
_DARK = """
.stApp button[data-variant="segmented_control"][aria-checked="true"] {
  color: #dbe8ff; border-color: #8db4ff; background: #24406f}
.stApp [data-testid="stTab"][aria-selected="true"] p, .stApp [data-testid="stSliderThumbValue"] * {
  color: #8db4ff}
"""


def page_style() -> None:
    """Apply the style to the page that is open."""
    sidebar = st.get_option(f"theme.{theme()}.sidebar.backgroundColor") or "inherit"
    css = _CSS + (_DARK if theme() == "dark" else "")
    st.html(f"<style>{css.replace('BACKGROUND', sidebar)}</style>")
