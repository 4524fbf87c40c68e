"""The Pairs page's settings, its data, and its batch."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import streamlit as st

from engine import Dataset, InputError, RunResult, run
from engine.algorithms.anm import AnmParameters
from engine.data.simulated_pairs import HELD_OUT, MECHANISMS, NOISES, simulate_pair
from engine.errors import DataError
from engine.pairs.decision import Setting
from engine.teaching.pairwise import Picture, over_ridge, picture
from pages.shell.data import costs_of, promised
from pages.shell.drafts import Draft, kept

SIMULATED, FILE, OWN_PAIR = "Simulated", "Tübingen file", "Your own CSV"
SOURCES = (SIMULATED, FILE, OWN_PAIR)
RIDGES = tuple(10 ** (k / 3 - 4) for k in range(13))
BATCH_ROWS = 1_000


def draft() -> Draft:
    """What the form shows, kept over changes of page."""
    simulated = {"mechanism": "square", "noise": "gaussian", "cause": "uniform", "n": 1_000}
    method = {"epsilon": 0.1, "ridge": 0.001, "width": 0.3, "score_width": 0.2, "seed": 0}
    source = {"source": SIMULATED, "sample": 0, "chosen": "", "bounds": ""}
    return kept("pairs_draft", {**simulated, **method, **source, "release": "vote"})


def tuebingen() -> dict[str, Dataset]:
    """The pairs of the person's copy, by name; empty without one."""
    found: dict[str, Dataset] = st.session_state.get("pairs_file", {})
    return found


def data_of(d: Draft) -> Dataset:
    """The pair that the form names; InputError in one sentence where there is none."""
    if d["source"] == SIMULATED:
        return _simulated(d["mechanism"], d["noise"], d["cause"], int(d["n"]), int(d["sample"]))
    if d["source"] == FILE:
        if not tuebingen():
            raise InputError("Name your copy of the cdt 0.6.0 wheel, or take a simulated pair.")
        return tuebingen().get(d["chosen"]) or next(iter(tuebingen().values()))
    own: Dataset | None = st.session_state.get("pairs_own")
    if own is None:
        raise InputError("Upload a CSV file of two numeric columns, or take a simulated pair.")
    return own


@st.cache_resource(max_entries=32, show_spinner=False)
def _simulated(mechanism: str, noise: str, cause: str, n: int, seed: int) -> Dataset:
    return simulate_pair(mechanism, noise, cause, n=n, seed=seed)


def setting_of(d: Draft) -> Setting:
    """The public choices; scores protect the test half, as in the paper's Table 2."""
    return Setting(
        ridge=float(d["ridge"]),
        width=float(d["width"]),
        score_width=float(d["score_width"]),
        protect="test",
    )


def ballot(n: int, epsilon: float) -> tuple[int, str]:
    """Rows of a block and score of the vote on n rows."""
    params = AnmParameters(epsilon=epsilon)
    return params.block_rows(n), params.measures(n)


def picture_of(d: Draft, data: Dataset) -> Picture:
    """Everything exact of the pair."""
    return _picture(data.identity, setting_of(d), int(d["seed"]), data)


@st.cache_data(max_entries=32, show_spinner="Fitting …", scope="session")
def _picture(fingerprint: str, setting: Setting, seed: int, _data: Dataset) -> Picture:
    return picture(_data, setting, seed, partial(ballot, _data.n))


@st.cache_data(max_entries=16, show_spinner="Fitting over λ …", scope="session")
def over_lambda(
    fingerprint: str, setting: Setting, seed: int, epsilon: float, _data: Dataset
) -> list[tuple[float, float]]:
    """Figure 2's probabilities at every λ of RIDGES."""
    return over_ridge(_data, setting, seed, RIDGES, epsilon)


def released(d: Draft, data: Dataset) -> RunResult:
    """One release. On own data with a secret seed, added to what these data have cost."""
    values: dict[str, Any] = {"release": d["release"], "epsilon": float(d["epsilon"])}
    if d["release"] != "vote":
        values |= {name: float(d[name]) for name in ("ridge", "width", "score_width")}
    if data.public:
        if d["release"] != "vote":
            values["protect"] = "test"
        return run("anm", data, seed=int(d["seed"]), **values)
    costs, key = costs_of(data), object()
    costs.begin(key, promised("anm", values, data))
    result = run("anm", data, **values)
    costs.settle(key, result.spent)
    return result


# The batch ----------------------------------------------------------------------------------------


@dataclass(eq=False)
class Batch:
    """Pictures of many pairs, one after another in a thread that uses nothing of Streamlit's."""

    datasets: Sequence[Dataset]
    setting: Setting
    done: list[tuple[str, Picture]] = field(default_factory=list)
    error: str = ""
    _stop: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Begin."""
        threading.Thread(target=self._work, daemon=True, name="pairs").start()

    def cancel(self) -> None:
        """Ask for a stop that keeps what is finished."""
        self._stop.set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, at most so long."""
        return self._ended.wait(seconds)

    @property
    def running(self) -> bool:
        return not self._ended.is_set()

    def _work(self) -> None:
        try:
            for data in self.datasets:
                if self._stop.is_set():
                    return
                found = picture(data, self.setting, 0, partial(ballot, data.n))
                self.done.append((data.name, found))
                time.sleep(0)  # lets the pages draw
        except (DataError, InputError) as error:
            self.error = str(error)
        finally:
            self._ended.set()


def batch_pairs() -> list[Dataset]:
    """The pairs of the person's copy, or every simulated mechanism with every noise."""
    if tuebingen():
        return list(tuebingen().values())
    return [
        simulate_pair(mechanism, noise, n=BATCH_ROWS, seed=i)
        for i, mechanism in enumerate([*MECHANISMS, *HELD_OUT])
        for noise in NOISES
    ]


def begin_batch(d: Draft) -> None:
    """Start over all pairs; one at a time in a session."""
    before = batch()
    if before is not None:
        before.cancel()
    job = Batch(batch_pairs(), replace(setting_of(d)))
    st.session_state["pairs_batch"] = job
    job.start()


def batch() -> Batch | None:
    """The session's batch, running or ended."""
    job: Batch | None = st.session_state.get("pairs_batch")
    return job
