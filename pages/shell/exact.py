"""The one door to numbers of private rows that nobody has paid for."""

from __future__ import annotations

import streamlit as st

LABEL = "Show exact numbers of your own data (not private)"


def exact_wanted() -> bool:
    """Whether the person has opened the door by hand, in this session and on this page."""
    return bool(
        st.toggle(
            LABEL,
            key="exact",
            help="What follows is calculated from your rows without noise. Nothing of it may be "
            "handed out under a guarantee.",
        )
    )
