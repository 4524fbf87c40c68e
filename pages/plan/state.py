"""A plan in a thread of its own, and the finished example that the page opens on."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from engine.data.networks import load_network
from engine.studies.forecast import BANDS, Band, Forecast, Progress, Question, plan
from pages.shell.lifetime import Present, here
from pages.shell.task import Task

EXAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "plan.json"
_JOB = "plan_job"


class PlanJob(Task):
    """A question being simulated: how far it is, and the forecasts at the end."""

    def __init__(
        self,
        question: Question,
        schema: str,
        epsilons: Sequence[float],
        keys: Sequence[str],
        draws: int,
        present: Present,
    ):
        super().__init__(present)
        self.question, self.schema = question, schema
        self._epsilons, self._keys, self._draws = epsilons, keys, draws
        self.progress: Progress | None = None
        self.forecasts: list[Forecast] = []

    def work(self) -> None:
        """Simulated networks, one after the other."""
        self.forecasts = plan(
            self.question,
            self._epsilons,
            self._keys,
            draws=self._draws,
            cancelled=self.stopped,
            on_progress=self._note,
        )

    def _note(self, progress: Progress) -> None:
        self.progress = progress
        time.sleep(0)  # lets the pages draw


@st.cache_data(show_spinner=False)
def example() -> tuple[Question, str, list[Forecast]]:
    """The finished plan that comes with the project: question, its schema's name, forecasts."""
    content = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    network = load_network(content["schema"])
    question = Question(network.names, network.states, content["rows"], content["density"])
    forecasts = [
        Forecast(
            algorithm=f["algorithm"],
            epsilon=f["epsilon"],
            draws=f["draws"],
            **{name: Band(*f[name]) for name in BANDS},
        )
        for f in content["forecasts"]
    ]
    return question, content["schema"], forecasts


def begin(
    question: Question, schema: str, epsilons: Sequence[float], keys: Sequence[str], draws: int
) -> None:
    """Start a plan; one that still goes on is stopped."""
    last = job()
    if last is not None:
        last.cancel()
    started = PlanJob(question, schema, epsilons, keys, draws, here())
    st.session_state[_JOB] = started
    started.start()


def job() -> PlanJob | None:
    """The plan that goes on, or that ended last."""
    found: PlanJob | None = st.session_state.get(_JOB)
    return found
