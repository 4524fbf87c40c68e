"""The tour's first steps: the true graph, the search test by test, and draws of the noise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import streamlit as st

from engine import Dataset, RunResult
from engine.graphs.links import MARKS, LinkClass
from engine.graphs.metrics import Counts
from engine.graphs.view import FRAME, SMALL, Link
from engine.registry import algorithm
from engine.story.modules import digested, graph_content
from engine.studies.scenes import states_of
from engine.teaching.replay import scenes
from engine.words.run import links_words
from pages.draw import charts
from pages.draw.charts import bars
from pages.draw.links import ENTRY, few_untested, found_links, graph_picture, graph_view, sample
from pages.draw.scene import mount
from pages.learn.tour import Tour, shown_run
from pages.shell import runs
from pages.shell import words as text
from pages.shell.runs import Shown
from pages.shell.words import theme

PERFECT, EXACT, PRIVATE = "Perfect tests", "These data, no noise", "These data, private"
SHOWN = "The Run page's run"
_TESTS = "learn-tests"
MOST_COLUMNS, MOST_STEPS = 25, 5_000  # of a search that the player shows
DRAWS = 6
Graphs = Sequence[tuple[str, Sequence[Link]]]


def gallery(now: Tour, graphs: Graphs, *, across: int, alt: str) -> None:
    """Draw titled graphs with the same layout, ``across`` of them per row."""
    shown = [link for _, links in graphs for link in links]
    every = graph_view(now.dataset, shown, None, frame=FRAME if len(graphs) == 1 else SMALL)
    drawn = ""
    for title, links in graphs:
        picture = graph_picture(every.showing(links), alt=title, theme=theme())
        drawn += f"<figure><figcaption>{text.safe(title)}</figcaption>{picture.image}</figure>"
    st.html(
        f'<div class="gallery" role="group" aria-label="{text.safe(alt)}" '
        f'style="grid-template-columns: repeat({across}, minmax(0, 1fr))">{drawn}</div>'
    )


def perfect(now: Tour) -> RunResult:
    """Return the search with perfect answers."""
    return shown_run(now, "pc", seed=0, statistic="oracle")


def search_view(now: Tour) -> None:
    """Draw PC, played back."""
    shown, player = on_screen(), st.container()  # lines may extend above the picture
    below = st.container(horizontal=True, vertical_alignment="center")
    chosen = below.segmented_control(
        "Tests by",
        [PERFECT, EXACT, PRIVATE, *([SHOWN] if shown is not None else [])],
        default=PERFECT,
        required=True,
        key=_TESTS,
        label_visibility="collapsed",
    )
    data, result, said = _played(now, str(chosen), shown)
    with player:
        mount("search", played_back(data, result), key="learn-player")
    below.caption(f"{said} In the end: {result.summary().found}", width="stretch")


def _played(now: Tour, chosen: str, shown: Shown | None) -> tuple[Dataset, RunResult, str]:
    """Return the data and the run to play, and the sentence about them."""
    data = now.dataset
    if chosen == SHOWN and shown is not None:
        data, result = shown.data, shown.result
        title = f"{text.dataset_title(data)}, {data.n:,} rows: {algorithm(result.algorithm).title}"
        return data, result, text.plain(f"{title}. {result.summary().promise.terms}.")
    if chosen == EXACT:
        said = f"Kendall's τ on {data.n:,} rows, without any noise: no privacy."
        return data, shown_run(now, "pc", seed=0), said
    if chosen == PRIVATE:
        result = shown_run(now, "priv_pc")
        said = f"Priv-PC with ε = {text.number(now.epsilon)} for the whole run (strict)."
        early = " The budget was exhausted before the last test." if result.untested else ""
        return data, result, said + early
    return data, perfect(now), "The true graph answers, not the data."


def played_back(data: Dataset, result: RunResult) -> dict[str, Any]:
    """Return every step of a finished search, for the browser to play."""
    index = {name: k for k, name in enumerate(data.names)}
    beats = []
    for s, (x, y), removed in scenes(result.steps):
        given = [index[name] for name in s.conditioning_set]
        beats.append([s.order, index[x], index[y], given, s.decision, removed, s.reason])
    end = states_of(result).tolist()
    return digested({**graph_content(data), "beats": beats, "end": end})


def played_run() -> Shown | None:
    """Return the Run page's run, if the step plays it."""
    return on_screen() if st.session_state.get(_TESTS) == SHOWN else None


def on_screen() -> Shown | None:
    """Return the Run page's run, if it is a search on public data that the player can show."""
    run = runs.SHOWN.get().get(False)
    if run is None or run.data.d > MOST_COLUMNS:
        return None
    asked = sum(s.x is not None and s.order is not None for s in run.result.steps)
    return run if 0 < asked <= MOST_STEPS else None


# Draw again -----------------------------------------------------------------------------


def draws_view(now: Tour) -> None:
    """Draw outcomes of the same run with new noise, six at a time."""
    drawn = st.session_state.setdefault("tour_draws", {})
    key = (now.data, now.epsilon)
    count = drawn.setdefault(key, DRAWS)
    if st.button("Draw again", type="primary", key="learn-draw", icon=":material/casino:"):
        count = drawn[key] = count + DRAWS
    runs = [shown_run(now, "priv_pc", seed=s) for s in range(count)]
    outcomes = [r.counts for r in runs if r.counts]
    titles = (
        f"Draw {k}: {links_words(counts, counts.learned)}" for k, counts in enumerate(outcomes, 1)
    )
    latest = list(zip(titles, runs, strict=True))[-DRAWS:]
    left, right = st.columns([3, 1], gap="medium")
    with left:
        drawn = [(title, found_links(r, waiting=few_untested(r))) for title, r in latest]
        gallery(now, drawn, across=3, alt=f"The last {DRAWS} draws")
        st.html(classes_key(drawn))
    with right:
        _tally(outcomes)


def classes_key(graphs: Graphs) -> str:
    """Return a legend of the classes in the pictures, each with a piece of its line."""
    drawn = {link.kind for _, links in graphs for link in links}
    return "".join(
        f'<span style="{ENTRY}">{sample(kind, theme())}{MARKS[kind].word}</span>'
        for kind in LinkClass
        if kind in drawn
    )


def _tally(outcomes: list[Counts]) -> None:
    found, most = Counter(o.found for o in outcomes), outcomes[0].true
    st.markdown(f"**All {len(outcomes)} draws so far**")
    figure = bars(
        range(most + 1),
        [found[k] for k in range(most + 1)],
        x_title=f"Links found, of {most}",
        y_title="Draws",
        words=[str(found[k] or "") for k in range(most + 1)],
        height=270,
    )
    charts.figure(figure, key="learn-tally", alt="How often each number of links was found")
    said = "The data never change. Only the noise does."
    if early := sum(o.untested > 0 for o in outcomes):
        said += f" In {early} of them the budget was exhausted"
        said += "; pairs not fully tested are grey dots."
    st.caption(said)
