"""Files of the story: a page whose graph follows the scroll position, a script, a style sheet."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from engine.graphs.links import marks_data
from engine.story.modules import bundle, style
from engine.story.steps import Step, story

TITLE = "Causes from private data"
ENDS = (  # links of the last step: text, page of the site, command if there is no site
    ("Try it", "start/first-run.html", "run `make app` and open Explore"),
    ("Teach it", "teach/lesson.html", "run `make app` and press Teach a class on Learn"),
    ("Use it on your table", "guide/my-data.html", "run `make app` and open My data"),
)
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="story.css"></head>
<body><main><header><h1>{title}</h1>
<p>Scroll: the graph follows the text. Move the slider at any step.</p></header><div class="steps">
{body}
</div></main><script type="application/json" id="stage">{stage}</script>
<script src="story.js"></script></body></html>
"""


def write(folder: Path) -> list[Path]:
    """Write the story into a folder (created if missing); return its files, the page first.

    The files contain no external addresses, so the page opens from disk and from any host. If the
    folder is part of the documentation site, the last step links to pages of the site.
    """
    steps, stage = story()
    site = (folder.resolve().parent / ENDS[0][1]).is_file()
    ends = "".join(_end(*end, site) for end in ENDS)
    *texts, last = map(_section, steps)
    body = "\n".join([*texts, last.replace("</section>", f"<ul>{ends}</ul></section>")])
    # escaped, so that it cannot end the script element
    drawn = json.dumps(stage, separators=(",", ":")).replace("</", "<\\/")
    files = {
        "index.html": _PAGE.format(title=escape(TITLE), body=body, stage=drawn),
        "story.css": _inks() + style() + style("story"),
        "story.js": bundle("story"),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in files]


def _section(step: Step) -> str:
    stills = "".join(
        f"<figure>{svg}<figcaption>{escape(words)}</figcaption></figure>"
        for svg, words in step.stills
    )
    return (
        f'<section class="step" id="{step.key}"><h2>{escape(step.title)}</h2>'
        f'<p>{escape(step.words)}</p><div class="still">{stills}</div></section>'
    )


def _end(words: str, page: str, without: str, site: bool) -> str:
    if site:
        return f'<li><a href="../{page}">{words}</a></li>'
    command = escape(without).replace("`make app`", "<code>make app</code>")
    return f"<li><b>{words}</b>: {command}</li>"


def _inks() -> str:
    """Return the colours, dashes and widths of links as CSS variables, in both themes."""

    def rules(theme: str) -> str:
        marks: dict[str, Any] = marks_data(theme)
        return "".join(
            f"--{kind}: {mark['ink']}; --{kind}-dash: {mark['dash']}; "
            f"--{kind}-width: {1.3 * mark['width']:.2g}; "
            for kind, mark in marks.items()
        )

    dark = f"@media (prefers-color-scheme: dark) {{:root {{{rules('dark')}}}}}"
    return f":root {{{rules('light')}}}\n{dark}\n"
