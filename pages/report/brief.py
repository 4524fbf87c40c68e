"""What a report says, once: page, offline file, PDF, slides and ZIP all show this."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import networkx as nx

from engine import Dataset, RunResult
from engine.graphs.layout import scale_of
from engine.graphs.links import MARKS, LinkClass
from engine.graphs.picture import Link
from engine.graphs.weighed_colliders import SHOWN
from engine.params import Parameters, param
from engine.percent import percent
from engine.registry import TITLES
from engine.score.learned import ScoreDiagnostics
from engine.story.modules import plain_names
from engine.studies.figures import Panel, Series
from engine.studies.price import PriceStep
from engine.summary import NOTHING, Promise
from pages.draw import PALETTES
from pages.draw.graphs import positions
from pages.draw.links import (
    Entry,
    Picture,
    as_digraph,
    curve_picture,
    describe,
    doubtful,
    entries,
    found_links,
    graph_picture,
    people_picture,
    weighted,
)
from pages.draw.price import Step, reference_lines, steps_of
from pages.forms import counted, nothing_for
from pages.report import words
from pages.report.repeats import Repeats
from pages.report.words import LEAST
from pages.shell import words as text
from pages.shell.runs import Shown, steps_before

_FRAME = 420.0, 260.0  # of a graph, half as wide as a page on a desk
_LARGE, _MOST = 20, 10  # columns of a graph that a slide holds, and of the part of a larger one
_THIN, _THICK = 1.4, 7.0  # of a link that no repetition has, and of one that all have


@dataclass(frozen=True, kw_only=True)
class Heading(Parameters):
    """What a presenter types: the lines above the report's own sentence."""

    question: str = param(
        "", "Question", high=160, help="What the reader wants to know, in their words."
    )
    author: str = param("", "Author", high=80)
    date: str = param("", "Date", high=40, help="As it should be read: 22 November 2026.")

    @property
    def signed(self) -> str:
        """Author and date."""
        return ", ".join(part for part in (self.author, self.date) if part)


@dataclass(frozen=True)
class Brief:
    """Words, numbers and pictures, in the order in which they are read.

    ``price`` are the links left after each step, from all there are to those of this run; empty
    where no truth is known. ``part`` is what the question is about of a graph too large to be read
    on a slide. ``legend`` says what each class of links is, with its count.
    """

    heading: Heading
    title: str
    answer: str
    headline: str
    spread: str
    graph: Picture
    part: Picture | None
    legend: Sequence[Entry]
    note: str
    price: Sequence[Step]
    promise: Promise
    people: Picture
    curve: Picture | None
    curve_note: str
    limits: Sequence[str]
    details: Sequence[str]
    made: str


def brief_of(run: Shown, repeats: Repeats | None, heading: Heading, theme: str) -> Brief:
    """The report of a run in the theme's colours, with what its repetitions have shown so far."""
    data, result = run.data, run.result
    outcomes = [] if repeats is None else list(repeats.outcomes)
    shown = stable(links(data, result), result, repeats)
    summary = result.summary(scored=_known(data))
    promise = summary.promise
    points = [] if repeats is None else repeats.points
    each = f"Lines: the middle of {points[0].of} repetitions at each ε. " if points else ""
    return Brief(
        heading=heading,
        # the name of a person's own file is theirs
        title=f"{text.dataset_title(data)}: report" if data.public else "Report",
        answer=words.answer(heading.question, data, result, _titles(data)),
        headline=summary.headline,
        spread=words.range_sentence(outcomes),
        graph=_graph(data, result, shown, theme),
        part=_part(heading.question, data, result, shown, theme),
        legend=entries(result, waiting=True) if _known(data) else (),
        note=" ".join(filter(None, (_thickness(result, outcomes), _untold(data, result)))),
        price=_price(run, repeats),
        promise=promise,
        people=people_picture(promise.right, promise.level, alt=_people(promise), theme=theme),
        curve=_curve(result, repeats, theme),
        curve_note=f"{each}Bands: nine in ten of them.",
        limits=words.limits(data, result, counted(nothing_for(run))),
        details=words.details(data, result),
        made=_made(run),
    )


def _people(promise: Promise) -> str:
    """The array of a hundred figures in words."""
    if promise.level == NOTHING:
        return "A hundred figures, all of them red: this protects nobody"
    return f"A hundred figures, {promise.right} of them lit; chance alone lights 50"


def _known(data: Dataset) -> bool:
    """Whether it is known which links are right: of own data, nobody knows."""
    return data.public and data.truth is not None


# The graph --------------------------------------------------------------------------------


def links(data: Dataset, result: RunResult) -> list[Link]:
    """The learned links with what became of them, and pairs not tested to the end in grey.

    On own data the links are plain, because nobody knows.
    """
    if _known(data):
        return found_links(result, waiting=True, missed=True)
    drawn = found_links(result, waiting=True)
    return [k if k.kind is LinkClass.UNTESTED else replace(k, kind=None) for k in drawn]


def stable(drawn: Sequence[Link], result: RunResult, repeats: Repeats | None) -> list[Link]:
    """Each learned link as thick as it is stable: the share of repetitions that have it.

    Without repetitions as its algorithm trusts it; what is missed or waiting keeps its line.
    """
    outcomes = [] if repeats is None else list(repeats.outcomes)
    if len(outcomes) < LEAST:
        return weighted(drawn, result)
    have = Counter(pair for outcome in outcomes for pair in outcome.found)
    return [
        link
        if link.kind in (LinkClass.MISSED, LinkClass.UNTESTED)
        else _thick(link, have[min(link.a, link.b), max(link.a, link.b)], len(outcomes))
        for link in drawn
    ]


def _thick(link: Link, have: int, of: int) -> Link:
    width = round(_THIN + (_THICK - _THIN) * have / of, 2)
    return replace(link, width=width, note=f"In {have} of {of} repetitions")


def _thickness(result: RunResult, outcomes: Sequence[object]) -> str:
    if len(outcomes) >= LEAST:
        return f"The thicker a line, the more of {len(outcomes)} repetitions have it."
    if all(k.width is None for k in weighted(found_links(result), result)):
        return ""
    if isinstance(result.diagnostics, ScoreDiagnostics):
        return "The thicker a line, the larger its weight in the linear model."
    return "The thicker a line, the surer the method is of it."


def _untold(data: Dataset, result: RunResult) -> str:
    """What the drawing leaves open: pairs that were not tested, arrows in doubt."""
    lines, waiting = len(doubtful(result)), len(result.untested)
    said = "" if _known(data) else "An arrow or a line is a link that was found. "
    if waiting and not _known(data):
        said += f"Grey dots: {text.count(waiting, 'pair')} not tested to the end. "
    if lines:
        what = "is drawn as a line" if lines == 1 else "are drawn as lines"
        said += (
            f"{text.count(lines, 'arrow')} whose direction is less sure than {percent(SHOWN)} "
            f"{what}."
        )
    return said.strip()


def _titles(data: Dataset) -> dict[str, str]:
    """The columns' names, and the same in plain words where a bundled network has them."""
    plain = plain_names(data.name, data.names) if data.public else data.names
    return dict(zip(data.names, plain, strict=True))


def _part(
    question: str, data: Dataset, result: RunResult, shown: Sequence[Link], theme: str
) -> Picture | None:
    """The columns that the question names, and some that are linked with them."""
    part = words.named(question, _titles(data))
    if data.d <= _LARGE or not part:
        return None
    near = [k for k in shown if k.kind is not LinkClass.UNTESTED and {k.a, k.b} & set(part)]
    part = list(dict.fromkeys([*part, *(name for k in near for name in (k.a, k.b))]))[:_MOST]
    return _graph(data, result, [k for k in shown if {k.a, k.b} <= set(part)], theme, part)


def _graph(
    data: Dataset,
    result: RunResult,
    shown: Sequence[Link],
    theme: str,
    part: Sequence[str] | None = None,
) -> Picture:
    """The graph, or a part of its columns, under the plain names that bundled networks have."""
    titles = _titles(data)
    drawn = [replace(k, a=titles[k.a], b=titles[k.b]) for k in shown]
    names = tuple(titles[name] for name in part or data.names)
    graph = nx.relabel_nodes(data.truth or as_digraph(data.names, result.matrix), titles)
    scale = scale_of(3 * len(names) // 2, *_FRAME)  # plain names are longer
    arrows = tuple(sorted(graph.subgraph(names).edges))
    at = positions(names, arrows, scale * _FRAME[0], scale * _FRAME[1])
    return graph_picture(names, drawn, at, alt=describe("Learned graph", names, drawn), theme=theme)


# Price and curve ----------------------------------------------------------------------------


def _price(run: Shown, repeats: Repeats | None) -> list[Step]:
    """From all links to those of this run: what the method loses before any noise, then it.

    What is repeated has counted the steps; without noise nothing is repeated.
    """
    if not _known(run.data):
        return []
    return steps_of(run.result, repeats.steps if repeats else steps_before(run))


def _curve(result: RunResult, repeats: Repeats | None, theme: str) -> Picture | None:
    """Found links and false positives over epsilon, once all of it is there."""
    if repeats is None or repeats.running or len(repeats.points) < 3 or result.counts is None:
        return None
    points, one = repeats.points, result.counts
    x = tuple(p.epsilon for p in points)
    found, wrong = MARKS[LinkClass.FOUND], MARKS[LinkClass.FALSE_POSITIVE]
    ink = PALETTES[theme].font
    lines = [
        Series(
            mark.word,
            x,
            tuple(middle for _, middle, _ in values),
            colour=mark.dark if theme == "dark" else mark.light,
            dash=(0, mark.dash) if mark.dash else "-",
            low=tuple(low for low, _, _ in values),
            high=tuple(high for _, _, high in values),
        )
        for mark, values in (
            (found, [p.found for p in points]),
            (wrong, [p.invented for p in points]),
        )
    ]
    lines += [
        Series(name, (x[0], x[-1]), (height, height), style=k + 2, colour=ink)
        for k, (height, name) in enumerate(levels(one.true, repeats.steps))
    ]
    here = (float(result.params.as_dict()["epsilon"]),)
    lines.append(Series("This result", here, (one.found,), colour=ink, marks=True))
    kind = "for the whole run" if result.ledger.cap is not None else "as the paper counts it"
    axis = f"ε {kind}: more privacy ← → more exact"
    panel = Panel("", tuple(lines), x_label=axis, y_label="Links")
    return curve_picture(panel, alt="Links found and false positives as epsilon grows", theme=theme)


def levels(true: int, steps: Sequence[PriceStep]) -> list[tuple[float, str]]:
    """Named heights: all links there are, and those that are found without any noise."""
    named = {true: [f"All {text.count(true, 'true link')}"]}
    for step, name in reference_lines(steps):
        named.setdefault(step.counts.found, []).append(name)
    return [(float(height), "; ".join(names)) for height, names in named.items()]


def _made(run: Shown) -> str:
    said = f"Made with the DP Causal Explorer; algorithm {TITLES[run.result.algorithm]}."
    if run.data.public:
        seeds = f"rows drawn with seed {run.request.source.seed}, noise with {run.result.seed}"
        return f"{said} {text.dataset_title(run.data)}, {run.data.n:,} rows; {seeds}."
    return said
