"""Truth and learned graph on one layout; users can move the nodes. Nothing else here knows
pyvis."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

import streamlit as st
from pyvis.network import Network

from engine import Dataset, RunResult
from engine.graphs.cpdag import matrix_of
from engine.graphs.links import MARKS, LinkClass
from engine.graphs.view import Edge, GraphView
from pages.draw import PALETTES
from pages.draw.links import (
    describe,
    entries,
    few_untested,
    found_links,
    graph_view,
    labels_of,
    legend_of,
    links_of,
    weighted,
    widths,
)
from pages.shell.form import beside
from pages.shell.words import count, theme

CPDAG, DAG, OVERLAY = "CPDAG", "DAG", "Overlay"
LARGE = 20  # columns above which graphs start overlaid, because letters would be too small
_SIDES = 8, 6  # pixels between a label and its box, as graph.html has them
HIGH, HIGHEST = 300, 600  # pixels of a frame, and of a large graph's


# One graph ------------------------------------------------------------------------------------


def render_graph(shown: GraphView, *, theme: str = "light") -> str:
    """Return a complete HTML page that draws the graph with vis-network, as large as its frame.

    The app serves the library; the page names no external address.
    """
    look = PALETTES[theme]
    net = Network(directed=True)
    index = {name: str(k) for k, name in enumerate(shown.boxes)}
    for box in shown.boxes.values():
        (x, y), (width, height) = box.at, box.size
        net.add_node(
            index[box.name],
            label="\n".join(box.lines),
            name=box.name,
            x=round(x, 1),
            y=round(y, 1),
            widthConstraint={"minimum": width - 2 * _SIDES[0]},  # of the label
            heightConstraint={"minimum": height - 2 * _SIDES[1]},
            shape="box",
            physics=False,
            color={"background": look.node, "border": look.border, "highlight": look.node},
            **({} if box.lines == (box.name,) else {"title": box.name}),
        )
    for edge in shown.edges:
        ends = [index[edge.link.a], index[edge.link.b]]
        start, end = sorted(ends, key=int)
        net.add_edge(start, end, **_edge(edge, theme, "to" if ends[1] == end else "from"))
    nodes, edges, frame = map(_json, (net.nodes, net.edges, shown.frame))
    return _page().substitute(vars(look), nodes=nodes, edges=edges, frame=frame)


def _json(value: Any) -> str:
    """Return the value as JSON for a script, escaped so that no column name can end the script."""
    return json.dumps(value).replace("<", "\\u003c")


@cache
def _page() -> Template:
    """Return the page around a graph. The page of pyvis would load files from content networks."""
    return Template(Path(__file__).with_name("graph.html").read_text(encoding="utf-8"))


def _edge(edge: Edge, theme: str, tip: str) -> dict[str, Any]:
    link, mark = edge.link, MARKS[edge.link.kind]
    arrows: dict[str, Any] = {tip: {"enabled": link.arrow, "scaleFactor": 0.65}}
    if mark.marker:
        arrows["middle"] = {"enabled": True, "type": mark.marker, "scaleFactor": 0.6}
    ink: Any = mark.ink(theme)
    bend = {"type": "curvedCW" if edge.bow > 0 else "curvedCCW", "roundness": abs(edge.bow)}
    return {
        "arrows": arrows,
        "color": ink if link.opacity == 1.0 else {"color": ink, "opacity": link.opacity},
        "dashes": list(mark.dash) or False,
        "width": mark.width if link.width is None else link.width,
        "smooth": bend if edge.bow else False,
        **({"title": link.note} if link.note else {}),
        **({"label": link.label} if link.label else {}),
    }


def draw_graph(what: str, shown: GraphView) -> None:
    """Draw the graph in its frame; ``what`` names it for screen readers."""
    alt = describe(what, tuple(shown.boxes), [edge.link for edge in shown.edges])
    height = HIGH if len(shown.boxes) <= LARGE else HIGHEST
    st.iframe(render_graph(shown, theme=theme()), height=height, alt=alt)


# Two graphs -----------------------------------------------------------------------------------

_TRUTHS = (
    "Ground truth as CPDAG (the directions that data and background knowledge identify) or DAG "
    "(all directions)."
)
_LEFT = (LinkClass.MISSED, LinkClass.UNTESTED)


def learned_view(data: Dataset, result: RunResult, *, waiting: bool = False) -> GraphView:
    """Return the learned graph as Run draws it; a large one takes seconds, once."""
    titles = labels_of(data)
    links = weighted(found_links(result, waiting=waiting), result, titles)
    return graph_view(data, links, result, titles=titles)


def comparison(data: Dataset, result: RunResult, *, more: Callable[[], object]) -> None:
    """Draw truth and result (side by side or overlaid), or the result alone without a truth.

    The choice stands below the graphs, with ``more`` next to it, and the legend. Large graphs
    start overlaid. Many pairs that are not fully tested are drawn only on request.
    """
    graphs, true = st.container(key=f"run-{'large' if data.d > LARGE else 'graphs'}"), data.truth
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        view = start = OVERLAY if true is None or data.d > LARGE else CPDAG
        if true is not None:
            view = st.segmented_control(
                "View",
                [CPDAG, DAG, OVERLAY],
                default=start,
                required=True,
                key=f"run-view-{start}",
                label_visibility="collapsed",
                help=_TRUTHS,
            )
        waiting = few_untested(result) or st.toggle(
            f"Show {count(len(result.untested), 'pair')} not fully tested", key="run-waiting"
        )
        more()
        meaning, details = widths(result)
        if meaning:
            st.caption(meaning, help=f"{details} Point at an edge to see its number.".strip())
    if said_above := [entry._replace(more="") for entry in entries(result, waiting=waiting)]:
        st.html(legend_of(said_above, theme()))
    shown = learned_view(data, result, waiting=waiting)
    with graphs:
        if true is None or view == OVERLAY:
            overlaid = "Ground truth and learned graph overlaid"
            draw_graph("Learned graph" if true is None else overlaid, shown)
            return
        # True links that were missed or not fully tested are marked.
        left = {pair: kind for pair, kind in result.classes.items() if kind in _LEFT}
        matrix = matrix_of(true, data.names) if view == DAG else result.reference_cpdag
        truth = shown.showing(links_of(matrix, data.names, left))
        drawn = {"Ground truth": truth, "Learned graph": shown}
        for column, (title, graph) in beside(drawn.items(), gap="medium"):
            with column:
                st.markdown(f"**{title}**")
                draw_graph(title, graph)
