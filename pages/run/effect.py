"""How much one column does to another, under a run that released its tables."""

from __future__ import annotations

import streamlit as st

from engine import RunResult
from engine.marginals.diagnostics import MarginalDiagnostics
from pages.draw.effect import effects


@st.fragment
def how_much(result: RunResult) -> None:
    """Two boxes and one sentence, once asked for; nothing where no tables were released."""
    found = result.diagnostics
    if not isinstance(found, MarginalDiagnostics) or found.released is None or not result.skeleton:
        return
    box = st.expander("How much? Effects", key="run-effects", on_change="rerun")
    if box.open:
        with box:
            arrows = sorted((a, b) for a, b in result.cpdag.edges if (b, a) not in result.cpdag)
            first = (arrows or sorted(result.cpdag.edges))[0]
            name = result.dataset if result.public else None
            effects(
                result.names, found.levels, first, result.effect, key="run-effect", dataset=name
            )
