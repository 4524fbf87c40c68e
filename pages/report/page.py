"""One page for decision makers: a question, a sentence, a graph, its cost, and the limits."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages.draw.links import titles_of
from pages.forms import count_for
from pages.report import files, repeats, view
from pages.report.asked import examples
from pages.report.brief import Heading, asked_of, brief_of
from pages.shell import drafted_strip, heading, journey, presenting, runs, show_strip, state
from pages.shell import words as text
from pages.shell.form import parameter, placed
from pages.shell.settings import drafted
from pages.shell.state import Draft, session_values
from pages.shell.task import Task, bar, faded, redraw_until_done
from pages.shell.words import theme

PAGE = "report"
EVERY = 2.5  # seconds between two checks at running repetitions


def main() -> None:
    """Draw the page from top to bottom."""
    now = drafted()
    job, run = runs.answer(now)
    release = now.source.own and run is None and job is None
    if release and journey.is_done("release") and (made := journey.released()):
        from pages.report.released import shown_of  # reports of runs need no file of a release

        run = shown_of(made[0])
    if not presenting():
        journey.stages_bar(journey.stage_at("report"))
    if release and run is None:
        drafted_strip("Report")
        st.info("Run on your own table first, or make a release: a report shows either.")
        return
    typed, shown = typed_lines(now.source.own), run if job is None else None
    # Do not show another run's numbers next to a running one.
    heading(lambda: _strip(shown), key="report")
    if not presenting():
        with st.container(key="notes"):  # outside the redrawn part, because users type into it
            fields(typed, shown)
    if job is not None:
        bar(runs.TASK)
        return
    old = not release and (run is None or run.request != now)
    if not runs.show_refusal() and old:
        runs.show_change(run, now)
        if not now.source.own:  # a press there costs ε, and the settings of the run are not visible
            st.button(runs.button_label(now), key="report-run", on_click=runs.begin, args=(now,))
    if run is None:
        return
    found = repeats.repeats_of(run)
    if found is not None:
        found.task.wait(repeats.PATIENCE)
    with faded("result", old=old):
        draw = partial(_content, run, typed, packed=not release)
        redraw_until_done(lambda: _counting(run), draw, EVERY)


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
    with st.expander("Question in words, author and date", key=f"{PAGE}-typed"):
        for column, spec in zip(st.columns([3, 2, 1.4]), Heading.specs(), strict=False):
            with column:
                parameter(spec, form, key=PAGE)
    before = session_values("report_read", {"question": form["question"]})
    if form["question"] != before["question"]:  # the new question names other columns
        before["question"] = form["question"]
        _choose(form, ("", ""))
    if run is not None:
        with menus:
            _menus(form, run)


def _choose(form: Draft, pair: tuple[str, str]) -> None:
    form["cause"], form["outcome"] = pair


def _menus(form: Draft, run: runs.Shown) -> None:
    """Draw the choice of cause and outcome, by default as the question names them."""
    titles = titles_of(run.data)
    asked = asked_of(Heading.build(form), run.data)
    cause, outcome = asked or (form["cause"], form["outcome"])
    menus = {
        "cause": (cause, lambda chosen: _choose(form, (chosen, outcome))),
        "outcome": (outcome, lambda chosen: _choose(form, (cause, chosen))),
    }
    row = st.container(horizontal=True, gap="small")
    for name, (value, keep) in menus.items():
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
            said = text.plain(f"{titles[pair[0]]} → {titles[pair[1]]}?")
            st.button(said, key=f"{PAGE}-example-{k}", on_click=_choose, args=(form, pair))


def _counting(run: runs.Shown) -> list[Task]:
    """Return the tasks of the page."""
    found = repeats.repeats_of(run)
    return list(filter(None, (found.task if found else None, count_for(run))))


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
