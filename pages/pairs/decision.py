"""The decision in plain words, and what it cost."""

from __future__ import annotations

import streamlit as st

from engine import Dataset, RunResult
from engine.pairs.decision import BOTH, Decision
from engine.teaching.pairwise import EPSILONS, Picture
from pages.shell import words as text
from pages.shell.drafts import Draft


def decision_view(result: RunResult, data: Dataset, exact: Picture | None, d: Draft) -> None:
    """One sentence, then numbers; ``exact`` tells how often a release would say so."""
    found = result.diagnostics
    if not isinstance(found, Decision):
        return
    st.markdown(f"#### {_sentence(found, exact, d)}")
    one, two, three, four = st.columns(4)
    released = " and ".join(text.number(score) for score in found.scores) or "nothing"
    one.metric("Released", released, help=_released(found))
    two.metric(
        "Noise scale",
        text.number(found.scale),
        help="Of the Laplace noise on each released number.",
    )
    three.metric(
        "Noise did not decide",
        f"{found.probability:.0%}",
        help="Probability that noise of this size leaves a gap as large as the released one on "
        "its side of 0. Computed from released numbers.",
    )
    four.metric(
        "ε spent",
        text.number(result.spent.epsilon),
        help="Strict total, δ = " + text.number(result.spent.delta) + ".",
    )
    whose = "every row" if found.protects == BOTH else f"the {found.protects} half's rows"
    st.caption(
        f"Strict: ε = {text.number(result.spent.epsilon)} protects {whose}"
        + ("." if found.protects == BOTH else "; the other half is taken as public.")
        + f" {text.RESEARCH_TOOL}"
    )


def _sentence(found: Decision, exact: Picture | None, d: Draft) -> str:
    if found.direction is None:
        return "Nothing was released: the data are too close to a change to say anything safely."
    cause, effect = (text.plain(name) for name in found.direction.split("->"))
    said = f"{cause} explains {effect} rather than the other way round"
    if exact is None:
        return f"{said}; noise of this size turns {1 - found.probability:.0%} of such decisions."
    way = next(
        w for w in exact.ways if w.release == found.release and w.name in ("vote", found.score)
    )
    right = way.right[EPSILONS.index(d["epsilon"])]
    # ``right`` counts the true direction, or the one without noise where no truth is known.
    target = exact.sign if exact.sign else (1.0 if way.gap > 0 else -1.0)
    if (found.scores[-1] - (found.scores[0] if len(found.scores) > 1 else 0.0)) * target < 0:
        right = 1 - right
    return f"{said}: {100 * right:.0f} of 100 such releases would say so."


def _released(found: Decision) -> str:
    if found.release == "vote":
        return "Votes for the first column as the cause, less votes for the second, with noise."
    if found.release == "difference":
        return "Score of second → first less that of first → second, with noise."
    return "The scores of first → second and of second → first, with noise; the smaller one wins."
