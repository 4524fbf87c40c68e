"""The report as HTML: the same on the page and in the file."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from pages.draw import price, promise_html
from pages.draw.links import Picture, legend_of
from pages.report import work
from pages.report.brief import Brief
from pages.report.repeats import Repeats
from pages.shell.task import show_problem
from pages.shell.words import safe

STYLE = (
    price.STYLE
    + """
.report {font-size: 1.15rem; line-height: 1.45}
.report .question {font-size: 1.4rem; font-weight: 650; margin: 0; overflow-wrap: anywhere}
.report .signed {margin: 0 0 .5rem; opacity: .8; overflow-wrap: anywhere}
.report h2 {font-size: clamp(1.6rem, 2.3vw, 2.5rem); line-height: 1.2; font-weight: 650;
  margin: .2rem 0 .4rem; padding: 0; text-wrap: balance}
.report .range {margin: 0 0 .8rem}
.report .row {display: grid; gap: 1.2rem 2.5rem; margin-bottom: 1.4rem; align-items: start;
  grid-template-columns: repeat(auto-fit, minmax(min(25rem, 100%), 1fr))}
.report figure {margin: 0}
.report figure svg, .report figure > img {width: 100%; height: auto; max-height: 52vh;
  object-fit: contain}
.report figcaption {font-size: 1rem; margin-top: .4rem}
@media (min-width: 62rem) {.report .row.graph {grid-template-columns: 7fr 4fr}
  .report .row.graph > figure > img, .report .row.graph > figure > svg {max-height: 72vh}}
.report h3 {font-size: 1.3rem; margin: 0 0 .4rem; padding: 0}
.report li {margin: .25rem 0; max-width: 75rem}
.report .promise {display: grid; grid-template-columns: minmax(8rem, 11rem) 1fr; gap: 1.4rem;
  align-items: center; margin-top: 1.4rem}
.report .promise p {margin: 0 0 .5rem}
@media (max-width: 30rem) {.report {font-size: 1rem}
  .report h2 {font-size: 1.2rem; text-wrap: wrap} .report .promise {grid-template-columns: 1fr}
  .report .promise figure {max-width: 11rem}}
"""
)


def body(brief: Brief, theme: str, *, inline: bool) -> str:
    """Return the report as HTML; every name in it is escaped. ``inline`` keeps SVG as elements."""

    def figure(picture: Picture, caption: str = "") -> str:
        below = f"<figcaption>{caption}</figcaption>" if caption else ""
        return f"<figure>{picture.svg if inline else picture.image}{below}</figure>"

    top = _each('<p class="question">{}</p>', [brief.heading.question])
    top += _each('<p class="signed">{}</p>', [brief.heading.signed])
    top += f"<h2>{safe(brief.first)}</h2>" + _each('<p class="range">{}</p>', brief.further)
    legend = _each("<p>{}</p>", [brief.headline] if brief.answer else [])
    legend += (legend_of(brief.legend, theme) if brief.legend else "") + safe(brief.note)
    steps, curve = "", _each("<p>{}</p>", [brief.curve_note])
    if brief.steps:
        steps = f"<h3>{price.TITLE}</h3>{price.price_html(brief.steps, theme)}"
    if brief.curve:
        curve = figure(brief.curve, safe(f"{brief.curve_title}. {brief.curve_note}"))
    limits, details = _each("<li>{}</li>", brief.limits), _each("<p>{}</p>", brief.details)
    return (
        f'<div class="report">{top}<div class="row graph">{figure(brief.graph, legend)}'
        f'<div>{steps}<div class="promise">{figure(brief.people)}'
        f'<p>{promise_html(brief.promise, theme)}</p></div></div></div><div class="row">{curve}'
        f"<div><h3>What this does not show</h3><ul>{limits}</ul>{details}</div></div></div>"
    )


def _each(form: str, lines: Iterable[str]) -> str:
    """Return each line that is not empty in a form of HTML such as "<p>{}</p>"."""
    return "".join(form.format(safe(line)) for line in lines if line)


def show(brief: Brief, repeats: Repeats | None, theme: str) -> None:
    """Draw the report on the page, below a bar while its repetitions go on."""
    st.html(f"<style>{STYLE}</style>")
    if repeats is not None and repeats.running:
        done, of, points = len(repeats.made), repeats.of, len(repeats.points)
        if done < of:
            st.progress(done / of, f"{done} of {of} repetitions")
        else:
            said = f"Curve over ε: {points} of {work.POINTS} points"
            st.progress(min(1.0, points / work.POINTS), said)
    elif repeats is not None:
        show_problem(repeats.task)
    st.html(body(brief, theme, inline=False))
