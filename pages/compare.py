"""Up to four runs beside each other: graphs on one layout, settings and edges that differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import MutableMapping, Sequence
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import streamlit as st

from engine import InputError
from engine.graphs.metrics import EdgeClass, classify, truth_cpdag
from engine.params import ParameterError
from engine.registry import ALGORITHMS, algorithm
from pages.components import curves, export, form, state, text
from pages.components.compare import NARROW, positions
from pages.components.graph import (
    describe,
    legend,
    links_of,
    render_graph,
)
from pages.components.layout import Point, frame_height, frame_scale
from pages.components.shell import draw
from pages.components.state import Settings, Shown
from pages.components.strip import show_strip
from pages.components.trace import edge_classes

MOST = 4
LETTERS = "ABCD"
MOST_COLUMNS = 80  # a larger dataset is not run without being asked for
_FOUND = (EdgeClass.CORRECT, EdgeClass.WRONG_DIRECTION, EdgeClass.EXTRA)


def main() -> None:
    """The page, top to bottom."""
    run = state.shown()
    pinned = pins()
    with st.sidebar:
        pin_form(run, pinned)
    show_strip("Compare", run.data, run.result)
    if problem := st.session_state.pop("compare_problem", None):
        st.error(text.plain(problem), icon=":material/error:")
    if not pinned:
        st.info("Nothing is pinned. Pin the Run page's result, or add a run, at the left.")
        return
    graphs(pinned)
    left, right = st.columns(2, gap="large")
    with left:
        scores(pinned)
    with right:
        settings(pinned)
    edges(pinned)


# Pins -----------------------------------------------------------------------------------


def pins() -> list[Shown]:
    """The pinned runs of this session; at first the Run page's, beside PC without privacy."""
    if "pins" not in st.session_state:
        run = state.shown()
        st.session_state["pins"] = [run]
        plain = Settings(run.settings.source, "pc", state.filled("pc", {}), 0)
        # Own data are never read without noise unless a person asks for it.
        if run.data.public and run.data.d <= MOST_COLUMNS and run.settings != plain:
            st.session_state["pins"].append(state.compute(plain))
    return st.session_state["pins"]


def pin(run: Shown) -> None:
    """Add a run, once, while there is room."""
    pinned = pins()
    if run.settings.seed is not None and any(p.settings == run.settings for p in pinned):
        st.session_state["compare_problem"] = "This run is pinned already."
    elif len(pinned) >= MOST:
        st.session_state["compare_problem"] = f"{MOST} runs are the most; unpin one first."
    elif run not in pinned:
        pinned.append(run)


def unpin(index: int) -> None:
    """Remove the pin."""
    del pins()[index]


def draft(run: Shown) -> MutableMapping[str, Any]:
    """The small form's fields."""
    fresh = {"algorithm": run.settings.algorithm, "params": dict(run.settings.params)}
    store = st.session_state.setdefault("compare_draft", fresh | {"seed": run.settings.seed or 0})
    return store


def pin_form(run: Shown, pinned: Sequence[Shown]) -> None:
    """Pin what Run shows, or run something else on the same data."""
    full = len(pinned) >= MOST
    st.button(
        "Pin the Run page's result",
        key="compare-pin",
        on_click=pin,
        args=(run,),
        disabled=full or run in pinned,
        width="stretch",
        icon=":material/push_pin:",
    )
    d = draft(run)
    st.markdown("**Add a run**")
    st.caption(f"On the Run page's dataset: {text.plain(run.data.name)}, {run.data.n:,} rows.")
    before = d["algorithm"]
    state.bound(
        st.selectbox,
        "Algorithm",
        d,
        "algorithm",
        key="compare-algorithm",
        options=list(ALGORITHMS),
        format_func=lambda k: ALGORITHMS[k].title,
    )
    keep_fitting(d, before)
    form.parameter_form(algorithm(d["algorithm"]), d["params"], key="compare-param", n=run.data.n)
    if run.data.public:
        state.bound(st.number_input, "Noise seed", d, "seed", key="compare-seed", min_value=0)
    else:
        st.warning("Your own data: this run would spend its ε anew.")
    st.button(
        "Run and pin",
        key="compare-add",
        type="primary",
        on_click=add,
        args=(run,),
        disabled=full,
        width="stretch",
    )
    if full:
        st.caption(f"{MOST} runs are the most; unpin one first.")


def keep_fitting(d: MutableMapping[str, Any], before: str) -> None:
    """After a change of algorithm keep what the new one admits, at its defaults otherwise."""
    of = d.setdefault("params_of", before)
    if of == d["algorithm"]:
        return
    specs = {s.name: s for s in algorithm(d["algorithm"]).params.specs()}
    defaults = {s.name: s.default for s in algorithm(of).params.specs()}
    kept = {
        k: v
        for k, v in d["params"].items()
        if k in specs and v != defaults.get(k) and state.fits(specs[k], v)
    }
    d |= {"params": state.filled(d["algorithm"], kept), "params_of": d["algorithm"]}


def add(run: Shown) -> None:
    """Run the small form's settings and pin the result."""
    d = draft(run)
    seed = d["seed"] if run.data.public else None
    params = state.filled(d["algorithm"], d["params"])
    try:
        found = state.compute(Settings(run.settings.source, d["algorithm"], params, seed))
    except (InputError, ParameterError) as error:
        st.session_state["compare_problem"] = str(error)
        return
    pin(found)


def title(run: Shown) -> str:
    """The algorithm with its ε."""
    epsilon = getattr(run.result.params, "epsilon", None)
    name = ALGORITHMS[run.result.algorithm].title
    return name if epsilon is None else f"{name}, ε = {text.number(epsilon)}"


# Graphs ---------------------------------------------------------------------------------


def graphs(pinned: Sequence[Shown]) -> None:
    """The learned graphs, two a row, every dataset on one layout."""
    counts: Counter[EdgeClass] = Counter()
    for run in pinned:
        counts.update(edge_classes(run.data, run.result).values())
    if counts:
        st.html(legend({kind: counts[kind] for kind in EdgeClass}, state.theme()))
        st.caption("Edges of all pinned runs together; missed edges are drawn dotted.")
    for start in range(0, len(pinned), 2):
        for column, k in zip(st.columns(2, gap="medium"), (start, start + 1), strict=True):
            if k < len(pinned):
                with column:
                    one_graph(pinned, k)


def one_graph(pinned: Sequence[Shown], k: int) -> None:
    """A pinned run's name, its button, and its graph."""
    run = pinned[k]
    left, right = st.columns([4, 1], vertical_alignment="center")
    left.markdown(f"**{LETTERS[k]} · {text.plain(title(run))}**")
    right.button("Unpin", key=f"compare-unpin-{k}", on_click=unpin, args=(k,), width="stretch")
    data, result = run.data, run.result
    links = links_of(result.matrix, data.names)
    if data.truth is not None:
        true = truth_cpdag(data.truth, data.names)
        kinds = classify(result.matrix, true)
        links = links_of(result.matrix, data.names, kinds, _FOUND)
        links += links_of(true, data.names, kinds, [EdgeClass.MISSED])
    height = frame_height(data.d)
    page = render_graph(data.names, links, layout(pinned, run), height=height, theme=state.theme())
    st.iframe(page, height=height, alt=describe(f"{LETTERS[k]}: {title(run)}", data.names, links))


def layout(pinned: Sequence[Shown], run: Shown) -> dict[str, Point]:
    """Places that all runs on the same columns share: the truth's, or else the union's."""
    data = run.data
    if data.truth is not None:
        graph = data.truth
    else:
        graph = nx.DiGraph()
        for other in (p for p in pinned if p.data.names == data.names):
            found = np.argwhere(np.triu(other.result.matrix | other.result.matrix.T, 1))
            graph.add_edges_from((data.names[i], data.names[j]) for i, j in found)
    scale = frame_scale(data.d, wide=False)
    size = NARROW * scale, (frame_height(data.d) - 20) * scale
    return positions(data.names, tuple(sorted(graph.edges)), *size)


# Tables ---------------------------------------------------------------------------------


def columns(pinned: Sequence[Shown]) -> list[str]:
    """What the tables call the runs."""
    return [f"{LETTERS[k]} · {title(run)}" for k, run in enumerate(pinned)]


def scores(pinned: Sequence[Shown]) -> None:
    """Metrics and cost of every run."""
    st.markdown("**Scores and cost**")
    rows: dict[str, list[str]] = {}
    for run in pinned:
        m, claimed = run.result.metrics, run.result.claimed
        values = {
            "Skeleton F1": f"{m.skeleton_f1:.2f}" if m else "–",
            "Directed F1": f"{m.directed_f1:.2f}" if m else "–",
            "Precision": f"{m.precision:.2f}" if m else "–",
            "Recall": f"{m.recall:.2f}" if m else "–",
            "SHD": f"{m.shd}" if m else "–",
            "Edges": f"{len(run.result.skeleton)}",
            "CI tests": f"{run.result.ci_tests:,}",
            "Seconds": text.number(run.result.seconds, 2),
            "Paper's total ε": text.number(claimed.epsilon) if claimed else "–",
            "Defended total ε": text.number(run.result.spent.epsilon),
        }
        for name, value in values.items():
            rows.setdefault(name, []).append(value)
    table = pd.DataFrame(rows.values(), columns=columns(pinned))
    table.insert(0, "Score", list(rows))
    curves.table(table, alt="Scores and cost of the pinned runs")


def settings(pinned: Sequence[Shown]) -> None:
    """Only the settings in which the runs differ."""
    st.markdown("**Settings that differ**")
    every = [all_settings(run) for run in pinned]
    names = list(dict.fromkeys(name for one in every for name in one))
    rows = [[one.get(name, "–") for one in every] for name in names]
    differing = [(n, *r) for n, r in zip(names, rows, strict=True) if len(set(r)) > 1]
    if not differing:
        st.caption("None." if len(pinned) > 1 else "Pin a second run to compare with.")
        return
    table = pd.DataFrame(differing, columns=["Setting", *columns(pinned)])
    curves.table(table, alt="Settings in which the pinned runs differ")


def all_settings(run: Shown) -> dict[str, str]:
    """Every setting of a run by its title, as text; not the seed of own data."""
    source = run.settings.source
    out = {"Dataset": run.data.name, "Rows n": f"{run.data.n:,}"}
    if not source.own:
        out["Data seed"] = f"{source.seed}"
    out["Algorithm"] = ALGORITHMS[run.result.algorithm].title
    titles = {s.name: s.title for s in algorithm(run.result.algorithm).params.specs()}
    for name, value in run.settings.params.items():
        known = value if isinstance(value, str) else None
        out[titles[name]] = text.label(known) if known else f"{value}"
    if run.settings.seed is not None:
        out["Noise seed"] = f"{run.settings.seed}"
    return out


def edges(pinned: Sequence[Shown]) -> None:
    """Pairs on which the runs (or a run and the truth) do not agree."""
    st.markdown("**Edges that differ**")
    table = edges_table(pinned)
    if table.empty:
        st.caption("None: the runs found the same graph." if len(pinned) > 1 else "None.")
        return
    curves.table(table, alt="Pairs on which the pinned runs differ")
    export.download(
        "Edges that differ (CSV)", lambda: export.as_csv(table), "compare.csv", key="compare-csv"
    )


def edges_table(pinned: Sequence[Shown]) -> pd.DataFrame:
    """One row a pair whose state is not the same in all runs."""
    states = [pair_states(run) for run in pinned]
    truth = {}
    if len({run.data.names for run in pinned}) == 1 and pinned[0].data.truth is not None:
        data = pinned[0].data
        truth = marks(data.names, truth_cpdag(data.truth, data.names))
    pairs = sorted(set().union(*states))
    rows = []
    for pair in pairs:
        found = [one.get(pair, "no edge") for one in states]
        if len(set(found)) > 1:
            extra = [truth.get(pair, "no edge")] if truth else []
            rows.append((" – ".join(pair), *extra, *found))
    names = ["Pair", *(["Truth"] if truth else []), *columns(pinned)]
    return pd.DataFrame(rows, columns=names)


def pair_states(run: Shown) -> dict[tuple[str, str], str]:
    """Adjacent pairs of the learned graph with their mark."""
    return marks(run.data.names, run.result.matrix)


def marks(names: Sequence[str], matrix: np.ndarray) -> dict[tuple[str, str], str]:
    """Adjacent pairs in column order -> "a → b" or "a — b"."""
    return {
        tuple(sorted((link.a, link.b))): f"{link.a} {'→' if link.arrow else '—'} {link.b}"
        for link in links_of(matrix, names)
    }


draw(main)
