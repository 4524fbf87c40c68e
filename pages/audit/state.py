"""An audit in a thread of its own, and the finished example that the page opens on."""

from __future__ import annotations

import time
from pathlib import Path

import streamlit as st

from engine.audit.lines import read_lines
from engine.audit.measure import Measured
from engine.audit.survey import Line, Subject, audit
from pages.shell.lifetime import Present, here
from pages.shell.task import Task

EXAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "audit.json"
HEADLINE = "curate_pc/published/strata"
_JOB = "audit_job"


class AuditJob(Task):
    """One subject under attack: the bound as it grows, and the line when it is finished."""

    def __init__(self, subject: Subject, runs: int, present: Present):
        super().__init__(present)
        self.subject, self.runs = subject, runs
        self.growth: list[tuple[int, float]] = []
        self.latest: Measured | None = None
        self.line: Line | None = None

    def work(self) -> None:
        """Runs and replays of the subject."""
        self.line = audit(self.subject, self.runs, cancelled=self.stopped, watch=self._look)

    def _look(self, subject: Subject, measured: Measured) -> None:
        self.latest = measured
        self.growth.append((measured.runs, measured.epsilon))
        time.sleep(0)  # lets the pages draw


@st.cache_data(show_spinner=False)
def example() -> dict[str, Line]:
    """The finished audit that comes with the project, by key."""
    return read_lines(str(EXAMPLE))


def begin(subject: Subject, runs: int) -> None:
    """Start an audit; one that still goes on is stopped."""
    last = job()
    if last is not None:
        last.cancel()
    started = AuditJob(subject, runs, here())
    st.session_state[_JOB] = started
    started.start()


def job() -> AuditJob | None:
    """The audit that goes on, or that ended last."""
    found: AuditJob | None = st.session_state.get(_JOB)
    return found


def forget() -> None:
    """Go back to the example."""
    st.session_state.pop(_JOB, None)
