"""A study's files."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from engine.studies import CellResult
from pages.shell import export
from pages.sweep.jobs import StudyJob


def downloads(job: StudyJob, results: list[CellResult], table: pd.DataFrame) -> None:
    """Every run as a row, or with its edges as JSON; without the seeds of own data."""
    own = job.wanted is not None and job.wanted.own
    name = job.name.replace(" ", "_")

    def as_json() -> str:
        """The runs as a JSON array."""
        records = [r.as_dict() for r in results]
        if own:  # whoever knows the seed can take the noise away
            records = [record | {"seed": None} for record in records]
        return export.as_json(records)

    tidy = table.drop(columns="seed") if own else table
    with st.container(horizontal=True):
        export.download("Runs (CSV)", lambda: export.as_csv(tidy), f"{name}.csv", key="sweep-csv")
        export.download("Runs (JSON)", as_json, f"{name}.json", key="sweep-json")
    if own:
        st.caption("Your own data: F1 against a truth is not private; seeds are left out.")
