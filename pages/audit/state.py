"""An audit that goes on, and the finished example that the page opens on."""

from __future__ import annotations

import time
from pathlib import Path

import streamlit as st

from engine.audit.cases import Case, CaseResult, read_results
from engine.audit.measure import Measured
from engine.audit.replay import Finding
from engine.release.attacked import attack_release
from engine.release.file import Release
from pages.host import apart
from pages.shell import words as text
from pages.shell.job import Job, Slot

EXAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "audit.json"
HEADLINE = "curate_pc/published/strata"


class AuditJob(Job):
    """One subject under attack: the bound as it grows, and the line when it is finished."""

    share = 0.0

    def __init__(self, subject: Case, runs: int, what: str):
        super().__init__()
        self.subject, self.runs, self.what = subject, runs, what
        self.growth: list[tuple[int, float]] = []
        self.latest: Measured | None = None
        self.line: CaseResult | None = None

    def work(self) -> None:
        """Runs and replays of the subject."""
        self.line = apart.call(
            apart.audited,
            *(self.subject.key, self.runs),
            stopped=self.stopped,
            notes={"watch": self._look},
        )

    def so_far(self) -> list[str]:
        """Runs so far."""
        done = 0 if self.latest is None else self.latest.runs
        return [f"{done:,} of {self.runs:,} runs on each side"]

    def _look(self, measured: Measured) -> None:
        self.latest, self.share = measured, measured.runs / self.runs
        self.growth.append((measured.runs, measured.epsilon))
        time.sleep(0)  # lets the pages draw


class ReleaseJob(Job):
    """A release file under attack; ``file`` tells it from others."""

    share = 0.0

    def __init__(self, release: Release, file: str):
        super().__init__()
        self._release, self.file = release, file
        self.what = f"the attack on the release “{text.plain(release.name)}”"
        self.found: Finding | None = None

    def work(self) -> None:
        """Check it, then force its answers upon neighbours."""
        self.found = apart.call(
            attack_release, self._release, stopped=self.stopped, notes={"watch": self._look}
        )

    def _look(self, share: float) -> None:
        self.share = share
        time.sleep(0)  # lets the pages draw


JOB: Slot[AuditJob] = Slot("audit_job")
RELEASE: Slot[ReleaseJob] = Slot("audit_release_job")


@st.cache_data(show_spinner=False)
def example() -> dict[str, CaseResult]:
    """The finished audit that comes with the project, by key."""
    return read_results(str(EXAMPLE))
