"""Which of two columns causes the other: the model, its scores, and the effect of noise on them."""

from __future__ import annotations

import streamlit as st

from engine import Dataset, InputError, RunResult
from pages.pairs import view
from pages.pairs.form import fields, picture_of, released
from pages.shell import show_strip
from pages.shell import words as text
from pages.shell.state import Draft, Place
from pages.shell.task import faded

# The last release: the identity of its data, and the decision.
RELEASED: Place[tuple[str, RunResult | None]] = Place("pairs_released", lambda: ("", None))


def main() -> None:
    """Draw the page from top to bottom."""
    with st.sidebar:
        d, admitted, data = fields()
    try:
        if isinstance(data, InputError):
            raise data
        with faded("pair", old=not admitted):
            (_public if data.public else _own)(data, d)
    except InputError as error:
        st.title("Cause or effect", anchor=False)
        st.info(text.plain(str(error)), icon=":material/info:")


def _public(data: Dataset, d: Draft) -> None:
    result, found = released(d, data), picture_of(d, data)
    show_strip("Cause or effect", data, result)
    view.decision_view(result, found, d)
    view.fits_view(data, found)
    view.scores_view(data, found, d)
    view.chances_view(data, found, d)
    view.batch_view(d)
    view.files_view(data, result, found, d)


def _own(data: Dataset, d: Draft) -> None:
    """Draw the user's data: a release on request, and exact numbers only on request."""
    heading = st.container()  # the header shows the result of the button below it
    if st.button("Release a decision", type="primary", key="pairs-go"):
        RELEASED.put((data.identity, released(d, data)))
    of, result = RELEASED.get()
    if of != data.identity:
        result = None
    with heading:
        show_strip("Cause or effect", data, result)
    if result is not None:
        view.decision_view(result, None, d)
    else:
        st.info(
            "Nothing has been released from these data yet. Each release spends ε.",
            icon=":material/lock:",
        )
    if st.toggle("Show the data without noise", key="pairs-look"):
        st.warning(
            "Exact points, fits and scores of your own data. Nothing below is private, so do not "
            "share it.",
            icon=":material/warning:",
        )
        found = picture_of(d, data)
        view.fits_view(data, found)
        view.scores_view(data, found, d)


main()
