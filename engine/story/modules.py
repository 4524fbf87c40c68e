"""Modules, names and places for pictures that the browser draws (static/scene)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import combinations
from typing import Any

from engine.data.dataset import Dataset
from engine.data.networks import folder, plain_names
from engine.graphs.cpdag import matrix_of
from engine.graphs.known import truth_cpdag
from engine.graphs.links import LinkClass
from engine.graphs.view import FRAME, NARROW, SMALL, Link, view
from engine.studies.scenes import pair_states

BROWSER = folder("browser", "static/scene")  # modules and style sheets of animated pictures
_FRAMES = {"wide": FRAME, "narrow": NARROW, "small": SMALL}
_IMPORT = re.compile(r'(?m)^import (\{.*\}) from "\./(\w+)\.js";\n')
_EXPORT = re.compile(r"(?m)^export ((?:async )?(?:function|class|const) .*)")


def _module(name: str) -> str:
    return (BROWSER / f"{name}.js").read_text(encoding="utf-8")


@cache
def bundle(*tops: str) -> str:
    """Bundle modules and their imports into one classic script: ``modules.NAME.EXPORT``.

    A page opened from disk and a Streamlit component cannot import other files.
    """
    order: dict[str, str] = {}

    def visit(name: str) -> None:
        text = _module(name)
        for _, other in _IMPORT.findall(text):
            if other not in order:
                visit(other)
        given = " ".join(line.partition("(")[0] for line in _EXPORT.findall(text))
        names = re.findall(r"(?:function|class) (\w+)|(\w+) =", given)
        body = _EXPORT.sub(r"\1", _IMPORT.sub(r"const \1 = modules.\2;\n", text))
        out = ", ".join(a or b for a, b in names)
        order[name] = f"modules.{name} = (() => {{\n{body}\nreturn {{{out}}};\n}})();"

    for top in tops:
        visit(top)
    return "\n".join(["const modules = {};", *order.values()])


@cache
def style(name: str = "scene") -> str:
    """Read the style sheet of the scene, the story or the board."""
    return (BROWSER / f"{name}.css").read_text(encoding="utf-8")


def digested(content: Mapping[str, Any]) -> dict[str, Any]:
    """Add a digest to the content, so that a component draws the same content only once."""
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
    return {**content, "digest": digest}


def graph_content(data: Dataset) -> dict[str, Any]:
    """Return the titles, positions and true links of a network for components with a graph."""
    assert data.truth is not None
    titles = plain_names(data.name, data.names)
    at = dict(zip(data.names, titles, strict=True))
    arrows = tuple(sorted((at[a], at[b]) for a, b in data.truth.edges))
    return {
        "titles": titles,
        "layouts": layouts(tuple(titles), arrows),
        "truth": pair_states(truth_cpdag(data.truth, data.names)).tolist(),
        "causal": pair_states(matrix_of(data.truth, data.names)).tolist(),
    }


@lru_cache(maxsize=16)  # a page requests an unfinished scene every few seconds
def layouts(titles: tuple[str, ...], arrows: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """Compute every frame's layout: boxes, the curvature of each line, and the bounding box.

    ``bows`` holds the curvatures in the order of pairs (i, j), i < j, seen from i.
    """
    return {name: _layout(titles, arrows, size) for name, size in _FRAMES.items()}


def _layout(
    titles: tuple[str, ...], arrows: tuple[tuple[str, str], ...], size: tuple[float, float]
) -> dict[str, Any]:
    true = {frozenset(pair) for pair in arrows}
    links = [
        Link(a, b, False, None if {a, b} in true else LinkClass.UNTESTED)
        for a, b in combinations(titles, 2)
    ]
    # A low frame has room only for the true edges; lines of false positives may extend beyond it.
    held = [link for link in links if link.kind is None] if size == SMALL else links
    shown = view(titles, held, arrows, frame=size)
    return {
        "at": [list(box.at) for box in shown.boxes.values()],
        "sizes": [list(box.size) for box in shown.boxes.values()],
        "lines": [list(box.lines) for box in shown.boxes.values()],
        "bows": [edge.bow for edge in shown.showing(links).edges],
        "frame": list(shown.frame),
    }
