"""What a run found, in counts and in one sentence, with the price beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine import RunResult
from engine.graphs.metrics import EdgeClass
from engine.studies import price as price_steps
from engine.studies.price import PriceStep
from pages.shell import words as text
from pages.shell.palette import price_ink
from pages.shell.words import number

FINE, DOUBTFUL, NOTHING = "fine", "doubtful", "nothing"
_MARKS = {FINE: "✔", DOUBTFUL: "▲", NOTHING: "✖"}
_WEAK, _NO_USE = 10.0, 30.0  # above these ε hardly protects (e^10 odds), and nobody (e^30)
_CLOSE = 1.01  # a defended total this near the claimed one is the same number


def findings(result: RunResult) -> str:
    """What was found, in one sentence or two, without marks of any kind."""
    found = result.counts
    if found is None:
        links, waiting = len(result.skeleton) - len(result.untested), len(result.untested)
        unknown = "There is no known truth to compare with."
        return f"{text.count(links, 'link')} found.{_open(waiting)} {unknown}"
    words = f"{found.found} of {text.count(found.true, 'true link')} found, "
    words += f"{found.invented:,} invented."
    if found.turned:
        words += f" Of those found, {_turned(found.turned, backwards(result))}."
    if found.claimed:
        one = found.claimed == 1
        words += f" {found.claimed} {'carries a' if one else 'carry'} direction"
        words += f"{'' if one else 's'} that such data cannot tell."
    return words + _open(found.untested, f" ({found.untested_true} of them true links)")


def backwards(result: RunResult) -> int:
    """Drawn arrows that point another way than the truth; all others turned lack their arrow."""
    drawn, wrong = result.displayed_cpdag, EdgeClass.WRONG_DIRECTION
    return sum(
        kind is wrong and bool(drawn[i, j]) != bool(drawn[j, i])
        for (i, j), kind in result.classes.items()
    )


def _turned(turned: int, back: int) -> str:
    """Of the links found: arrows that point another way, and lines that should have one."""
    lines = turned - back
    lack = f"{lines} {'lacks its arrow' if lines == 1 else 'lack their arrow'}" if lines else ""
    points = f"{back} {'points' if back == 1 else 'point'} another way" if back else ""
    return ", and ".join(filter(None, (points, lack)))


def _open(pairs: int, which: str = "") -> str:
    """What is said of pairs not tested to the end, if there are any."""
    were = "pair was" if pairs == 1 else "pairs were"
    return f" {pairs:,} more {were} not tested to the end{which}." if pairs else ""


def price(result: RunResult) -> tuple[str, str]:
    """(how well the price holds: "fine", "doubtful" or "nothing", the price in words)."""
    cap, claimed, spent = result.ledger.cap, result.claimed, result.spent.epsilon
    if result.ledger.undefended:
        return NOTHING, f"Nothing can be defended: {result.ledger.undefended[0]}"
    if cap is not None:
        words = f"Guaranteed: ε = {number(cap.epsilon)} for the whole run"
        if cap.epsilon > _NO_USE:
            return NOTHING, f"{words}, too large to protect anyone"
        return (FINE if cap.epsilon <= _WEAK else DOUBTFUL), words
    if claimed is None and getattr(result.params, "epsilon", None) is None:
        return NOTHING, "No privacy: nothing can be defended"
    said = "Nothing claimed" if claimed is None else f"Claimed ε = {number(claimed.epsilon)}"
    endless = claimed is not None and not math.isfinite(claimed.epsilon)
    if endless:
        said = "The paper's sum has no limit"
    if not math.isfinite(spent):
        return NOTHING, f"{said}; nothing can be defended"
    if claimed is not None and not endless and spent <= min(_WEAK, claimed.epsilon * _CLOSE):
        return FINE, f"{said}, and it can be defended"
    able = f"{said}; what can be defended is ε = {number(spent)}"
    return (NOTHING, f"{able}, which protects nobody") if spent > _NO_USE else (DOUBTFUL, able)


def step_words(step: PriceStep) -> str:
    """What a search without noise is called: "Kendall's τ in its bounded form"."""
    test = text.label(step.statistic)
    return {
        price_steps.BEST: f"the best test ({test})",
        price_steps.PAPER: f"the papers' test ({test})",
        price_steps.BOUNDED: "the form of it whose one-record change is bounded",
        price_steps.BLOCKS: f"{test} asked block by block",
        price_steps.TABLES: "Marginal PC's own test on exact tables of counts",
        price_steps.SOLVER: "NOTEARS",
        price_steps.DESCENT: "this method's own descent",
    }[step.kind]


def reference_lines(steps: Sequence[PriceStep]) -> list[tuple[PriceStep, str]]:
    """What belongs on a curve over ε: the best there is, and the method's own form, both exact."""
    ends = steps if len(steps) < 3 else (steps[0], steps[-1])
    return [(step, f"{_line_words(step)}, no noise") for step in ends]


def _line_words(step: PriceStep) -> str:
    test = text.label(step.statistic)
    return {
        price_steps.BEST: f"Best test ({test})",
        price_steps.PAPER: f"{test} as published",
        price_steps.BOUNDED: f"{test}, bounded form",
        price_steps.BLOCKS: f"{test} by blocks",
        price_steps.TABLES: "Exact tables",
        price_steps.SOLVER: "NOTEARS",
        price_steps.DESCENT: "Own descent",
    }[step.kind]


def price_html(result: RunResult, look: str | None = None) -> str:
    """The price as a coloured mark with a sign and words."""
    return mark(*price(result), look)


def mark(level: str, words: str, look: str | None = None) -> str:
    """HTML: words about a price in the colour of how well it holds, with a sign."""
    ink = price_ink(level, look)
    return (
        f'<span style="display:inline-block;border:2px solid {ink};border-radius:.8rem;'
        f'color:{ink};font-weight:600;padding:.1rem .7rem;line-height:1.35">'
        f'<span aria-hidden="true">{_MARKS[level]}</span> {text.safe(words)}</span>'
    )
