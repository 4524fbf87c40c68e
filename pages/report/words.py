"""The report's sentences, computed from results: for people who know no statistics."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from engine import Dataset, RunResult
from engine.graphs.cpdag import matrix_of
from engine.graphs.paths import Path, Verdict, path_between
from engine.percent import span
from engine.request import SEM
from engine.studies.detectability import Invented
from engine.studies.repeat import Point, usual
from pages.draw.price import Step
from pages.report.work import Repetition
from pages.shell import words as text
from pages.shell.words import number

_JOINED = re.compile(r" (?==\s[\d.])|(?<= =) (?=[\d.])|(?<=\d) (?=%)")


def together(words: str) -> str:
    """Return the words with no line end inside "ε = 3" or "82 %": a number stays with its sign."""
    return _JOINED.sub("\N{NO-BREAK SPACE}", words)


# The answer -------------------------------------------------------------------------------


def answered(result: RunResult, cause: str, outcome: str) -> Path:
    """Return the drawn graph's answer about the effect of one column on another."""
    x, y = (result.names.index(name) for name in (cause, outcome))
    return path_between(result.displayed_cpdag, result.untested, x, y)


def answer(path: Path, asked: tuple[str, str], titles: Mapping[str, str], share: str = "") -> str:
    """Say whether the first of the ``asked`` columns acts on the second, and along which path.

    Args:
        path: The graph's answer.
        asked: The two columns.
        titles: All columns' plain names by column, in the order of the graph.
        share: How many repetitions give the same (:func:`repeated`), if any.
    """
    share, every = f", in {share}" if share else "", list(titles.values())
    way = [every[k] for k in path.columns]
    if path.verdict == Verdict.NO:
        first, second = (titles[name] for name in asked)
        return f"{first}, {second}: no, no path leads from the first to the second{share}."
    between = " and ".join(way[1:-1])
    sign, said = {
        Verdict.YES: ("→", f"yes, {f'through {between}' if between else 'directly'}"),
        Verdict.REVERSED: ("→", f"no, the path leads from {way[0]} to {way[-1]}"),
        Verdict.UNDIRECTED: ("–", "open, because an edge on this path has no direction"),
        Verdict.UNTESTED: ("–", "open, because a pair on this path was not fully tested"),
    }[path.verdict]
    return f"{f' {sign} '.join(way)}: {said}{share}."


def true_answer(data: Dataset, cause: str, outcome: str) -> str:
    """Say the true graph's answer; empty where it is not known."""
    if not data.public or data.truth is None:
        return ""
    x, y = (data.names.index(name) for name in (cause, outcome))
    path = path_between(matrix_of(data.truth, data.names), (), x, y)
    return f"The true graph says {'yes' if path.verdict == Verdict.YES else 'no'}."


def repeated(
    path: Path, result: RunResult, cause: str, outcome: str, made: Sequence[Repetition], of: int
) -> str:
    """Say how many repetitions give the same verdict; empty without any."""
    if not made:
        return ""
    x, y = (result.names.index(name) for name in (cause, outcome))
    same = sum(path_between(r.drawn, r.untested, x, y).verdict == path.verdict for r in made)
    so_far = " so far" if len(made) < of else ""
    return f"{same} of {len(made)} repetitions{so_far}"


def sure(result: RunResult, made: Sequence[Repetition], of: int) -> str:
    """Say between which numbers the counts lie in most repetitions; why there are none."""
    if not result.public:
        return "The run was not repeated, because each repetition would be charged to the budget."
    if (epsilon := getattr(result.params, "epsilon", None)) is None:
        return "Each repetition gives the same graph, because no noise is drawn."
    if not made:
        return ""
    wrong = usual([r.counts.false_positives for r in made])
    so_far = "" if len(made) >= of else f" These are {len(made)} of {of} repetitions."
    return (
        f"At ε = {number(epsilon)}, {usually(made)}, and {wrong.inside} of {wrong.of} have "
        f"{span(wrong.low, wrong.high)} false positives.{so_far}"
    )


def usually(made: Sequence[Repetition]) -> str:
    """Say how many true edges most repetitions find, in a part of a sentence."""
    found, true = usual([r.counts.found for r in made]), made[0].counts.true
    edges = f"{span(found.low, found.high)} of the {text.count(true, 'true edge')}"
    return f"{found.inside} of {found.of} repetitions find {edges}"


def took(result: RunResult, steps: Sequence[Step]) -> str:
    """Say how many true edges the method and then the noise lose; ``steps`` end with the run."""
    if getattr(result.params, "epsilon", None) is None:
        return "Privacy removed no edges, because no noise is drawn."
    if not steps:
        return "Without a true graph, the edges lost to privacy are unknown."
    every, *before, now = (step.found for step in steps)
    edges = f"of the {text.count(every, 'true edge')}"
    left = f"With the noise of this privacy it finds {now}"
    if not before:
        return f"{left} {edges}."
    best = f"The best test finds {before[0]} {edges} without noise, and this method {before[-1]}."
    found = f"Without noise this method finds {before[0]} {edges}."
    return f"{best if len(before) > 1 else found} {left}."


def noise_took(steps: Sequence[Step]) -> str:
    """Say in a few words how many edges the noise took."""
    every, without, now = steps[0].found, steps[-2].found, steps[-1].found
    if now < without:
        return f"The noise removed {without - now} of {text.count(without, 'edge')}"
    return f"The noise removed no edge: {now} of {every} are found"


def curve_title(points: Sequence[Point]) -> str:
    """Say how the number of true edges found changes over the drawn range of ε."""
    first, last = points[0], points[-1]
    return (
        f"{first.found[1]:g} true edges found at ε = {number(first.epsilon)}, "
        f"{last.found[1]:g} at ε = {number(last.epsilon)}"
    )


def details(data: Dataset, result: RunResult) -> list[str]:
    """Numbers in the field's terms, for the last page."""
    said, counts, m = [], result.counts, result.metrics_tested
    # Not of a person's own data: their truth file is no released fact.
    if data.public and counts is not None and m is not None and counts.found:
        links, right = text.count(counts.found, "true link"), counts.correct
        said.append(
            f"{right} of the {links} found {'has' if right == 1 else 'have'} the direction, or "
            "the missing direction, that such data identify "
            f"(skeleton F1 {m.skeleton_f1:.2f}, directed F1 {m.directed_f1:.2f}, SHD {m.shd})."
        )
    if result.ledger.cap is not None and not result.ledger.no_guarantee_reasons:
        slack = f"The guarantee has a slack of δ = {number(result.proven.delta)}."
        said += [together(slack)] if result.proven.delta > 0 else []
        said.append(text.RESEARCH_TOOL)
    return said


def limits(data: Dataset, result: RunResult, nothing: Invented | None = None) -> list[str]:
    """List the limits of the page; ``nothing``: false positives under independence."""
    said = (
        "Real data: the number of links that are real is unknown. No score is shown, because "
        "scores would not be private. The run was not repeated, because each repetition would "
        "be charged to the budget."
    )
    if data.public:
        simulated = data.name.startswith(f"{SEM}:")
        origin = "a simulated linear model" if simulated else "the published network"
        said = (
            f"Simulated data: {data.n:,} rows drawn from {origin} “{text.dataset_title(data)}”, "
            f"whose links are known. On real data the links are unknown, and results may be "
            f"better or worse."
        )
    untested = ""
    if result.untested:
        why = "The run was stopped" if result.status == "cancelled" else "The budget was exhausted"
        pairs = text.count(len(result.untested), "pair")
        untested = (
            f"{why} with {pairs} not fully tested. Nothing is known about them, and grey dots "
            "show them."
        )
    causal = (
        "A link means that two columns go together in a way that the others do not explain. It is "
        "causal only if nothing unmeasured causes both. An undirected link can point either way. "
        "Arrows are less certain than links."
    )
    false, open_ = nothing.sentence if nothing else "", result.summary(scored=False).directions
    return list(filter(None, (said, false, untested, open_, causal)))
