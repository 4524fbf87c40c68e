"""Edges to draw: from a matrix, with their class; their legend and their words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import networkx as nx
import numpy as np

from engine import RunResult
from engine.graphs.cpdag import Adjacency
from engine.graphs.links import MARKS, RARE, LinkClass
from engine.graphs.picture import Link, stroke
from pages.draw.picture import Picture
from pages.shell import words as text


def links_of(
    matrix: Adjacency,
    names: Sequence[str],
    classes: Mapping[tuple[int, int], LinkClass] | None = None,
    only: Iterable[LinkClass] = tuple(LinkClass),
) -> list[Link]:
    """The edges of a CPDAG matrix, each pair once, with its class if ``classes`` are given."""
    kinds, links = classes or {}, []
    for i, j in zip(*np.nonzero(np.triu(matrix | matrix.T, 1)), strict=True):
        kind = kinds.get((int(i), int(j)))
        if kind is not None and kind not in only:
            continue
        a, b = (i, j) if matrix[i, j] else (j, i)
        links.append(Link(names[a], names[b], bool(matrix[i, j] ^ matrix[j, i]), kind))
    return links


def found_links(result: RunResult, *, waiting: bool = False, missed: bool = False) -> list[Link]:
    """The learned links with what became of them, as every picture draws them.

    Pairs not tested to the end are there only if ``waiting``, and never have an arrow; ``missed``
    adds the true links that are not in the result. An arrow in doubt is a line.
    """
    kinds = result.classes or dict.fromkeys(result.untested, LinkClass.UNTESTED)
    shown = result.tested
    if waiting:
        shown = shown.copy()
        for i, j in result.untested:
            shown[i, j] = shown[j, i] = True
    doubted = doubtful(result)
    drawn = [
        replace(link, arrow=link.arrow and (link.a, link.b) not in doubted)
        for link in links_of(shown, result.names, kinds)
    ]
    if missed and result.truth is not None:
        true = result.reference_cpdag
        drawn += links_of(true, result.names, kinds, [LinkClass.MISSED])
    return drawn


def doubtful(result: RunResult) -> set[tuple[str, str]]:
    """The result's arrows (a, b) with a confidence below the limit of what is drawn."""
    return {(result.names[i], result.names[j]) for i, j in result.low_confidence}


class Entry(NamedTuple):
    """A class of links in a legend; ``more`` stands behind its count."""

    kind: LinkClass
    name: str
    number: str
    more: str


def entries(result: RunResult, *, waiting: bool = False) -> list[Entry]:
    """The classes with their counts; the rare ones if any.

    ``waiting`` says that pairs not tested to the end are drawn.
    """
    counts, more = Counter(result.classes.values()), {}
    if result.counts is not None:
        hidden = "" if waiting else "; not drawn"
        true = f" ({result.counts.untested_true:,} of them true links{hidden})"
        more[LinkClass.UNTESTED] = true
    return [
        Entry(kind, MARKS[kind].word, f"{counts[kind]:,}", more.get(kind, ""))
        for kind in LinkClass
        if counts[kind] or kind not in RARE
    ]


def legend(result: RunResult, theme: str, *, waiting: bool = False) -> str:
    """HTML: the entries, each with a sample of its stroke."""
    return legend_of(entries(result, waiting=waiting), theme)


# What does not fit into a line goes on under its words, not under the sample before them.
ENTRY = (
    "display:inline-block;margin-right:1.6rem;padding-left:calc(42px + .5rem);"
    "text-indent:calc(-42px - .5rem)"
)


def legend_of(items: Iterable[Entry], theme: str) -> str:
    """HTML of some entries; on a narrow screen a long one breaks."""
    shown = "".join(
        f'<span style="{ENTRY}">{sample(kind, theme)}{name} <b>{number}</b>{more}</span>'
        for kind, name, number, more in items
    )
    return f'<div class="legend" style="line-height:1.9">{shown}</div>'


def sample(kind: LinkClass, theme: str) -> str:
    """HTML: a piece of the class's line with its sign, in a line of words."""
    image = Picture(stroke(kind, theme), "").image
    return image.replace("<img ", '<img style="margin-right:.5rem;vertical-align:middle" ', 1)


def describe(what: str, names: Sequence[str], links: Sequence[Link]) -> str:
    """The frame's name for screen readers."""
    return f"{what}: {text.count(len(names), 'node')}, {text.count(len(links), 'edge')}"


def as_digraph(names: Sequence[str], matrix: Adjacency) -> nx.DiGraph:
    """A directed graph for a layout: undirected edges run in column order."""
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    for link in links_of(matrix, names):
        graph.add_edge(link.a, link.b)
    return graph
