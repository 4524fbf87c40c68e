"""Many pairs at once: how often each way to release is right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from engine.teaching.pairwise import EPSILONS
from pages.draw import show
from pages.pairs import state as pairs
from pages.pairs.scores import title_of
from pages.pairs.state import Batch
from pages.shell import words as text
from pages.shell.drafts import Draft

EVERY = 1.0  # seconds between looks


def batch_view(d: Draft) -> None:
    """A button, progress, and the table of what is finished."""
    which = "99 Tübingen pairs" if pairs.tuebingen() else "30 simulated pairs"
    st.markdown(f"**All {which}**")
    st.button(
        "Run all pairs",
        key="pairs-batch-run",
        icon=":material/playlist_play:",
        on_click=pairs.begin_batch,
        args=(d,),
        help="One split a pair; probabilities are exact, so no noise needs to be drawn.",
    )
    job = pairs.batch()
    if job is None:
        return
    if job.running:
        _progress(d)
    else:
        _finished(job, d)


@st.fragment(run_every=EVERY)
def _progress(d: Draft) -> None:
    job = pairs.batch()
    if job is None or not job.running:
        st.rerun()
    done, total = len(job.done), len(job.datasets)
    st.progress(done / total, text=f"{done} of {total} pairs")
    st.button("Cancel", key="pairs-batch-cancel", on_click=job.cancel)
    _table(job, d)


def _finished(job: Batch, d: Draft) -> None:
    if job.error:
        st.error(text.plain(job.error), icon=":material/error:")
    done, total = len(job.done), len(job.datasets)
    st.caption(f"{'' if done == total else 'Stopped: '}{done} of {total} pairs, one split each.")
    _table(job, d)


def _table(job: Batch, d: Draft) -> None:
    finished = list(job.done)
    if not finished:
        return
    at = EPSILONS.index(d["epsilon"])
    rows = []
    for k, way in enumerate(finished[0][1].ways):
        mine = [(found.ways[k], found.sign) for _, found in finished]
        rows.append(
            {
                "Release": title_of(way),
                "Right without noise": float(np.mean([w.gap * sign > 0 for w, sign in mine])),
                f"Right at ε = {d['epsilon']:g}": float(np.mean([w.right[at] for w, _ in mine])),
                "Pairs": len(mine),
            }
        )
    show.table(pd.DataFrame(rows), alt="Accuracy of each way to release over the pairs")
