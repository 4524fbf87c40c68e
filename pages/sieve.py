"""Why sieving works: most queries are far from the threshold, and what its noise does to them."""

from __future__ import annotations

import streamlit as st

from pages.components.forms import dataset
from pages.components.forms.sieve import fields, gap_of, sieve_of
from pages.components.shell import draw
from pages.components.state import runs
from pages.components.views.exact import exact_wanted
from pages.components.views.sieve_errors import errors_view
from pages.components.views.sieve_noise import noise_view
from pages.components.views.sieve_scores import scores_view
from pages.components.views.strip import drafted_data, show_strip


def main() -> None:
    """The page, top to bottom."""
    runs.follow_source("sieve")
    runs.shown()
    with st.sidebar:
        dataset.picker(key="sieve")
        d = fields()
    data = drafted_data("Sieve")
    if data is None:
        return
    show_strip("Sieve", data)
    if not data.public:
        st.warning(
            "Exact scores of your own data, without noise: nothing on this page is private. Keep "
            "it to yourself.",
            icon=":material/warning:",
        )
        if not exact_wanted():
            return
    sieve = sieve_of(d, data)
    scores_view(data, sieve)
    errors_view(data, sieve, gap_of(d))
    noise_view(data, sieve)


draw(main)
