"""How strong a learned edge is: its weight, or the probability that it is real given the noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from engine import RunResult
from engine.graphs.picture import Link
from engine.graphs.weighed_colliders import SHOWN
from engine.marginals.diagnostics import MarginalDiagnostics
from engine.percent import percent, probability
from engine.score.learned import ScoreDiagnostics
from pages.draw.links import doubtful
from pages.shell import words as text
from pages.shell.words import number

Pair = frozenset[str]
LINK, ARROW = "Link confidence", "Arrow confidence"
_THIN, _THICK = 1.2, 7.0  # widths of the weakest and the strongest weight
_FAINT, _SURE = 1.0, 4.0  # widths of the least and the most certain edge
_LABELLED = 30  # columns: numbers on more arrows than those of so many hide the graph
_CERTAIN = 0.9  # an arrow above it needs no number: the table and the pointer tell it


@dataclass(frozen=True)
class Strengths:
    """``column`` names the value in tables, ``sentence`` says what the lines' width means.

    ``arrows`` (a, b) -> the probability of an arrow from a to b, where the algorithm says it: the
    arrow has a separate confidence, in addition to its link's.
    """

    column: str
    sentence: str
    values: Mapping[Pair, float]
    arrows: Mapping[tuple[str, str], float] = field(default_factory=dict)

    @property
    def short(self) -> str:
        """What a note under the pointer calls the value."""
        return "Link" if self.arrows else self.column

    def directions(self, a: str, b: str) -> str:
        """Both arrows' probabilities in words; nothing where they are not known."""
        if (a, b) not in self.arrows:
            return ""
        return f"→ {probability(self.arrows[a, b])}, ← {probability(self.arrows[b, a])}"


def strengths(result: RunResult) -> Strengths | None:
    """What the algorithm says of its edges, if it says anything."""
    names = result.names
    found = result.diagnostics
    if isinstance(found, MarginalDiagnostics):
        confidence = found.edge_confidence.items()
        values = {frozenset((names[i], names[j])): float(p) for (i, j), p in confidence}
        words = (
            "Line width and opacity: the confidence in a link, how often links with such evidence "
            "are real on random networks."
        )
        if found.arrow_confidence:
            words += _arrow_words(result, len(names) <= _LABELLED)
        arrows = {(names[i], names[j]): float(p) for (i, j), p in found.arrow_confidence.items()}
        return Strengths(LINK, words, values, arrows)
    if isinstance(found, ScoreDiagnostics):
        values = {pair: _weight(found.weights, names, pair) for pair in result.skeleton}
        words = "Line width: the edge's weight in the linear model, by size."
        return Strengths("Weight", words, values)
    return None


def _arrow_words(result: RunResult, labelled: bool) -> str:
    """What is said of arrows' own confidence, and of those that are drawn as lines for it."""
    words = (
        " An arrow has a confidence of its own, the probability of its direction if the link is "
        f"real: below {percent(SHOWN)} it is drawn as a line"
    )
    lines = len(doubtful(result))
    words += f" ({text.count(lines, 'arrow')} here; counts keep them)." if lines else "."
    if labelled:
        words += f" A number stands on every arrow of at most {probability(_CERTAIN)}."
    return words


def _weight(weights: np.ndarray, names: Sequence[str], pair: Pair) -> float:
    """The larger weight of the two directions, with its sign."""
    i, j = (names.index(name) for name in pair)
    return float(max(weights[i, j], weights[j, i], key=abs))


def weighted(links: Sequence[Link], result: RunResult) -> list[Link]:
    """The links drawn by their strength, with a note to show under the pointer."""
    known = strengths(result)
    if known is None:
        return list(links)
    most = max((abs(v) for v in known.values.values()), default=1.0) or 1.0
    few = len(result.names) <= _LABELLED
    return [_drawn(link, known, most, few) for link in links]


def _label(link: Link, known: Strengths) -> str:
    """The drawn arrow's probability, where its direction is in doubt."""
    p = known.arrows[link.a, link.b]
    return percent(p) if link.arrow and p < _CERTAIN else ""


def _drawn(link: Link, known: Strengths, most: float, few: bool) -> Link:
    value = known.values.get(frozenset((link.a, link.b)))
    if value is None:
        return link
    note = f"{known.short}: {exact(known, value)}"
    if directions := known.directions(link.a, link.b):
        note += f". Arrow: {link.a} {directions} {link.b}"
        link = replace(link, label=_label(link, known) if few else "")
    if known.column == "Weight":
        width = _THIN + (_THICK - _THIN) * abs(value) / most
        return replace(link, width=round(width, 2), note=note)
    sure = min(1.0, max(0.0, 2 * value - 1))
    width = _FAINT + (_SURE - _FAINT) * sure
    return replace(link, width=round(width, 2), opacity=round(0.5 + 0.5 * sure, 2), note=note)


def exact(known: Strengths, value: float) -> str:
    """The value in words; a probability is never rounded up to certainty."""
    if known.column == LINK:
        return probability(value)
    return number(value)
