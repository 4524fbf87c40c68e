"""Graphs on screen. Nothing else in the project knows pyvis."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from pyvis.network import Network

from pages.components.charts.layout import NODE_HEIGHT, Point, box_width
from pages.components.charts.links import Link
from pages.components.charts.palette import LOOKS, STROKES, Look, stroke_ink

VIS = Path(__file__).resolve().parents[3] / "static" / "vis" / "vis-network.min.js"
# Relative, so that it also works under a base path; a srcdoc frame resolves it against the page.
SERVED_VIS = "app/static/vis/vis-network.min.js"


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
    look = LOOKS[theme]
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
    ink: Any = stroke_ink(link.kind, theme)
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


def _options(look: Look) -> dict[str, Any]:
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


def _self_contained(page: str, look: Look, height: int, inline: bool) -> str:
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
