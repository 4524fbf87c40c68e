"""Graphs on screen. Nothing else in the project knows pyvis."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from pyvis.network import Network

from engine.graphs.cpdag import Adjacency
from engine.graphs.metrics import EdgeClass
from pages.components import text
from pages.components.layout import NODE_HEIGHT, Point, box_width

VIS = Path(__file__).resolve().parents[2] / "static" / "vis" / "vis-network.min.js"
# Relative, so that it also works under a base path; a srcdoc frame resolves it against the page.
SERVED_VIS = "app/static/vis/vis-network.min.js"


@dataclass(frozen=True)
class Link:
    """One edge to draw: ``arrow`` a -> b, else undirected; ``kind`` None is a plain edge.

    ``width`` None is the class's own; ``note``, never a person's text, shows under the pointer.
    """

    a: str
    b: str
    arrow: bool
    kind: EdgeClass | None = None
    width: float | None = None
    opacity: float = 1.0
    note: str = ""


@dataclass(frozen=True)
class Stroke:
    """How a class of edges looks. ``dash`` in pixels; ``mark`` is a sign at the middle."""

    light: str
    dark: str
    dash: tuple[int, ...]
    width: float
    css: str
    mark: str | None = None
    sign: str = ""


# Okabe and Ito's colours; dash, width and mark tell the classes apart without them.
STROKES: Mapping[EdgeClass | None, Stroke] = {
    None: Stroke("#5b6577", "#a9b4c6", (), 2.0, "solid"),
    EdgeClass.CORRECT: Stroke("#0072b2", "#56b4e9", (), 3.0, "solid"),
    EdgeClass.WRONG_DIRECTION: Stroke("#a8467f", "#dd8fbb", (), 3.0, "solid", "diamond", "◆"),
    EdgeClass.EXTRA: Stroke("#b34700", "#e69f00", (9, 5), 2.0, "dashed"),
    EdgeClass.MISSED: Stroke("#5b6577", "#a9b4c6", (2, 5), 2.0, "dotted"),
}


@dataclass(frozen=True)
class Theme:
    """Colours of nodes and of the frame."""

    name: str
    background: str
    node: str
    border: str
    font: str


THEMES = {
    "light": Theme("light", "#ffffff", "#eef2f8", "#8592a8", "#1a2230"),
    "dark": Theme("dark", "#10151e", "#232d3d", "#6b7a92", "#e9edf4"),
}


def color(kind: EdgeClass | None, theme: str) -> str:
    """The class's colour in the theme "light" or "dark"."""
    return STROKES[kind].dark if theme == "dark" else STROKES[kind].light


def links_of(
    matrix: Adjacency,
    names: Sequence[str],
    classes: Mapping[tuple[int, int], EdgeClass] | None = None,
    only: Iterable[EdgeClass] = tuple(EdgeClass),
) -> list[Link]:
    """The edges of a CPDAG matrix, each pair once, with its class if ``classes`` are given."""
    kinds, links = classes or {}, []
    for i, j in zip(*np.nonzero(np.triu(matrix | matrix.T, 1)), strict=True):
        kind = kinds.get((int(i), int(j)))
        if kind is not None and kind not in only:
            continue
        a, b = (i, j) if matrix[i, j] else (j, i)
        links.append(Link(names[a], names[b], bool(matrix[i, j] ^ matrix[j, i]), kind))
    return links


def render_graph(
    names: Sequence[str],
    links: Sequence[Link],
    positions: Mapping[str, Point],
    *,
    height: int,
    theme: str = "light",
    inline: bool = False,
) -> str:
    """A complete HTML page of ``height`` pixels that draws the graph with vis-network.

    ``inline`` puts the library into the page (for files that must open offline); otherwise the
    app serves it. The page names no external address.
    """
    look = THEMES[theme]
    net = Network(f"{height}px", "100%", directed=True, bgcolor=look.background)
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
    net.set_options(json.dumps(_options(look)))
    return _self_contained(net.generate_html(), look, height, inline)


def _edge(link: Link, positions: Mapping[str, Point], theme: str) -> dict[str, Any]:
    stroke = STROKES[link.kind]
    arrows: dict[str, Any] = {"to": {"enabled": link.arrow, "scaleFactor": 0.65}}
    if stroke.mark:
        arrows["middle"] = {"enabled": True, "type": stroke.mark, "scaleFactor": 0.6}
    ink: Any = color(link.kind, theme)
    return {
        "arrows": arrows,
        "color": ink if link.opacity == 1.0 else {"color": ink, "opacity": link.opacity},
        "dashes": list(stroke.dash) or False,
        "width": stroke.width if link.width is None else link.width,
        "smooth": _bend(link, positions),
        **({"title": link.note} if link.note else {}),
    }


def _bend(link: Link, positions: Mapping[str, Point]) -> dict[str, Any] | bool:
    """A curve for an edge whose straight line would run through another node's box."""
    (ax, ay), (bx, by) = positions[link.a], positions[link.b]
    length = float(np.hypot(bx - ax, by - ay)) or 1.0
    for name, (x, y) in positions.items():
        along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length**2
        if name in (link.a, link.b) or not 0.05 < along < 0.95:
            continue
        across = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / length
        # Half the box, seen across the edge.
        half = (abs(by - ay) * box_width(name) + abs(bx - ax) * NODE_HEIGHT) / (2 * length)
        if abs(across) < half + 2:
            bow = min(0.45, max(0.15, 1.6 * half / length))
            return {"type": "curvedCW" if across >= 0 else "curvedCCW", "roundness": bow}
    return False


def _options(look: Theme) -> dict[str, Any]:
    return {
        "physics": {"enabled": False},
        "interaction": {"zoomView": False, "hover": False, "selectConnectedEdges": False},
        "nodes": {
            "font": {"size": 14, "color": look.font, "face": "sans-serif"},
            "borderWidth": 1,
            "margin": {"top": 6, "bottom": 6, "left": 8, "right": 8},
        },
        "edges": {"selectionWidth": 0, "hoverWidth": 0},
    }


# Links, comments and scripts that load something: all of them point to content networks.
_LOADED = re.compile(
    r"<!--.*?-->|<link\b[^>]*>|<script\b[^>]*\bsrc=[^>]*>\s*</script>|<center>.*?</center>", re.S
)
# The whole graph in view, whatever the frame's width; the wheel zooms only after a click.
_VIEW = """<script>
function show() {
  const boxes = Object.keys(allNodes).map((id) => network.getBoundingBox(id));
  const left = Math.min(...boxes.map((b) => b.left)), top = Math.min(...boxes.map((b) => b.top));
  const right = Math.max(...boxes.map((b) => b.right));
  const bottom = Math.max(...boxes.map((b) => b.bottom));
  const scale = Math.min((innerWidth - 12) / (right - left), (innerHeight - 12) / (bottom - top));
  network.moveTo({position: {x: (left + right) / 2, y: (top + bottom) / 2},
                  scale: Math.min(scale, 1.5)});
}
show(); window.addEventListener("resize", show);
network.on("click", () => network.setOptions({interaction: {zoomView: true}}));
document.addEventListener("mouseleave", () => {
  network.setOptions({interaction: {zoomView: false}}); show(); });
network.once("afterDrawing", () => document.body.setAttribute("data-drawn", "true"));
</script></body>"""


def _self_contained(page: str, look: Theme, height: int, inline: bool) -> str:
    page = _LOADED.sub("", page)
    library = _library() if inline else f'<script src="{SERVED_VIS}"></script>'
    style = (
        f"<style>html,body{{margin:0;height:{height}px;overflow:hidden;"
        f"background:{look.background}}}#mynetwork{{border:0!important;outline:0}}"
        "div.vis-tooltip{position:absolute;visibility:hidden;padding:4px 8px;border-radius:4px;"
        f"border:1px solid {look.border};background:{look.node};color:{look.font};"
        "font:14px sans-serif;white-space:nowrap;pointer-events:none;z-index:5}</style>"
    )
    page = page.replace("<head>", f"<head>{library}{style}", 1)
    # pyvis helpers for its own menus, which this page has not.
    page = re.sub(r"<script>function neighbourhoodHighlight.*?</script>", "", page, flags=re.S)
    return page.replace("</body>", _VIEW, 1)


@cache
def _library() -> str:
    return f"<script>{VIS.read_text(encoding='utf-8')}</script>"


def legend(counts: Mapping[EdgeClass, int], theme: str) -> str:
    """HTML: the four classes with a sample of their stroke and their counts."""
    items = "".join(
        f'<span style="white-space:nowrap;margin-right:1.6rem">{_sample(kind, theme)}'
        f"{kind.value.capitalize()} <b>{counts[kind]}</b></span>"
        for kind in EdgeClass
    )
    return f'<div style="line-height:1.9">{items}</div>'


def _sample(kind: EdgeClass, theme: str) -> str:
    stroke, ink = STROKES[kind], color(kind, theme)
    line = (
        f"display:inline-block;width:2.6rem;margin-right:.5rem;vertical-align:middle;"
        f"border-top:{stroke.width:.0f}px {stroke.css} {ink};height:0;text-align:center"
    )
    sign = f'<span style="position:relative;top:-.95em;color:{ink}">{stroke.sign}</span>'
    return f'<span style="{line}">{sign if stroke.sign else ""}</span>'


def describe(what: str, names: Sequence[str], links: Sequence[Link]) -> str:
    """The frame's name for screen readers."""
    return f"{what}: {text.count(len(names), 'node')}, {text.count(len(links), 'edge')}"


def as_digraph(names: Sequence[str], matrix: Adjacency) -> nx.DiGraph:
    """A directed graph to lay out: undirected edges run in column order."""
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    for link in links_of(matrix, names):
        graph.add_edge(link.a, link.b)
    return graph
