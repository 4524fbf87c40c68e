"""An audit in a thread of its own, and the finished example that the page opens on."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st

from engine.audit.lines import read_lines
from engine.audit.measure import Measured
from engine.audit.survey import Line, Subject, audit
from engine.errors import InputError
from pages.components.state.lifetime import STUDIES, Present, end_when_left, here

EXAMPLE = Path(__file__).resolve().parents[3] / "sample_data" / "audit.json"
HEADLINE = "curate_pc/published/strata"
_KEPT, _JOB = "audit_line", "audit_job"


@dataclass(eq=False)
class AuditJob:
    """One subject under attack: the bound as it grows, and the line when it is finished."""

    subject: Subject
    runs: int
    present: Present = lambda: True
    growth: list[tuple[int, float]] = field(default_factory=list)
    latest: Measured | None = None
    line: Line | None = None
    problem: str = ""
    _stop: threading.Event = field(default_factory=threading.Event)
    _done: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Begin, or wait in line; raises nothing, see ``problem``."""
        STUDIES.join(self)
        threading.Thread(target=self._work, daemon=True, name="audit").start()
        end_when_left(lambda: self.present(), self.wait, self.cancel)

    def cancel(self) -> None:
        """Ask it to stop; the runs that were made count."""
        self._stop.set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, at most so long."""
        return self._done.wait(seconds)

    @property
    def running(self) -> bool:
        """Whether the end has not come yet."""
        return not self._done.is_set()

    @property
    def place(self) -> int:
        """Its place in line, 0 once it works."""
        return STUDIES.place(self)

    def _look(self, subject: Subject, measured: Measured) -> None:
        self.latest = measured
        self.growth.append((measured.runs, measured.epsilon))
        time.sleep(0)  # lets the pages draw

    def _work(self) -> None:
        try:
            if STUDIES.turn(self, self._stop.is_set):
                self.line = audit(
                    self.subject, self.runs, cancelled=self._stop.is_set, watch=self._look
                )
        except InputError as error:
            self.problem = str(error)
        except Exception as error:  # a page must not wait for ever for a thread that died
            self.problem = f"The audit broke off: {type(error).__name__}."
        finally:
            STUDIES.leave(self)
            self._done.set()


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
