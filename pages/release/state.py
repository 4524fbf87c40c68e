"""A release in a thread of its own: it can be stopped, and says whether it has been paid for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from engine import Dataset
from engine.data.schema import Schema
from engine.release.budget import Budgets
from engine.release.file import Release
from engine.release.make import COVERED, make
from pages.shell import worker
from pages.shell.lifetime import RUNS, Present, here
from pages.shell.task import Task

_JOB, _LAST = "release_job", "released"


class ReleaseJob(Task):
    """One release of ``data`` at ``values``, paid by the budget ``name``."""

    queue = RUNS

    def __init__(
        self, data: Dataset, schema: Schema, values: Mapping[str, Any], name: str, present: Present
    ):
        # What has been paid for is not thrown away because a browser lost its connection.
        super().__init__(lambda: self.charged or present())
        self._request, self.name = (data, schema, COVERED[0], dict(values)), name
        self.charged = False
        self.released: Release | None = None

    def work(self) -> None:
        """Charge the budget, then release."""
        self.released = make(
            *self._request,
            name=self.name,
            budgets=Budgets(),
            cancelled=self.stopped,
            on_charged=self._paid,
        )

    def _paid(self) -> None:
        self.charged = True


def begin(data: Dataset, schema: Schema, values: Mapping[str, Any], name: str) -> None:
    """Start a release, unless one goes on."""
    going = job()
    if going is not None and going.running:
        return
    started = ReleaseJob(data, schema, values, name, here())
    st.session_state[_JOB] = started
    started.start()
    started.wait(worker.PATIENCE)


def job() -> ReleaseJob | None:
    """The release that goes on, or that ended last."""
    found: ReleaseJob | None = st.session_state.get(_JOB)
    return found


def last() -> Release | None:
    """The last release of this session."""
    done = job()
    if done is not None and done.released is not None:
        st.session_state[_LAST] = done.released
    found: Release | None = st.session_state.get(_LAST)
    return found
