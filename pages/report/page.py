"""One page for decision makers: a question, a sentence, a graph, its cost, and the limits."""

from __future__ import annotations

import streamlit as st

from engine.release.file import digest
from pages.draw.links import titles_of
from pages.forms import count_for
from pages.report import files, repeats, view
from pages.report.asked import examples
from pages.report.brief import Heading, asked_of, brief_of
from pages.shell import drafted_strip, heading, journey, presenting, runs, show_strip, state
from pages.shell import words as text
from pages.shell.form import parameters, placed
from pages.shell.settings import drafted
from pages.shell.state import Draft, session_values
from pages.shell.task import Task, bar, redraw_until_done
from pages.shell.words import theme

PAGE = "report"
EVERY = 2.5  # seconds between two checks at running repetitions


def main() -> None:
    """Draw the page from top to bottom."""
    now = drafted()
    job, run = runs.answer(now)
    release = None
    if now.source.own and run is None and job is None:
        release = journey.released() if journey.is_done("release") else None
        if release is None:
            journey.stages_bar(journey.stage_at("report"))
            drafted_strip("Report")
            st.info("Run on your own table first, or make a release: a report shows either.")
            return
        from pages.report.released import shown_of  # reports of runs need no file of a release

        run = shown_of(release[0], digest(release[0]))
    typed = typed_lines(now.source.own)
    if not presenting():
        journey.stages_bar(journey.stage_at("report"))
    # Do not show another run's numbers next to a running one.
    heading(lambda: _strip(run if job is None else None), key="report")
    if not presenting():
        with st.container(key="notes"):  # outside the redrawn part, because users type into it
            fields(typed, run if job is None else None)
    if job is not None:
        bar(runs.TASK)
        return
    old = release is None and (run is None or run.request != now)
    if not runs.show_refusal() and old:
        runs.show_change(run, now)
        if not now.source.own:  # a press there costs ε, and the settings of the run are not visible
            st.button(runs.button_label(now), key="report-run", on_click=runs.begin, args=(now,))
    if run is None:
        return
    found = repeats.repeats_of(run)
    if found is not None:
        found.task.wait(repeats.PATIENCE)
    st.html(f"<style>.st-key-result{{opacity:{0.4 if old else 1}}}</style>")
    with st.container(key="result"):
        redraw_until_done(
            lambda: _counting(run), lambda: _content(run, typed, packed=release is None), EVERY
        )


def _strip(run: runs.Shown | None) -> None:
    if run is None:
        drafted_strip("Report")
    else:
        show_strip("Report", run.data, run.result)


def typed_lines(own: bool) -> Draft:
    """Return the typed lines, or those of a link; links have no lines about the user's data."""
    if own:
        return session_values("report_own", Heading().as_dict())
    return state.Values(Heading, f"{PAGE}.")


def fields(form: Draft, run: runs.Shown | None) -> None:
    """Show the two menus of a run's columns; the question in words is in the folded part."""
    menus = st.container()
    specs = {spec.name: spec for spec in Heading.specs()}
    with st.expander("Question in words, author and date", key=f"{PAGE}-typed"):
        lines = st.columns([3, 2, 1.4])
    for column, name in zip(lines, ("question", "author", "date"), strict=True):
        with column:
            parameters([specs[name]], form, key=PAGE)
    before = session_values("report_read", {"question": form["question"]})
    if form["question"] != before["question"]:  # the new question names other columns
        before["question"], form["cause"], form["outcome"] = form["question"], "", ""
    if run is not None:
        with menus:
            _menus(form, run)


def _menus(form: Draft, run: runs.Shown) -> None:
    """Draw the choice of cause and outcome, by default as the question names them."""
    titles = titles_of(run.data)
    asked = asked_of(Heading.build(form), run.data)
    shown = asked or (form["cause"], form["outcome"])
    row = st.container(horizontal=True, gap="small")
    for name, value in zip(("cause", "outcome"), shown, strict=True):

        def keep(chosen: str, name: str = name) -> None:
            form["cause"], form["outcome"] = shown
            form[name] = chosen

        with row:
            placed(
                st.selectbox, name.capitalize(), value if value in titles else "", keep,
                key=f"{PAGE}-{name}", options=("", *titles),
                format_func=lambda name: titles.get(name, "–"),
            )  # fmt: skip
    if asked is not None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"{PAGE}-examples"):
        st.caption("Does one column act on another? Choose two, or one of these:", width="content")
        for k, pair in enumerate(examples(run.result.displayed_cpdag, run.result.names)):
            said = f"{titles[pair[0]]} → {titles[pair[1]]}?"
            st.button(
                text.plain(said), key=f"{PAGE}-example-{k}", on_click=_choose, args=(form, pair)
            )


def _choose(form: Draft, pair: tuple[str, str]) -> None:
    form["cause"], form["outcome"] = pair


def _counting(run: runs.Shown) -> list[Task]:
    """Return the tasks of the page."""
    found = repeats.repeats_of(run)
    counted = [None if found is None else found.task, count_for(run)]
    return [task for task in counted if task is not None]


def _content(run: runs.Shown, typed: Draft, *, packed: bool) -> None:
    found = repeats.repeats_of(run)
    lines = Heading.build(typed)
    with st.spinner("Estimating the effect …"):
        brief = brief_of(run, found, lines, theme())
    view.show(brief, found, theme())
    if not presenting():
        with st.container(key="notes-files"):
            files.files_view(run, found, lines, packed=packed)


main()
