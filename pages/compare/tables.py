"""Pinned runs as tables: scores, settings and edges that differ."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine.graphs.cpdag import Adjacency
from engine.graphs.metrics import Metrics, truth_cpdag
from engine.registry import ALGORITHMS, algorithm
from pages.compare.graphs import LETTERS, title
from pages.draw import show
from pages.draw.links import links_of
from pages.shell import export
from pages.shell import words as text
from pages.shell.runs import Shown

WAITING = text.CLASSES["not tested"].lower()


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
            **{name: _score(m, field) for name, field in text.SCORES.items()},
            "Precision": f"{m.precision:.2f}" if m else "–",
            "Recall": f"{m.recall:.2f}" if m else "–",
            "Links in the result": f"{len(run.result.skeleton) - len(run.result.untested):,}",
            "Not tested to the end": f"{len(run.result.untested):,}",
            "CI tests": f"{run.result.ci_tests:,}",
            "Seconds": text.number(run.result.seconds, 2) if run.result.public else "not told",
            "Paper's total ε": text.number(claimed.epsilon) if claimed else "–",
            "Defended total ε": text.number(run.result.spent.epsilon),
        }
        for name, value in values.items():
            rows.setdefault(name, []).append(value)
    table = pd.DataFrame(rows.values(), columns=columns(pinned))
    table.insert(0, "Score", list(rows))
    show.table(table, alt="Scores and cost of the pinned runs")


def _score(m: Metrics | None, field: str) -> str:
    value = None if m is None else getattr(m, field)
    return "–" if value is None else f"{value}" if isinstance(value, int) else f"{value:.2f}"


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
    show.table(table, alt="Settings in which the pinned runs differ")


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
    show.table(table, alt="Pairs on which the pinned runs differ")
    export.download(
        "Edges that differ (CSV)", lambda: export.as_csv(table), "compare.csv", key="compare-csv"
    )


def edges_table(pinned: Sequence[Shown]) -> pd.DataFrame:
    """One row a pair whose state is not the same in all runs."""
    states = [pair_states(run) for run in pinned]
    truth: dict[tuple[str, str], str] = {}
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
    """Adjacent pairs of the learned graph with their mark, or that no test was finished."""
    names = run.data.names
    waiting = {(names[i], names[j]): WAITING for i, j in run.result.untested}
    return marks(names, run.result.matrix) | {(min(p), max(p)): w for p, w in waiting.items()}


def marks(names: Sequence[str], matrix: Adjacency) -> dict[tuple[str, str], str]:
    """Adjacent pairs in the order of names -> "a → b" or "a — b"."""
    return {
        (min(link.a, link.b), max(link.a, link.b)): (
            f"{link.a} {'→' if link.arrow else '—'} {link.b}"
        )
        for link in links_of(matrix, names)
    }
