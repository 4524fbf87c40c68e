"""A search played back: one page of HTML that plays, pauses, steps and jumps on its own.

The whole search is in the page as data, so that nothing waits for the server. Names reach the page
as text nodes only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine import RunResult
from engine.graphs.metrics import EdgeClass
from engine.teaching.replay import PairStep
from pages.draw.layout import NODE_HEIGHT, Point, box_width, frame
from pages.draw.links import found_links
from pages.shell.palette import INKS, LOOKS, stroke_ink

_TEMPLATE = Path(__file__).with_suffix(".html")
_EDGE = 14.0


def player(
    names: Sequence[str],
    played: Sequence[PairStep],
    result: RunResult,
    positions: Mapping[str, Point],
    *,
    theme: str,
    at: int = 0,
) -> str:
    """A complete HTML page; the last scene shows the ``result``, ``at`` is the first one shown.

    Scene 0 is the complete graph before the first step, the last one the directions of the links
    tested to the end as every picture draws them, with the other pairs beside them. ``names`` are
    the result's columns.
    """
    index = {name: k for k, name in enumerate(names)}
    xs, ys = zip(*(positions[n] for n in names), strict=True)
    left, right, top, bottom = frame(names, positions, _EDGE)
    look, inks = LOOKS[theme], INKS[theme]
    data = {
        "names": list(names),
        "at": [[round(x, 1), round(y, 1)] for x, y in zip(xs, ys, strict=True)],
        "widths": [round(box_width(n), 1) for n in names],
        "height": NODE_HEIGHT,
        "view": [left, top, right - left, bottom - top],
        "scenes": [_scene(s, index) for s in played],
        "result": [[index[k.a], index[k.b], k.arrow] for k in found_links(result)],
        "open": sorted(result.untested),
        "start": at,
    }
    style = {
        "background": look.background,
        "node": look.node,
        "border": look.border,
        "font": look.font,
        "asked": inks[1],
        "given": inks[0],
        "link": inks[-1],
        "open": stroke_ink(EdgeClass.UNTESTED, theme),
        "primary": "#2457b8" if theme == "light" else "#8db4ff",
    }
    page = _TEMPLATE.read_text(encoding="utf-8")
    for name, colour in style.items():
        page = page.replace(f"__{name.upper()}__", colour)
    # A closing tag inside a name must not end the script.
    return page.replace("__DATA__", json.dumps(data).replace("<", "\\u003c"))


def _scene(scene: PairStep, index: Mapping[str, int]) -> list[object]:
    return [
        scene.order,
        index[scene.x],
        index[scene.y],
        [index[g] for g in scene.given],
        scene.kind,
        scene.decision,
        scene.reason,
        scene.removed,
    ]
