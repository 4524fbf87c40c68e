"""Run one algorithm on one dataset; show its graph, its costs and its reasons."""

from __future__ import annotations

import streamlit as st

from engine import RunResult
from pages.draw import promise_html
from pages.draw.graphs import LARGE, learned_view
from pages.run.form import settings_form
from pages.run.view import outcome
from pages.shell import drafted_strip, runs, show_strip
from pages.shell import words as text
from pages.shell.runs import Shown
from pages.shell.task import bar, faded


def main() -> None:
    """Draw the page from top to bottom."""
    with st.sidebar:
        now, pressed = settings_form()
        if pressed:
            with st.spinner("Running …", show_time=True):
                runs.begin(now)
    job, run = runs.answer(now)
    if run is not None:
        if run.data.d > LARGE:  # else a new headline would be shown above old graphs
            learned_view(run.data, run.result)
        show_strip("Run", run.data, run.result)
    else:
        drafted_strip("Run")
    old = job is not None or run is None or run.request != now
    with st.container(key="notice"):
        if job is not None:
            bar(runs.TASK)
        elif not runs.show_refusal():
            if run is None or old:
                runs.show_change(run, now)
            else:
                headline(run)
    with faded("result", old=old):
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
    for words in filter(None, (run.result.diagnostics.chosen, known_words(run.result))):
        st.caption(words)


def known_words(result: RunResult) -> str:
    """Say how many directions background knowledge fixes; empty without any."""
    if result.known is None:
        return ""
    turned, links = result.known.fixed(result.matrix)
    said = f"Background knowledge fixes {turned} of {text.count(links, 'direction')}"
    whole, alone = result.metrics_all, result.knowledge_alone
    if alone is None or whole is None:
        return f"{said}. These directions are assumptions, not findings."
    return (
        f"{said}. Directed F1 is {whole.directed_f1:.2f}. With only those directions it is "
        f"{alone.directed_f1:.2f}: the difference comes from the data."
    )


main()
