"""Graphs on screen. Nothing else in the project knows pyvis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from pyvis.network import Network

from engine.graphs.layout import Point, flattest
from engine.graphs.links import MARKS
from engine.graphs.picture import Link
from pages.shell.words import LOOKS

VIS = Path(__file__).resolve().parents[2] / "static" / "vis" / "vis-network.min.js"
_PAGE = Path(__file__).with_suffix(".html")
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
    closest: float = 1.0,
) -> str:
    """A complete HTML page of ``height`` pixels that draws the graph with vis-network.

    ``inline`` puts the library into the page (for files that must open offline); otherwise the
    app serves it. A frame that is narrower than the layout draws it together, to the share
    ``closest`` of its width at most. The page names no external address.
    """
    look = LOOKS[theme]
    net = Network(f"{height}px", "100%", directed=True, bgcolor=look.background)
    net.templateEnv, net.path = _template(theme, inline, closest), _PAGE.name
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
    page: str = net.generate_html()
    return page


def _edge(link: Link, positions: Mapping[str, Point], theme: str) -> dict[str, Any]:
    mark = MARKS[link.kind]
    arrows: dict[str, Any] = {"to": {"enabled": link.arrow, "scaleFactor": 0.65}}
    if mark.marker:
        arrows["middle"] = {"enabled": True, "type": mark.marker, "scaleFactor": 0.6}
    ink: Any = mark.ink(theme)
    return {
        "arrows": arrows,
        "color": ink if link.opacity == 1.0 else {"color": ink, "opacity": link.opacity},
        "dashes": list(mark.dash) or False,
        "width": mark.width if link.width is None else link.width,
        "smooth": _bend(link, positions),
        **({"title": link.note} if link.note else {}),
        **({"label": link.label} if link.label else {}),
    }


def _bend(link: Link, positions: Mapping[str, Point]) -> dict[str, Any] | bool:
    bow = flattest(link.a, link.b, positions)
    if not bow:
        return False
    return {"type": "curvedCW" if bow > 0 else "curvedCCW", "roundness": abs(bow)}


@cache
def _template(theme: str, inline: bool, closest: float) -> Environment:
    """The page that pyvis fills, compiled once; pyvis's own loads from content networks."""
    loaded = VIS.read_text(encoding="utf-8") if inline else ""
    served = "" if inline else f' src="{SERVED_VIS}"'
    env = Environment(loader=FileSystemLoader(_PAGE.parent))
    script = f"<script{served}>{loaded}</script>"
    env.globals |= {"look": LOOKS[theme], "library": script, "closest": round(closest, 3)}
    return env
