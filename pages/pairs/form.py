"""Which pair, and how its direction is released."""

from __future__ import annotations

import streamlit as st

from engine import Dataset, InputError
from engine.data.pairs import WHERE
from engine.data.simulated_pairs import CAUSES, HELD_OUT, MECHANISMS, NOISES
from engine.teaching.pairwise import EPSILONS
from pages.host import uploads
from pages.host.uploads import Upload
from pages.pairs.state import COPY, FILE, OWN, OWN_PAIR, SIMULATED, SOURCES, draft, tuebingen
from pages.shell import sign
from pages.shell import words as text
from pages.shell.drafts import Draft
from pages.shell.form import bound, number, seed
from pages.shell.job import gone
from pages.shell.session import Place

_FILE_SEEN: Place[str | None] = Place("pairs_file_id")
_FILE_PROBLEM: Place[str | None] = Place("pairs_problem")
_OWN_SEEN: Place[tuple[str, str] | None] = Place("pairs_own_seen")
_OWN_PROBLEM: Place[str | None] = Place("pairs_own_problem")


def fields() -> Draft:
    """Show the fields; returns the draft."""
    d = draft()
    bound(st.radio, "Pair", d, "source", key="pairs-source", options=SOURCES)
    {SIMULATED: _simulated, FILE: _file, OWN_PAIR: _own}[d["source"]](d)
    st.divider()
    bound(
        st.select_slider,
        "Total ε",
        d,
        "epsilon",
        key="pairs-epsilon",
        options=EPSILONS,
        format_func=lambda v: f"{v:g}",
        help="Strict: two scores get half of it each.",
    )
    bound(
        st.radio,
        "What is released",
        d,
        "release",
        key="pairs-release",
        options=["vote", "difference", "scores"],
        format_func=text.label,
        help="A vote protects every row. The others protect the test half here, the training half "
        "being public, as in the paper's Table 2; of your own data they protect both.",
    )
    with st.expander("Fit and kernels", key="pairs-more"):
        number(d, "ridge", "Ridge λ", key="pairs-ridge", help="Of the kernel ridge regression.")
        number(d, "width", "Width of the fit's kernel", key="pairs-width")
        number(d, "score_width", "Width of HSIC's kernels", key="pairs-score-width")
    if d["source"] != OWN_PAIR:
        seed(d, "seed", "Noise seed", key="pairs-seed", help="Fixes the split and the noise.")
    return d


def _simulated(d: Draft) -> None:
    for name, title, options in (
        ("mechanism", "Mechanism", [*MECHANISMS, *HELD_OUT]),
        ("noise", "Noise of the effect", list(NOISES)),
        ("cause", "Cause", list(CAUSES)),
    ):
        bound(
            st.selectbox,
            title,
            d,
            name,
            key=f"pairs-{name}",
            options=options,
            format_func=text.label,
        )
    left, right = st.columns(2, gap="small")
    with left:
        bound(
            st.number_input,
            "Rows n",
            d,
            "n",
            key="pairs-n",
            min_value=20,
            max_value=20_000,
            step=100,
        )
    with right:
        seed(d, "sample", "Data seed", key="pairs-sample")


def _file(d: Draft) -> None:
    """A person's copy of the Tübingen pairs."""
    st.caption(
        "The 99 Tübingen cause–effect pairs (Mooij et al. 2016) are not part of this program; "
        f"{WHERE}"
    )
    file = st.file_uploader("cdt-0.6.0 wheel", type=["whl", "zip"], key="pairs-wheel")
    if file is not None and _FILE_SEEN.get() != file.file_id:
        _FILE_SEEN.put(file.file_id)
        try:
            wheel = Upload(file.name, file.getvalue())
            with st.spinner("Reading the pairs …"):
                pairs = uploads.beside(uploads.tuebingen, wheel, stopped=gone())
            found = {data.name: data for data in pairs}
        except InputError as error:
            _FILE_PROBLEM.put(str(error))
        else:
            _FILE_PROBLEM.put(None)
            COPY.put(found)
            d["chosen"] = next(iter(found))
    _told(_FILE_PROBLEM)
    if tuebingen():
        bound(
            st.selectbox,
            "Which pair",
            d,
            "chosen",
            key="pairs-chosen",
            options=list(tuebingen()),
            format_func=lambda name: text.dataset_title(tuebingen()[name]),
        )


def _own(d: Draft) -> None:
    """A person's two columns and their stated bounds."""
    if sign.switched_off():
        return
    bound(
        st.text_input,
        "Bounds: low, high, low, high",
        d,
        "bounds",
        key="pairs-bounds",
        placeholder="0, 120, -20, 40",
        help="Lowest and highest possible value of each column: public facts, not read from the "
        "data. Values outside are cut off.",
    )
    file = st.file_uploader("CSV of two columns", type=["csv", "txt", "tsv"], key="pairs-csv")
    if file is None:
        return
    seen = (file.file_id, d["bounds"])
    if _OWN_SEEN.get() != seen:
        _OWN_SEEN.put(seen)
        try:
            OWN.put(_read_pair(Upload(file.name, file.getvalue()), d["bounds"]))
            _OWN_PROBLEM.put(None)
        except InputError as error:
            OWN.put(None)
            _OWN_PROBLEM.put(str(error))
    _told(_OWN_PROBLEM)


def _read_pair(file: Upload, typed: str) -> Dataset:
    asked = file, _bounds(typed)
    if not uploads.large(file):
        return uploads.pair(*asked)
    with st.spinner("Reading the two columns …"):
        found: Dataset = uploads.beside(uploads.pair, *asked, stopped=gone())
    return found


def _bounds(typed: str) -> tuple[tuple[float, float], tuple[float, float]]:
    try:
        a, b, c, d = (float(cell) for cell in typed.split(","))
    except ValueError:
        raise InputError(
            "State the bounds as four numbers with commas: low, high of the first column, low, "
            "high of the second."
        ) from None
    return (a, b), (c, d)


def _told(problem_of: Place[str | None]) -> None:
    if problem := problem_of.get():
        st.error(text.plain(problem), icon=":material/error:")
