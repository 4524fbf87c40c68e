"""The learned graphs of pinned runs, two a row, every dataset on one layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import networkx as nx
import numpy as np
import streamlit as st

from engine.graphs.metrics import EdgeClass, truth_cpdag
from engine.registry import ALGORITHMS
from pages.compare.pins import unpin
from pages.draw.graph import render_graph
from pages.draw.graphs import NARROW, found_links, positions, waiting_toggle
from pages.draw.layout import Point, frame_height, frame_scale
from pages.draw.links import describe, legend, links_of
from pages.shell import words as text
from pages.shell.runs import Shown
from pages.shell.theme import theme
from pages.shell.verdict import kinds_of, price_html

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
    left, right = st.columns([4, 1], vertical_alignment="center")
    left.markdown(f"**{LETTERS[k]} · {text.plain(title(run))}**")
    right.button("Unpin", key=f"compare-unpin-{k}", on_click=unpin, args=(k,), width="stretch")
    data, result = run.data, run.result
    st.html(price_html(result))
    frame = st.container()  # before its switch, so that graphs beside each other stand level
    kinds = kinds_of(data, result)
    if kinds:
        st.html(legend(Counter(kinds.values()), theme()))
    waiting = waiting_toggle(len(result.untested), f"compare-{k}")
    links = found_links(data, result, waiting=waiting)
    if data.truth is not None:
        true = truth_cpdag(data.truth, data.names)
        links += links_of(true, data.names, kinds, [EdgeClass.MISSED])
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
