"""CURATE's margins by hand: drag Lemma 1's errors, and the plan and the score follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from engine.studies.margins import CURATE, Margins
from engine.studies.tuning import OBJECTIVES
from pages.draw.opening import visit
from pages.draw.scene import digested, show_margins
from pages.shell import words as text
from pages.shell.settings import Settings, Source, filled
from pages.tune.form import by_hand
from pages.tune.state import TuneJob


def margins_view(job: TuneJob, found: Margins) -> None:
    """The chart, what it shows, and the setting at rest as a run."""
    d = job.asked
    count = text.count(found.data.n, "row")
    st.subheader(
        text.plain(f"CURATE on {found.data.name.capitalize()}, ε = {found.epsilon:g}"),
        anchor=False,
    )
    show_margins(content(found), "tune-margins", _rested)
    st.caption(
        f"Drag a curve by its handle, or use the dials. Solid: Lemma 1's bound on a lost deletion "
        f"(type I, margin β₁); dashed: on a wrong one (type II, β₂), c = 1; T moves both. Small "
        f"dots are the plan's orders. Every setting was run {d['seeds']} times on {count} before; "
        "the best of many is partly luck."
    )
    if st.button("Open run", key="tune-margins-open", icon=":material/play_arrow:"):
        values = {"epsilon": found.epsilon, "guarantee": found.guarantee, **by_hand()}
        visit(Settings(Source(d["networks"][0], d["n"]), CURATE, filled(CURATE, values)))


def content(found: Margins) -> dict[str, Any]:
    """What the browser needs of it, and the setting that it is to show."""
    at = by_hand()
    places = [found.thresholds.index(at["threshold"])]
    places += [found.betas.index(at[name]) for name in ("beta1", "beta2")]
    still = digested({**found.as_dict(), "what": OBJECTIVES[found.objective]})
    return {**still, "at": places}


def _rested(frame: Mapping[str, Any]) -> None:
    by_hand().update({name: float(frame[name]) for name in ("threshold", "beta1", "beta2")})
