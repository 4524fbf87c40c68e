"""Why sieving works: most queries are far from the threshold, and what its noise does to them."""

from __future__ import annotations

import streamlit as st

from pages.shell import dataset, runs
from pages.shell.dataset import exact_wanted
from pages.shell.strip import drafted_data, show_strip
from pages.sieve.errors import errors_view, noise_view
from pages.sieve.form import fields, gap_of, sieve_of
from pages.sieve.scene import sieve_scene
from pages.sieve.scores import scored, scores_view


def main() -> None:
    """The page, top to bottom."""
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
    sieve_scene(data, sieve, *scored(data, sieve), d)
    scores_view(data, sieve)
    errors_view(data, sieve, gap_of(d))
    noise_view(data, sieve)


main()
