"""Edges to draw: from a run, with class and strength; their legend and words; still pictures."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from engine import Dataset, RunResult
from engine.data.networks import plain_names
from engine.graphs.cpdag import DIRECTED, Adjacency, edges_of
from engine.graphs.links import MARKS, LinkClass
from engine.graphs.picture import Inks, graph_svg, people_svg, stroke
from engine.graphs.view import FRAME, MOST_UNTESTED, GraphView, Link, view
from engine.graphs.weighed_colliders import SHOWN
from engine.params import Spec
from engine.percent import percent, probability
from engine.words.run import FINE, NOTHING
from pages.draw import PALETTES
from pages.shell import state
from pages.shell import words as text
from pages.shell.words import number

if TYPE_CHECKING:
    from engine.studies.figures import Panel


def links_of(
    matrix: Adjacency,
    names: Sequence[str],
    classes: Mapping[tuple[int, int], LinkClass] | None = None,
    only: Iterable[LinkClass] = tuple(LinkClass),
) -> list[Link]:
    """Return the edges of a CPDAG matrix, each once, with its class if ``classes`` is given."""
    kinds, links = classes or {}, []
    for i, j, mark in edges_of(matrix):
        kind = kinds.get((min(i, j), max(i, j)))
        if kind is None or kind in only:
            links.append(Link(names[i], names[j], mark == DIRECTED, kind))
    return links


def graph_view(
    data: Dataset,
    links: Sequence[Link],
    result: RunResult | None,
    names: Sequence[str] = (),
    *,
    titles: Mapping[str, str] | None = None,
    frame: tuple[float, float] = FRAME,
) -> GraphView:
    """Return the picture of a dataset's links, with the layout of the truth, or else of the result.

    ``names`` are the columns that are drawn, all by default; ``titles`` their labels, in plain
    words by default.
    """
    names = names or data.names
    if data.truth is not None:
        arrows = list(data.truth.edges)
    else:
        assert result is not None
        arrows = [(link.a, link.b) for link in links_of(result.matrix, data.names)]
    drawn = [ends for ends in arrows if {*ends} <= {*names}]
    return view(names, links, drawn, titles=titles or titles_of(data), frame=frame)


def titles_of(data: Dataset) -> dict[str, str]:
    """Return the columns' names, mapped to plain words if the bundled network has them."""
    plain = plain_names(data.name, data.names) if data.public else data.names
    return dict(zip(data.names, plain, strict=True))


NAMES = (
    Spec(
        name=state.NAMES,
        kind="bool",
        default=False,
        title="Column names",
        help="Graphs and tables show the columns' own names instead of plain words.",
    ),
)


def labels_of(data: Dataset) -> dict[str, str]:
    """Return the columns' labels in Run's graphs and tables: plain words, unless the visit asks
    for the columns' own names.
    """
    own = state.Values(NAMES)[state.NAMES]
    return {name: name for name in data.names} if own else titles_of(data)


def few_untested(result: RunResult) -> bool:
    """Return whether the pairs that are not fully tested are few enough to be drawn by default."""
    return len(result.untested) <= MOST_UNTESTED


def found_links(result: RunResult, *, waiting: bool = False, scored: bool = True) -> list[Link]:
    """Return the learned links, as every picture draws them: an arrow in doubt is a line.

    ``scored`` has their classes, and the true links that are not in the result. Pairs that are not
    fully tested are there only if ``waiting``, and never have an arrow.
    """
    untested = dict.fromkeys(result.untested, LinkClass.UNTESTED)
    kinds = (result.classes if scored else {}) or untested
    shown = result.displayed_cpdag.copy()
    for i, j in result.untested if waiting else ():
        shown[i, j] = shown[j, i] = True
    drawn = links_of(shown, result.names, kinds)
    if scored and result.truth is not None:
        drawn += links_of(result.reference_cpdag, result.names, kinds, [LinkClass.MISSED])
    return drawn


def describe(what: str, names: Sequence[str], links: Sequence[Link]) -> str:
    """Return the frame's name for screen readers."""
    return f"{what}: {text.count(len(names), 'node')}, {text.count(len(links), 'edge')}"


# How strong an edge is: its weight, or the probability that it is real given the noise ----------

LINK, ARROW, WEIGHT = "Edge confidence", "Direction confidence", "Weight"
_LABELLED = 30  # columns; with more, numbers on the arrows would hide the graph
_CERTAIN = 0.9  # an arrow above it needs no number; the table and the pointer show it


@dataclass(frozen=True)
class Strengths:
    """``column`` names the value in tables.

    ``arrows`` (a, b) -> the probability of an arrow from a to b, if the algorithm gives it, in
    addition to the link's confidence.
    """

    column: str
    values: Mapping[frozenset[str], float]
    arrows: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def cells(self, a: str, b: str) -> dict[str, str | None]:
        """Return a pair's cells in words, by column: its value and, if the algorithm gives them,
        the probabilities of both arrows."""
        value = self.values.get(frozenset((a, b)))
        said = probability if self.column == LINK else number  # never rounded up to certainty
        cells = {self.column: None if value is None else said(value)}
        if self.arrows:
            ways = [probability(self.arrows[way]) for way in ((a, b), (b, a)) if way in self.arrows]
            cells[ARROW] = "→ {}, ← {}".format(*ways) if ways else ""
        return cells


def strengths(result: RunResult) -> Strengths | None:
    """Return the algorithm's statements about its edges, if it makes any."""
    names, found = result.names, result.diagnostics
    links, arrows = found.confidences()
    if links:
        return Strengths(
            LINK,
            {frozenset((names[i], names[j])): float(p) for (i, j), p in links.items()},
            {(names[i], names[j]): float(p) for (i, j), p in arrows.items()},
        )
    if found.descent() is not None:
        weights = {frozenset((e.source, e.target)): e.weight for e in result.edge_list}
        return Strengths(WEIGHT, weights)
    return None


def widths(result: RunResult) -> tuple[str, str]:
    """Return the meaning of the lines' width in a sentence, and its details; empty without one."""
    known, lines = strengths(result), len(result.low_confidence)
    if known is None:
        return "", ""
    if known.column == WEIGHT:
        return "Line width shows the size of the edge's weight in the linear model.", ""
    words = "It is the share of edges with the same evidence that are real on random networks."
    if known.arrows:
        some = f" ({text.count(lines, 'edge')} here)" if lines else ""
        words += (
            " The direction confidence is the probability of the direction if the edge is real. "
            f"Below {percent(SHOWN)} the edge is drawn undirected{some}."
        )
        if len(result.names) <= _LABELLED:
            words += f" Directed edges of at most {probability(_CERTAIN)} show the number."
    return "Line width and opacity show the edge confidence.", words


def weighted(
    links: Sequence[Link], result: RunResult, titles: Mapping[str, str] | None = None
) -> list[Link]:
    """Return the links drawn by their strength, with a note to show under the pointer."""
    if (known := strengths(result)) is None:
        return list(links)
    most = max(map(abs, known.values.values()), default=1.0) or 1.0
    labelled = len(result.names) <= _LABELLED
    return [_drawn(link, known, most, labelled, titles or {}) for link in links]


def _drawn(
    link: Link, known: Strengths, most: float, labelled: bool, titles: Mapping[str, str]
) -> Link:
    if (value := known.values.get(frozenset((link.a, link.b)))) is None:
        return link
    cells = known.cells(link.a, link.b)
    note = f"{known.column}: {cells[known.column]}"
    if directions := cells.get(ARROW):
        a, b = (titles.get(name, name) for name in (link.a, link.b))
        note += f". {ARROW}: {a} {directions} {b}"
        p = known.arrows[link.a, link.b]
        if labelled and link.arrow and p < _CERTAIN:
            link = replace(link, label=percent(p))
    if known.column == WEIGHT:
        return replace(link, width=round(1.2 + 5.8 * abs(value) / most, 2), note=note)
    sure = min(1.0, max(0.0, 2 * value - 1))
    width, opacity = round(1 + 3 * sure, 2), round(0.5 + 0.5 * sure, 2)
    return replace(link, width=width, opacity=opacity, note=note)


# The legend -----------------------------------------------------------------------------------


class Entry(NamedTuple):
    """A class of links in a legend; ``more`` follows its count."""

    kind: LinkClass
    name: str
    number: str
    more: str


def entries(result: RunResult, *, waiting: bool = False) -> list[Entry]:
    """Return the classes that occur in the result, with their counts.

    ``waiting`` says that pairs that are not fully tested are drawn; without a truth they are the
    only class.
    """
    counts, more = Counter(result.classes.values()), {}
    if not counts and waiting:
        counts[LinkClass.UNTESTED] = len(result.untested)
    if result.counts is not None:
        hidden = "" if waiting else "; not drawn"
        more[LinkClass.UNTESTED] = f" ({result.counts.true_untested:,} of them true links{hidden})"
    return [
        Entry(kind, MARKS[kind].word, f"{counts[kind]:,}", more.get(kind, ""))
        for kind in LinkClass
        if counts[kind]
    ]


# The rest of a long line goes on under its words, not under the sample before them.
ENTRY = (
    "display:inline-block;margin-right:1.6rem;padding-left:calc(42px + .5rem);"
    "text-indent:calc(-42px - .5rem)"
)


def legend_of(items: Iterable[Entry], theme: str) -> str:
    """Return entries as HTML; on a narrow screen a long one is wrapped."""
    shown = "".join(
        f'<span style="{ENTRY}">{sample(kind, theme)}{name} <b>{number}</b>{more}</span>'
        for kind, name, number, more in items
    )
    return f'<div class="legend" style="line-height:1.9;text-wrap:balance">{shown}</div>'


def sample(kind: LinkClass, theme: str) -> str:
    """Return HTML of a piece of the class's line with its sign, for use in a sentence."""
    return Picture(stroke(kind, theme), "").styled("margin-right:.5rem;vertical-align:middle")


# Still pictures on pages and in files, all of them SVG ------------------------------------------


@dataclass(frozen=True)
class Picture:
    """One picture as SVG text, and as PNG when asked for; ``alt`` describes it."""

    svg: str
    alt: str

    @property
    def png(self) -> bytes:
        """PNG, two pixels for each unit of the picture."""
        from pages.draw.typeset import png  # for files only

        return png(self.svg)

    @property
    def image(self) -> str:
        """An <img> that holds the SVG: Streamlit's pages drop inline SVG."""
        coded = base64.b64encode(self.svg.encode()).decode()
        return f'<img alt="{text.safe(self.alt)}" src="data:image/svg+xml;base64,{coded}">'

    def styled(self, style: str) -> str:
        """Return the image with a style."""
        return self.image.replace("<img ", f'<img style="{style}" ', 1)


def graph_picture(shown: GraphView, *, alt: str, theme: str = "light") -> Picture:
    """Return the graph in the theme's colours."""
    look = PALETTES[theme]
    return Picture(graph_svg(shown, alt=alt, inks=Inks(theme, look.font, look.background)), alt)


@lru_cache(maxsize=32)
def curve_picture(panel: Panel, *, alt: str, theme: str = "light") -> Picture:
    """Return a chart as files have it, in the theme's colours; a panel holds tuples."""
    from engine.studies import figures  # here, so that pages with a graph do not load matplotlib

    look = PALETTES[theme]
    return Picture(figures.inline(panel, alt, look.font, look.background), alt)


def people_picture(lit: int, level: str, *, alt: str, theme: str = "light") -> Picture:
    """Return a hundred figures, ten in a row: the fifty of chance grey, those above in colour, the
    rest empty.

    ``level`` is the strength of the guarantee; without one, all of them are red.
    """
    look = PALETTES[theme]
    beyond = look.lines[0] if level == FINE else look.prices[level]
    chance = beyond if level == NOTHING else look.border
    return Picture(people_svg(lit, chance, beyond, look.border, alt=alt), alt)
