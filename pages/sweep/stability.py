"""How often a study's runs found each edge, and a run that did."""

from __future__ import annotations

import math
from collections.abc import Sequence

import networkx as nx
import pandas as pd
import streamlit as st

from engine.percent import percent
from engine.registry import ALGORITHMS
from engine.studies import CellResult, analysis
from pages.draw import show
from pages.draw.bars import heat
from pages.draw.opening import figure_of_runs, over_cells
from pages.shell.settings import Settings
from pages.sweep.curves import run_of

MOST_EDGES = 36  # rows of the heat map
MOST_WORDS = 12  # values of ε: beside more of them no number fits into a cell
_ALT = "Share of seeds in which each edge was found, by ε"
_HINT = "Click a cell to open a run that found the edge."


def stability_view(
    results: list[CellResult], truth: nx.DiGraph | None, source: Settings | None
) -> None:
    """How often each edge was found at each ε, for one algorithm.

    ``source`` is that of public data, on which a cell opens as a run.
    """
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
    mean, most = wide.mean(axis=1), wide.max(axis=1)
    order = sorted(wide.index, key=lambda e: (e not in real, -mean[e]))
    wide = wide.loc[[e for e in order if e in real or most[e] > 0]]
    cut = wide.iloc[:MOST_EDGES]
    marked = cut.set_axis([f"✓ {e}" if e in real else e for e in cut.index])
    words = len(cut.columns) <= MOST_WORDS
    figure = heat(marked, x_title="ε asked for", words=words)
    notes = ["Numbers are percent of the seeds."] if words else []
    notes += ["✓ marks an edge of the true graph (direction left out)."] if real else []
    if source is None:
        show.figure(figure, key="sweep-heat", alt=_ALT)
    else:
        mine = [r for r in results if r.algorithm == (key or start)]
        over_cells(figure, [[percent(v) for v in row] for row in cut.to_numpy()])
        runs = [run_of(r, source) for r in _found_in(cut, mine)]
        figure_of_runs(figure, runs, key="sweep-heat", alt=_ALT, hint=_HINT)
    if len(wide) > len(cut):
        notes.append(f"{len(wide) - len(cut):,} rarer edges are in the table only.")
    st.caption(" ".join(notes))
    with st.expander("The same as a table"):
        shown = wide.reset_index(names="Edge")
        if truth is not None:
            shown.insert(1, "True", [e in real for e in wide.index])
        show.table(shown, alt=_ALT, digits=2)


def _found_in(wide: pd.DataFrame, results: Sequence[CellResult]) -> list[CellResult]:
    """For each cell the first run at its ε that found the edge; the first there is if none did."""
    by_epsilon: dict[str, list[CellResult]] = {}
    for result in sorted(results, key=lambda r: r.seed):
        word = _epsilon_word(result.values.get("epsilon", math.nan))
        by_epsilon.setdefault(word, []).append(result)
    found = {id(r): {f"{a} - {b}" for a, b in r.found} for r in results}
    return [
        next((r for r in by_epsilon[word] if edge in found[id(r)]), by_epsilon[word][0])
        for edge in wide.index
        for word in wide.columns
    ]


def _epsilon_word(value: float) -> str:
    return "none" if pd.isna(value) else f"{value:g}"
