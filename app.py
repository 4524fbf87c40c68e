"""The dashboard: page set-up and navigation. Start it with ``make app``."""

from pathlib import Path

import streamlit as st

from pages.components.shell import enter
from pages.components.style import page_style

PAGES = Path(__file__).parent / "pages"
# A file of our own: a named icon would be fetched from the internet.
ICON = PAGES / "components" / "icon.svg"


def main() -> None:
    """Set the page up and run the page that is open."""
    st.set_page_config(
        page_title="DP Causal Explorer",
        page_icon=str(ICON),
        layout="wide",
        initial_sidebar_state=340,
    )
    page_style()
    enter()
    pages = [
        # The default page is served at /, whatever its name; the hidden one answers to /run.
        st.Page(PAGES / "run.py", title="Run", default=True, url_path="home"),
        st.Page(PAGES / "compare.py", title="Compare"),
        st.Page(PAGES / "sweep.py", title="Sweep"),
        st.Page(PAGES / "budget.py", title="Budget"),
        st.Page(PAGES / "sieve.py", title="Sieve"),
        st.Page(PAGES / "data.py", title="Data"),
        st.Page(PAGES / "run.py", title="Run", url_path="run", visibility="hidden"),
    ]
    st.navigation(pages, position="top").run()


# Worker processes import this file again: they must not draw a page.
if __name__ == "__main__":
    main()
