"""A search or a map that is made, shared by all who ask for the same."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from engine.studies.analysis import frame
from engine.studies.cells import CellResult
from engine.studies.margins import CURATE, Margins
from engine.studies.tuning import Least, Tuned
from pages.host import apart
from pages.shell.form import title_of
from pages.shell.job import Job, Slot, left, shared
from pages.tune.form import LEAST, MAP, MARGINS, axes_of, samples

CELLS = 7  # a side of a map


class TuneJob(Job):
    """One question of the page: how far it is, and what came of it.

    ``found`` is a setting or a range of ε, ``runs`` what a map is drawn from, ``margins`` what a
    hand may go through.
    """

    def __init__(self, asked: Mapping[str, Any]):
        super().__init__()
        self.asked = json.loads(json.dumps(dict(asked)))  # the form goes on changing
        key = CURATE if asked["goal"] == MARGINS else asked["algorithm"]
        self.what = f"{asked['goal']} of {title_of(key)}"
        self._data, self._elsewhere = samples(asked, "networks"), samples(asked, "elsewhere")
        self.found: Tuned | Least | None = None
        self.ended: dict[float, Tuned] = {}  # ε -> its search, of a range that is still sought
        self.runs: list[CellResult] = []
        self.margins: Margins | None = None
        self._ran, self._planned = 0, 0
        self._search: tuple[float, int, int] | None = None  # ε, searches behind it, of how many
        self._left: float | None = None  # seconds, of this search or map

    def work(self) -> None:
        """Search, or run the map's cells."""
        d = self.asked
        if d["goal"] == MAP:
            grid: dict[str, Any] = {axis.name: axis.grid(CELLS) for axis in axes_of(d)}
            apart.call(
                apart.laid_out,
                *(self._data, d["algorithm"]),
                {"epsilon": d["epsilon"], "guarantee": "strict", **grid},
                d["seeds"],
                stopped=self.stopped,
                notes={"made": self.runs.append, "noted": self._note},
            )
            return
        if d["goal"] == MARGINS:
            self.margins = apart.call(
                apart.by_hand,
                *(self._data[0], d["epsilon"]),
                {"guarantee": d["guarantee"], "objective": d["objective"], "draws": d["seeds"]},
                stopped=self.stopped,
                notes={"noted": self._note},
            )
            return
        names = {"names": d["over"], "elsewhere": self._elsewhere}
        self.found = apart.call(
            apart.tuned,
            *(self._data, d["algorithm"], d["epsilon"]),
            d["target"] if d["goal"] == LEAST else None,
            {**names, "runs": d["runs"], "objective": d["objective"]},
            stopped=self.stopped,
            notes={
                "begun": self._begun,
                "ended": self.ended.__setitem__,
                "noted": self._note,
            },
        )

    def _begun(self, epsilon: float, behind: int, most: int) -> None:
        self._search = epsilon, behind, most
        self._note(0, 0, None)

    def _note(self, done: int, planned: int, left: float | None) -> None:
        self._ran, self._planned, self._left = done, planned, left
        _, behind, most = self._search or (None, 0, 1)
        self.share = (behind + (done / planned if planned else 0.0)) / most

    def so_far(self) -> list[str]:
        """Which search it is, its runs, and the time that is left of it or of the map."""
        said = []
        if self._search is not None:
            epsilon, behind, most = self._search
            said.append(f"ε = {epsilon:g}, then at most {most - behind - 1} more")
        if self._planned:
            said.append(f"{self._ran} of {self._planned} runs")
        if self._left is not None and self._ran > 2:  # starting up tells nothing yet
            here = f" at ε = {self._search[0]:g}" if self._search is not None else ""
            said.append(f"{left(self._left)}{here}")
        return said

    @property
    def table(self) -> Any:
        """A map's runs as a table."""
        return frame(self.runs)


JOB: Slot[TuneJob] = Slot("tune_job")


@st.cache_resource(show_spinner=False)
def _jobs() -> OrderedDict[Hashable, TuneJob]:
    return OrderedDict()


def asked_for(d: Mapping[str, Any]) -> TuneJob:
    """The job for what the form asks: one that anybody had made, or a new one."""
    key = json.dumps(dict(d), sort_keys=True)

    def lasts(job: TuneJob) -> bool:
        return job.running or not job.stopped()

    return shared(_jobs(), key, lasts, lambda: TuneJob(d), most=16)
