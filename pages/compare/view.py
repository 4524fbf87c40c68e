"""Pinned runs on the page: graphs on one layout; scores, settings and edges as tables."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np
import pandas as pd
import streamlit as st

from engine import RunResult
from engine.graphs.cpdag import Adjacency
from engine.graphs.layout import Point, frame_height, frame_scale
from engine.graphs.links import MARKS, LinkClass
from engine.graphs.metrics import Scores, truth_cpdag
from engine.registry import ALGORITHMS, algorithm
from pages.compare.state import unpin
from pages.draw import show
from pages.draw.graph import render_graph
from pages.draw.graphs import NARROW, positions, waiting_toggle
from pages.draw.links import describe, found_links, legend, links_of
from pages.draw.price import promise_html
from pages.draw.strength import weighted
from pages.shell import export, knowledge
from pages.shell import words as text
from pages.shell.knowledge import Columns
from pages.shell.nothing import NOTHING, Counts, Nothing, cell, nothing_for, watch
from pages.shell.palette import theme
from pages.shell.runs import Shown

LETTERS = "ABCD"


def title(run: Shown) -> str:
    """The algorithm with its ε."""
    epsilon = getattr(run.result.params, "epsilon", None)
    name = ALGORITHMS[run.result.algorithm].title
    return name if epsilon is None else f"{name}, ε = {text.number(epsilon)}"


def graphs(pinned: Sequence[Shown]) -> None:
    """The learned graphs, two a row, every dataset on one layout."""
    for start in range(0, len(pinned), 2):
        for column, k in zip(st.columns(2, gap="medium"), (start, start + 1), strict=True):
            if k < len(pinned):
                with column:
                    one_graph(pinned, k)


def one_graph(pinned: Sequence[Shown], k: int) -> None:
    """A pinned run's name, its button, and its graph."""
    run = pinned[k]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{LETTERS[k]} · {text.plain(title(run))}**")
        st.button("Unpin", key=f"compare-unpin-{k}", on_click=unpin, args=(k,))
    data, result = run.data, run.result
    st.html(promise_html(result.summary().promise))
    frame = st.container()  # before what not every run has: graphs beside each other stand level
    for said in (result.diagnostics.chosen, result.order_words):
        if said:
            st.caption(said)
    key_place = st.empty()
    waiting = waiting_toggle(data, len(result.untested), f"compare-{k}")
    if result.classes:
        key_place.html(legend(result, theme(), waiting=waiting))
    links = weighted(found_links(result, waiting=waiting, missed=True), result)
    height = frame_height(data.d)
    page = render_graph(data.names, links, layout(pinned, run), height=height, theme=theme())
    alt = describe(f"{LETTERS[k]}: {title(run)}", data.names, links)
    frame.iframe(page, height=height, alt=alt)


def layout(pinned: Sequence[Shown], run: Shown) -> dict[str, Point]:
    """Places that all runs on the same columns share: the truth's, or else the union's."""
    data = run.data
    if data.truth is not None:
        graph = data.truth
    else:
        graph = nx.DiGraph()
        for other in (p for p in pinned if p.data.names == data.names):
            found = np.argwhere(np.triu(other.result.matrix | other.result.matrix.T, 1))
            graph.add_edges_from((data.names[i], data.names[j]) for i, j in found)
    scale = frame_scale(data.d, wide=False)
    size = NARROW * scale, (frame_height(data.d) - 20) * scale
    return positions(data.names, tuple(sorted(graph.edges)), *size)


# Pinned runs as tables: scores, settings and edges that differ ---------------------------


WAITING = MARKS[LinkClass.UNTESTED].word
MOST = 640  # pixels of a table: what runs cost stands last, and is half of why they are compared


def columns(pinned: Sequence[Shown]) -> list[str]:
    """What the tables call the runs."""
    return [f"{LETTERS[k]} · {title(run)}" for k, run in enumerate(pinned)]


def scores(pinned: Sequence[Shown]) -> None:
    """Counts, scores and cost of every run."""
    st.markdown("**Scores and cost**")
    watch(lambda: [nothing_for(run) for run in pinned], lambda found: _scores(pinned, found))


def _scores(pinned: Sequence[Shown], nothing: Counts) -> None:
    rows: dict[str, list[str]] = {}
    for run, found in zip(pinned, nothing, strict=True):
        for name, value in (_counted(run.result, found) | _cost(run.result)).items():
            rows.setdefault(name, []).append(value)
    if all(run.result.known is None for run in pinned):
        del rows[text.KNOWN_ALONE]
    table = pd.DataFrame(rows.values(), columns=columns(pinned))
    table.insert(0, "Score", list(rows))
    show.table(table, alt="Scores and cost of the pinned runs", most=MOST)
    if any(run.result.untested for run in pinned):
        st.caption(
            "Pairs not tested to the end are neither found nor invented; only the last F1 counts "
            "them as links."
        )


def _counted(result: RunResult, nothing: Nothing | None) -> dict[str, str]:
    """Counts and scores of the links tested to the end, and F1 of the graph as it stands."""
    counts, m, whole = result.counts, result.metrics_tested, result.metrics
    out = {
        **{name: _score(m, field) for name, field in text.SCORES.items()},
        text.KNOWN_ALONE: _score(result.knowledge_alone, "directed_f1"),
        "Precision": f"{m.precision:.2f}" if m and counts and counts.learned else "–",
        "Recall": f"{m.recall:.2f}" if m else "–",
        "True links found": f"{counts.found:,} of {counts.true:,}" if counts else "–",
        MARKS[LinkClass.FALSE_POSITIVE].word: f"{counts.invented:,}" if counts else "–",
        NOTHING: cell(nothing),
        "Links in the result": f"{len(result.skeleton) - len(result.untested):,}",
        WAITING: f"{len(result.untested):,}",
    }
    name = "F1 with those as links"
    return out | {name: _score(whole, "skeleton_f1")}


def _cost(result: RunResult) -> dict[str, str]:
    """What the run took."""
    claimed = result.claimed
    return {
        "CI tests": f"{result.ci_tests:,}",
        "Seconds": text.number(result.seconds, 2) if result.public else "not told",
        "Paper's total ε": text.number(claimed.epsilon) if claimed else "–",
        "Defended total ε": text.number(result.spent.epsilon),
    }


def _score(m: Scores | None, field: str) -> str:
    value = None if m is None else getattr(m, field)
    return "–" if value is None else f"{value}" if isinstance(value, int) else f"{value:.2f}"


def settings(pinned: Sequence[Shown]) -> None:
    """Only the settings in which the runs differ."""
    st.markdown("**Settings that differ**")
    every = [all_settings(run) for run in pinned]
    names = list(dict.fromkeys(name for one in every for name in one))
    rows = [[one.get(name, "–") for one in every] for name in names]
    differing = [(n, *r) for n, r in zip(names, rows, strict=True) if len(set(r)) > 1]
    if not differing:
        st.caption("None." if len(pinned) > 1 else "Pin a second run to compare with.")
        return
    table = pd.DataFrame(differing, columns=["Setting", *columns(pinned)])
    show.table(table, alt="Settings in which the pinned runs differ")


def all_settings(run: Shown) -> dict[str, str]:
    """Every setting of a run by its title, as text; not the seed of own data."""
    source = run.settings.source
    out = {"Dataset": run.data.name, "Rows n": f"{run.data.n:,}"}
    if not source.own:
        out["Data seed"] = f"{source.seed}"
    out["Algorithm"] = ALGORITHMS[run.result.algorithm].title
    columns = Columns(run.data.names, run.data.truth)
    out["What is known"] = knowledge.label(columns, run.result.knowledge)
    titles = {s.name: s.title for s in algorithm(run.result.algorithm).params.specs()}
    for name, value in run.settings.params.items():
        if isinstance(value, float):  # as the strip writes it, all its digits
            out[titles[name]] = text.number(value, 15)
        else:
            out[titles[name]] = text.label(value) if isinstance(value, str) else f"{value}"
    if run.settings.seed is not None:
        out["Noise seed"] = f"{run.settings.seed}"
    return out


def edges(pinned: Sequence[Shown]) -> None:
    """Pairs on which the runs (or a run and the truth) do not agree."""
    st.markdown("**Edges that differ**")
    table = edges_table(pinned)
    if table.empty:
        st.caption("None: the runs found the same graph." if len(pinned) > 1 else "None.")
        return
    show.table(table, alt="Pairs on which the pinned runs differ")
    export.download(
        "Edges that differ (CSV)", lambda: export.as_csv(table), "compare.csv", key="compare-csv"
    )


def edges_table(pinned: Sequence[Shown]) -> pd.DataFrame:
    """One row a pair whose state is not the same in all runs."""
    states = [pair_states(run) for run in pinned]
    truth: dict[tuple[str, str], str] = {}
    if len({run.data.names for run in pinned}) == 1 and pinned[0].data.truth is not None:
        data = pinned[0].data
        truth = marks(data.names, truth_cpdag(data.truth, data.names))
    pairs = sorted(set().union(*states))
    rows = []
    for pair in pairs:
        found = [one.get(pair, "no edge") for one in states]
        if len(set(found)) > 1:
            extra = [truth.get(pair, "no edge")] if truth else []
            rows.append((" – ".join(pair), *extra, *found))
    names = ["Pair", *(["Truth"] if truth else []), *columns(pinned)]
    return pd.DataFrame(rows, columns=names)


def pair_states(run: Shown) -> dict[tuple[str, str], str]:
    """Adjacent pairs of the learned graph with their mark, or that no test was finished."""
    names = run.data.names
    waiting = {(names[i], names[j]): WAITING.lower() for i, j in run.result.untested}
    return marks(names, run.result.displayed_cpdag) | {
        (min(p), max(p)): w for p, w in waiting.items()
    }


def marks(names: Sequence[str], matrix: Adjacency) -> dict[tuple[str, str], str]:
    """Adjacent pairs in the order of names -> "a → b" or "a — b"."""
    return {
        (min(link.a, link.b), max(link.a, link.b)): (
            f"{link.a} {'→' if link.arrow else '—'} {link.b}"
        )
        for link in links_of(matrix, names)
    }
