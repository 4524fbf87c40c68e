"""Show where edges are lost: bars of the edges left after each step, from the truth to a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engine import RunResult
from engine.graphs.links import MARKS, LinkClass
from engine.registry import algorithm
from engine.studies import price as kinds
from engine.studies.price import LossStep
from pages.draw import PALETTES
from pages.shell.words import label, safe

TITLE = "Where edges are lost"
STYLE = """
ol.price {list-style: none; margin: 0; padding: 0}
ol.price li {display: grid; grid-template-columns: 2.4rem 7rem 1fr; gap: .2rem .8rem;
  align-items: center; line-height: 1.25; margin: .25rem 0; max-width: 75rem}
ol.price b {text-align: right; font-size: 1.4rem; font-variant-numeric: tabular-nums}
ol.price .bar {display: flex; height: 1.2rem; border: 1px solid; border-radius: .2rem;
  overflow: hidden}
ol.price .bar i {display: block; height: 100%}
@media (max-width: 30rem) {ol.price li {grid-template-columns: 2rem 4rem 1fr}}
"""


class Step(NamedTuple):
    """Links that are left, and why; ``lit`` if the step is the shown run."""

    found: int
    words: str
    false_positives: int = 0
    untested: int = 0
    lit: bool = False


def steps_of(result: RunResult, before: Sequence[LossStep]) -> list[Step]:
    """From all links to those of a run: what its method loses ``before`` any noise, then it.

    The list is empty if the truth is unknown.
    """
    counts = result.counts
    if counts is None:
        return []
    private = algorithm(result.algorithm).private
    last = "with noise: this result" if private else "in this result"
    searches = [(s.counts, f"{step_words(s.kind, s.statistic)}, without noise") for s in before]
    return [
        Step(counts.true, "true links"),
        *(
            Step(c.found, said, c.false_positives, c.untested, c is counts)
            for c, said in (*searches, (counts, last))
        ),
    ]


def price_html(steps: Sequence[Step], theme: str) -> str:
    """Return the list of bars; false positives are a hatched piece after the found links."""
    most = max(s.found + s.false_positives for s in steps) or 1
    look, wrong, lines = PALETTES[theme], MARKS[LinkClass.FALSE_POSITIVE].ink(theme), ""
    hatched = f"repeating-linear-gradient(115deg,{wrong} 0 4px,transparent 4px 7px)"
    for s in steps:
        pieces = {look.lines[0] if s.lit else look.faded: s.found, hatched: s.false_positives}
        bar = "".join(
            f'<i style="width:{100 * n / most:.3g}%;background:{ink}"></i>'
            for ink, n in pieces.items()
            if n
        )
        lines += (
            f'<li><b>{s.found}</b><span class="bar" style="border-color:{look.border}">{bar}'
            f"</span><span>{safe(said(s))}</span></li>"
        )
    return f'<ol class="price">{lines}</ol>'


def said(s: Step) -> str:
    """Return the step in words, with its false positives and pairs not fully tested, if any."""
    more = {LinkClass.FALSE_POSITIVE: s.false_positives, LinkClass.UNTESTED: s.untested}
    return "; ".join([s.words, *(MARKS[kind].counted(n) for kind, n in more.items() if n)])


_STEPS = {
    kinds.BEST: "best test ({test})",
    kinds.PAPER: "the papers' test ({test})",
    kinds.BOUNDED: "{test} in its bounded form",
    kinds.BLOCKS: "{test} block by block",
    kinds.TABLES: "Marginal PC's test on exact tables",
    kinds.SOLVER: "NOTEARS",
    kinds.DESCENT: "this method's descent",
}


def step_words(kind: str, statistic: str) -> str:
    """Return the name of a search without noise, with its test: "best test (G²)"."""
    return _STEPS[kind].format(test=label(statistic))


def reference_lines(steps: Sequence[LossStep]) -> list[tuple[LossStep, str]]:
    """The parts of a curve over ε: the best there is, and the method's own form, both exact."""
    ends = steps if len(steps) < 3 else (steps[0], steps[-1])
    words = ((s, step_words(s.kind, s.statistic)) for s in ends)
    return [(s, f"{said[0].upper()}{said[1:]}, no noise") for s, said in words]
