"""An effect on a page: two boxes to pick, one sentence, and a hundred figures for each side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from engine import RunResult
from engine.data.networks import NETWORKS
from engine.effects.effect import Effect
from engine.effects.estimate import Interval
from engine.effects.truth import interventional
from engine.effects.words import of_hundred
from engine.graphs.picture import people_svg
from pages.draw import palette, see_through
from pages.draw.links import Picture
from pages.shell import words as text
from pages.shell.form import beside, folded, refusals

Ask = Callable[..., Effect]


def effects(
    names: Sequence[str],
    edges: Sequence[tuple[str, str]],
    ask: Ask,
    *,
    key: str,
    truth: Callable[[Effect], str] = lambda found: "",
) -> None:
    """Draw the choice of cause and outcome, the answer of ``ask``, and the ``truth`` about it.

    The first choice is a directed edge; ``edges`` have both directions of an undirected one.
    """
    arrows = [(a, b) for a, b in edges if (b, a) not in edges]
    rows = zip(("cause", "effect"), ("Cause", "Outcome"), (arrows or edges)[0], strict=True)
    cause, effect = (
        place.selectbox(title, names, list(names).index(at), key=f"{key}-{word}")
        for place, (word, title, at) in beside(rows)
    )
    if cause == effect:
        st.info("Pick two different columns.")
        return
    with refusals():
        found = ask(cause, effect)
        if asked := _levels(found, key):
            found = ask(cause, effect, **asked)
        _show(found, truth(found))


def how_much(result: RunResult, titles: Mapping[str, str]) -> None:
    """Draw the choice of two columns and the answer, folded, for a run that released tables.

    ``titles`` has the columns' labels on the page.
    """
    names, known = [titles[name] for name in result.names], result.dataset in NETWORKS
    columns = dict(zip(names, result.names, strict=True))

    def truth(found: Effect) -> str:
        pair = columns[found.cause], columns[found.outcome]
        return true_effect(found, result.dataset, *pair) if result.public and known else ""

    edges = [(titles[a], titles[b]) for a, b in sorted(result.cpdag.edges)]
    ask = partial(result.effect, names=names)
    draw = partial(effects, names, edges, ask, key="run-effect", truth=truth)
    st.fragment(folded)("Causal effects", draw, key="run-effects")


def _levels(found: Effect, key: str) -> dict[str, Any]:
    """Return the levels to compare and to count, chosen where a column has more than two."""
    cause, effect = found.cause, found.outcome
    mine, theirs = (found.levels[found.names.index(name)] for name in (cause, effect))
    asked = {
        "cause_level": (f"{text.plain(cause)} set to", mine, found.level, cause),
        "reference": ("compared with", mine, found.reference, cause),
        "outcome_level": (f"{text.plain(effect)}: counted", theirs, found.event, effect),
    }
    if len(mine) == len(theirs) == 2:
        return {}
    places = iter(st.columns(3))
    return {
        word: next(places).selectbox(title, among, list(among).index(at), key=f"{key}-{word}-{of}")
        for word, (title, among, at, of) in asked.items()
        if len(among) > 2
    }


def _show(found: Effect, truth: str) -> None:
    said = text.plain(found.sentence)
    if found.refusal is not None:
        st.info(said, icon=":material/block:")
    else:
        st.markdown(f"**{said}**")
        if {found.level, found.reference} <= (found.risks or {}).keys():
            st.html(figures(found))
    if truth:
        st.markdown(text.plain(truth))
    st.caption(text.plain(" ".join(found.notes)))


def true_effect(found: Effect, dataset: str, cause: str, outcome: str) -> str:
    """Return the effect by the network's tables; ``cause`` and ``outcome`` are its columns."""
    risks = interventional(dataset, cause, outcome) @ found.asked.values
    mine = found.cause_levels
    high, low = (float(risks[mine.index(at)]) for at in (found.level, found.reference))
    return (
        f"By the network's probability tables: {of_hundred(high)} of 100 and {of_hundred(low)} of "
        f"100, a difference of {of_hundred(high - low)}."
    )


def figures(found: Effect) -> str:
    """Return a hundred icons for the cause's level and a hundred for the reference.

    Full ones are below the interval, pale ones within it.
    """
    parts = [
        _hundred(found.risk(level), f"{found.cause} = {level}", f"{found.outcome} = {found.event}")
        for level in (found.level, found.reference)
    ]
    return '<div style="display:flex;flex-wrap:wrap;gap:1rem 2.5rem">' + "".join(parts) + "</div>"


def _hundred(risk: Interval, title: str, event: str) -> str:
    words = f"{title}: {of_hundred(risk.low)} to {of_hundred(risk.high)} of 100 with {event}"
    ink, sure, may = palette().lines[1], round(100 * risk.low), round(100 * risk.high)
    pale, grey = see_through(ink, 0.35), palette().border
    drawn = Picture(people_svg(may, ink, pale, grey, first=sure, alt=words), words)
    look = "margin:0;max-width:11rem;font-size:.9rem"
    return f'<figure style="{look}">{drawn.styled("width:100%")}{text.safe(words)}</figure>'
