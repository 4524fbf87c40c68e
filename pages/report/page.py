"""One page for the one who decides: a question, a sentence, a graph, its price, the limits."""

from __future__ import annotations

import streamlit as st

from pages.draw.effect import how_much
from pages.report import files, form, repeats, view
from pages.report.brief import brief_of
from pages.shell import drafted_strip, journey, present, runs, show_strip
from pages.shell import words as text
from pages.shell.runs import nothing_for
from pages.shell.settings import drafted_source
from pages.shell.state import Draft
from pages.shell.task import Task, bar, look_again
from pages.shell.words import theme

EVERY = 2.5  # seconds between two looks at running repetitions


def main() -> None:
    """The page, top to bottom."""
    runs.follow()
    run = runs.shown()
    job = runs.job()
    if drafted_source().own and run.data.public and job is None:
        journey.bar(journey.at("report"))
        drafted_strip("Report")
        st.info("Run on your own table first: a report says what a run found.")
        return
    typed = form.draft(run.settings.source.own)
    settings = (run if job is None else job.about).settings
    runs.write_link(settings)
    # Another run's numbers must not be shown next to one that goes on.
    data, result = (run.data, run.result) if job is None else (job.about.data, None)
    if not present.presenting():
        journey.bar(journey.at("report"))
    present.heading(lambda: show_strip("Report", data, result), key="report")
    if not present.presenting():
        with st.container(key="notes"):  # apart from what is looked at again: it is typed into
            form.fields(typed)
    if job is not None:  # another run's numbers must not stand under this link
        bar(runs.TASK)
        return
    if problem := runs.refusal():
        st.error(text.plain(problem), icon=":material/error:")
    found = repeats.repeats_of(run)
    if found is not None:
        found.task.wait(repeats.PATIENCE)
    look_again(lambda: _counting(run), lambda: _content(run, typed), EVERY)


def _counting(run: runs.Shown) -> list[Task]:
    """What is counted for the page."""
    found = repeats.repeats_of(run)
    counted = [None if found is None else found.task, nothing_for(run)]
    return [task for task in counted if task is not None]


def _content(run: runs.Shown, typed: Draft) -> None:
    found = repeats.repeats_of(run)
    heading = form.Heading.build(typed)
    view.show(brief_of(run, found, heading, theme()), found, theme())
    how_much(run.result, "report")
    if not present.presenting():
        with st.container(key="notes-files"):
            files.files_view(run, found, heading)


main()
