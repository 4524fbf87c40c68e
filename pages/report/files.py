"""The report's files: PDF, slides, HTML, a ZIP, pictures, and the graph for other tools."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path

import streamlit as st

from engine.graphs.formats import FORMATS
from engine.graphs.links import MARKS, LinkClass
from engine.graphs.picture import stroke
from engine.graphs.weighed_colliders import SHOWN
from engine.percent import percent
from engine.studies.scenes import kept_scene, kept_scenes
from engine.words.run import NOTHING
from pages.draw import PALETTES, typeset
from pages.draw.price import said
from pages.draw.scene import Offline, given, offline
from pages.report.brief import Brief, Heading, brief_of
from pages.report.bundle import bundle
from pages.report.repeats import Repeats
from pages.report.view import STYLE, body
from pages.shell import words as text
from pages.shell.export import downloads
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


def pdf(brief: Brief, kind: str) -> bytes:
    """Return the report as PDF: one "page", or 16:9 "slides" with one message each, of which the
    last has the field's terms."""
    heading, promise = brief.heading, brief.promise
    nobody = promise.level == NOTHING
    extra = {
        "kind": kind,
        "title": heading.question or brief.title,
        "signed": heading.signed,
        "first": brief.first,
        "further": brief.further,
        "legend": [
            {"svg": stroke(e.kind, "light"), "alt": "", "words": f"{e.name} {e.number}{e.more}"}
            for e in brief.legend
        ],
        "price": [
            {"links": step.found, "wrong": step.false_positives, "words": said(step)}
            for step in brief.steps
        ],
        "lost": brief.lost or brief.took,
        "wrong": MARKS[LinkClass.FALSE_POSITIVE].ink("light"),
        "guesses": "No guarantee: an attacker may be right 100 of 100 times"
        if nobody
        else f"Attacker right: at most {promise.attacker_success} of 100",
        "nobody": nobody,
        "red": PALETTES["light"].prices[NOTHING],
    }
    return typeset.compiled(_TEMPLATE.read_text("utf-8"), asdict(brief) | extra)


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
        "report.pdf": pdf(brief, "page"),
        "slides.pdf": pdf(brief, "slides"),
    }
    for name, picture in (("graph", brief.graph), ("curve", brief.curve)):
        if picture is not None:
            files |= {f"{name}.svg": picture.svg, f"{name}.png": picture.png}
    return bundle(run.request, run.data, run.result, files)


def files_view(run: Shown, repeats: Repeats | None, heading: Heading, *, packed: bool) -> None:
    """Buttons; each file is made when its button is pressed.

    ``packed`` offers the ZIP of a run; a release already has a file with its ledger.
    """
    result, public = run.result, run.data.public
    name = f"{text.file_stem(run.data) if public else 'own_data'}_{result.algorithm}"
    brief = partial(brief_of, run, repeats, heading, "light")
    files: dict[str, tuple[str, Callable[[], str | bytes]]] = {
        "One page (PDF)": (".pdf", lambda: pdf(brief(), "page")),
        "Slides (PDF)": ("_slides.pdf", lambda: pdf(brief(), "slides")),
        "Report (HTML)": ("_report.html", lambda: page(run, brief())),
    }
    if packed and result.status != "cancelled":
        files["Everything (ZIP)"] = (".zip", lambda: archive(run, brief()))
    for one in ("graph", *(["curve"] if repeats is not None and len(repeats.points) >= 3 else [])):
        for form in ("svg", "png"):
            made = partial(_picture, brief, one, form)
            files[f"{one.capitalize()} ({form.upper()})"] = (f"_{one}.{form}", made)
    private = "; never your data, nor the seed."
    more = " and a script that repeats the run exactly." if public else private
    held = f" The ZIP holds settings, versions, edges, ledger{more}" if packed else ""
    st.markdown("**Download**")
    downloads(name, files)
    st.caption(f"All of them open without the internet.{held}")
    st.markdown("**Go on in another tool**")
    if result.low_confidence:
        st.caption(
            f"An arrow with a confidence below {percent(SHOWN)} is a plain line here too, as in "
            f"the picture."
        )
    graph = result.names, result.displayed_cpdag
    forms = {f.title: (f".{f.extension}", partial(f.write, *graph)) for f in FORMATS.values()}
    downloads(name, forms)


def _picture(brief: Callable[[], Brief], name: str, form: str) -> str | bytes:
    """Return the "graph" or "curve" of a report that is made now, as "svg" or "png"."""
    drawn: str | bytes = getattr(getattr(brief(), name), form)
    return drawn
