"""Runs pinned next to the one on screen: graphs, counts, settings and edges that differ."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from engine import InputError
from engine.data.spreadsheets import table_csv
from engine.graphs.links import FOUND, MARKS, LinkClass
from engine.graphs.metrics import Scores
from engine.registry import ALGORITHMS
from engine.request import Request
from engine.words.run import CLAIMED, GUARANTEED, PROVEN, epsilon_name, stated
from pages.draw import show
from pages.draw.graphs import draw_graph
from pages.draw.links import few_untested, found_links, graph_view, labels_of, weighted
from pages.forms import Count, count_for, counted, known_label, watch_counts
from pages.run.form import MOST, PINS, laid_over
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
    if epsilon is None:
        return chosen.title
    return (
        f"{chosen.title}, {stated(epsilon_name(chosen.epsilon_unit, run.result.params), epsilon)}"
    )


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
    runs = {HERE: run} | {LETTERS[k]: one for k, one in enumerate(pinned)}
    columns = st.columns(max(2, len(pinned)), gap="medium")
    for k, (column, one) in enumerate(zip(columns, pinned, strict=False)):
        with column:
            _graph(one, k)
    with columns[1] if len(pinned) == 1 else st.container():
        _scores(runs)
    _table("Settings that differ", settings_table(runs), "settings")
    _table("Edges that differ", edges_table(runs), "edges")


def _graph(run: Shown, k: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{LETTERS[k]} · {text.plain(title(run))}**")
        st.button("Unpin", key=f"unpin-{k}", on_click=pins().__delitem__, args=(k,))
    data, result = run.data, run.result
    titles = labels_of(data)
    links = weighted(found_links(result, waiting=few_untested(result)), result, titles)
    draw_graph(f"{LETTERS[k]}: {title(run)}", graph_view(data, links, result, titles=titles))
    st.caption(text.plain(result.summary().found))


def _scores(runs: dict[str, Shown]) -> None:
    def draw(found: list[Count]) -> None:
        columns = map(_counted, runs.values(), found)
        table = pd.DataFrame(dict(zip(_names(runs), columns, strict=True))).fillna("–")
        show.table(
            table.rename_axis("Score").reset_index(), alt="Scores and cost of the runs", most=720
        )

    watch_counts(lambda: [count_for(run) for run in runs.values()], draw)


def _names(runs: dict[str, Shown]) -> list[str]:
    return [f"{name} · {title(run)}" for name, run in runs.items()]


def _counted(run: Shown, count: Count) -> dict[str, str]:
    """Return counts and scores of the fully tested edges, and the run's cost."""
    result = run.result
    counts, m = result.counts, result.metrics_tested
    kinds = dict.fromkeys(LinkClass, 0)
    for kind in result.classes.values():
        kinds[kind] += 1
    known = {} if result.known is None else {"Fixed directions only": result.knowledge_alone}
    return {
        **{name: _score(m, field) for name, field in text.SCORES.items()},
        **{name: _score(scores, "directed_f1") for name, scores in known.items()},
        FOUND.word: f"{counts.found:,} of {counts.true:,}" if counts else "–",
        **{MARKS[kind].word: f"{n:,}" if counts else "–" for kind, n in kinds.items()},
        "False on independent columns": _cell(count),
        "CI tests": f"{result.ci_tests:,}",
        CLAIMED: text.number(result.claimed.epsilon) if result.claimed else "–",
        GUARANTEED: text.number(result.guaranteed_epsilon),
        PROVEN: text.number(result.proven.epsilon),
    }


def _cell(count: Count) -> str:
    if count is not None and not count.done:
        return "…"
    found = counted(count)
    return "–" if found is None else found.about


def _score(m: Scores | None, field: str) -> str:
    value = None if m is None else getattr(m, field)
    return "–" if value is None else f"{value}" if isinstance(value, int) else f"{value:.2f}"


def _table(title: str, table: pd.DataFrame, key: str) -> None:
    st.markdown(f"**{title}**")
    if table.empty:
        st.caption("None.")
        return
    show.table(table, alt=title)
    if key == "edges":
        from pages.shell import export

        export.download(f"{title} (CSV)", lambda: table_csv(table), "compare.csv", key="pins")


def _differing(cells: dict[str, dict[str, str]], name: str, absent: str) -> pd.DataFrame:
    """Return the rows in which the runs' cells differ."""
    table = pd.DataFrame(cells).fillna(absent).rename_axis(name)
    return table[table.nunique(axis=1) > 1].reset_index()


def settings_table(runs: dict[str, Shown]) -> pd.DataFrame:
    """Return the settings in which the runs differ."""
    names = dict(zip(_names(runs), map(_settings, runs.values()), strict=True))
    return _differing(names, "Setting", "–")


def _settings(run: Shown) -> dict[str, str]:
    """Return every setting of a run by its title, as text; without the seed for the user's data."""
    return {
        "Dataset": run.data.name,
        "Rows n": f"{run.data.n:,}",
        "Background knowledge": known_label(run.data, run.result.knowledge),
        **settings_of(run.request),
    }


def edges_table(runs: dict[str, Shown]) -> pd.DataFrame:
    """Return the pairs that are not in the same state in all runs."""
    from pages.run import trace

    tables = [trace.edges_table(run.data, run.result, labels_of(run.data)) for run in runs.values()]
    states = [dict(zip(table["Pair"], table["Learned"], strict=True)) for table in tables]
    return _differing(dict(zip(_names(runs), states, strict=True)), "Pair", "no edge").sort_values(
        "Pair", ignore_index=True
    )
