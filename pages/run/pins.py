"""Runs pinned next to the one on screen: graphs, counts, settings and edges that differ."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import streamlit as st

from engine import InputError
from engine.data.spreadsheets import table_csv
from engine.graphs.links import FOUND, MARKS, LinkClass
from engine.registry import ALGORITHMS
from engine.request import Request
from engine.words.run import CLAIMED, GUARANTEED, PROVEN, epsilon_name, stated
from pages.draw import show
from pages.draw.graphs import draw_graph, learned_view
from pages.draw.links import few_untested, labels_of
from pages.forms import Count, count_for, counted, known_label, watch_counts
from pages.run.form import MOST, PINS, laid_over
from pages.run.more import score
from pages.run.trace import edges_table
from pages.shell import export
from pages.shell import words as text
from pages.shell.runs import Shown, compute, settings_of
from pages.shell.settings import in_force

LETTERS = "ABC"
HERE = "On screen"
_REFUSED = "pins_refused"  # the reason why a run was not pinned, shown once


def pins() -> list[Shown]:
    """Return the session's pinned runs; those on a replaced file are dropped."""
    PINS.put([run for run in PINS.get() if in_force(run.data)])
    return PINS.get()


def pin(run: Shown) -> None:
    """Add a run once, if there is room."""
    if any(p is run or (run.data.public and p.request == run.request) for p in pins()):
        st.session_state[_REFUSED] = "This run is pinned already."
    elif len(pins()) < MOST:
        pins().append(run)


def pin_published(run: Shown) -> None:
    """Pin the published algorithms that were best in a study at this ε, as the study set them."""
    from engine.studies.recommended import ranked

    found = [r for r in ranked(_epsilon(run) or 1.0) if r.algorithm != run.request.algorithm]
    for one in found[: MOST - len(pins())]:
        params = laid_over(one, run.request.params)
        try:
            pin(compute(Request(run.request.source, one.algorithm, params, run.request.seed)))
        except InputError as error:
            st.session_state[_REFUSED] = str(error)


def _epsilon(run: Shown) -> float | None:
    epsilon = run.request.params.get("epsilon")
    return float(epsilon) if isinstance(epsilon, int | float) else None


def title(run: Shown) -> str:
    """Return the algorithm with the ε that is set for it."""
    epsilon, chosen = _epsilon(run), ALGORITHMS[run.result.algorithm]
    name = epsilon_name(chosen.epsilon_unit, run.result.params)
    return chosen.title if epsilon is None else f"{chosen.title}, {stated(name, epsilon)}"


def pins_view(run: Shown) -> None:
    """Draw the pinned runs below the one on screen; draw nothing if there are none."""
    if words := st.session_state.pop(_REFUSED, None):
        st.error(text.plain(words), icon=":material/error:")
    pinned = pins()
    if not pinned:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Pinned runs**")
        if run.data.public and _epsilon(run) is not None and len(pinned) < MOST:
            st.button(
                "Add the best published algorithms",
                key="pin-published",
                on_click=pin_published,
                args=(run,),
                help="Each uses the setting that a study chose for it, and the same ε, δ and seed.",
            )
    every = zip((HERE, *LETTERS), (run, *pinned), strict=False)
    runs = {f"{letter} · {title(one)}": one for letter, one in every}
    columns = st.columns(max(2, len(pinned)), gap="medium")
    for k, column in enumerate(columns[: len(pinned)]):
        with column:
            _graph(pinned[k], k)
    with columns[1] if len(pinned) == 1 else st.container():
        watch_counts(
            lambda: [count_for(one) for one in runs.values()], lambda found: _scores(runs, found)
        )
    settings = pd.DataFrame({name: _settings(one) for name, one in runs.items()})
    _differing("Settings that differ", settings.fillna("–").rename_axis("Setting"))
    edges = pd.DataFrame({name: _states(one) for name, one in runs.items()})
    edges = edges.fillna("no edge").rename_axis("Pair").sort_index()
    table, said = _differing("Edges that differ", edges), "Edges that differ (CSV)"
    if not table.empty:
        export.download(said, lambda: table_csv(table), "compare.csv", key="pins")


def _graph(run: Shown, k: int) -> None:
    name, result = title(run), run.result
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{LETTERS[k]} · {text.plain(name)}**")
        st.button("Unpin", key=f"unpin-{k}", on_click=pins().__delitem__, args=(k,))
    shown = learned_view(run.data, result, waiting=few_untested(result))
    draw_graph(f"{LETTERS[k]}: {name}", shown)
    st.caption(text.plain(result.summary().found))


def _scores(runs: dict[str, Shown], found: list[Count]) -> None:
    columns = map(_counted, runs.values(), found)
    table = pd.DataFrame(dict(zip(runs, columns, strict=True))).fillna("–").rename_axis("Score")
    show.table(table.reset_index(), alt="Scores and cost of the runs", most=720)


def _counted(run: Shown, count: Count) -> dict[str, str]:
    """Return counts and scores of the fully tested edges, and the run's cost."""
    result = run.result
    counts, kinds, false = result.counts, Counter(result.classes.values()), counted(count)
    alone = {} if result.known is None else {"Fixed directions only": result.knowledge_alone}
    waiting = count is not None and not count.done
    return {
        **{name: score(result.metrics_tested, field) for name, field in text.SCORES.items()},
        **{name: score(scores, "directed_f1") for name, scores in alone.items()},
        FOUND.word: f"{counts.found:,} of {counts.true:,}" if counts else "–",
        **{MARKS[kind].word: f"{kinds[kind]:,}" if counts else "–" for kind in LinkClass},
        "False on independent columns": "…" if waiting else false.about if false else "–",
        "CI tests": f"{result.ci_tests:,}",
        CLAIMED: text.number(result.claimed.epsilon) if result.claimed else "–",
        GUARANTEED: text.number(result.guaranteed_epsilon),
        PROVEN: text.number(result.proven.epsilon),
    }


def _differing(title: str, table: pd.DataFrame) -> pd.DataFrame:
    """Draw and return the rows in which the runs differ."""
    table = table[table.nunique(axis=1) > 1].reset_index()
    st.markdown(f"**{title}**")
    if table.empty:
        st.caption("None.")
    else:
        show.table(table, alt=title)
    return table


def _settings(run: Shown) -> dict[str, str]:
    """Return every setting of a run by its title, as text; without the seed for the user's data."""
    return {
        "Dataset": run.data.name,
        "Rows n": f"{run.data.n:,}",
        "Background knowledge": known_label(run.data, run.result.knowledge),
        **settings_of(run.request),
    }


def _states(run: Shown) -> dict[str, str]:
    """Return the learned state of each pair that is adjacent in the result or the truth."""
    table = edges_table(run.result, labels_of(run.data))
    return dict(zip(table["Pair"], table["Learned"], strict=True))
