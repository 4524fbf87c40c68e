"""A study: how far it is, and what is known so far."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from engine import InputError
from engine.studies import CellResult, analysis
from engine.studies.cells import SCORED
from engine.studies.figures import caption, curve_points, figure
from engine.studies.known import ALONE, beside
from engine.studies.null import Shape
from engine.studies.sharing import runs_table
from pages.draw.paper import paper_figure
from pages.shell import export
from pages.shell import words as text
from pages.shell.session import Place
from pages.sweep.curves import (
    COUNTED,
    TESTED,
    X,
    Y,
    counting,
    curve_view,
    data_of,
    early,
    references,
    source_of,
    target_view,
    truth_of,
)
from pages.sweep.handed import file_of
from pages.sweep.jobs import EXAMPLE_NAME, SLOT, StudyJob, current, known_datasets
from pages.sweep.stability import stability_view
from pages.sweep.start import resume

_DRAWN: Place[tuple[str, int] | None] = Place("sweep_drawn")  # the study, and how many runs
_CHARTS = ("sweep-curves", "sweep-heat")  # whose points lead to their runs
_BEGUN = "The first runs are under way; their charts come in a few seconds."
RANKED = ("priv_pc", "svt_pc", "em_pc")  # of the example: what they release rests on rank tests


def ceiling_note(table: pd.DataFrame) -> str:
    """Why the example's rank methods stop below 1, however large ε is; the number is its own."""
    ranked = table[table["algorithm"].isin(RANKED)]
    most = ranked[ranked["epsilon"] == ranked["epsilon"].max()]["skeleton_f1"].median()
    return (
        f"Why three curves stop at {most:.2f}, however large ε is: in Asia 'either' is true "
        "exactly when 'tub' or 'lung' is, and strict rank tests cannot see through such a "
        "deterministic node. Given 'tub' and 'lung' there is nothing left to rank, so its links to "
        "'xray' and 'dysp' go; 'asia – tub' is too weak. Marginal PC reads whole tables of counts."
    )


def study_view() -> None:
    """What is known so far."""
    job = current()
    results = list(job.results)[: drawn_runs(job)]
    # A height of its own, so that nothing jumps while charts and tables come and grow.
    with st.container(key="sweep-results"):
        if results:
            results_view(job, results)
        else:
            st.info(_BEGUN if job.running else "No run is finished yet.")


def drawn_runs(job: StudyJob) -> int:
    """How many of the study's runs are drawn: all, but after a click as many as it was made on.

    With more runs it would be another chart, and Streamlit forgets what was clicked on the old.
    """
    seen = _DRAWN.take()
    if seen is not None and seen[0] == job.name and any(map(_clicked, _CHARTS)):
        return seen[1]
    _DRAWN.put((job.name, len(job.results)))
    return len(job.results)


def _clicked(chart: str) -> bool:
    state = st.session_state.get(chart)
    return state is not None and bool(state.selection.points)


@st.cache_data(max_entries=4, show_spinner=False, scope="session")
def tidy(
    name: str, count: int, last: str, _job: StudyJob, _results: list[CellResult]
) -> pd.DataFrame:
    """One row a run; the key changes whenever a run is added."""
    table = analysis.frame(_results, beside(known_datasets(_job)))
    for column in ("claimed_epsilon", "spent_epsilon", *SCORED, *analysis.TESTED.values()):
        table[column] = pd.to_numeric(table[column])
    return table


def state_view() -> None:
    """How far the study is; where it rests, a line on its state and Resume."""
    job = current()
    if job.running:
        SLOT.watch(key="sweep-cancel")
        return
    words, right = st.columns([5, 1], vertical_alignment="center")
    done = f"{job.done:,} of {text.count(job.total, 'run')}"
    words.markdown(f"**{job.what}** · {done} · {_state(job)}")
    if job.resumable:
        right.button("Resume", key="sweep-resume", on_click=resume, args=(job,), width="stretch")
    if job.problem:
        st.error(text.plain(job.problem), icon=":material/error:")
    if job.note:
        st.caption(job.note)


def _state(job: StudyJob) -> str:
    if job.finished:
        return "finished"
    if job.problem:
        return "stopped by an error"
    return "cancelled; what is finished is kept" if job.ended else "not finished"


def results_view(job: StudyJob, results: list[CellResult]) -> None:
    """Curves, heat map, smallest ε, files."""
    table = tidy(job.name, len(results), repr(results[-1].cell.key), job, results)
    names = list(dict.fromkeys(table["dataset"]))
    x, y, counted = controls(table, names)
    chosen = st.session_state.get("sweep-dataset") if len(names) > 1 else names[0]
    chosen = chosen if chosen in names else names[0]
    here = table[table["dataset"] == chosen]
    mine = [r for r in results if r.fingerprint in set(here["fingerprint"])]
    data = data_of(job, mine[0].fingerprint)
    source = source_of(job, mine[0].fingerprint)
    curve_view(here, x, y, references(data, mine), counted, source, mine)
    if job.name == EXAMPLE_NAME:
        st.caption(ceiling_note(counting(here, counted)))
    _paper(job, table, x, y, counted)
    left, right = st.columns([5, 4], gap="medium")
    with left:
        stability_view(mine, truth_of(job, mine[0].fingerprint), source)
    with right:
        shape = None if data is None else Shape.of(data)
        target_view(counting(here, counted), x, y, mine, shape)
    downloads(job, results, table)


def _paper(job: StudyJob, table: pd.DataFrame, x: str, y: str, counted: str) -> None:
    """The curves of all datasets as a paper prints them."""
    name = analysis.TESTED[Y[y]] if y in text.SCORES and counted == TESTED else Y[y]
    try:
        data = curve_points(table, name, X[x])
    except InputError as error:
        st.caption(text.plain(str(error)))
        return
    rows = {data.name: data.n for data in known_datasets(job)}
    paper_figure(
        lambda kind, columns: (
            figure(table, name, x=X[x], kind=kind, columns=columns, rows=rows).content
        ),
        data,
        caption(table, name, X[x], rows),
        name=job.name.replace(" ", "_"),
        key="sweep",
    )


def controls(table: pd.DataFrame, names: list[str]) -> tuple[str, str, str]:
    """What the axes show, and which dataset; returns (x, y, which links a score counts)."""
    known = ALONE in table
    if not known and st.session_state.get("sweep-y") == text.KNOWN_ALONE:  # of the study before
        del st.session_state["sweep-y"]
    with st.container(horizontal=True, gap="medium", key="sweep-controls"):
        if len(names) > 1:
            st.selectbox("Dataset", names, key="sweep-dataset", width=220)
        scored = table["skeleton_f1"].notna().any()
        options = [name for name in Y if scored or name not in text.SCORES]
        options = [name for name in options if known or name != text.KNOWN_ALONE]
        y = st.segmented_control("Show", options, default=options[0], key="sweep-y", required=True)
        x = st.segmented_control(
            "Against", list(X), default="asked ε", key="sweep-x", required=True
        )
        counted = TESTED
        if scored and early(table):
            counted = st.segmented_control(
                "Links that scores count",
                list(COUNTED),
                default=TESTED,
                key="sweep-counted",
                required=True,
            )
    return x or "asked ε", y or options[0], counted or TESTED


# A study's files -------------------------------------------------------------------------


def downloads(job: StudyJob, results: list[CellResult], table: pd.DataFrame) -> None:
    """Every run as a row, or with its edges as JSON; without the seeds of own data."""
    own = job.wanted is not None and job.wanted.own
    name = job.name.replace(" ", "_")

    def as_json() -> str:
        """The runs as a JSON array."""
        records = [r.as_dict() for r in results]
        if own:  # whoever knows the seed can take the noise away
            records = [record | {"seed": None} for record in records]
        return export.as_json(records)

    tidy = table.drop(columns="seed") if own else table
    with st.container(horizontal=True):
        export.download("Runs (CSV)", lambda: export.as_csv(tidy), f"{name}.csv", key="sweep-csv")
        export.download("Runs (JSON)", as_json, f"{name}.json", key="sweep-json")
        export.download(
            "Runs (Parquet)",
            lambda: runs_table(tidy, "parquet"),
            f"{name}.parquet",
            key="sweep-parquet",
        )
        if not own:
            export.download(
                "Study (file)", lambda: file_of(job), f"{name}.db", key="sweep-study-file"
            )
    if own:
        st.caption("Your own data: F1 against a truth is not private; seeds are left out.")
