"""Runs pinned next to the one on screen: graphs, counts, settings and edges that differ."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from engine import InputError
from engine.data.spreadsheets import table_csv
from engine.graphs.links import FOUND, MARKS, LinkClass
from engine.graphs.metrics import Scores
from engine.registry import ALGORITHMS, algorithm
from engine.request import Request
from engine.words.run import CLAIMED, GUARANTEED, PROVEN, epsilon_name, stated
from pages.draw import show
from pages.draw.graphs import draw_graph
from pages.draw.links import few_untested, found_links, graph_view, labels_of, weighted
from pages.forms import Count, count_for, counted, known_label, watch_counts
from pages.run.form import MOST, PINS, laid_over
from pages.shell import words as text
from pages.shell.runs import Shown, compute
from pages.shell.settings import in_force

LETTERS = "ABC"
HERE = "On screen"
_REFUSED = "pins_refused"  # why a run was not pinned, to be said once


def pins() -> list[Shown]:
    """The session's pinned runs; those on a file that another has replaced are gone."""
    PINS.put([run for run in PINS.get() if in_force(run.data)])
    return PINS.get()


def pin(run: Shown) -> None:
    """Add a run, once, while there is room."""
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
    """The algorithm with the ε that is set for it."""
    epsilon, chosen = _epsilon(run), ALGORITHMS[run.result.algorithm]
    if epsilon is None:
        return chosen.title
    return (
        f"{chosen.title}, {stated(epsilon_name(chosen.epsilon_unit, run.result.params), epsilon)}"
    )


def pins_view(run: Shown) -> None:
    """The pinned runs below the one on screen; nothing where none is."""
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
                help="Each at the setting that a study chose for it, with the same ε, δ and seed.",
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
        rows: dict[str, list[str]] = {}
        for run, count in zip(runs.values(), found, strict=True):
            for name, value in _counted(run, count).items():
                rows.setdefault(name, []).append(value)
        table = pd.DataFrame(rows.values(), columns=_names(runs))
        table.insert(0, "Score", list(rows))
        show.table(table, alt="Scores and cost of the runs", most=720)

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


def _differing(cells: dict[str, list[str]], name: str, runs: dict[str, Shown]) -> pd.DataFrame:
    rows = [(row, *values) for row, values in cells.items() if len(set(values)) > 1]
    return pd.DataFrame(rows, columns=[name, *_names(runs)])


def settings_table(runs: dict[str, Shown]) -> pd.DataFrame:
    """Only the settings in which the runs differ."""
    every = [_settings(run) for run in runs.values()]
    names = dict.fromkeys(name for one in every for name in one)
    return _differing({n: [one.get(n, "–") for one in every] for n in names}, "Setting", runs)


def _settings(run: Shown) -> dict[str, str]:
    """Every setting of a run by its title, as text; not the seed of own data."""
    source, shown = run.request.source, run.request.params
    out = {"Dataset": run.data.name, "Rows n": f"{run.data.n:,}"}
    out |= {} if source.own else {"Data seed": f"{source.seed}"}
    out["Background knowledge"] = known_label(run.data, run.result.knowledge)
    for spec in algorithm(run.result.algorithm).params.specs():
        if spec.name in shown:
            value = shown[spec.name]
            precise = isinstance(value, float)
            out[spec.title] = text.number(value, 15) if precise else text.label(value)
    seed = run.request.seed
    return out if seed is None else out | {"Noise seed": f"{seed}"}


def edges_table(runs: dict[str, Shown]) -> pd.DataFrame:
    """One row for each pair that is not in the same state in all runs."""
    from pages.run import trace

    tables = [
        trace.edges_table(r.data, r.result, labels_of(r.data)).set_index("Pair")
        for r in runs.values()
    ]
    pairs = sorted(set().union(*(table.index for table in tables)))
    cells = {p: [str(t["Learned"].get(p, "no edge")) for t in tables] for p in pairs}
    return _differing(cells, "Pair", runs)
