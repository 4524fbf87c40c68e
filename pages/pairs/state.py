"""The Pairs page's settings, its data, and its batch."""

from __future__ import annotations

from typing import Any

import streamlit as st

from engine import Dataset, InputError, RunResult, run
from engine.data.simulated_pairs import HELD_OUT, MECHANISMS, NOISES, simulate_pair
from engine.pairs.decision import Setting
from engine.teaching.pairwise import Picture, over_ridge, picture
from pages.pairs.work import pictures
from pages.shell.data import costs_of, promised
from pages.shell.drafts import Draft, kept
from pages.shell.session import Place
from pages.shell.task import start

SIMULATED, FILE, OWN_PAIR = "Simulated", "Tübingen file", "Your own CSV"
SOURCES = (SIMULATED, FILE, OWN_PAIR)
COPY: Place[dict[str, Dataset]] = Place("pairs_file", dict)  # the person's copy, by name
OWN: Place[Dataset | None] = Place("pairs_own")
COPY_PROBLEM: Place[str | None] = Place("pairs_problem")  # why there is no pair, in one sentence
OWN_PROBLEM: Place[str | None] = Place("pairs_own_problem")
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
    return COPY.get()


def data_of(d: Draft) -> Dataset:
    """The pair that the form names; InputError in one sentence where there is none."""
    if d["source"] == SIMULATED:
        return _simulated(d["mechanism"], d["noise"], d["cause"], int(d["n"]), int(d["sample"]))
    if d["source"] == FILE:
        if not tuebingen():
            named = "Name your copy of the cdt 0.6.0 wheel, or take a simulated pair."
            raise InputError(COPY_PROBLEM.get() or named)
        return tuebingen().get(d["chosen"]) or next(iter(tuebingen().values()))
    own = OWN.get()
    if own is None:
        upload = "Upload a CSV file of two numeric columns, or take a simulated pair."
        raise InputError(OWN_PROBLEM.get() or upload)
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


def picture_of(d: Draft, data: Dataset) -> Picture:
    """Everything exact of the pair."""
    return _picture(data.identity, setting_of(d), int(d["seed"]), data)


@st.cache_data(max_entries=32, show_spinner="Fitting …", scope="session")
def _picture(fingerprint: str, setting: Setting, seed: int, _data: Dataset) -> Picture:
    return picture(_data, setting, seed)


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


BATCH = "pairs-batch"


def batch_pairs() -> list[Dataset]:
    """The pairs of the person's copy, or every simulated mechanism with every noise."""
    if tuebingen():
        return list(tuebingen().values())
    return [
        simulate_pair(mechanism, noise, n=BATCH_ROWS, seed=i)
        for i, mechanism in enumerate([*MECHANISMS, *HELD_OUT])
        for noise in NOISES
    ]


def begin_batch(d: Draft, what: str) -> None:
    """Start over all pairs; one at a time in a session."""
    datasets, setting = batch_pairs(), setting_of(d)
    start(BATCH, what, pictures, datasets, setting, about=(setting, len(datasets)), wait=0.0)
