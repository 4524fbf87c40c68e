"""Runs: a draft is frozen when it is run; the result is kept under its settings."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from engine import Dataset, InputError, RunResult
from pages.shell import address, worker
from pages.shell.data import costs_of, data_for, promised
from pages.shell.drafts import drafted, redraft
from pages.shell.lifetime import here
from pages.shell.settings import OWN, Settings, filled
from pages.shell.worker import RunJob


@dataclass(frozen=True, eq=False)
class Shown:
    """A finished run with the settings and data that made it."""

    settings: Settings
    data: Dataset
    result: RunResult


_MOST_KEPT = 32


_KEPT = threading.Lock()


@st.cache_resource(show_spinner=False)
def _finished() -> OrderedDict[Any, RunResult]:
    """Finished runs on public data, shared by all sessions; the oldest go first."""
    return OrderedDict()


@st.cache_resource(show_spinner=False)
def _going() -> dict[Any, RunJob]:
    """Runs on public data that go on, so that a page that is loaded anew finds its own again."""
    return {}


def _remember(key: Any, job: RunJob) -> None:
    going = _going()
    with _KEPT:
        for old in [k for k, other in going.items() if not other.running]:
            del going[old]
        going[key] = job


def _left_behind(key: Any) -> RunJob | None:
    """The same run, going on for a browser that has gone; it goes on for this one."""
    job = _going().get(key)
    if job is None or not job.running or job.stopping or job.present():
        return None
    job.present = here()
    return job


def _keep(store: OrderedDict[Any, RunResult], key: Any, result: RunResult) -> None:
    if result.status == "cancelled":
        return
    with _KEPT:
        store[key] = result
        while len(store) > _MOST_KEPT:
            store.popitem(last=False)


def begun(settings: Settings) -> Shown | RunJob:
    """The same run if it is known, else a job that has started; raises InputError in one sentence.

    A run on own data draws secret noise and is on their meter from before it begins.
    """
    data = data_for(settings.source)
    if settings.seed is None:
        return _begun_on_own(settings, data)
    store, chosen = _finished(), tuple(settings.params.items())
    key = (data.identity, data.name, settings.algorithm, chosen, settings.seed)
    if (known := store.get(key)) is not None:
        return Shown(settings, data, known)
    if (going := _left_behind(key)) is not None:
        return going

    def keep(result: RunResult) -> None:
        _keep(store, key, result)

    job = RunJob(
        settings, settings.algorithm, data, settings.seed, settings.params, keep, present=here()
    )
    _remember(key, job)
    job.start()
    return job


def _begun_on_own(settings: Settings, data: Dataset) -> RunJob:
    """A run on own data; one that is refused before it draws anything costs nothing."""
    meter, key = costs_of(data), object()
    job = RunJob(
        settings,
        settings.algorithm,
        data,
        None,
        settings.params,
        keep=lambda result: meter.settle(key, result.spent),
        refused=lambda: meter.forget(key),
        present=here(),
    )
    meter.begin(key, promised(settings.algorithm, settings.params, data))
    job.start()
    return job


def _ended(job: RunJob) -> Shown:
    """What came of a job that has ended; raises InputError in one sentence."""
    if job.result is None:
        raise InputError(job.problem)
    return Shown(job.settings, job.data, job.result)


def compute(settings: Settings) -> Shown:
    """Run to the end, or look the same run up; raises InputError in one sentence."""
    found = begun(settings)
    if isinstance(found, Shown):
        return found
    while not found.wait(0.5):
        pass
    return _ended(found)


def freeze(settings: Settings) -> None:
    """Run the settings and show the result; on bad input keep what was there, with the reason.

    A run that takes longer than a moment goes on as :func:`job`, in the place of one before.
    """
    before = job()
    if before is not None and before.settings == settings:
        return
    if before is not None:
        before.cancel()
    st.session_state["refused"] = st.session_state["stopped"] = st.session_state["job"] = None
    try:
        found = begun(settings)
    except InputError as error:
        st.session_state["refused"] = (settings, str(error))
        return
    if isinstance(found, Shown):
        st.session_state["shown"] = found
        return
    st.session_state["job"] = found
    found.wait(worker.PATIENCE)
    settle()


def job() -> RunJob | None:
    """The run that is still going on in this session, if any."""
    settle()
    going: RunJob | None = st.session_state.get("job")
    return going


STOPPING = 0.8  # seconds a page waits for a run to stop before it goes on looking


def cancel() -> None:
    """Stop the session's run; what it has is shown as soon as it has stopped."""
    going: RunJob | None = st.session_state.get("job")
    if going is not None:
        going.cancel()
        going.wait(STOPPING)


def settle() -> None:
    """Show what came of a job that has ended meanwhile."""
    done: RunJob | None = st.session_state.get("job")
    if done is None or done.running:
        return
    st.session_state["job"] = None
    try:
        found = _ended(done)
    except InputError as error:
        st.session_state["refused"] = (done.settings, str(error))
        return
    if found.result.status == "cancelled" and not worker.decided(found.result):
        st.session_state["stopped"] = done.settings
        return
    st.session_state["shown"] = found


def stopped(now: Settings) -> bool:
    """Whether these settings' run was stopped before it had anything to show."""
    return bool(st.session_state.get("stopped") == now)


def shown() -> Shown:
    """The run on screen; at a session's start the one that the link names, or the default.

    While the link's run goes on, and where it fails, the default is there.
    """
    settle()
    if "shown" not in st.session_state:
        _begin(st.query_params.to_dict())
    run: Shown = st.session_state["shown"]
    return run


def _begin(query: dict[str, str]) -> None:
    """Show what an address asks for; where it fails, the default and a sentence."""
    default = Settings(params=filled("priv_pc", {}))
    wanted, problem = default, None
    try:
        if query:
            wanted = Settings.from_query(query)
            data_for(wanted.source)
    except InputError as error:
        wanted, problem = default, str(error)
    redraft(wanted)
    freeze(wanted)
    if "shown" not in st.session_state:
        st.session_state["shown"] = compute(default)
    if problem:
        st.session_state["refused"] = (drafted(), problem)


def follow(page: str) -> None:
    """After Back or Forward show the run the address names.

    A run on own data is never made anew for that: it would spend ε.
    """
    query = address.arrived(page)
    if query is not None and query.get("data") != OWN and "shown" in st.session_state:
        _begin(query)


def follow_source(page: str) -> None:
    """After Back or Forward the form names the dataset of the address; the rest of it stays."""
    query = address.arrived(page)
    if query is None or "shown" not in st.session_state:
        return
    named = {name: word for name, word in query.items() if name in ("data", "n", "sample")}
    if named or not drafted().source.own:  # an address without a dataset may be one of own data
        try:
            redraft(replace(drafted(), source=Settings.from_query(named).source))
        except InputError as error:
            st.session_state["refused"] = (drafted(), str(error))


def refusal() -> str | None:
    """Why the settings now in the form could not be run, if they were tried."""
    refused: tuple[Settings, str] | None = st.session_state.get("refused")
    return refused[1] if refused and refused[0] == drafted() else None


def stale(now: Settings) -> bool:
    """Whether the result on screen belongs to other settings than those in the form."""
    run: Shown = st.session_state["shown"]
    return now != run.settings


def write_link(settings: Settings) -> None:
    """Put the settings into the address, unless they are the default."""
    default = Settings(params=filled("priv_pc", {}))
    address.write("run", {} if settings == default else settings.to_query())
