"""How often a study's runs found each edge."""

from __future__ import annotations

import networkx as nx
import pandas as pd
import streamlit as st

from engine.registry import ALGORITHMS
from engine.studies import CellResult, analysis
from pages.draw import show
from pages.draw.heat import heat
from pages.sweep.jobs import StudyJob, known_datasets

MOST_EDGES = 36  # rows of the heat map


def truth_of(job: StudyJob, fingerprint: str) -> nx.DiGraph | None:
    """The true graph of the dataset with the fingerprint, if the study's settings name it."""
    found = (data.truth for data in known_datasets(job) if data.identity == fingerprint)
    return next(found, None)


def stability_view(results: list[CellResult], truth: nx.DiGraph | None) -> None:
    """How often each edge was found at each ε, for one algorithm."""
    st.markdown("**How often each edge was found**")
    table = analysis.edge_stability(results, truth)
    keys = list(dict.fromkeys(r.algorithm for r in results))
    private = [k for k in keys if ALGORITHMS[k].private] or keys
    start = private[0]
    key = st.selectbox(
        "Algorithm",
        [*private, *(k for k in keys if k not in private)],
        key="sweep-stable-of",
        format_func=lambda k: ALGORITHMS[k].title,
        label_visibility="collapsed",
    )
    part = table[table["algorithm"] == (key or start)]
    wide = part.assign(epsilon=part["epsilon"].map(_epsilon_word)).pivot_table(
        index="edge", columns="epsilon", values="share", sort=False
    )
    if wide.empty:
        st.caption("No edge was found.")
        return
    real = set(part.loc[part["true"].eq(True), "edge"])
    order = sorted(wide.index, key=lambda e: (e not in real, -wide.loc[e].mean()))
    wide = wide.loc[[e for e in order if e in real or wide.loc[e].max() > 0]]
    cut = wide.iloc[:MOST_EDGES]
    marked = cut.set_axis([f"✓ {e}" if e in real else e for e in cut.index])
    figure = heat(marked, x_title="ε asked for", words=len(cut.columns) <= 12)
    show.figure(figure, key="sweep-heat", alt="Share of seeds in which each edge was found, by ε")
    notes = ["✓ marks an edge of the true graph (direction left out)."] if real else []
    if len(wide) > len(cut):
        notes.append(f"{len(wide) - len(cut):,} rarer edges are in the table only.")
    st.caption(" ".join(notes))
    with st.expander("The same as a table"):
        shown = wide.reset_index(names="Edge")
        if truth is not None:
            shown.insert(1, "True", [e in real for e in wide.index])
        show.table(shown, alt="Share of seeds in which each edge was found, by ε", digits=2)


def _epsilon_word(value: float) -> str:
    return "none" if pd.isna(value) else f"{value:g}"
