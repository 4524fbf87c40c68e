"""Which ε is enough? The answer as a sentence, its curve, and below it what else there is."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from engine import InputError
from engine.registry import algorithm
from engine.request import OWN
from pages.shell import drafted_strip, runs, task
from pages.shell import words as text
from pages.shell.settings import data_for, drafted
from pages.study import forecast, more, work
from pages.study.form import aim_of, epsilon_now, settings_form
from pages.study.view import answer_view, answers_of, first_look, of_form, results_of
from pages.worker import informed

NAME = "study"


def main() -> None:
    """The page, top to bottom."""
    with st.sidebar:
        pressed = settings_form()
    now = drafted()
    if now.source.name == OWN:
        forecast.page(pressed)
        return
    data = drafted_strip("Choose ε")
    if data is None:
        return
    aim = aim_of(now)
    found = _answer(aim, begin=pressed)
    if found is not None and found.args[1].request.source.name != now.source.name:
        task.watch(NAME)  # another dataset's answer is not shown under this one's name
        found = None
    if found is None:
        # The run that Run shows, over ε; its process has read the engine when Find ε is pressed.
        first = runs.first_curve(now, data)
        draw = partial(first_look, first, aim)
        with of_form("study-answer", "", old=False):
            draw() if first is None else task.redraw_until_done(lambda: [first], draw)
    else:
        task.watch(NAME, _show)
        if found.done:
            _show(found)
    more.expanders(found, data, aim)


def _answer(aim: work.Aim, *, begin: bool) -> task.Task | None:
    """The answer on the page; one that is known, and one that is begun now, takes its place."""
    chosen = algorithm(aim.request.algorithm)
    if not any(s.name == "epsilon" for s in chosen.params.specs()):
        if begin:
            st.error(text.plain(f"{chosen.title} has no ε to choose."), icon=":material/error:")
        return task.find(NAME)
    try:
        chosen.params.build(aim.params_of(chosen.key))
        data = informed(data_for(aim.request.source), aim.request.knowledge)
    except InputError as error:
        if begin:
            st.error(text.plain(str(error)), icon=":material/error:")
        return task.find(NAME)
    call = NAME, text.plain(aim.of), work.answered, data, aim
    # No study ends as soon as other work may; its first runs are there by then.
    how: dict[str, Any] = {"key": aim.runs, "keep": True, "wait": task.SHORT / 2}
    return task.resume(*call, begin=begin, **how)


def _show(found: task.Task) -> None:
    """The answer so far, grey where it is another form's."""
    then, now = found.args[1], aim_of(drafted())
    old = then.runs != now.runs
    aim: work.Aim = then if old else now
    results = results_of(found)
    if found.problem:
        st.error(text.plain(found.problem), icon=":material/error:")
    of = f"{aim.of}, {aim.request.source.n:,} rows"
    says = f"The form has changed: this answer belongs to {of}, target {aim.target:g}."
    with of_form("study-answer", f"{says} Press Find ε.", old=old):
        answers = answers_of(results, aim)
        best = more.best_of(aim)
        whole = found.done and not found.stopping
        answer_view(answers, results, aim, epsilon_now(), whole=whole, best=best)


main()
