"""The tour's step on false positives: each column is shuffled separately."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from engine import RunResult, run
from engine.registry import algorithm
from engine.teaching.shuffled import shuffled
from engine.words.run import listed
from pages.draw import show
from pages.draw.links import found_links
from pages.learn.search import classes_key, gallery
from pages.learn.tour import MOST_SHUFFLES, Tour, draft, rows_of, shown_run
from pages.shell import words as text
from pages.shell.settings import bundled

ALGORITHMS = ("pc", "priv_pc", "curate_pc", "marginal_pc")
NONE = "None of them"
_BEFORE = (
    "The data are not shuffled yet. A shuffle reorders each column separately. The columns are "
    "then independent, so every link is a false positive."
)


def shuffle_view(now: Tour) -> None:
    """Draw the guess, the button, and each algorithm's links."""
    guessed = _guess(now)
    before = {
        key: shown_run(now, key, seed=now.seed, **dict(_values(now, key))) for key in ALGORITHMS
    }
    runs = {key: [_run(now, key, k) for k in range(now.shuffles)] for key in ALGORITHMS}
    counts = {key: [len(links_of(r)) for r in some] for key, some in runs.items()}
    latest = {key: some[-1] if some else before[key] for key, some in runs.items()}
    drawn = [(_title(key, r), found_links(r)) for key, r in latest.items()]
    left, right = st.columns([3, 2], gap="large")
    with left:
        gallery(now, drawn, across=2, alt="Links that each algorithm sees")
    with right:
        st.markdown(_answer(counts, guessed) if now.shuffles else _BEFORE)
        show.table(_table(before, counts), alt="Links before and after the shuffle, by algorithm")
        st.html(classes_key(drawn))
        rows = f"{now.dataset.n:,} rows, ε = {text.number(now.epsilon)} for each whole private run"
        which = (
            f"Shuffle {now.shuffles} is shown; the last column is the mean of all so far."
            if now.shuffles
            else "Nothing is shuffled yet."
        )
        st.caption(f"{rows} (strict). {which}")


def _guess(now: Tour) -> list[str]:
    """Draw the guess; the button waits for it."""
    titles = [algorithm(key).title for key in ALGORITHMS]
    with st.container(horizontal=True, vertical_alignment="bottom", key="learn-shuffle-row"):
        guessed = st.pills(
            "Which of them will still see links?",
            [*titles, NONE],
            selection_mode="multi",
            key="learn-shuffle-guess",
        )
        st.button(
            "Shuffle" if not now.shuffles else "Shuffle again",
            key="learn-shuffle",
            type="primary",
            icon=":material/shuffle:",
            disabled=(not now.shuffles and not guessed) or now.shuffles >= MOST_SHUFFLES,
            on_click=_shuffle,
            help="Guess first.",
        )
    return list(guessed)


def _shuffle() -> None:
    draft()["shuffles"] += 1


@st.cache_resource(max_entries=256, show_spinner=False)
def shuffled_run(
    network: str, shuffle: int, key: str, seed: int, values: tuple[tuple[str, Any], ...]
) -> RunResult:
    """Return a run on the network's rows after a shuffle, kept for all sessions."""
    data = shuffled(bundled(network, rows_of(network), 0), shuffle)
    return run(key, data, seed=seed, trace=False, **dict(values))


def _run(now: Tour, key: str, shuffle: int) -> RunResult:
    # New rows and new noise each time.
    return shuffled_run(now.data, shuffle, key, now.seed + shuffle, tuple(_values(now, key)))


def _values(now: Tour, key: str) -> list[tuple[str, Any]]:
    return [("epsilon", now.epsilon)] if algorithm(key).private else []


def links_of(result: RunResult) -> set[frozenset[str]]:
    """Return the links without pairs that are not fully tested."""
    waiting = {frozenset((result.names[i], result.names[j])) for i, j in result.untested}
    return {frozenset(pair) for pair in result.skeleton} - waiting


def _title(key: str, result: RunResult) -> str:
    return f"{algorithm(key).title}: {text.count(len(links_of(result)), 'link')}"


def _answer(counts: dict[str, list[int]], guessed: list[str]) -> str:
    """Compare the guess with the result, in words."""
    seen = [algorithm(key).title for key, some in counts.items() if some[-1]]
    said = f"**{listed(seen)}** still {'sees' if len(seen) == 1 else 'see'} links"
    start = f"{said}, and all of them are false positives." if seen else f"**{NONE}** does."
    if not guessed:
        return start
    right = set(guessed) - {NONE} == set(seen)
    return f"{start} {'You said so.' if right else 'You said: ' + ', '.join(guessed) + '.'}"


def _table(before: dict[str, RunResult], counts: dict[str, list[int]]) -> pd.DataFrame:
    rows = []
    for key, some in counts.items():
        row = {"Algorithm": algorithm(key).title, "Links before": len(links_of(before[key]))}
        if some:
            row |= {"After": some[-1], "Mean after": round(sum(some) / len(some), 1)}
        rows.append(row)
    return pd.DataFrame(rows)
