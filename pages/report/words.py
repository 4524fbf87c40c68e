"""The report's sentences, computed from results: for people who know no statistics."""

from __future__ import annotations

from collections.abc import Sequence

from engine import Dataset, RunResult
from engine.studies.null import Invented
from engine.studies.repeat import Repetition, usual
from pages.shell import words as text
from pages.shell.settings import is_simulated
from pages.shell.words import number

LEAST = 20  # fewer repetitions say nothing about a range


def range_sentence(outcomes: Sequence[Repetition]) -> str:
    """How much of the headline is luck; empty with too few repetitions."""
    if len(outcomes) < LEAST:
        return ""
    found = usual([o.counts.found for o in outcomes])
    extra = usual([o.counts.invented for o in outcomes])
    return (
        f"In {found.inside} of {found.of} repetitions {_range(found.low, found.high)} were found; "
        f"in {extra.inside} of {extra.of}, {_range(extra.low, extra.high)} were false positives."
    )


def _range(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"


def _arrows(data: Dataset, result: RunResult) -> str:
    """How good the arrows are where a truth tells, as the end of a sentence.

    Not of a person's own data: their truth file is no released fact.
    """
    counts, m = result.counts, result.metrics_tested
    if not data.public or counts is None or m is None or not counts.found:
        return ""
    links, right = text.count(counts.found, "true link"), counts.right
    return (
        f": of the {links} found, {right} {'has' if right == 1 else 'have'} the arrow, or "
        f"the plain line, that such data allow (skeleton F1 {m.skeleton_f1:.2f}, directed F1 "
        f"{m.directed_f1:.2f}, SHD {m.shd})"
    )


def _origin(data: Dataset) -> str:
    """What public rows were drawn from."""
    what = "a simulated linear model" if is_simulated(data.name) else "the published network"
    return f"{what} “{text.dataset_title(data)}”"


def limits(data: Dataset, result: RunResult, nothing: Invented | None = None) -> list[str]:
    """What the page does not show; ``nothing``: false positives under independence."""
    said = []
    if data.public:
        said.append(
            f"A simulation: {data.n:,} rows drawn from {_origin(data)}, whose links are known. On "
            "real data nobody knows them, and results may be better or worse."
        )
    else:
        said.append(
            "Real data: nothing here says how many of these links are real. No score is shown, "
            "because scores would not be private, and nothing was repeated, because each "
            "repetition would spend budget."
        )
    if nothing is not None:
        said.append(nothing.sentence)
    if result.untested:
        why = "The run was stopped" if result.status == "cancelled" else "The budget ran out"
        pairs = text.count(len(result.untested), "pair")
        said.append(
            f"{why} while {pairs} had not been tested to the end: nothing is said of them, and "
            "they are drawn as grey dots."
        )
    said.append(
        "A link says that two things go together in a way that the others do not explain. It is "
        "causal only if nothing unmeasured causes both. A line without an arrow can point either "
        f"way. Arrows are less certain than links{_arrows(data, result)}."
    )
    if result.ledger.cap is not None and not result.ledger.undefended:
        if result.spent.delta > 0:
            failing = f"The promise may fail with probability δ = {number(result.spent.delta)}."
            said.append(text.together(failing))
        said.append(text.RESEARCH_TOOL)
    return said
