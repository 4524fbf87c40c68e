"""Which ε is enough? The answer as a sentence, its curve, and below it what else there is."""

from __future__ import annotations

import streamlit as st

from engine import InputError
from engine.registry import algorithm
from engine.studies.trial import knowing
from engine.studies.tune import EPSILONS
from pages.shell import drafted_strip, task
from pages.shell import words as text
from pages.shell.settings import OWN, data_for, drafted
from pages.study import forecast, more, work
from pages.study.form import asked_by, epsilon_now, settings_form
from pages.study.view import answer_view, answers_of, of_form, results_of

NAME = "study"


def main() -> None:
    """The page, top to bottom."""
    with st.sidebar:
        pressed = settings_form()
    now = drafted()
    if now.source.name == OWN:
        forecast.page(pressed)
        return
    data = drafted_strip("Which ε?")
    if data is None:
        return
    asked = asked_by(now)
    if pressed:
        _begin(asked)
    found = task.find(NAME)
    if found is None:
        task.shared("study-warm", "a first look", work.warm, line=task.RUNS)
        st.caption(f"**Find ε** at the side (» on a phone) tries {len(EPSILONS)} values of it.")
        # The browser gets its charts ready while the form is read: that takes it a second or more.
        with of_form("study-answer", "", old=False):
            answer_view({}, [], asked, epsilon_now(), whole=False)
    else:
        task.watch(NAME, _show)
        if found.done:
            _show(found)
    more.expanders(found, data, asked)


def _begin(asked: work.Asked) -> None:
    chosen = algorithm(asked.algorithm)
    if not any(s.name == "epsilon" for s in chosen.params.specs()):
        st.error(text.plain(f"{chosen.title} has no ε to choose."), icon=":material/error:")
        return
    try:
        chosen.params.build(asked.params)
        data = knowing(data_for(drafted().source), drafted().known)
    except InputError as error:
        st.error(text.plain(str(error)), icon=":material/error:")
        return
    title = text.plain(f"{chosen.title} on {asked.dataset}")
    # No study ends as soon as other work may; its first runs are there by then.
    task.start(NAME, title, work.answered, data, asked, wait=task.SHORT / 2)


def _show(found: task.Task) -> None:
    """The answer so far, grey where it is another form's."""
    asked: work.Asked = found.call[1][1]
    results = results_of(found)
    if found.problem:
        st.error(text.plain(found.problem), icon=":material/error:")
    of = f"{algorithm(asked.algorithm).title} on {asked.dataset}, {asked.rows:,} rows"
    says = f"The form has changed: this answer belongs to {of}, target {asked.target:g}."
    with of_form("study-answer", f"{says} Press Find ε.", old=asked != asked_by(drafted())):
        answers = answers_of(results, asked)
        best = more.best_of(asked)
        whole = found.done and not found.stopping
        answer_view(answers, results, asked, epsilon_now(), whole=whole, best=best)


main()
