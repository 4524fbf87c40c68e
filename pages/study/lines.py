"""The settings that Choose ε compares: requests with names, which the address holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode

from engine.errors import InputError
from engine.params import Spec
from engine.registry import TITLES, algorithm
from engine.request import Request, Source, usual_algorithm
from engine.studies.trial import TrialResult
from pages.shell import answers, state
from pages.shell import words as text
from pages.shell.settings import data_for
from pages.shell.state import Place
from pages.shell.task import Task

MOST = 12  # settings at once: more curves cannot be distinguished
_FIELD = (Spec(name="lines", kind="text", default="", title="Settings", high=20_000),)
_NAME = "name"  # in an address next to the words of a request
Runs = dict[tuple[float, int], TrialResult]  # by ε, 0 for none, and seed


@dataclass(frozen=True)
class Line:
    """A request at any ε and seed (:attr:`engine.request.Request.family`), and its given name."""

    request: Request
    name: str = ""


def lines() -> list[Line]:
    """Return those of the address; a fault is shown as one of any link."""
    found = []
    for word in filter(None, state.Values(_FIELD, "study.")["lines"].split(";")):
        words = dict(parse_qsl(word))
        name = words.pop(_NAME, "")
        try:
            found.append(Line(checked(Request.from_words(words)), name))
        except InputError as error:
            refused = state.visit().refused
            refused += [str(error)] if str(error) not in refused else []
    return found[:MOST]


def put(some: Iterable[Line]) -> None:
    """Write these into the address."""
    state.Values(_FIELD, "study.")["lines"] = ";".join(urlencode(_words(one)) for one in some)


def _words(line: Line) -> dict[str, str]:
    usual = Request(Source(), line.request.algorithm).to_words()
    words = line.request.to_words() | {_NAME: line.name}
    usual |= {"algorithm": usual_algorithm(own=False), _NAME: ""}
    return {name: word for name, word in words.items() if usual.get(name) != word}


def checked(request: Request) -> Request:
    """Return the family of a request that can be run; raise InputError for another one."""
    if request.source.own:
        raise InputError("Settings are compared on public data only.")
    found = request.family
    algorithm(found.algorithm).params.build(found.params)
    data_for(found.source)
    return found


def add(requests: Iterable[Request]) -> None:
    """Add settings, each once, while there is room."""
    now = lines()
    there = {one.request for one in now}
    put([*now, *(Line(one) for one in dict.fromkeys(requests) if one not in there)][:MOST])


def rename(at: int, name: str) -> None:
    """Give a line a name; "" for its own."""
    now = lines()
    now[at] = replace(now[at], name=name.strip())
    put(now)


def remove(at: int) -> None:
    """Take a line out; its runs stay on disk."""
    put([one for k, one in enumerate(lines()) if k != at])


# Names ------------------------------------------------------------------------------------------


def labels(some: Sequence[Line], here: Source) -> list[str]:
    """Return given names, or the settings in which lines differ; rows other than ``here`` too."""
    several = len({one.request.algorithm for one in some}) > 1
    return [one.name or _label(one.request, some, here, several) for one in some]


def _label(of: Request, some: Sequence[Line], here: Source, several: bool) -> str:
    others = [one.request for one in some if one.request.algorithm == of.algorithm]
    parts = []
    for spec in algorithm(of.algorithm).params.specs():
        if len({str(one.params.get(spec.name)) for one in others}) > 1:
            value, short = of.params.get(spec.name), spec.title.split()[-1]
            symbol = short if len(short) <= 2 else spec.title
            if value is not None:
                said = text.number(value) if isinstance(value, float) else value
                parts.append(f"{symbol} {said}")
    if len({one.knowledge for one in others}) > 1:
        parts.append("background knowledge" if of.knowledge else "no background knowledge")
    if several or not parts:
        parts.insert(0, TITLES[of.algorithm])
    if (source := of.source) != here:
        parts.append(f"{source.name.capitalize()}, {source.n:,} rows")
    if source.seed != here.seed:
        parts.append(f"data seed {source.seed}")
    return ", ".join(parts)


# Their runs, in the session and on disk -----------------------------------------------------------

_RUNS: Place[dict[str, Runs]] = Place("study_runs", dict)


def runs_of(request: Request, task: Task | None = None) -> Runs:
    """Return the runs of a line: those on disk, and those that the task has sent."""
    held = _RUNS.get()
    if request.key not in held:
        held[request.key] = by_place(answers.get(_place(request.key)) or ())
    for key, batch in () if task is None else list(task.parts):
        if key == request.key:
            held[key].update(by_place(batch))
    return held[request.key]


def by_place(results: Iterable[TrialResult]) -> Runs:
    """Return the runs by their ε and seed."""
    return {(run.values.get("epsilon", 0.0), run.seed): run for run in results}


def keep(task: Task) -> None:
    """Write the runs of all lines of a task to disk, in the task's thread."""
    known = {request.key: by_place(runs) for request, runs in task.args[0]}
    for key, batch in task.parts:
        known[key].update(by_place(batch))
    for key, runs in known.items():
        # Copies, because a page that reads a result meanwhile computes more into it.
        answers.put(_place(key), answers.packed([replace(run) for run in runs.values()]))


def _place(key: str) -> tuple[str, str]:
    return "line", key
