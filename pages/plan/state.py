"""A plan that is made, and the finished example that the page opens on."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from engine.data.networks import load_network
from engine.studies.forecast import (
    BANDS,
    Band,
    Forecast,
    ForecastProgress,
    Question,
    donors_for,
    plan,
)
from engine.studies.null import Invented
from pages.host import apart
from pages.shell import words as text
from pages.shell.job import Job, Slot, left

EXAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "plan.json"


class PlanJob(Job):
    """A question being simulated: how far it is, and the forecasts at the end."""

    share = 0.0

    def __init__(
        self,
        question: Question,
        schema: str,
        epsilons: Sequence[float],
        keys: Sequence[str],
        draws: int,
    ):
        super().__init__()
        self.question, self.schema = question, schema
        self.what = f"simulated networks like {text.plain(schema)}"
        self._epsilons, self._keys, self._draws = epsilons, keys, draws
        self._progress: ForecastProgress | None = None
        self.forecasts: list[Forecast] = []

    def work(self) -> None:
        """Simulated networks, one after the other."""
        self.forecasts = apart.call(
            plan,
            *(self.question, self._epsilons, self._keys),
            draws=self._draws,
            stopped=self.stopped,
            notes={"on_progress": self._note},
        )

    def so_far(self) -> list[str]:
        """Runs and seconds."""
        at = self._progress
        return [] if at is None else [f"{at.done} of {at.total} runs", left(at.left)]

    def _note(self, progress: ForecastProgress) -> None:
        self._progress, self.share = progress, progress.done / progress.total
        time.sleep(0)  # lets the pages draw


JOB: Slot[PlanJob] = Slot("plan_job")


@st.cache_data(show_spinner=False)
def example() -> tuple[Question, str, list[Forecast]]:
    """The finished plan that comes with the project: question, its schema's name, forecasts."""
    content = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    network = load_network(content["schema"])
    asked = network.names, network.states, content["rows"], content["density"]
    question = Question(*asked, donors_for(network.name))
    forecasts = [
        Forecast(
            algorithm=f["algorithm"],
            epsilon=f["epsilon"],
            draws=f["draws"],
            nothing=Invented(tuple(f["nothing"])),
            **{name: Band(*f[name]) for name in BANDS},
        )
        for f in content["forecasts"]
    ]
    return question, content["schema"], forecasts
