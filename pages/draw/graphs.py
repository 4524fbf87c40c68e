"""Truth and learned graph on one layout."""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import streamlit as st

from engine import Dataset, RunResult
from engine.graphs.cpdag import matrix_of
from engine.graphs.layout import Point, frame_height, frame_scale, place
from engine.graphs.links import LinkClass
from engine.graphs.picture import Link
from pages.draw.graph import render_graph
from pages.draw.links import as_digraph, describe, found_links, legend, links_of
from pages.draw.strength import strengths, weighted
from pages.shell.words import theme

CPDAG, DAG, OVERLAY = "CPDAG", "DAG", "Overlay"
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


def prepare(data: Dataset, result: RunResult) -> None:
    """Lay the graphs out before anything is drawn: a large one takes seconds, once."""
    layout_of(data, result, wide=data.truth is None or data.d > LARGE)


def comparison(
    data: Dataset, result: RunResult, *, key: str, more: Callable[[], object] = lambda: None
) -> None:
    """Draw truth and result (side by side or overlaid), or the result alone without a truth.

    What is chosen stands below the graphs, with ``more`` next to it, and the legend.
    """
    graphs = st.container()
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        view = OVERLAY if data.truth is None else _view(data, key)
        waiting = _waiting_toggle(data, len(result.untested), key)
        more()
    if result.classes:
        st.html(legend(result, theme(), waiting=waiting))
    _width_note(result)
    with graphs:
        if view == OVERLAY:
            title = "Learned graph" if data.truth is None else "Truth and learned graph overlaid"
            found = found_links(result, waiting=waiting, missed=data.truth is not None)
            _draw(title, data, weighted(found, result), result, wide=True)
        else:
            _side_by_side(data, result, as_dag=view == DAG, waiting=waiting)


def _side_by_side(data: Dataset, result: RunResult, *, as_dag: bool, waiting: bool) -> None:
    assert data.truth is not None
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("**Truth**")
        drawn = matrix_of(data.truth, data.names) if as_dag else result.reference_cpdag
        marked = [_plain_unless_missed(k) for k in links_of(drawn, data.names, result.classes)]
        _draw("True graph", data, marked, result, wide=False)
    with right:
        st.markdown("**Learned**")
        found = weighted(found_links(result, waiting=waiting), result)
        _draw("Learned graph", data, found, result, wide=False)


_TRUTHS = (
    "Of the truth. CPDAG: as far as data, and what is known, can tell. A line may point either "
    "way. DAG: every cause → effect."
)


def _view(data: Dataset, key: str) -> str:
    """What is shown next to the learned graph, or both in one; large graphs start as one."""
    start = OVERLAY if data.d > LARGE else CPDAG
    chosen = st.segmented_control(
        "View",
        [CPDAG, DAG, OVERLAY],
        default=start,
        required=True,
        key=f"{key}-view-{start}",
        label_visibility="collapsed",
        help=_TRUTHS,
    )
    return str(chosen or start)


def _waiting_toggle(data: Dataset, waiting: int, key: str) -> bool:
    """Whether pairs not tested to the end are drawn; no switch where there are none.

    On large graphs they hide the links, and are drawn when asked for.
    """
    if not waiting:
        return False
    return st.toggle("Show pairs not tested", value=data.d <= LARGE, key=f"{key}-waiting")


def _width_note(result: RunResult) -> None:
    """What the lines' width means, where it means something."""
    if (known := strengths(result)) is not None:
        st.caption(f"{known.sentence} The pointer on a line shows the number.")


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
