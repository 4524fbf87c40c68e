"""The dashboard: page set-up and navigation. Start it with ``make app``."""

import streamlit as st


def main() -> None:
    """Set the page up and run the page that is open."""
    st.set_page_config(
        page_title="DP Causal Explorer", page_icon=":material/account_tree:", layout="wide"
    )
    pages = [
        st.Page("pages/run.py", title="Run", default=True),
        st.Page("pages/data.py", title="Data"),
    ]
    st.navigation(pages, position="top").run()


# Worker processes import this file again: they must not draw a page.
if __name__ == "__main__":
    main()
