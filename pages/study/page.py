"""Which ε is enough?"""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from engine.request import OWN, Source
from pages.shell import drafted_strip, runs, task
from pages.shell import words as text
from pages.shell.form import placed
from pages.shell.settings import data_for, drafted
from pages.shell.state import Place
from pages.study import forecast, lines, more, work
from pages.study.form import epsilon_now, fields, settings_form
from pages.study.lines import Line
from pages.study.view import Found, answer_view, first_look
from pages.worker import informed, mark

NAME = "study"
# The answer of a line with so many runs, which takes a moment: key -> (conditions, answer)
_FOUND: Place[dict[str, tuple[Any, Found]]] = Place("study_found", dict)


def main() -> None:
    """Draw the page from top to bottom."""
    with st.sidebar:
        pressed = settings_form()
    now = drafted()
    if now.source.name == OWN:
        forecast.page(pressed)
        return
    data = drafted_strip("Choose ε")
    if data is None:
        return
    named = lines.lines()
    shown = named or [Line(now.family)]
    working = _work(named, begin=pressed)
    show = partial(_show, shown, now.source)
    if working is None:
        show(None)
    elif task.watch(NAME, show):
        task.show_problem(working)
        show(working)
    _manage(named, now.source)
    more.expanders(_found(shown, now.source, working), data, now)


def _work(named: list[Line], *, begin: bool) -> task.Task | None:
    """Return the work on the lines; work on these very lines that goes on is joined."""
    requests, before, d = [one.request for one in named], task.find(NAME), fields()
    if not requests:
        return before
    known = [(one, tuple(lines.runs_of(one, before).values())) for one in requests]
    data = [informed(data_for(one.source), one.knowledge) for one in requests]
    distinct = {mark(one): one for one in data}.values()
    title = f"{text.count(len(requests), 'setting')} at {text.count(d['seeds'], 'seed')}"
    call = NAME, title, work.answered, known, *d.values(), *distinct
    key = "lines", tuple(one.key for one in requests), *d.values()
    # No study ends as soon as other work may; its first runs are there by then.
    how: dict[str, Any] = {"key": key, "ended": lines.keep, "wait": task.SHORT / 2}
    return task.resume(*call, begin=begin, **how)


def _found(shown: list[Line], here: Source, working: task.Task | None) -> list[Found]:
    """Return the answers of the lines, from the runs that there are."""
    d, held = fields(), _FOUND.get()
    names = lines.labels(shown, here)
    found = []
    for name, one in zip(names, shown, strict=True):
        runs_ = tuple(lines.runs_of(one.request, working).values())
        of = name, len(runs_), *d.values()
        if held.get(one.request.key, (None,))[0] != of:
            held[one.request.key] = of, Found.of(name, one.request, runs_, d)
        found.append(held[one.request.key][1])
    return found


def _show(shown: list[Line], here: Source, working: task.Task | None) -> None:
    """Draw the answers so far; before the first run a curve of a few."""
    found, d = _found(shown, here, working), fields()
    if any(one.runs for one in found):
        whole = all(one.seeds == d["seeds"] for one in found)
        whole = whole and (working is None or working.complete)
        answer_view(found, d, epsilon_now(), whole=whole)
        return
    # The run that Run shows, over ε; its process has read the engine when Find ε is pressed.
    first = shown[0].request
    curve = runs.first_curve(first, data_for(first.source))
    waits = [] if curve is None or working is not None else [curve]
    task.redraw_until_done(lambda: waits, partial(first_look, curve, first, d))


def _manage(named: list[Line], here: Source) -> None:
    """Offer to rename, open and remove each line."""
    if not named:
        return
    with st.expander("Rename, open or remove a setting", icon=":material/edit:", key="study-lines"):
        for k, (name, one) in enumerate(zip(lines.labels(named, here), named, strict=True)):
            with st.container(horizontal=True, vertical_alignment="bottom", key=f"study-line-{k}"):
                about: Any = {"key": f"study-name-{k}", "max_chars": 60}
                rename = partial(lines.rename, k)
                placed(st.text_input, f"Name of setting {k + 1}", name, rename, **about)
                words = one.request.to_words()
                st.page_link("pages/run/page.py", label="Open on Run", query_params=words)
                press: Any = {"on_click": lines.remove, "args": (k,), "icon": ":material/delete:"}
                st.button("Remove", key=f"study-remove-{k}", **press)
        st.button("Remove all", key="study-clear", on_click=lines.put, args=((),))


main()
