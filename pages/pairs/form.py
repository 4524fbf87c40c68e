"""Which pair, and how its direction is released."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import streamlit as st

from engine import InputError
from engine.data.pairs import WHERE
from engine.data.simulated_pairs import CAUSES, HELD_OUT, MECHANISMS, NOISES
from engine.teaching.pairwise import EPSILONS
from pages import files, mode
from pages.files import Upload
from pages.pairs.state import (
    COPY,
    COPY_PROBLEM,
    FILE,
    OWN,
    OWN_PAIR,
    OWN_PROBLEM,
    SIMULATED,
    SOURCES,
    draft,
    tuebingen,
)
from pages.shell import reading
from pages.shell import words as text
from pages.shell.drafts import Draft
from pages.shell.form import bound, number, seed
from pages.shell.session import Place
from pages.shell.task import drop, find, watch

_COPY_SEEN: Place[str | None] = Place("pairs_file_id")
_OWN_SEEN: Place[tuple[str, str] | None] = Place("pairs_own_seen")
_COPY, _TABLE = "pairs-copy", "pairs-table"  # places of files that are read


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
    if mode.switched_off():
        return
    st.caption(
        "The 99 Tübingen cause–effect pairs (Mooij et al. 2016) are not part of this program; "
        f"{WHERE}"
    )
    file = st.file_uploader("cdt-0.6.0 wheel", type=["whl", "zip"], key="pairs-wheel")
    if file is not None and _COPY_SEEN.get() != file.file_id:
        _COPY_SEEN.put(file.file_id)
        _read(_COPY, COPY_PROBLEM, Upload(file.name, file.getvalue()), files.tuebingen)

    def keep(pairs: Any) -> None:
        COPY.put({data.name: data for data in pairs})
        d["chosen"] = pairs[0].name

    _settle(_COPY, COPY_PROBLEM, keep, there=file is not None)
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
    if mode.switched_off():
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
    seen = None if file is None else (file.file_id, d["bounds"])
    if file is not None and _OWN_SEEN.get() != seen:
        _OWN_SEEN.put(seen)
        drop(_TABLE)
        OWN.put(None)
        try:
            _take(Upload(file.name, file.getvalue()), _bounds(d["bounds"]))
        except InputError as error:
            OWN_PROBLEM.put(str(error))
    _settle(_TABLE, OWN_PROBLEM, OWN.put, there=file is not None)


def _take(table: Upload, bounds: files.Bounds) -> None:
    """Read a small table at once; InputError in one sentence for one that cannot be read."""
    if files.large(table):
        _read(_TABLE, OWN_PROBLEM, table, files.pair, bounds)
    else:
        OWN.put(files.pair(table, bounds))
        OWN_PROBLEM.put(None)


def _bounds(typed: str) -> tuple[tuple[float, float], tuple[float, float]]:
    try:
        a, b, c, d = (float(cell) for cell in typed.split(","))
    except ValueError:
        raise InputError(
            "State the bounds as four numbers with commas: low, high of the first column, low, "
            "high of the second."
        ) from None
    if not (-math.inf < a < b < math.inf and -math.inf < c < d < math.inf):
        raise InputError(
            "Each column's lowest value stands before its highest one, both finite: low, high of "
            "the first column, low, high of the second."
        )
    return (a, b), (c, d)


# What takes its time goes on beside the page ---------------------------------------------


def _read(
    name: str,
    problem: Place[str | None],
    file: Upload,
    function: Callable[..., Any],
    *more: Any,
) -> None:
    """Begin to read a file in the place of what was being read."""
    problem.put(f"{file.name} is being read.")
    reading.read(name, file, function, file, *more, about=None)


def _settle(
    name: str,
    problem: Place[str | None],
    keep: Callable[[Any], object],
    *,
    there: bool,
) -> None:
    """Keep what was read, or say why it was not, or how far it is; to be called in each look.

    Nothing is said of a file that is not ``there`` any more.
    """
    if (task := watch(name)) is not None:
        drop(name)
        problem.put(reading.problem(task) or None)
        if task.result is not None:
            keep(task.result)
    elif find(name) is not None:
        return
    if not there:
        problem.put(None)
    if said := problem.get():
        st.error(text.plain(said), icon=":material/error:")
