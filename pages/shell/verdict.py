"""What a run found, in counts and in one sentence, with the price beside it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from engine import Dataset, RunResult
from engine.graphs.cpdag import matrix_of
from engine.graphs.metrics import EdgeClass, classify, truth_cpdag
from pages.shell import words as text
from pages.shell.palette import price_ink
from pages.shell.words import number

Kinds = dict[tuple[int, int], EdgeClass]
FINE, DOUBTFUL, NOTHING = "fine", "doubtful", "nothing"
_MARKS = {FINE: "✔", DOUBTFUL: "▲", NOTHING: "✖"}
_WEAK, _NO_USE = 10.0, 30.0  # above these ε hardly protects (e^10 odds), and nobody (e^30)
_CLOSE = 1.01  # a defended total this near the claimed one is the same number


def kinds_of(data: Dataset, result: RunResult) -> Kinds:
    """Class of every pair adjacent in truth or result; empty without a truth."""
    if data.truth is None:
        return {}
    return classify(
        result.matrix,
        truth_cpdag(data.truth, data.names),
        dag=matrix_of(data.truth, data.names),
        untested=result.untested,
    )


@dataclass(frozen=True)
class Verdict:
    """Counts of a run against the truth; ``waiting_true`` of the untested pairs are true links."""

    true: int
    found: int
    turned: int
    claimed: int
    invented: int
    waiting: int
    waiting_true: int


def verdict(data: Dataset, result: RunResult) -> Verdict | None:
    """The counts, or None without a truth."""
    if data.truth is None:
        return None
    kinds = kinds_of(data, result)
    counts = Counter(kinds.values())
    turned, claimed = counts[EdgeClass.WRONG_DIRECTION], counts[EdgeClass.CLAIMED]
    links = matrix_of(data.truth, data.names)
    return Verdict(
        true=data.truth.number_of_edges(),
        found=counts[EdgeClass.CORRECT] + turned + claimed,
        turned=turned,
        claimed=claimed,
        invented=counts[EdgeClass.EXTRA],
        waiting=counts[EdgeClass.UNTESTED],
        waiting_true=sum(bool(links[i, j] or links[j, i]) for i, j in result.untested),
    )


def findings(data: Dataset, result: RunResult) -> str:
    """What was found, in one sentence or two, without marks of any kind."""
    found = verdict(data, result)
    if found is None:
        waiting = f", {len(result.untested):,} of them not tested to the end"
        end = waiting if result.untested else ""
        edges = text.count(len(result.skeleton), "link")
        return f"{edges} found{end}. There is no known truth to compare with."
    words = f"{found.found} of {text.count(found.true, 'true link')} found, "
    words += f"{found.invented:,} invented."
    if found.turned:
        points = "points" if found.turned == 1 else "point"
        words += f" Of those found, {found.turned} {points} another way."
    if found.claimed:
        one = found.claimed == 1
        words += f" {found.claimed} {'carries a' if one else 'carry'} direction"
        words += f"{'' if one else 's'} that such data cannot tell."
    if found.waiting:
        words += f" {found.waiting:,} more pairs were not tested to the end"
        words += f" ({found.waiting_true} of them true links)."
    return words


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
    if claimed is not None and not math.isfinite(claimed.epsilon):
        said = "The paper's sum has no limit"
    if not math.isfinite(spent):
        return NOTHING, f"{said}; nothing can be defended"
    if claimed is not None and spent <= min(_WEAK, claimed.epsilon * _CLOSE):
        return FINE, f"{said}, and it can be defended"
    able = f"{said}; what can be defended is ε = {number(spent)}"
    return (NOTHING, f"{able}, which protects nobody") if spent > _NO_USE else (DOUBTFUL, able)


def price_html(result: RunResult) -> str:
    """The price as a coloured mark with a sign and words."""
    level, words = price(result)
    ink = price_ink(level)
    return (
        f'<span style="display:inline-block;border:2px solid {ink};border-radius:.8rem;'
        f'color:{ink};font-weight:600;padding:.1rem .7rem;line-height:1.35">'
        f'<span aria-hidden="true">{_MARKS[level]}</span> {text.safe(words)}</span>'
    )
