"""The run of a request: its start, its progress, its answer, and the reason if there is none."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

import streamlit as st

from engine import Dataset, InputError, RunResult
from engine.data.networks import SAMPLE_DATA, load_network
from engine.registry import algorithm
from engine.request import Request
from engine.studies.price import LossStep, loss_steps
from pages.shell import state
from pages.shell import words as text
from pages.shell.form import fault
from pages.shell.settings import OWN_DATA, VISIT, check_rows, data_for, drafted, in_force
from pages.shell.state import Place
from pages.shell.task import HERE, RUNS, Task, drop, find, known, shared, start
from pages.worker import LARGE, curve, plain, search, size


@dataclass(frozen=True, eq=False)
class Shown:
    """A finished run: its request, its data and its result."""

    request: Request
    data: Dataset
    result: RunResult


Points = list[tuple[float, float, float, float]]  # an ε and a score: low, middle, high


def first_curve(of: Request, data: Dataset) -> Task | None:
    """Return the scores of these settings at other ε, from a few new runs; None if there are none.

    Run and Choose ε share them.
    """
    if not data.public or data.truth is None or "epsilon" not in of.params:
        return None
    made = of.family
    return shared(("f1", made.key), "F1 over ε", curve, made, data, keep=True)


TASK = "run"  # the session's name for the running task
STOPPED = "Stopped early; below is the last result."
AT_FIELD = "A field of the form has an invalid value. The field says why."
# The last answers: of a benchmark network (False), and of the user's own data (True).
SHOWN: Place[dict[bool, Shown]] = Place("shown", dict)
FAILED: Place[tuple[Request, str] | None] = Place(
    "failed"
)  # the request without a result, and the reason
QUICK = 1.0  # seconds; shorter runs start without a press
_SECONDS, ROWS = SAMPLE_DATA / "seconds.json", 100_000  # the number of rows in the measurements
_MEASURED: dict[str, float] = {}  # by the key of a request's family, on this server
_MOST_MEASURED = 1_000
SMALL = 12  # columns; with so few a search is faster than sending it to a process


def seconds(now: Request) -> float:
    """Return the seconds that a request takes: infinite for many, NaN if it was not measured.

    The stored measurements are for the defaults, and for any setting with few columns. For others
    the last run on this server counts.
    """
    name, specs = now.source.name, algorithm(now.algorithm).params.specs()
    paid = {"epsilon", "delta", "guarantee"}
    plain = all(now.params.get(s.name, s.default) == s.default for s in specs if s.name not in paid)
    kind = f"{now.algorithm} {now.params.get('guarantee', '')}".strip()
    kept = measured().get(name, {})
    if kind not in kept or not (plain or len(load_network(name).names) <= SMALL):
        return _MEASURED.get(now.family.key, math.nan)
    return math.inf if (found := kept[kind]) is None else found * max(1.0, now.source.n / ROWS)


@cache
def measured() -> dict[str, dict[str, float | None]]:
    """Seconds by network, and by algorithm with its guarantee (scripts/seconds.py)."""
    found: dict[str, dict[str, float | None]] = json.loads(_SECONDS.read_text("utf-8"))
    return found


def answer(now: Request) -> tuple[Task | None, Shown | None]:
    """Return the current run and the answer on screen; the address names the request.

    A run starts without a press if its answer is known, if it is refused, or if it takes less than
    a second. On the user's data, where a run costs ε, it never does, and neither does a request
    that was already tried.
    """
    state.visit().request = {} if now == Request() else now.to_words()
    run = shown(now)
    if refusal() is None and (run is None or run.request != now) and _automatic(now):
        begin(now)
    return job(), shown(now)


def _automatic(now: Request) -> bool:
    if now.source.own:
        return OWN_DATA.get() is None  # which is refused
    try:
        check_rows(now.source)
        algorithm(now.algorithm).params.build(now.params)
    except InputError:
        return True
    return known(now.key) or seconds(now) < QUICK


def button_label(now: Request) -> str:
    """Return the button's label: whether the request runs automatically, or how long it takes."""
    took = math.nan if now.source.own else seconds(now)
    if math.isnan(took):
        return "Run"
    if took < QUICK:
        return "Run (automatic)"
    return "Run (long)" if math.isinf(took) else f"Run (about {took:.0f} s)"


def _start(request: Request, place: str) -> Task:
    """Return a task for the run, started unless its result is known; raise InputError.

    A run on the user's data draws secret noise, and its cost is entered before it begins.
    """
    data = data_for(request.source)
    title = f"{algorithm(request.algorithm).title} on {text.plain(text.dataset_title(data))}"
    call = place, title, search, request, data
    if request.seed is None:
        from pages.shell.own import metered

        charge = metered(request, data)

        def ended(task: Task) -> None:
            if task.result is not None:
                charge(task.result.proven)
            elif task.error is not None:  # refused, or stopped, before anything was drawn
                charge(None)

        return start(*call, ended=ended, line=RUNS)
    # A page that is loaded again continues its run.
    line = HERE if data.d <= SMALL and size(data) < LARGE else RUNS
    return start(*call, key=request.key, keep=True, line=line)


def steps_before(run: Shown) -> tuple[LossStep, ...]:
    """Searches without noise that belong to a run on public data; () where they fail."""
    data, of = run.data, run.request
    call = "searches without noise", plain, loss_steps, data, of.algorithm, run.result.params
    with suppress(InputError):
        line = HERE if size(data) < LARGE else RUNS
        found: tuple[LossStep, ...] = shared(("price", of.key), *call, line=line).outcome()
        return found
    return ()


def compute(request: Request) -> Shown:
    """Run to the end, or find the result of the same run; raise InputError."""
    task = _start(request, "computed")
    return Shown(request, task.args[1], task.outcome())


def begin(request: Request) -> None:
    """Run the request and show the result; on bad input keep the last result, with the reason.

    A longer run continues as :func:`job` and replaces the previous one.
    """
    going = job()
    if going is not None and going.args[0] == request:
        return
    drop(TASK)
    FAILED.put(None)
    try:
        _start(request, TASK)
    except InputError as error:
        FAILED.put((request, str(error)))


def job() -> Task | None:
    """Return the current run of this session, if any; keep the result of a finished one.

    A run on a replaced file is stopped.
    """
    task = find(TASK)
    if task is None or (not task.done and in_force(task.args[1])):
        return task
    drop(TASK)
    (request, data), result = task.args, task.result
    if not task.done:
        return None
    if result is None:
        FAILED.put((request, STOPPED if task.stopping else task.problem))
    elif result.status == "cancelled" and not _says_anything(result):
        FAILED.put((request, STOPPED))
    else:
        SHOWN.get()[request.source.own] = Shown(request, data, result)
        if result.status != "cancelled":
            _MEASURED[request.family.key] = result.seconds
            while len(_MEASURED) > _MOST_MEASURED:
                del _MEASURED[next(iter(_MEASURED))]
    return None


def _says_anything(result: RunResult) -> bool:
    """Return whether the graph of a stopped run is informative."""
    found = result.diagnostics.descent()
    return result.ci_tests > 0 or (found is not None and bool((found.weights != 0).any()))


def shown(now: Request) -> Shown | None:
    """Return the answer on screen: the last one on the form's dataset; None if there is none."""
    job()
    run = SHOWN.get().get(now.source.own)
    ours = run is not None and run.request.source.name == now.source.name and in_force(run.data)
    return run if ours else None


def refusal() -> str | None:
    """Return why the form's request has no result, if it was tried.

    A user's file that cannot be read is not part of the request, so its own error is returned.
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


def show_refusal() -> bool:
    """Say why the form's request has no result, if it was tried; a stop is not an error."""
    if problem := refusal():
        say, mark = (st.warning, "stop_circle") if problem == STOPPED else (st.error, "error")
        if problem in faults(drafted()):  # the field shows it
            say, mark, problem = st.warning, "edit", AT_FIELD
        say(text.plain(problem), icon=f":material/{mark}:")
    return problem is not None


def faults(now: Request) -> list[str]:
    """Return why fields of the form refuse their values, one sentence per field."""
    values = {**now.params, "n": now.source.n, "sample": now.source.seed, "seed": now.seed}
    specs = (*algorithm(now.algorithm).params.specs(), *VISIT.values())
    return [fault(spec, values[spec.name]) for spec in specs if spec.name in values]


def show_change(run: Shown | None, now: Request) -> None:
    """Say that the form's request waits for a press, and which answer is on screen."""
    if run is None:
        own = now.source.own
        here = "on this table yet" if own else "on this dataset at these settings"
        st.info(f"Nothing has been run {here}: press Run.", icon=":material/play_circle:")
    else:
        of = text.plain(", ".join(_difference(run.request, now)))
        st.warning(f"Settings changed – press Run. Below is: {of}.", icon=":material/update:")


def _difference(then: Request, now: Request) -> list[str]:
    """Return the algorithm of one request and its differences from the other, in words."""
    found, other = settings_of(then), settings_of(now)
    words = [
        f"{_BRIEF.get(name, name)} {value}"
        for name, value in found.items()
        if other.get(name, value) != value
    ]
    if then.source.own and then.source != now.source:
        words.insert(0, "on an earlier reading of the table")
    if then.knowledge != now.knowledge:
        words.append("other background knowledge")
    return [algorithm(then.algorithm).title, *words]


_BRIEF = {"Rows n": "n =", "Data seed": "data seed", "Noise seed": "noise seed"} | {
    "Privacy budget ε": "ε ="
}


def settings_of(request: Request) -> dict[str, str]:
    """Return every setting of a request by its title, as text; without rows, and without the seed
    for the user's data."""
    source, found = request.source, {}
    if not source.own:
        found = {"Rows n": f"{source.n:,}", "Data seed": f"{source.seed}"}
    for spec in algorithm(request.algorithm).params.specs():
        if (value := request.params.get(spec.name)) is not None:
            precise = isinstance(value, float)
            found[spec.title] = text.number(value, 15) if precise else text.label(value)
    return found if request.seed is None else {**found, "Noise seed": f"{request.seed}"}
