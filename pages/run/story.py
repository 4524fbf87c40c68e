"""What the app is, and what privacy costs here: one sentence from runs beside no privacy."""

from __future__ import annotations

import streamlit as st

from engine import Dataset, InputError
from engine.registry import ALGORITHMS
from pages.shell import words as text
from pages.shell.runs import Shown, compute
from pages.shell.settings import Settings, Source, filled
from pages.shell.verdict import Verdict, verdict

PLAIN, PUBLISHED, OURS = "pc", "priv_pc", "marginal_pc"
MOST_COLUMNS = 12  # with more the runs take longer than a first look may
START_EPSILON = 1.0
_ABOUT = (
    "A causal graph says which variables act on which. This app learns one from many people's "
    "records and shows what it costs to hide each single person."
)


def story(run: Shown) -> None:
    """One plain sentence; about the data on screen if they are small and public, else about Asia's.

    Drawn last, into a place kept on top: the page does not wait for its runs.
    """
    source = run.settings.source if _quick(run.data) else Source()
    asked = getattr(run.result.params, "epsilon", None) if run.result.ledger.cap else None
    epsilon = float(asked) if asked is not None and _quick(run.data) else START_EPSILON
    try:
        st.markdown(f"{_ABOUT} {sentence(source, epsilon)}")
    except InputError:
        st.markdown(_ABOUT)


def _quick(data: Dataset) -> bool:
    return data.public and data.truth is not None and data.d <= MOST_COLUMNS


def sentence(source: Source, epsilon: float) -> str:
    """The same ε spent by a published method and by ours, beside no privacy; computed, cached."""
    found: list[tuple[str, Verdict]] = []
    for key in (PLAIN, PUBLISHED, OURS):
        values = {"epsilon": epsilon, "guarantee": "strict"} if key != PLAIN else {}
        run = compute(Settings(source, key, filled(key, values), 0))
        counted = verdict(run.data, run.result)
        assert counted is not None
        found.append((ALGORITHMS[key].title, counted))
        data = run.data
    (_, bare), (published, theirs), (ours, mine) = found
    return (
        f"On {text.plain(text.dataset_title(data))} ({data.n:,} rows), **without privacy** PC "
        f"finds **{bare.found} of {text.count(bare.true, 'true link')}**{_invented(bare)}. With at "
        f"most ε = {text.number(epsilon)} for everything, the published {published} finds "
        f"**{theirs.found}**{_invented(theirs)}, our {ours} **{mine.found}**{_invented(mine)}."
    )


def _invented(found: Verdict) -> str:
    return f" and invents {found.invented}" if found.invented else " and invents none"
