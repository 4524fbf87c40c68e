"""Many pairs at once: the accuracy of each kind of release."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from engine import Dataset
from engine.data.pairs import HELD_OUT, MECHANISMS, NOISES, simulate_pair
from pages.draw import show
from pages.pairs.form import setting_of, tuebingen
from pages.pairs.view import title_of
from pages.pairs.work import pictures
from pages.shell import words as text
from pages.shell.state import Draft
from pages.shell.task import Task, show_problem, start, watch

BATCH = "pairs-batch"
BATCH_ROWS = 1_000


def batch_pairs() -> list[Dataset]:
    """Return the pairs of the user's copy, or every simulated mechanism with every noise."""
    return list(tuebingen().values()) or [
        simulate_pair(mechanism, noise, n=BATCH_ROWS, seed=i)
        for i, mechanism in enumerate([*MECHANISMS, *HELD_OUT])
        for noise in NOISES
    ]


def batch_view(d: Draft) -> None:
    """Show a button, the progress, and the table of the finished pairs."""
    which = "99 Tübingen pairs" if tuebingen() else "30 simulated pairs"
    st.markdown(f"**All {which}**")
    st.button(
        "Run all pairs",
        key="pairs-batch-run",
        icon=":material/playlist_play:",
        on_click=_begin,
        args=(d, which),
        help="One split per pair. The probabilities are exact, so no noise is drawn.",
    )
    task = watch(BATCH, more=lambda going: _table(going, d))
    if task is None:
        return
    show_problem(task)
    (datasets, made), done = task.args, len(task.parts)
    total = len(datasets)
    said = f"{'' if done == total else 'Stopped: '}{done} of {total} pairs, one split each."
    if made != setting_of(d) or task.title != which:
        said += (
            f" These results are for the {text.plain(task.title)} at λ = {made.ridge:g}, a fit "
            f"width of {made.width:g} and an HSIC width of {made.score_width:g}. To use the "
            "form's settings, run all pairs again."
        )
    st.caption(said)
    _table(task, d)


def _begin(d: Draft, what: str) -> None:
    start(BATCH, what, pictures, batch_pairs(), setting_of(d), wait=0.0)


def _table(task: Task, d: Draft) -> None:
    finished, epsilon = list(task.parts), d["epsilon"]
    rows = []
    for k, way in enumerate(finished[0][1].ways if finished else ()):
        ways = [(found.ways[k], found.sign) for _, found in finished]
        rows.append(
            {
                "Release": title_of(way),
                "Right without noise": float(np.mean([w.gap(epsilon) * s > 0 for w, s in ways])),
                f"Right at ε = {epsilon:g}": float(np.mean([w.chance(epsilon) for w, _ in ways])),
                "Pairs": len(ways),
            }
        )
    if rows:
        show.table(pd.DataFrame(rows), alt="Accuracy of each kind of release over the pairs")
