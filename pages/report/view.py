"""The report as HTML: the same on the page and in the file."""

from __future__ import annotations

import streamlit as st

from pages.draw import price, promise_html
from pages.draw.links import Picture, legend_of
from pages.report import work
from pages.report.brief import Brief
from pages.report.repeats import Repeats
from pages.shell import words as text
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
        shown = picture.svg if inline else picture.image
        below = f"<figcaption>{caption}</figcaption>" if caption else ""
        return f"<figure>{shown}{below}</figure>"

    limits = "".join(f"<li>{safe(line)}</li>" for line in brief.limits)
    details = "".join(f"<p>{safe(line)}</p>" for line in brief.details)
    end = f"<div><h3>What this does not show</h3><ul>{limits}</ul>{details}</div>"
    note = f"<p>{safe(brief.curve_note)}</p>" if brief.curve_note else ""
    curve = note
    if brief.curve:
        curve = figure(brief.curve, f"{safe(brief.curve_title)}. {safe(brief.curve_note)}")
    return (
        f'<div class="report">{_top(brief)}'
        f'<div class="row graph">{figure(brief.graph, _legend(brief, theme))}'
        f"<div>{_steps(brief, theme)}"
        f'<div class="promise">{figure(brief.people)}<p>{promise_html(brief.promise, theme)}</p>'
        f'</div></div></div><div class="row">{curve}{end}</div></div>'
    )


def _top(brief: Brief) -> str:
    """Return the question, and the four sentences in their order."""
    lines = (("question", brief.heading.question), ("signed", brief.heading.signed))
    above = "".join(f'<p class="{name}">{safe(said)}</p>' for name, said in lines if said)
    below = "".join(f'<p class="range">{safe(said)}</p>' for said in brief.further)
    return f"{above}<h2>{safe(brief.first)}</h2>{below}"


def _legend(brief: Brief, theme: str) -> str:
    """Return the counts, each class of links with a piece of its line, and notes on other marks."""
    counts = f"<p>{safe(brief.headline)}</p>" if brief.answer else ""
    return f"{counts}{legend_of(brief.legend, theme) if brief.legend else ''}{safe(brief.note)}"


def _steps(brief: Brief, theme: str) -> str:
    """Return the steps from all links to those of the run, as bars."""
    if not brief.steps:
        return ""
    return f"<h3>{price.TITLE}</h3>{price.price_html(brief.steps, theme)}"


def show(brief: Brief, repeats: Repeats | None, theme: str) -> None:
    """Draw the report on the page, below a bar while its repetitions go on."""
    st.html(f"<style>{STYLE}</style>")
    if repeats is not None and repeats.running:
        done, points = len(repeats.made), len(repeats.points)
        counting = done < repeats.of
        st.progress(
            done / repeats.of if counting else min(1.0, points / work.POINTS),
            f"{done} of {repeats.of} repetitions"
            if counting
            else f"Curve over ε: {points} of {work.POINTS} points",
        )
    elif repeats is not None and repeats.task.problem:
        st.warning(text.plain(repeats.task.problem))
    st.html(body(brief, theme, inline=False))
