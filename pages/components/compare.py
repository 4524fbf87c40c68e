"""Truth and learned graph on one layout."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import streamlit as st

from engine import Dataset, RunResult
from engine.graphs.metrics import EdgeClass, classify, truth_cpdag
from pages.components.graph import (
    Link,
    as_digraph,
    describe,
    legend,
    links_of,
    render_graph,
)
from pages.components.layout import Point, frame_height, frame_scale, place
from pages.components.state import theme
from pages.components.strength import strengths, weighted

SIDE_BY_SIDE, OVERLAY = "Side by side", "Overlay"
LARGE = 30  # from here on graphs start overlaid
NARROW, WIDE = 460.0, 900.0  # pixels of a frame in half and in the whole width of a small screen
_FOUND = (EdgeClass.CORRECT, EdgeClass.WRONG_DIRECTION, EdgeClass.EXTRA)
_TRUE = (EdgeClass.CORRECT, EdgeClass.WRONG_DIRECTION, EdgeClass.MISSED)


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
    truth it is the learned graph's. A ``wide`` frame shows the same layout stretched.
    """
    graph = data.truth
    if graph is None:
        assert result is not None
        graph = as_digraph(data.names, result.matrix)
    made_wide = data.truth is None or data.d > LARGE
    scale = frame_scale(data.d, wide=made_wide)
    size = ((WIDE if made_wide else NARROW) * scale, (frame_height(data.d) - 20) * scale)
    at = positions(data.names, tuple(sorted(graph.edges)), *size)
    if not wide or made_wide:
        return at
    return {name: (x * WIDE / NARROW, y) for name, (x, y) in at.items()}


def comparison(data: Dataset, result: RunResult, *, key: str) -> None:
    """Draw truth and result (side by side or overlaid), or the result alone without a truth."""
    if data.truth is None:
        st.markdown("**Learned graph**")
        links = weighted(links_of(result.matrix, data.names), result)
        _draw("Learned graph", data, links, result, wide=True)
        _width_note(result)
        return
    left, right = st.columns([1, 3], vertical_alignment="center")
    with left:
        view = view_switch(data, key=key)
    true = truth_cpdag(data.truth, data.names)
    kinds = classify(result.matrix, true)
    counts = Counter(kinds.values())
    with right:
        st.html(legend({kind: counts[kind] for kind in EdgeClass}, theme()))
    found = weighted(links_of(result.matrix, data.names, kinds, _FOUND), result)
    if view == OVERLAY:
        missed = links_of(true, data.names, kinds, [EdgeClass.MISSED])
        st.markdown("**Truth and learned graph overlaid**")
        _draw("Truth and learned graph overlaid", data, [*found, *missed], result, wide=True)
        _width_note(result)
        return
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(
            "**Truth**",
            help="The true graph's equivalence class (CPDAG): all that observational "
            "data can tell. An edge without an arrow can point either way.",
        )
        marked = [_plain_unless_missed(k) for k in links_of(true, data.names, kinds, _TRUE)]
        _draw("True graph", data, marked, result, wide=False)
    with right:
        st.markdown("**Learned**")
        _draw("Learned graph", data, found, result, wide=False)
    _width_note(result)


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
    return link if link.kind is EdgeClass.MISSED else Link(link.a, link.b, link.arrow)


def _draw(
    what: str, data: Dataset, links: list[Link], result: RunResult | None, *, wide: bool
) -> None:
    height = frame_height(data.d)
    page = render_graph(
        data.names, links, layout_of(data, result, wide=wide), height=height, theme=theme()
    )
    st.iframe(page, height=height, alt=describe(what, data.names, links))


def true_graph(data: Dataset) -> None:
    """Draw the true DAG with all its arrows."""
    assert data.truth is not None
    links = [Link(a, b, True) for a, b in sorted(data.truth.edges)]
    _draw("True graph", data, links, None, wide=True)
