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


def page_style() -> None:
    """Apply the style to the page that is open."""
    sidebar = st.get_option(f"theme.{theme()}.sidebar.backgroundColor") or "inherit"
    st.html(f"<style>{_CSS.replace('BACKGROUND', sidebar)}</style>")
