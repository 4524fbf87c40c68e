"""The tour's step on false positives: each column is shuffled separately."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from engine import RunResult
from engine.registry import algorithm
from engine.words.run import listed
from pages.draw import show
from pages.draw.links import found_links
from pages.learn.search import classes_key, gallery
from pages.learn.tour import MOST_SHUFFLES, Tour, draft, shown_run
from pages.shell import words as text

ALGORITHMS = ("pc", "priv_pc", "curate_pc", "marginal_pc")
NONE = "None of them"
_BEFORE = (
    "The data are not shuffled yet. A shuffle reorders each column separately. The columns are "
    "then independent, so every link is a false positive."
)


def shuffle_view(now: Tour) -> None:
    """Draw the guess, the button, and each algorithm's links."""
    guessed = _guess(now)
    rows, drawn, seen = [], [], []
    for key in ALGORITHMS:
        # New rows and new noise each time.
        seeds = [{}, *({"seed": now.seed + k, "shuffle": k} for k in range(now.shuffles))]
        runs, title = [shown_run(now, key, **each) for each in seeds], algorithm(key).title
        before, *counts = (len(links_of(result)) for result in runs)
        rows.append({"Algorithm": title, "Links before": before})
        if counts:
            mean = round(sum(counts) / len(counts), 1)
            rows[-1] |= {"After": counts[-1], "Mean after": mean}
        seen += [title] if counts and counts[-1] else []
        links = text.count(len(links_of(runs[-1])), "link")
        drawn.append((f"{title}: {links}", found_links(runs[-1])))
    left, right = st.columns([3, 2], gap="large")
    with left:
        gallery(now, drawn, across=2, alt="Links that each algorithm sees")
    with right:
        st.markdown(_answer(seen, guessed) if now.shuffles else _BEFORE)
        show.table(pd.DataFrame(rows), alt="Links before and after the shuffle, by algorithm")
        st.html(classes_key(drawn))
        data = f"{now.dataset.n:,} rows, ε = {text.number(now.epsilon)} for each whole private run"
        which = (
            f"Shuffle {now.shuffles} is shown; the last column is the mean of all so far."
            if now.shuffles
            else "Nothing is shuffled yet."
        )
        st.caption(f"{data} (strict). {which}")


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
            "Shuffle again" if now.shuffles else "Shuffle",
            key="learn-shuffle",
            type="primary",
            icon=":material/shuffle:",
            disabled=not (now.shuffles or guessed) or now.shuffles >= MOST_SHUFFLES,
            on_click=draft().update,
            kwargs={"shuffles": now.shuffles + 1},
            help="Guess first.",
        )
    return list(guessed)


def links_of(result: RunResult) -> set[frozenset[str]]:
    """Return the links without pairs that are not fully tested."""
    return result.skeleton - result.untested_pairs


def _answer(seen: list[str], guessed: list[str]) -> str:
    """Compare the guess with the algorithms that see links, in words."""
    said = f"**{listed(seen)}** still {'sees' if len(seen) == 1 else 'see'} links"
    start = f"{said}, and all of them are false positives." if seen else f"**{NONE}** does."
    if not guessed:
        return start
    right = set(guessed) - {NONE} == set(seen)
    return f"{start} {'You said so.' if right else 'You said: ' + ', '.join(guessed) + '.'}"
