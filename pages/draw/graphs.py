"""Truth and learned graph on one layout, as people move them. Nothing else here knows pyvis."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

import networkx as nx
import streamlit as st
from pyvis.network import Network

from engine import Dataset, RunResult
from engine.graphs.cpdag import matrix_of
from engine.graphs.layout import Point, flattest, frame_height, place, scale_of
from engine.graphs.links import MARKS, LinkClass
from engine.graphs.picture import Link
from pages.draw import PALETTES
from pages.draw.links import (
    as_digraph,
    describe,
    entries,
    found_links,
    legend_of,
    links_of,
    weighted,
    widths,
)
from pages.shell.words import theme

CPDAG, DAG, OVERLAY = "CPDAG", "DAG", "Overlay"
SMALL, LARGE = 12, 30  # columns up to which no link is hidden; and from which graphs start overlaid
NARROW, WIDE = 460.0, 900.0  # pixels of a frame in half and in the whole width of a small screen


# One graph ------------------------------------------------------------------------------------


def render_graph(
    names: Sequence[str],
    links: Sequence[Link],
    positions: Mapping[str, Point],
    *,
    height: int,
    theme: str = "light",
    closest: float = 1.0,
) -> str:
    """A complete HTML page of ``height`` pixels that draws the graph with vis-network.

    The app serves the library; the page names no external address. A frame that is narrower than
    the layout draws it together, to the share ``closest`` of its width at most.
    """
    look = PALETTES[theme]
    net = Network(directed=True)
    index = {name: str(k) for k, name in enumerate(names)}
    for name in names:
        x, y = positions[name]
        net.add_node(
            index[name],
            label=name,
            x=round(x, 1),
            y=round(y, 1),
            shape="box",
            physics=False,
            color={"background": look.node, "border": look.border, "highlight": look.node},
        )
    for link in links:
        net.add_edge(index[link.a], index[link.b], **_edge(link, positions, theme))
    return _page().substitute(
        vars(look),
        nodes=_json(net.nodes),
        edges=_json(net.edges),
        height=height,
        closest=round(closest, 3),
    )


def _json(value: Any) -> str:
    """The value inside a script, which no name of a column can end."""
    return json.dumps(value).replace("<", "\\u003c")


@cache
def _page() -> Template:
    """The page around a graph; pyvis's own loads from content networks."""
    return Template(Path(__file__).with_name("graph.html").read_text(encoding="utf-8"))


def _edge(link: Link, positions: Mapping[str, Point], theme: str) -> dict[str, Any]:
    mark, bow = MARKS[link.kind], flattest(link.a, link.b, positions)
    arrows: dict[str, Any] = {"to": {"enabled": link.arrow, "scaleFactor": 0.65}}
    if mark.marker:
        arrows["middle"] = {"enabled": True, "type": mark.marker, "scaleFactor": 0.6}
    ink: Any = mark.ink(theme)
    bend = {"type": "curvedCW" if bow > 0 else "curvedCCW", "roundness": abs(bow)}
    return {
        "arrows": arrows,
        "color": ink if link.opacity == 1.0 else {"color": ink, "opacity": link.opacity},
        "dashes": list(mark.dash) or False,
        "width": mark.width if link.width is None else link.width,
        "smooth": bend if bow else False,
        **({"title": link.note} if link.note else {}),
        **({"label": link.label} if link.label else {}),
    }


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
    truth it is the learned graph's. A ``wide`` frame shows the truth's as a narrow one, pulled
    out; but large graphs, and learned ones, are laid out for it.
    """
    graph, made_wide = data.truth, wide and data.d > LARGE
    if graph is None:
        assert result is not None
        graph, made_wide = as_digraph(data.names, result.matrix), True
    scale = scale_of(data.d, WIDE if made_wide else NARROW, frame_height(data.d))
    size = ((WIDE if made_wide else NARROW) * scale, (frame_height(data.d) - 20) * scale)
    at = positions(data.names, tuple(sorted(graph.edges)), *size)
    pulled = WIDE / NARROW if wide and not made_wide else 1.0
    return {name: (x * pulled, y) for name, (x, y) in at.items()}


def draw_graph(
    what: str, data: Dataset, links: list[Link], result: RunResult | None, *, wide: bool = False
) -> None:
    """The graph in its frame; ``what`` names it for screen readers."""
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


# Two graphs -----------------------------------------------------------------------------------

_TRUTHS = (
    "Ground truth as CPDAG (the directions that data and background knowledge identify) or DAG "
    "(all directions)."
)


def prepare(data: Dataset, result: RunResult) -> None:
    """Lay the graphs out before anything is drawn: a large one takes seconds, once."""
    layout_of(data, result, wide=data.truth is None or data.d > LARGE)


def comparison(
    data: Dataset, result: RunResult, *, key: str, more: Callable[[], object] = lambda: None
) -> None:
    """Draw truth and result (side by side or overlaid), or the result alone without a truth.

    What is chosen stands below the graphs, with ``more`` next to it, and the legend. Large graphs
    start overlaid, and without the pairs that were not tested to the end, which would hide links;
    in small ones they hide none.
    """
    graphs = st.container()
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        view = start = OVERLAY if data.truth is None or data.d > LARGE else CPDAG
        if data.truth is not None:
            options, choice = [CPDAG, DAG, OVERLAY], f"{key}-view-{start}"
            said: dict[str, Any] = {"label_visibility": "collapsed", "help": _TRUTHS}
            view = st.segmented_control(
                "View", options, default=start, required=True, key=choice, **said
            )
        waiting = bool(result.untested) and (
            data.d <= SMALL
            or st.toggle("Show pairs not fully tested", value=data.d <= LARGE, key=f"{key}-waiting")
        )
        more()
    if said_above := [entry._replace(more="") for entry in entries(result, waiting=waiting)]:
        st.html(legend_of(said_above, theme()))
    if words := widths(result):
        number = "The pointer on a line shows the number."
        st.caption(f"{words.partition(',')[0]}.", help=f"{words} {number}")
    with graphs:
        overlaid = view == OVERLAY and data.truth is not None
        found = weighted(found_links(result, waiting=waiting, missed=overlaid), result)
        if view == OVERLAY:
            title = "Ground truth and learned graph overlaid" if overlaid else "Learned graph"
            draw_graph(title, data, found, result, wide=True)
            return
        left, right = st.columns(2, gap="medium")
        with left:
            st.markdown("**Ground truth**")
            draw_graph("Ground truth", data, _truth(data, result, as_dag=view == DAG), result)
        with right:
            st.markdown("**Learned graph**")
            draw_graph("Learned graph", data, found, result)


_LEFT = (LinkClass.MISSED, LinkClass.UNTESTED)


def _truth(data: Dataset, result: RunResult, *, as_dag: bool) -> list[Link]:
    """The true links, of which those that were missed or not tested to the end are marked."""
    assert data.truth is not None
    drawn = matrix_of(data.truth, data.names) if as_dag else result.reference_cpdag
    return [
        link if link.kind in _LEFT else Link(link.a, link.b, link.arrow)
        for link in links_of(drawn, data.names, result.classes)
    ]
