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

from pages.draw.layout import NODE_HEIGHT, Point, box_width
from pages.draw.links import Link
from pages.shell.palette import LOOKS, STROKES, Look, stroke_ink

VIS = Path(__file__).resolve().parents[2] / "static" / "vis" / "vis-network.min.js"
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
    net.templateEnv = _templates()
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
        **({"label": link.label} if link.label else {}),
    }


_BOWS = (0.15, -0.15, 0.25, -0.25, 0.35, -0.35, 0.45, -0.45)  # of a curve, clockwise above 0
_ALONG = np.linspace(0.06, 0.94, 23)


def _bend(link: Link, positions: Mapping[str, Point]) -> dict[str, Any] | bool:
    """Straight, or the flattest curve that runs under the fewest boxes of other nodes."""
    others = [(*at, box_width(n)) for n, at in positions.items() if n not in (link.a, link.b)]
    if not others:
        return False
    boxes = np.array(others)
    start, end = positions[link.a], positions[link.b]
    best, fewest = 0.0, _hits(start, end, 0.0, boxes)
    for bow in _BOWS:
        if not fewest:
            break
        if (hits := _hits(start, end, bow, boxes)) < fewest:
            best, fewest = bow, hits
    if not best:
        return False
    return {"type": "curvedCW" if best > 0 else "curvedCCW", "roundness": abs(best)}


def _hits(start: Point, end: Point, bow: float, boxes: np.ndarray) -> int:
    """How many boxes a curve touches; its middle point is where vis-network puts it."""
    (ax, ay), (bx, by) = start, end
    t = _ALONG
    if bow:
        angle = np.arctan2(ay - by, bx - ax) + (bow * 0.5 + 0.5) * np.pi
        reach = (abs(bow) * 0.5 + 0.5) * np.hypot(bx - ax, by - ay)
        via = ax + reach * np.sin(angle), ay + reach * np.cos(angle)
    else:
        via = (ax + bx) / 2, (ay + by) / 2
    x = (1 - t) ** 2 * ax + 2 * t * (1 - t) * via[0] + t**2 * bx
    y = (1 - t) ** 2 * ay + 2 * t * (1 - t) * via[1] + t**2 * by
    near_x = np.abs(x[None] - boxes[:, :1]) < boxes[:, 2:] / 2 + 3
    near_y = np.abs(y[None] - boxes[:, 1:2]) < NODE_HEIGHT / 2 + 3
    return int((near_x & near_y).any(axis=1).sum())


def _options(look: Look) -> dict[str, Any]:
    return {
        "physics": {"enabled": False},
        "interaction": {"zoomView": False, "hover": False, "selectConnectedEdges": False},
        "nodes": {
            "font": {"size": 14, "color": look.font, "face": "sans-serif"},
            "borderWidth": 1,
            "chosen": False,
            "margin": {"top": 6, "bottom": 6, "left": 8, "right": 8},
        },
        "edges": {
            "selectionWidth": 0,
            "hoverWidth": 0,
            "chosen": False,
            "font": {
                "size": 12,
                "color": look.font,
                "face": "sans-serif",
                "strokeWidth": 4,
                "strokeColor": look.background,
                "vadjust": -10,
            },
        },
    }


# Links, comments and scripts that load something: all of them point to content networks.
_LOADED = re.compile(
    r"<!--.*?-->|<link\b[^>]*>|<script\b[^>]*\bsrc=[^>]*>\s*</script>|<center>.*?</center>", re.S
)
# The whole graph in view, drawn apart to the frame's shape; the wheel zooms only after a click.
# A click on a node brings it and its neighbours out, here and in every graph of the page.
_VIEW = """<script>
const home = {}, ids = {};
nodes.forEach((n) => { home[n.id] = {x: n.x, y: n.y}; ids[n.label] = n.id; });
function bounds() {
  const boxes = Object.keys(home).map((id) => network.getBoundingBox(id));
  return {left: Math.min(...boxes.map((b) => b.left)), top: Math.min(...boxes.map((b) => b.top)),
          right: Math.max(...boxes.map((b) => b.right)),
          bottom: Math.max(...boxes.map((b) => b.bottom))};
}
function show() {
  if (innerWidth < 20) { return; }
  const xs = Object.values(home).map((p) => p.x), ys = Object.values(home).map((p) => p.y);
  const wide = (Math.max(...xs) - Math.min(...xs) + 90) / (Math.max(...ys) - Math.min(...ys) + 40);
  const apart = Math.min(2.2, Math.max(1, innerWidth / innerHeight / wide));
  const down = Math.min(1.4, Math.max(1, wide / (innerWidth / innerHeight)));
  Object.entries(home).forEach(([id, p]) => network.moveNode(id, p.x * apart, p.y * down));
  network.redraw();  // boxes are measured as they are drawn
  const b = bounds();
  const scale = Math.min((innerWidth - 12) / (b.right - b.left),
                         (innerHeight - 12) / (b.bottom - b.top));
  network.moveTo({position: {x: (b.left + b.right) / 2, y: (b.top + b.bottom) / 2},
                  scale: Math.min(scale, 1.5)});
}
const inked = {};
edges.forEach((e) => { inked[e.id] = {color: e.color, width: e.width}; });
function bringOut(name) {
  const id = ids[name], known = id !== undefined;
  const near = new Set(known ? [id, ...network.getConnectedNodes(id)] : Object.keys(home));
  nodes.update(Object.keys(home).map((n) => ({id: n, opacity: near.has(n) ? 1 : 0.18,
    borderWidth: known && n === id ? 3 : 1,
    font: {color: near.has(n) ? FONT : FADED}})));
  edges.update(edges.get().map((e) => {
    const touches = !known || e.from === id || e.to === id, was = inked[e.id];
    const ink = typeof was.color === "string" ? {color: was.color} : was.color;
    return {id: e.id, color: touches ? was.color : {...ink, opacity: 0.1}}; }));
  document.body.dataset.node = known ? name : "";
}
show(); window.addEventListener("resize", show);
network.on("click", (at) => {
  network.setOptions({interaction: {zoomView: true}});
  const name = at.nodes.length ? nodes.get(at.nodes[0]).label : "";
  bringOut(name);
  parent.postMessage({graphNode: name}, "*");
});
window.addEventListener("message", (e) => {
  if (e.data && typeof e.data.bringOut === "string") { bringOut(e.data.bringOut); } });
document.addEventListener("mouseleave", () => {
  network.setOptions({interaction: {zoomView: false}}); show(); });
network.once("afterDrawing", () => document.body.setAttribute("data-drawn", "true"));
parent.postMessage({graphReady: true}, "*");
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
    view = _VIEW.replace("FONT", json.dumps(look.font)).replace("FADED", json.dumps(look.faded))
    return page.replace("</body>", view, 1)


@cache
def _templates() -> Any:
    """pyvis's page, compiled once: a network of its own would compile it at every drawing."""
    return Network().templateEnv


@cache
def _library() -> str:
    return f"<script>{VIS.read_text(encoding='utf-8')}</script>"
