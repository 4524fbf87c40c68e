"""The finished example that the page opens on."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from engine.audit.cases import CaseResult, read_results

EXAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "audit.json"
HEADLINE = "curate_pc/published/strata"


@st.cache_data(show_spinner=False)
def example() -> dict[str, CaseResult]:
    """The finished audit that comes with the project, by key."""
    return read_results(str(EXAMPLE))
