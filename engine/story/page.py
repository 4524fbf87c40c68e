"""The story's files: one page that scrolls, one page a frame, a script and a style sheet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from engine.graphs.links import marks_data
from engine.story.frames import Frame, frames
from engine.story.modules import bundle, style

TITLE = "Causes from private data: a story"
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="story.css"></head>
<body class="{name}"><main>
{body}
</main><script type="application/json" id="marks">{marks}</script>
<script src="story.js"></script></body></html>
"""


def write(folder: Path) -> list[Path]:
    """Write the story into a folder, made if it is missing; returns its files.

    Nothing in them has an address outside of the folder: it opens from a disk and from any host.
    """
    made = list(frames())
    files = {
        "story.css": style() + style("story"),
        "story.js": bundle("story"),
        "index.html": _page(TITLE, made, "whole"),
    }
    files |= {f"{f.key}.html": _page(f.title, [f], "alone") for f in made}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in files]


def _page(title: str, shown: Sequence[Frame], name: str) -> str:
    body = "\n".join(map(_section, shown))
    if name == "alone":
        body += f'\n<p><a href="index.html#{shown[0].key}" target="_top">The whole story</a></p>'
    marks = _json({theme: marks_data(theme) for theme in ("light", "dark")})
    return _PAGE.format(title=escape(title), name=name, body=body, marks=marks)


def _json(content: dict[str, Any]) -> str:
    """JSON that ends no script element."""
    return json.dumps(content, separators=(",", ":")).replace("</", "<\\/")


def _section(frame: Frame) -> str:
    stills = "".join(
        f"<figure>{svg}<figcaption>{escape(words)}</figcaption></figure>"
        for svg, words in frame.stills
    )
    kind = data = ""
    if frame.kind:
        kind = f' data-kind="{frame.kind}"'
        data = f'<script type="application/json">{_json(frame.data)}</script>'
    return (
        f'<section class="frame" id="{frame.key}"><h2>{escape(frame.title)}</h2>'
        f'<div{kind}><div class="still">{stills}</div>{data}</div>'
        f"<p>{escape(frame.words)}</p></section>"
    )
