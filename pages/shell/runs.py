"""Runs: a draft is frozen when it is run. And what a setting makes of tables that hold nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine import Dataset, InputError, RunResult
from engine.registry import algorithm
from pages.shell import state
from pages.shell import words as text
from pages.shell.settings import (
    Settings,
    data_for,
    drafted,
    drafted_source,
    filled,
    in_force,
)
from pages.shell.state import Place
from pages.shell.task import RUNS, Task, drop, find, start
from pages.worker import search


@dataclass(frozen=True, eq=False)
class Asked:
    """What a run is asked for, and its data."""

    settings: Settings
    data: Dataset


@dataclass(frozen=True, eq=False)
class Shown(Asked):
    """A finished run with the settings and data that made it."""

    result: RunResult


TASK = "run"  # the session's place for a run that goes on
STOPPED = "Stopped early; below is the last result."
SHOWN: Place[Shown | None] = Place("shown")  # the run on screen
_OWN: Place[Shown | None] = Place("shown_own")  # the last on a person's own data: it cost ε
FAILED: Place[tuple[Settings, str] | None] = Place("failed")  # what has no result, and why
# Seconds a row that the session's last run of an algorithm on a dataset took.
_PACES: Place[dict[tuple[str, str], float]] = Place("paces", dict)
QUICK = 1.0  # seconds: what takes less is run without being asked; a first run counts tables, too
SMALL = 12  # columns; a search on so few takes less than the way to a process


def quick(now: Settings) -> bool:
    """Whether the settings may be run without being asked for it.

    Where the last such run took less than ``QUICK``, measured; never on own data, where a run is
    spent, and not where these very settings were refused or stopped.
    """
    if now.source.own or refusal() is not None:
        return False
    return _PACES.get().get((now.source.name, now.algorithm), QUICK) * now.source.n < QUICK


def begun(settings: Settings, name: str = TASK, wait: float | None = None) -> Task:
    """A task for the run, begun unless its result is known; raises InputError.

    A run on own data draws secret noise and is on their meter from before it begins.
    """
    data = data_for(settings.source)
    title = f"{algorithm(settings.algorithm).title} on {text.plain(text.dataset_title(data))}"
    call = name, title, search, settings.algorithm, data, settings.seed, settings.asked
    about: dict[str, Any] = {"about": Asked(settings, data), "line": RUNS, "wait": wait}
    if settings.seed is None:
        from pages.shell.own import on_meter

        settle = on_meter(settings.algorithm, settings.params, data)

        def ended(task: Task) -> None:
            if task.result is not None:
                settle(task.result.spent)
            elif task.error is not None:  # refused, or stopped, before anything was drawn
                settle(None)

        return start(*call, ended=ended, **about)
    # A page that is loaded again goes on with its own run.
    key = data.identity, data.name, settings.algorithm, *settings.asked.items(), settings.seed
    return start(*call, key=key, here=data.d <= SMALL, **about)


def compute(settings: Settings) -> Shown:
    """Run to the end, or look the same run up; raises InputError."""
    task = begun(settings, "computed")
    while not task.wait(0.5):
        pass
    if task.result is None:
        raise InputError(task.problem)
    return Shown(settings, task.about.data, task.result)


def freeze(settings: Settings) -> None:
    """Run the settings and show the result; on bad input keep what was there, with the reason.

    A run that takes longer than a moment goes on as :func:`job`, in the place of one before.
    """
    before = job()
    if before is not None and before.about.settings == settings:
        return
    drop(TASK)
    FAILED.put(None)
    try:
        begun(settings)
    except InputError as error:
        FAILED.put((settings, str(error)))
    settle()


def job() -> Task | None:
    """The run that goes on in this session, if any; on a file that has gone it ends."""
    settle()
    going = find(TASK)
    if going is not None and not in_force(going.about.data):
        drop(TASK)
        going = None
    return going


def settle() -> None:
    """Show what came of a run that has ended meanwhile."""
    done = find(TASK)
    if done is None or not done.done:
        return
    settings, result = done.about.settings, done.result
    drop(TASK)
    if result is None:
        FAILED.put((settings, done.problem))
    elif result.status == "cancelled" and not decided(result):
        FAILED.put((settings, STOPPED))
    else:
        SHOWN.put(Shown(settings, done.about.data, result))
        if settings.source.own:
            _OWN.put(SHOWN.get())
        if result.status != "cancelled":
            pace = result.seconds / done.about.data.n
            _PACES.get()[settings.source.name, settings.algorithm] = pace


def decided(result: RunResult) -> bool:
    """Whether a stopped run got far enough for its graph to say anything."""
    weights = getattr(result.diagnostics, "weights", None)
    return result.ci_tests > 0 or (weights is not None and bool((weights != 0).any()))


def shown() -> Shown:
    """The run on screen; at a session's start the one that the form asks for, as a link has it.

    While that goes on, and where it fails, Priv-PC on Asia is there; so it is where the run was on
    a file that another has replaced. A person's own data have their last run.
    """
    settle()
    if SHOWN.get() is None:
        freeze(drafted())
    run, own = SHOWN.get(), _OWN.get()
    if own and drafted_source().own and in_force(own.data):
        run = own
        SHOWN.put(own)
    if run is None or not in_force(run.data):
        run = compute(_default())
        SHOWN.put(run)
    return run


def _default() -> Settings:
    """Priv-PC on Asia."""
    return Settings(params=filled("priv_pc", {}))


def follow() -> None:
    """After Back or Forward show the run the address names.

    A run on own data is never made again for that: it would spend ε.
    """
    now = drafted()
    if state.arrived() and not now.source.own and SHOWN.get():
        freeze(now)
    state.reached()


def refusal() -> str | None:
    """Why the settings now in the form have no result, if they were tried.

    A person's file that cannot be read is none of the settings: of another one its own fault is
    said.
    """
    failed, now = FAILED.get(), drafted()
    if not failed or failed[0] != now:
        return None
    if now.source.own:
        try:
            data_for(now.source)
        except InputError as error:
            return str(error)
    return failed[1]


def tell_refusal() -> bool:
    """Say why the settings in the form have no result, if they were tried; a stop is no error."""
    if problem := refusal():
        say, mark = (st.warning, "stop_circle") if problem == STOPPED else (st.error, "error")
        say(text.plain(problem), icon=f":material/{mark}:")
    return problem is not None


def stale(now: Settings) -> bool:
    """Whether the result on screen belongs to other settings than those in the form."""
    run = SHOWN.get()
    return run is not None and now != run.settings


def write_link(settings: Settings) -> None:
    """The address names this run, unless it is the default."""
    state.show({} if settings == _default() else settings.to_query())
