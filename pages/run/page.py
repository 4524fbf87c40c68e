"""Run one algorithm on one dataset; show its graph, its costs and its reasons."""

from __future__ import annotations

import streamlit as st

from engine import RunResult
from pages.draw import promise_html
from pages.draw.graphs import prepare
from pages.run.form import settings_form
from pages.run.view import outcome
from pages.shell import drafted_strip, runs, show_strip
from pages.shell import words as text
from pages.shell.runs import Shown
from pages.shell.settings import drafted
from pages.shell.task import bar


def main() -> None:
    """Draw the page from top to bottom."""
    with st.sidebar:
        if settings_form():
            with st.spinner("Running …", show_time=True):
                runs.begin(drafted())
    now = drafted()
    job, run = runs.answer(now)
    if run is not None:
        prepare(run.data, run.result)  # else a new headline would be shown above old graphs
        show_strip("Run", run.data, run.result)
    else:
        drafted_strip("Run")
    old = job is not None or run is None or run.request != now
    with st.container(key="notice"):
        if job is not None:
            bar(runs.TASK)
        elif runs.show_refusal():
            pass
        elif run is None or old:
            runs.show_change(run, now)
        else:
            headline(run)
    st.html(f"<style>.st-key-result{{opacity:{0.4 if old else 1}}}</style>")
    with st.container(key="result"):
        if run is not None:
            outcome(run)


def headline(run: Shown) -> None:
    """Show the found edges, the protection, and the reason of a run that ended early."""
    said = run.result.summary()
    stopped = run.result.status == "cancelled"  # else the note on untested pairs gives the reason
    st.html(
        '<div role="status" class="headline" style="display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;'
        'align-items:center"><span style="flex:1 1 24rem;font-size:1.1rem;line-height:1.4;'
        'font-weight:600" '
        f'title="{text.safe(said.ended)}">'
        f"{text.safe(said.headline)}</span>{promise_html(said.promise)}"
        f'<span style="font-size:.9rem">{text.safe(said.ended) if stopped else ""}</span></div>'
    )
    if run.result.diagnostics.chosen:
        st.caption(run.result.diagnostics.chosen)
    if run.result.known is not None:
        st.caption(known_words(run.result))


def known_words(result: RunResult) -> str:
    """Say how many directions background knowledge fixes."""
    assert result.known is not None
    turned, links = result.known.fixed(result.matrix)
    said = f"Background knowledge fixes {turned} of {text.count(links, 'direction')}"
    alone = result.knowledge_alone
    if alone is None or result.metrics_all is None:
        return f"{said}. These directions are assumptions, not findings."
    return (
        f"{said}. Directed F1 is {result.metrics_all.directed_f1:.2f}. With only those directions "
        f"it is {alone.directed_f1:.2f}: the difference comes from the data."
    )


main()
