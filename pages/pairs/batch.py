"""Many pairs at once: how often each way to release is right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from pages.draw import show
from pages.pairs import state as pairs
from pages.pairs.view import title_of
from pages.shell import words as text
from pages.shell.drafts import Draft
from pages.shell.task import Task, watch


def batch_view(d: Draft) -> None:
    """A button, progress, and the table of what is finished."""
    which = "99 Tübingen pairs" if pairs.tuebingen() else "30 simulated pairs"
    st.markdown(f"**All {which}**")
    st.button(
        "Run all pairs",
        key="pairs-batch-run",
        icon=":material/playlist_play:",
        on_click=pairs.begin_batch,
        args=(d, which),
        help="One split a pair; probabilities are exact, so no noise needs to be drawn.",
    )
    done = watch(pairs.BATCH, more=lambda going: _table(going, d))
    if done is not None:
        _finished(done, d, which)


def _finished(job: Task, d: Draft, which: str) -> None:
    if job.problem:
        st.error(text.plain(job.problem), icon=":material/error:")
    made, total = job.about
    done = len(job.parts)
    st.caption(f"{'' if done == total else 'Stopped: '}{done} of {total} pairs, one split each.")
    if made != pairs.setting_of(d) or job.title != which:
        st.caption(
            f"These are the {text.plain(job.title)} at λ = {made.ridge:g}, width of the fit "
            f"{made.width:g}, of HSIC {made.score_width:g}: run all pairs again for the form's."
        )
    _table(job, d)


def _table(job: Task, d: Draft) -> None:
    finished = list(job.parts)
    if not finished:
        return
    epsilon = d["epsilon"]
    rows = []
    for k, way in enumerate(finished[0][1].ways):
        exact = [found.ways[k].gap(epsilon) * found.sign > 0 for _, found in finished]
        noisy = [found.ways[k].chance(epsilon) for _, found in finished]
        rows.append(
            {
                "Release": title_of(way),
                "Right without noise": float(np.mean(exact)),
                f"Right at ε = {epsilon:g}": float(np.mean(noisy)),
                "Pairs": len(finished),
            }
        )
    show.table(pd.DataFrame(rows), alt="Accuracy of each way to release over the pairs")
