"""Truth and learned graph on one layout."""

from __future__ import annotations

import networkx as nx
import numpy as np
import streamlit as st

from engine import Dataset, RunResult
from engine.graphs.cpdag import Adjacency, matrix_of
from engine.graphs.layout import Point, frame_height, frame_scale, place
from engine.graphs.links import LinkClass
from pages.draw.graph import render_graph
from pages.draw.links import Link, as_digraph, describe, found_links, legend, links_of
from pages.draw.strength import strengths, weighted
from pages.shell import words as text
from pages.shell.palette import theme

SIDE_BY_SIDE, OVERLAY = "Side by side", "Overlay"
LARGE = 30  # from here on graphs start overlaid
NARROW, WIDE = 460.0, 900.0  # pixels of a frame in half and in the whole width of a small screen


@st.cache_data(max_entries=64, show_spinner=False)
def positions(
    names: tuple[str, ...], edges: tuple[tuple[str, str], ...], width: float, height: float
) -> dict[str, Point]:
    """Where the nodes go; the same graph always lies the same way."""
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from(edges)
    return place(graph, width, height)


def layout_of(data: Dataset, result: RunResult | None, *, wide: bool) -> dict[str, Point]:
    """One layout for truth and result: the truth's, so that it stays while settings change.

    Every node is in both graphs, so the truth's layout holds the union's edges too; without a
    truth it is the learned graph's.
    """
    graph = data.truth
    if graph is None:
        assert result is not None
        graph = as_digraph(data.names, result.matrix)
    return spread_out(data.names, graph, wide=wide, stretch=data.truth is not None)


def spread_out(
    names: tuple[str, ...], graph: nx.DiGraph, *, wide: bool, stretch: bool
) -> dict[str, Point]:
    """The graph's layout. A ``wide`` frame shows the same one as a narrow, pulled out: ``stretch``;
    but large graphs are laid out for it.
    """
    made_wide = not stretch or (wide and len(names) > LARGE)
    scale = frame_scale(len(names), wide=made_wide)
    size = ((WIDE if made_wide else NARROW) * scale, (frame_height(len(names)) - 20) * scale)
    at = positions(names, tuple(sorted(graph.edges)), *size)
    if not wide or made_wide:
        return at
    return {name: (x * WIDE / NARROW, y) for name, (x, y) in at.items()}


def comparison(data: Dataset, result: RunResult, *, key: str) -> None:
    """Draw truth and result (side by side or overlaid), or the result alone without a truth."""
    if data.truth is None:
        _without_truth(data, result, key)
        return
    view, as_dag, waiting = _switches(data, len(result.untested), key=key)
    st.html(legend(result, theme(), waiting=waiting))
    overlaid = view == OVERLAY
    found = weighted(found_links(result, waiting=waiting, missed=overlaid), result)
    true = result.reference_cpdag
    if overlaid:
        st.markdown("**Truth and learned graph overlaid**")
        _draw("Truth and learned graph overlaid", data, found, result, wide=True)
        _width_note(result)
        return
    left, right = st.columns(2, gap="medium")
    with left:
        more = " and what is known" if result.known is not None and not as_dag else ""
        st.markdown(f"**Truth**, {_TRUTHS[as_dag].format(more=more)}")
        drawn = matrix_of(data.truth, data.names) if as_dag else true
        marked = [_plain_unless_missed(k) for k in links_of(drawn, data.names, result.classes)]
        _draw("True graph", data, marked, result, wide=False)
    with right:
        st.markdown("**Learned**")
        _draw("Learned graph", data, found, result, wide=False)
    _open_note(data, true)
    _width_note(result)


_TRUTHS = {False: "as far as data{more} can tell (CPDAG)", True: "as causes and effects (DAG)"}


def _without_truth(data: Dataset, result: RunResult, key: str) -> None:
    st.markdown("**Learned graph**")
    waiting = waiting_toggle(data, len(result.untested), key)
    links = weighted(found_links(result, waiting=waiting), result)
    _draw("Learned graph", data, links, result, wide=True)
    _width_note(result)


def _switches(data: Dataset, waiting: int, *, key: str) -> tuple[str, bool, bool]:
    """(view, whether the truth is drawn as a DAG, whether untested pairs are drawn)."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        view = view_switch(data, key=key)
        as_dag = False
        if view == SIDE_BY_SIDE:
            chosen = st.segmented_control(
                "Truth as",
                [False, True],
                default=False,
                required=True,
                format_func=lambda dag: "Truth: DAG" if dag else "Truth: CPDAG",
                key=f"{key}-truth-as",
                label_visibility="collapsed",
            )
            as_dag = bool(chosen)
        shown = waiting_toggle(data, waiting, key)
    return view, as_dag, shown


def waiting_toggle(data: Dataset, waiting: int, key: str) -> bool:
    """Whether pairs not tested to the end are drawn; no switch where there are none.

    On large graphs they hide the links, and are drawn when asked for.
    """
    words = f"Show {text.count(waiting, 'pair')} not tested to the end"
    return bool(waiting) and st.toggle(words, value=data.d <= LARGE, key=f"{key}-waiting")


def _open_note(data: Dataset, true: Adjacency) -> None:
    """What the two forms of the truth are, where they differ."""
    left_open = int(np.count_nonzero(true & true.T)) // 2
    if left_open:
        st.caption(
            f"Data alone cannot tell the direction of {text.count(left_open, 'true link')}: either "
            "way explains them equally well. 'Truth: CPDAG' draws those without an arrow, 'Truth: "
            "DAG' draws every cause → effect."
        )


def _width_note(result: RunResult) -> None:
    """What the lines' width means, where it means something."""
    if (known := strengths(result)) is not None:
        st.caption(f"{known.sentence} The pointer on a line shows the number.")


def view_switch(data: Dataset, *, key: str) -> str:
    """Side by side or overlaid; large graphs start overlaid, on the whole width."""
    start = OVERLAY if data.d > LARGE else SIDE_BY_SIDE
    chosen = st.segmented_control(
        "View",
        [SIDE_BY_SIDE, OVERLAY],
        default=start,
        required=True,
        key=f"{key}-view-{start}",
        label_visibility="collapsed",
    )
    return str(chosen or start)


def _plain_unless_missed(link: Link) -> Link:
    return link if link.kind is LinkClass.MISSED else Link(link.a, link.b, link.arrow)


def _draw(
    what: str, data: Dataset, links: list[Link], result: RunResult | None, *, wide: bool
) -> None:
    height = frame_height(data.d)
    pulled = wide and data.truth is not None and data.d <= LARGE
    page = render_graph(
        data.names,
        links,
        layout_of(data, result, wide=wide),
        height=height,
        theme=theme(),
        closest=NARROW / WIDE if pulled else 1.0,
    )
    st.iframe(page, height=height, alt=describe(what, data.names, links))


def true_graph(data: Dataset) -> None:
    """Draw the true DAG with all its arrows."""
    assert data.truth is not None
    links = [Link(a, b, True) for a, b in sorted(data.truth.edges)]
    _draw("True graph", data, links, None, wide=True)
