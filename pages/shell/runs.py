"""Runs: a draft is frozen when it is run. And what a setting makes of tables that hold nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine import Dataset, InputError, RunResult
from engine.registry import algorithm
from engine.request import Request
from engine.studies.price import PriceStep, price_steps
from pages.shell import state
from pages.shell import words as text
from pages.shell.settings import data_for, drafted, drafted_source, in_force
from pages.shell.state import Place
from pages.shell.task import HERE, RUNS, Task, drop, find, shared, start
from pages.worker import LARGE, plain, search, size


@dataclass(frozen=True, eq=False)
class Shown:
    """A finished run: what was asked, of which data, and what came of it."""

    request: Request
    data: Dataset
    result: RunResult


TASK = "run"  # the session's place for a run that goes on
STOPPED = "Stopped early; below is the last result."
SHOWN: Place[Shown | None] = Place("shown")  # the run on screen
_OWN: Place[Shown | None] = Place("shown_own")  # the last on a person's own data: it cost ε
FAILED: Place[tuple[Request, str] | None] = Place("failed")  # what has no result, and why
# Seconds a row that the session's last run of an algorithm on a dataset took.
_PACES: Place[dict[tuple[str, str], float]] = Place("paces", dict)
QUICK = 1.0  # seconds: what takes less is run without being asked; a first run counts tables, too
SMALL = 12  # columns; a search on so few takes less than the way to a process


def quick(now: Request) -> bool:
    """Whether the request may be run without a press.

    Where the last such run took less than ``QUICK``, measured; never on own data, where a run is
    spent, and not where this very request was refused or stopped.
    """
    if now.source.own or refusal() is not None:
        return False
    return _PACES.get().get((now.source.name, now.algorithm), QUICK) * now.source.n < QUICK


def begun(request: Request, name: str = TASK, wait: float | None = None) -> Task:
    """Return a task for the run, begun unless its result is known; raise InputError.

    A run on own data draws secret noise and is on their meter from before it begins.
    """
    data = data_for(request.source)
    title = f"{algorithm(request.algorithm).title} on {text.plain(text.dataset_title(data))}"
    call = name, title, search, request, data
    about: dict[str, Any] = {"about": (request, data), "wait": wait}
    if request.seed is None:
        from pages.shell.own import on_meter

        settle = on_meter(request.algorithm, request.params, data)

        def ended(task: Task) -> None:
            if task.result is not None:
                settle(task.result.spent)
            elif task.error is not None:  # refused, or stopped, before anything was drawn
                settle(None)

        return start(*call, ended=ended, line=RUNS, **about)
    # A page that is loaded again goes on with its own run.
    here = data.d <= SMALL and size(data) < LARGE
    return start(*call, key=request.key, here=here, line=HERE if here else RUNS, **about)


def steps_before(run: Shown) -> tuple[PriceStep, ...]:
    """Searches without noise that belong to a run on public data; () where they fail."""
    data, of = run.data, run.request
    call = plain, price_steps, data, of.algorithm, run.result.params
    here = size(data) < LARGE
    line = HERE if here else RUNS
    task = shared(("price", of.key), "searches without noise", *call, here=here, line=line)
    while not task.wait(0.5):
        task.seen()
    return task.result or ()


def compute(request: Request) -> Shown:
    """Run to the end, or look the same run up; raise InputError."""
    task = begun(request, "computed")
    while not task.wait(0.5):
        pass
    if task.result is None:
        raise InputError(task.problem)
    of, data = task.about
    return Shown(of, data, task.result)


def freeze(request: Request) -> None:
    """Run the request and show the result; on bad input keep what was there, with the reason.

    A run that takes longer than a moment goes on as :func:`job`, in the place of one before.
    """
    before = job()
    if before is not None and before.about[0] == request:
        return
    drop(TASK)
    FAILED.put(None)
    try:
        begun(request)
    except InputError as error:
        FAILED.put((request, str(error)))
    settle()


def job() -> Task | None:
    """The run that goes on in this session, if any; on a file that has gone it ends."""
    settle()
    going = find(TASK)
    if going is not None and not in_force(going.about[1]):
        drop(TASK)
        going = None
    return going


def settle() -> None:
    """Show what came of a run that has ended meanwhile."""
    done = find(TASK)
    if done is None or not done.done:
        return
    (request, data), result = done.about, done.result
    drop(TASK)
    if result is None:
        FAILED.put((request, done.problem))
    elif result.status == "cancelled" and not decided(result):
        FAILED.put((request, STOPPED))
    else:
        SHOWN.put(Shown(request, data, result))
        if request.source.own:
            _OWN.put(SHOWN.get())
        if result.status != "cancelled":
            _PACES.get()[request.source.name, request.algorithm] = result.seconds / data.n


def decided(result: RunResult) -> bool:
    """Whether a stopped run got far enough for its graph to say anything."""
    weights = getattr(result.diagnostics, "weights", None)
    return result.ci_tests > 0 or (weights is not None and bool((weights != 0).any()))


def shown() -> Shown:
    """The run on screen; at a session's start the one that the form asks for, as a link has it.

    While that goes on, and where it fails, the default request's is there; so it is where the run
    was on a file that another has replaced. A person's own data have their last run.
    """
    settle()
    if SHOWN.get() is None:
        freeze(drafted())
    run, own = SHOWN.get(), _OWN.get()
    if own and drafted_source().own and in_force(own.data):
        run = own
        SHOWN.put(own)
    if run is None or not in_force(run.data):
        run = compute(Request())
        SHOWN.put(run)
    return run


def follow() -> None:
    """After Back or Forward show the run the address names.

    A run on own data is never made again for that: it would spend ε.
    """
    now = drafted()
    if state.arrived() and not now.source.own and SHOWN.get():
        freeze(now)
    state.reached()


def refusal() -> str | None:
    """Why the form's request has no result, if it was tried.

    A person's file that cannot be read is no part of the request: of another one its own fault is
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
    """Say why the form's request has no result, if it was tried; a stop is no error."""
    if problem := refusal():
        say, mark = (st.warning, "stop_circle") if problem == STOPPED else (st.error, "error")
        say(text.plain(problem), icon=f":material/{mark}:")
    return problem is not None


def stale(now: Request) -> bool:
    """Whether the result on screen is of another request than the form's."""
    run = SHOWN.get()
    return run is not None and now != run.request


def write_link(request: Request) -> None:
    """The address names this run, unless it is the default."""
    state.show({} if request == Request() else request.to_words())
