"""The report's files: PDF, slides, HTML, a ZIP, pictures, and the graph for other tools."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from engine.graphs.formats import FORMATS
from engine.graphs.links import MARKS, LinkClass
from engine.graphs.picture import stroke
from engine.graphs.weighed_colliders import SHOWN
from engine.percent import percent
from engine.studies.scenes import kept_scene, kept_scenes
from engine.words.run import NOTHING
from pages.draw import PALETTES, typeset
from pages.draw.links import Picture
from pages.draw.price import said
from pages.draw.scene import Offline, given, offline
from pages.report.brief import Brief, Heading, brief_of
from pages.report.bundle import bundle
from pages.report.repeats import Repeats
from pages.report.view import STYLE, body
from pages.shell import words as text
from pages.shell.export import download
from pages.shell.runs import Shown
from pages.shell.words import safe

_SHEET = """
body {font-family: "Source Sans 3", "Source Sans Pro", system-ui, sans-serif; color: #1a2230;
  background: #fff; margin: 2rem auto; max-width: 88rem; padding: 0 1.5rem}
footer {margin-top: 2rem; font-size: .9rem; color: #4d5666}
@media print {body {margin: 0; padding: 0} figure, li {break-inside: avoid} @page {margin: 14mm}}
"""
# The file may fetch nothing and run only the scene's script.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_TEMPLATE = Path(__file__).with_name("brief.typ")


def page(run: Shown, brief: Brief) -> str:
    """Return a self-contained HTML page, with a dial if there is a scene."""
    scene = _scene(run)
    policy = _POLICY if scene is None else f"{_POLICY}; {scene.policy}"
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{safe(brief.heading.question or brief.title)}</title>"
        f"<style>{_SHEET}{STYLE}{scene.style if scene else ''}</style>"
        f"</head><body>{body(brief, 'light', inline=True)}"
        f"{scene.html if scene else ''}<footer>{safe(brief.made)}</footer>"
        + (f'<script type="module">{scene.script}</script>' if scene else "")
        + "</body></html>\n"
    )


def sheet(brief: Brief) -> bytes:
    """Return the report as PDF, on one page."""
    return typeset.pdf(_TEMPLATE.read_text("utf-8"), _content(brief, "page"))


def slides(brief: Brief) -> bytes:
    """Return 16:9 slides as PDF with one message each; the last has the field's terms."""
    return typeset.pdf(_TEMPLATE.read_text("utf-8"), _content(brief, "slides"))


def _content(brief: Brief, kind: str) -> dict[str, Any]:
    """Return words and pictures in JSON types for the template ``kind``, "page" or "slides"."""
    heading = brief.heading
    return {
        "kind": kind,
        "title": heading.question or brief.title,
        "question": heading.question,
        "author": heading.author,
        "signed": heading.signed,
        "answer": brief.answer,
        "first": brief.first,
        "further": list(brief.further),
        "headline": brief.headline,
        "same": brief.same,
        "sure": brief.sure,
        "graph": _drawn(brief.graph),
        "part": _drawn(brief.part) if brief.part else None,
        "legend": [
            {"svg": stroke(e.kind, "light"), "alt": ""} | {"words": f"{e.name} {e.number}{e.more}"}
            for e in brief.legend
        ],
        "note": brief.note,
        "price": [
            {"links": step.found, "wrong": step.false_positives, "words": said(step)}
            for step in brief.steps
        ],
        "lost": brief.lost or brief.took,
        "wrong": MARKS[LinkClass.FALSE_POSITIVE].ink("light"),
        "promise": brief.promise.sentence,
        "guesses": "No guarantee: an attacker may be right 100 of 100 times"
        if brief.promise.level == NOTHING
        else f"Attacker right: at most {brief.promise.attacker_success} of 100",
        "terms": brief.promise.terms,
        "nobody": brief.promise.level == NOTHING,
        "red": PALETTES["light"].prices[NOTHING],
        "people": _drawn(brief.people),
        "curve": _drawn(brief.curve) if brief.curve else None,
        "curve_title": brief.curve_title,
        "curve_note": brief.curve_note,
        "limits": list(brief.limits),
        "details": list(brief.details),
        "made": brief.made,
    }


def _drawn(picture: Picture) -> dict[str, str]:
    return {"svg": picture.svg, "alt": picture.alt}


def _scene(run: Shown) -> Offline | None:
    """Return the scene of the run's rows, if it comes with the project."""
    source = run.request.source
    if not run.data.public or source.name not in kept_scenes() or source.seed:
        return None
    content = kept_scene(source.name)
    if content["rows"] != source.n:
        return None
    params = run.result.params.as_dict()
    start = {"algorithm": run.result.algorithm, "epsilon": params.get("epsilon"), "ghost": False}
    return offline(given(content), start)


def archive(run: Shown, brief: Brief) -> bytes:
    """Return the ZIP of the run with the report in every form, and its pictures."""
    files: dict[str, str | bytes] = {
        "report.html": page(run, brief),
        "report.pdf": sheet(brief),
        "slides.pdf": slides(brief),
        "graph.svg": brief.graph.svg,
        "graph.png": brief.graph.png,
    }
    if brief.curve is not None:
        files |= {"curve.svg": brief.curve.svg, "curve.png": brief.curve.png}
    return bundle(run.request, run.data, run.result, files)


def files_view(run: Shown, repeats: Repeats | None, heading: Heading, *, packed: bool) -> None:
    """Buttons; each file is made when its button is pressed.

    ``packed`` offers the ZIP of a run; a release already has a file with its ledger.
    """
    stem = text.file_stem(run.data) if run.data.public else "own_data"
    name = f"{stem}_{run.result.algorithm}"
    brief = partial(brief_of, run, repeats, heading, "light")
    st.markdown("**Download**")
    with st.container(horizontal=True):
        download("One page (PDF)", lambda: sheet(brief()), f"{name}.pdf", key="report-pdf")
        slides_name = f"{name}_slides.pdf"
        download("Slides (PDF)", lambda: slides(brief()), slides_name, key="report-slides")
        html = f"{name}_report.html"
        download("Report (HTML)", lambda: page(run, brief()), html, key="report-html")
        if packed and run.result.status != "cancelled":
            all_ = f"{name}.zip"
            download("Everything (ZIP)", lambda: archive(run, brief()), all_, key="report-zip")
        download("Graph (SVG)", lambda: brief().graph.svg, f"{name}.svg", key="report-svg")
        download("Graph (PNG)", lambda: brief().graph.png, f"{name}.png", key="report-png")
        if repeats is not None and len(repeats.points) >= 3:
            curve = f"{name}_curve"
            download("Curve (SVG)", lambda: _curve(brief()).svg, f"{curve}.svg", key="curve-svg")
            download("Curve (PNG)", lambda: _curve(brief()).png, f"{curve}.png", key="curve-png")
    private = "; never your data, nor the seed."
    more = " and a script that repeats the run exactly." if run.data.public else private
    held = f" The ZIP holds settings, versions, edges, ledger{more}" if packed else ""
    st.caption(f"All of them open without the internet.{held}")
    st.markdown("**Go on in another tool**")
    if run.result.low_confidence:
        st.caption(
            f"An arrow with a confidence below {percent(SHOWN)} is a plain line here too, as in "
            f"the picture."
        )
    with st.container(horizontal=True):
        for key, form in FORMATS.items():
            download(
                form.title,
                lambda form=form: form.write(run.result.names, run.result.displayed_cpdag),  # type: ignore[misc]
                f"{name}.{form.extension}",
                key=f"report-{key}",
            )


def _curve(brief: Brief) -> Picture:
    assert brief.curve is not None
    return brief.curve
