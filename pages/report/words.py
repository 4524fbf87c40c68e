"""The report's sentences, computed from results: for people who know no statistics."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from engine import Dataset, RunResult
from engine.graphs.links import LinkClass
from engine.request import SEM
from engine.studies.detectability import Invented
from engine.studies.repeat import usual
from engine.studies.trial import TrialResult
from pages.shell import words as text
from pages.shell.words import number

LEAST = 20  # fewer repetitions say nothing about a range


_JOINED = re.compile(r" (?==\s[\d.])|(?<= =) (?=[\d.])|(?<=\d) (?=%)")


def together(words: str) -> str:
    """The words with no line end inside "ε = 3" or "82 %": a number stays with its sign."""
    return _JOINED.sub("\N{NO-BREAK SPACE}", words)


def range_sentence(outcomes: Sequence[TrialResult]) -> str:
    """How much of the headline is luck; empty with too few repetitions."""
    if len(outcomes) < LEAST:
        return ""
    counts = [o.counts for o in outcomes if o.counts]
    found, extra = usual([c.found for c in counts]), usual([c.invented for c in counts])
    return (
        f"In {found.inside} of {found.of} repetitions {_range(found.low, found.high)} were found; "
        f"in {extra.inside} of {extra.of}, {_range(extra.low, extra.high)} were false positives."
    )


def _range(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"


_ASKS = re.compile(
    r"\b(cause|affect|influence|effect|lead|link|relat|depend|act|associat)\w*", re.IGNORECASE
)
_OTHERWISE = re.compile(r"\W*(how|why|when|who|which|what|where|should|may)\b", re.IGNORECASE)
NO_ANSWER = (
    "This report does not answer that question: it can say whether one column acts on another, "
    "where the question names the two."
)


def answer(question: str, data: Dataset, result: RunResult, titles: Mapping[str, str]) -> str:
    """The result's answer to what was typed, or that it has none; empty without a question.

    A question is understood where it names two columns, by name or in plain words (``titles``),
    and asks whether one acts on the other.
    """
    if not question:
        return ""
    a, b, *more = [*named(question, titles), "", ""]
    if not b or any(more) or not _ASKS.search(question) or _OTHERWISE.match(question):
        return NO_ANSWER
    one, other = (f"“{titles[name]}”" for name in (a, b))
    i, j = result.names.index(a), result.names.index(b)
    forth, back = result.displayed_cpdag[i, j], result.displayed_cpdag[j, i]
    if (min(i, j), max(i, j)) in result.untested:
        return f"The question stays open: {one} and {other} were not tested to the end."
    kind = result.classes.get((min(i, j), max(i, j))) if data.public else None
    if kind is LinkClass.FALSE_POSITIVE:
        return f"This result links {one} and {other}; in the true graph they have no direct link."
    if (forth and back) or kind is LinkClass.UNIDENTIFIED:
        return f"{one} and {other} are linked; which of them acts on the other stays open."
    if forth or back:
        first, second = (one, other) if forth else (other, one)
        return f"{first} acts on {second}, as far as this result shows."
    return f"This result shows no direct link of {one} and {other}."


def named(question: str, titles: Mapping[str, str]) -> list[str]:
    """The columns that a text names, in its order; of names within names the longest."""
    found, left = list[tuple[int, str]](), question.casefold()
    words = {(word.casefold(), name) for name, title in titles.items() for word in (name, title)}
    for word, name in sorted(words, key=lambda w: (-len(w[0]), w)):
        if at := re.search(rf"(?<!\w){re.escape(word)}(?!\w)", left):
            left = left[: at.start()] + "\0" * len(word) + left[at.end() :]
            found.append((at.start(), name))
    return list(dict.fromkeys(name for _, name in sorted(found)))


def details(data: Dataset, result: RunResult) -> list[str]:
    """Numbers in the field's terms, for the last page."""
    said, counts, m = [], result.counts, result.metrics_tested
    # Not of a person's own data: their truth file is no released fact.
    if data.public and counts is not None and m is not None and counts.found:
        links, right = text.count(counts.found, "true link"), counts.right
        said.append(
            f"Of the {links} found, {right} {'has' if right == 1 else 'have'} the arrow, or the "
            f"plain line, that such data allow (skeleton F1 {m.skeleton_f1:.2f}, directed F1 "
            f"{m.directed_f1:.2f}, SHD {m.shd})."
        )
    if result.ledger.cap is not None and not result.ledger.undefended:
        if result.spent.delta > 0:
            failing = f"The promise may fail with probability δ = {number(result.spent.delta)}."
            said.append(together(failing))
        said.append(text.RESEARCH_TOOL)
    return said


def _origin(data: Dataset) -> str:
    """What public rows were drawn from."""
    what = (
        "a simulated linear model" if data.name.startswith(f"{SEM}:") else "the published network"
    )
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
    if directions := result.summary(scored=False).directions:
        said.append(directions)
    said.append(
        "A link says that two things go together in a way that the others do not explain. It is "
        "causal only if nothing unmeasured causes both. A line without an arrow can point either "
        "way. Arrows are less certain than links."
    )
    return said
