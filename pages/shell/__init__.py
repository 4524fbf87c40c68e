"""What stands around every page: set-up, style and navigation."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import streamlit as st

from pages.shell import reading, state
from pages.shell.listen import watch_theme
from pages.shell.navigation import ASKS, PAGES, PageEntry, today
from pages.shell.palette import link_ink, muted_ink, theme
from pages.shell.task import OPEN
from pages.shell.words import plain

# A file of our own: a named icon would be fetched from the internet.
ICON = Path(__file__).parent / "icon.svg"

# The little that the theme's settings cannot say.
_CSS = """
.unseen {position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)}
.stAppToolbar::before {content: "DP Causal Explorer"; font-weight: 600; white-space: nowrap;
  padding: 0 .8rem}
.stMainBlockContainer {padding: 4rem 2.2rem 3rem}
[data-testid="stMetricValue"] {font-size: 1.6rem; font-variant-numeric: tabular-nums}
/* What does not fit takes a second line; Streamlit would cut it off, or hide it to the right. */
[data-testid="stMetricLabel"] * {white-space: normal; overflow: visible}
.stMain [data-testid="stButtonGroup"] > div {flex-wrap: wrap; row-gap: .3rem}
.st-key-learn-step [data-testid="stButtonGroup"] > div {flex-wrap: nowrap}
/* Charts and tables stand below each other where next to each other they could not be read. */
.stMain [data-testid="stColumn"]:has(.stPlotlyChart, .stDataFrame) {min-width: min(20rem, 100%)}
.stMain [data-testid="stColumn"] [data-testid="stColumn"]:has(.stPlotlyChart, .stDataFrame) {
  min-width: min(14rem, 100%)}
.st-key-notice {min-height: 6.75rem}
.st-key-nothing-run {min-height: 1.7rem}
.st-key-nothing-form {min-height: 3.1rem}
.st-key-price {min-height: 13.5rem; max-width: 60rem}
.st-key-result .legend {min-height: 3.8em}
.st-key-sweep-results {min-height: 72rem}
/* A focus ring for who comes by key, none for a mouse. */
:focus:not(:focus-visible) {outline: none !important}
.stMain h1:not(.unseen) {font-size: 1.7rem; padding: 0; margin: 0}
.st-key-answered {display: none}
/* A number is typed, or stepped by an arrow key. */
[data-testid^="stNumberInputStep"] {display: none}
.st-key-theme-watch, .st-key-node-watch, .st-key-key-watch {
  position: absolute; height: 0; overflow: hidden}
/* A link to a step of the page that is open is not the step that is open. */
.st-key-journey > div {width: auto; flex: 0 0 auto}
.st-key-journey > div:not(.st-key-journey-here) a, .st-key-journey-next a {background: none}
.st-key-journey > div:not(.st-key-journey-here) a p {font-weight: 400}
.st-key-journey-next a p {white-space: normal}
/* Small print and links that can be read: 4.5:1 at least on both backgrounds. */
[data-testid="stCaptionContainer"], [data-testid="stCaptionContainer"] p {
  color: MUTED; opacity: 1}
.stMarkdown a, [data-testid="stCaptionContainer"] a {color: LINK !important; opacity: 1}
/* The path from one table to the next is short: its tool bar comes with the pointer alone. */
[data-testid="stElementToolbar"] {visibility: hidden}
:hover > [data-testid="stElementToolbar"] {visibility: visible}
/* What only listens takes no room, not even a gap. */
div:has(> .st-key-key-watch) {position: absolute}
/* Run stays in sight while a long form scrolls. */
div:has(> .st-key-run-bar) {position: sticky; bottom: 0; z-index: 5; background: BACKGROUND}
.st-key-run-bar {padding: .7rem 0}
/* On paper: the page without its form, buttons and menus, and graphs in their own shape. */
@media print {
  [data-testid="stSidebar"], [data-testid="stHeader"], .st-key-run-bar, .stButton,
  .stDownloadButton, .st-key-presets, [data-testid="stElementToolbar"],
  [data-testid="stStatusWidget"] {
    display: none !important}
  .stApp, .stMain, .stMainBlockContainer, [data-testid="stAppViewContainer"] {
    position: static !important; overflow: visible !important; height: auto !important;
    max-width: none !important}
  .stMainBlockContainer {padding: 0 !important}
  .st-key-result {opacity: 1 !important}
  iframe, .stPlotlyChart, .stDataFrame, [data-testid="stMetric"] {break-inside: avoid}
}
"""
# The theme's primary colour carries white words on buttons; as words on dark it is too dim.
_DARK = """
.stApp button[data-variant="segmented_control"][aria-checked="true"] {
  color: #dbe8ff; border-color: #8db4ff; background: #24406f}
.stApp [data-testid="stTab"][aria-selected="true"] p, .stApp [data-testid="stSliderThumbValue"] * {
  color: #8db4ff}
"""


def main() -> None:
    """Set the app up and run the page that is open."""
    OPEN.put(False)
    reading.settle()
    sidebar = st.get_option(f"theme.{theme()}.sidebar.backgroundColor") or "inherit"
    css = _CSS + (_DARK if theme() == "dark" else "")
    inks = {"BACKGROUND": sidebar, "MUTED": muted_ink(), "LINK": link_ink()}
    for name, ink in inks.items():
        css = css.replace(name, ink)
    st.html(f"<style>{css}</style>")
    watch_theme()
    page = st.navigation(menu(), position="top")
    st.set_page_config(
        page_title=f"{page.title} · DP Causal Explorer",
        page_icon=str(ICON),
        layout="wide",
        initial_sidebar_state=340,
    )
    led = any(page.url_path in known.old for known in PAGES)  # it is left at once
    state.begin("" if led else page.title, today)
    said = st.empty()
    page.run()
    if refused := state.refused():
        said.error(
            plain(f"Of the link is not shown: {' '.join(refused)}"), icon=":material/link_off:"
        )
    state.finish()
    state.mark()


def menu() -> list[st.Page]:
    """The navigation's pages, and hidden ones: parts of them, and old addresses."""
    first, *rest = PAGES
    # The default page is served at /, whatever its name; a hidden copy answers to its own address.
    shown = [st.Page(first.file, title=first.title, default=True, url_path="home")]
    shown += [st.Page(page.file, title=page.title, url_path=page.name) for page in rest]
    hidden = [
        st.Page(first.file, title=first.title, url_path=first.name, visibility="hidden"),
    ]
    hidden += [
        st.Page(partial(_lead, page, old), title=page.title, url_path=old, visibility="hidden")
        for page in PAGES
        for old in page.old
    ]
    return shown + hidden


def _lead(page: PageEntry, old: str) -> None:
    """An old address leads to the page that holds what stood there."""
    asked = today(st.query_params.to_dict()) | ASKS.get(old, {})
    st.switch_page(page.file, query_params=asked)
