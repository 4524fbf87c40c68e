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
from pages.shell.session import Place
from pages.shell.settings import Settings, Source, filled
from pages.tune.state import TuneJob

_AT: Place[dict[str, float]] = Place("tune_margins", dict)  # the setting at rest


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
        values = {"epsilon": found.epsilon, "guarantee": found.guarantee, **_setting(found)}
        visit(Settings(Source(d["networks"][0], d["n"]), CURATE, filled(CURATE, values)))


def content(found: Margins) -> dict[str, Any]:
    """What the browser needs of it; it begins with the setting nearest to the default."""
    start = (found.thresholds.index(0.05), found.betas.index(0.2), found.betas.index(0.2))
    what = OBJECTIVES[found.objective]
    return digested({**found.as_dict(), "what": what, "at": list(start)})


def _setting(found: Margins) -> dict[str, float]:
    """The setting at rest; at first that of the defaults."""
    known = _AT.get()
    fits = known.get("threshold") in found.thresholds and known.get("beta1") in found.betas
    return known if fits else {"threshold": 0.05, "beta1": 0.2, "beta2": 0.2}


def _rested(frame: Mapping[str, Any]) -> None:
    _AT.put({name: float(frame[name]) for name in ("threshold", "beta1", "beta2")})
