"""The report: one sentence, one graph, one curve, the limits; the same on screen and in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from engine import Dataset, RunResult
from engine.graphs.metrics import EdgeClass
from engine.graphs.orientation import SHOWN
from engine.marginals.confidence import percent
from engine.studies.price import PriceStep
from pages.draw.graphs import layout_of
from pages.draw.links import Link, describe, doubtful, found_links, legend
from pages.draw.picture import Band, Picture, curve_picture, graph_picture
from pages.report import words as words
from pages.report.repeats import REPETITIONS, Repeats
from pages.shell import words as text
from pages.shell.nothing import nothing_for
from pages.shell.runs import Shown
from pages.shell.verdict import NOTHING, mark, price, reference_lines
from pages.shell.words import safe

STYLE = """
.report {font-size: 1.15rem; line-height: 1.5}
.report h2 {font-size: clamp(1.7rem, 2.6vw, 2.6rem); line-height: 1.25; font-weight: 650;
  margin: .2rem 0 .6rem; padding: 0; text-wrap: balance}
.report .range {font-size: 1.4rem; margin: 0 0 .5rem}
.report .price {margin: 0 0 1.2rem; max-width: 75rem}
.report .pictures {display: grid; gap: 1.5rem 2.5rem; align-items: end;
  grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr))}
.report figure {margin: 0}
.report figure svg, .report figure img {width: 100%; height: auto; max-height: 56vh;
  object-fit: contain}
.report figcaption {font-size: 1.05rem; margin-top: .5rem}
.report h3 {font-size: 1.3rem; margin: 1.6rem 0 .3rem; padding: 0}
.report li {margin: .25rem 0; max-width: 75rem}
"""


@dataclass(frozen=True)
class Pictures:
    """The graph, and the curve if there is one."""

    graph: Picture
    curve: Picture | None


def links(data: Dataset, result: RunResult) -> list[Link]:
    """The learned links with what became of them, and pairs not tested to the end in grey.

    On own data the links are plain, because nobody knows.
    """
    if data.public and data.truth is not None:
        return found_links(result, waiting=True, missed=True)
    drawn = found_links(result, waiting=True)
    return [k if k.kind is EdgeClass.UNTESTED else replace(k, kind=None) for k in drawn]


def pictures(run: Shown, repeats: Repeats | None, theme: str) -> Pictures:
    """Both pictures in the theme's colours."""
    data, result = run.data, run.result
    shown = links(data, result)
    graph = graph_picture(
        data.names,
        shown,
        layout_of(data, result, wide=True),
        alt=describe("Learned graph", data.names, shown),
        theme=theme,
    )
    return Pictures(graph, _curve(result, repeats, theme))


def _curve(result: RunResult, repeats: Repeats | None, theme: str) -> Picture | None:
    if repeats is None or len(repeats.points) < 3 or result.counts is None:
        return None
    points, one = repeats.points, result.counts
    x = [p.epsilon for p in points]
    bands = [
        Band(
            name=name,
            x=x,
            low=[b[0] for b in values],
            middle=[b[1] for b in values],
            high=[b[2] for b in values],
            style=style,
            dash=dash,
        )
        for name, values, style, dash in (
            ("Found", [p.found for p in points], 0, "-"),
            ("Invented", [p.invented for p in points], 1, "--"),
        )
    ]
    kind = "for the whole run" if result.ledger.cap is not None else "as the paper counts it"
    return curve_picture(
        bands,
        x_title=f"ε {kind}: more privacy ← → more exact",
        y_title="Links",
        alt="Links found and invented as epsilon grows",
        here=(float(result.params.as_dict()["epsilon"]), one.found, "This result"),
        levels=levels(one.true, repeats.steps),
        theme=theme,
    )


def levels(true: int, steps: Sequence[PriceStep]) -> list[tuple[float, str]]:
    """Named heights: all links there are, and those that are found without any noise."""
    named = {true: [f"All {text.count(true, 'known link')}"]}
    for step, name in reference_lines(steps):
        named.setdefault(step.counts.found, []).append(name)
    return [(float(height), "\n".join(names)) for height, names in named.items()]


def body(run: Shown, repeats: Repeats | None, drawn: Pictures, theme: str, *, inline: bool) -> str:
    """The report as HTML; every name in it is escaped. ``inline`` keeps SVG as elements."""

    def figure(picture: Picture, caption: str) -> str:
        shown = picture.svg if inline else picture.image
        return f"<figure>{shown}<figcaption>{caption}</figcaption></figure>"

    data, result = run.data, run.result
    spread = words.range_sentence(list(repeats.outcomes)) if repeats is not None else ""
    parts = [f"<h2>{safe(words.headline(data, result))}</h2>"]
    if spread:
        parts.append(f'<p class="range">{safe(spread)}</p>')
    parts.append(f'<p class="price">{_promise(result, theme)}</p>')
    parts.append('<div class="pictures">')
    parts.append(figure(drawn.graph, _legend(run, theme)))
    if drawn.curve is not None and repeats is not None:
        each = repeats.points[0].of
        caption = f"Lines: the middle of {each} repetitions at each ε. Bands: nine in ten of them."
        parts.append(figure(drawn.curve, caption))
    count = nothing_for(run)
    said = words.limits(data, result, None if count is None else count.found)
    points = "".join(f"<li>{safe(line)}</li>" for line in said)
    parts.append(f"</div><h3>What this does not show</h3><ul>{points}</ul>")
    return f'<div class="report">{"".join(parts)}</div>'


def _promise(result: RunResult, theme: str) -> str:
    """The promise in words; in red, with a sign, where there is none."""
    level, said = price(result)[0], words.price(result)
    return mark(level, said, theme) if level == NOTHING else safe(said)


def _legend(run: Shown, theme: str) -> str:
    lines = len(doubtful(run.result))
    doubt = (
        f"{text.count(lines, 'arrow')} whose direction is less sure than {percent(SHOWN)} "
        f"{'is' if lines == 1 else 'are'} drawn as {'a line' if lines == 1 else 'lines'}."
        if lines
        else ""
    )
    if not run.data.public or run.data.truth is None:
        waiting = text.count(len(run.result.untested), "pair")
        dots = f"Grey dots: {waiting} not tested to the end. " if run.result.untested else ""
        return f"An arrow or a line is a link that was found. {dots}{doubt}"
    return f"{legend(run.result, theme, waiting=True)}{doubt}"


def show(run: Shown, repeats: Repeats | None, drawn: Pictures, theme: str) -> None:
    """The report on the page."""
    st.html(f"<style>{STYLE}</style>")
    st.html(body(run, repeats, drawn, theme, inline=False))
    if repeats is not None and repeats.running:
        done = len(repeats.outcomes)
        st.caption(
            f"Repeating the run: {done} of {REPETITIONS}"
            if done < REPETITIONS and not repeats.points
            else f"Drawing the curve: {text.count(len(repeats.points), 'point')} so far"
        )
    elif repeats is not None and repeats.problem:
        st.warning(text.plain(repeats.problem))
