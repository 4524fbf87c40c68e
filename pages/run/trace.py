"""Why an edge was removed or kept: the steps of a run that concern one pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import pandas as pd
import streamlit as st

from engine import RunResult
from engine.context import Step
from engine.graphs.cpdag import Adjacency
from engine.graphs.links import MARKS, LinkClass
from engine.registry import algorithm
from engine.words.steps import on_shown_scale
from pages.draw import show
from pages.draw.links import labels_of, links_of, strengths
from pages.shell import words as text
from pages.shell.runs import Shown
from pages.shell.words import number, plain

SIMULATION_ONLY = " (simulation only, never released)"
WAITING = MARKS[LinkClass.UNTESTED].word.lower()
Pair = tuple[str, str]
Titles = Mapping[str, str]
NONE: Titles = {}
# Missed and extra edges are first in the menu, then the other edges.
_RANK = [*[*LinkClass][-2::-1], LinkClass.UNTESTED]


def edge_classes(result: RunResult) -> dict[Pair, LinkClass]:
    """Return the class of every pair adjacent in truth or result, by names; empty without a
    truth."""
    names = result.names
    return {(names[i], names[j]): kind for (i, j), kind in result.classes.items()}


def steps_table(steps: Sequence[Step], titles: Titles = NONE) -> pd.DataFrame:
    """Return steps as rows; raw values are present only if the engine put them into the trace, and
    are marked.

    ``titles`` are the columns' labels, by default their names, which files use.
    """
    return pd.DataFrame(
        {
            "Step": step.index + 1,
            "Pair": _joined(filter(None, (step.x, step.y)), titles),
            "Order": step.order,
            "Conditioning set": _set(step, titles),
            "Phase": step.kind,
            "Noisy value": step.value,
            "Threshold": step.threshold,
            "Decision": step.decision,
            "Why": step.reason,
            "ε so far": step.budget_used,
            **{
                f"{k.capitalize()}{SIMULATION_ONLY}": _cell(v)
                for k, v in (step.internal or {}).items()
            },
        }
        for step in map(on_shown_scale, steps)
    )


def _joined(names: Iterable[str], titles: Titles, between: str = " – ") -> str:
    return between.join(titles.get(name, name) for name in names)


def _set(step: Step, titles: Titles) -> str:
    """Return the conditioning set in braces: {age, smoke}, or ∅."""
    given = step.conditioning_set
    return f"{{{_joined(given, titles, ', ')}}}" if given else "∅"


def _cell(value: object) -> object:
    if isinstance(value, list | tuple):
        return ", ".join(number(v) if isinstance(v, float) else str(v) for v in value)
    return value


@st.fragment
def why_view(run: Shown) -> None:
    """Choose a pair; show in a sentence and a table why its edge was removed or kept."""
    result, titles = run.result, labels_of(run.data)
    kinds = edge_classes(result)
    choice = st.selectbox(
        "Edge",
        sorted(
            combinations(result.names, 2),
            key=lambda p: _RANK.index(kinds[p]) if p in kinds else len(_RANK),
        ),
        key="run-pair",
        format_func=lambda p: _title(p, result, kinds, titles),
        help="Pairs linked in the true or learned graph come first.",
    )
    steps = [s for s in result.steps if s.x is not None and {s.x, s.y} == set(choice)]
    st.markdown(_reason(choice, steps, result, titles))
    if steps:
        _table(steps_table(steps, titles).drop(columns="Pair"), result)
        _notes(steps, result)
    _nodes(result, titles)


def _table(table: pd.DataFrame, result: RunResult) -> None:
    """Draw steps without columns of raw values that no step has; a run without noise has no noisy
    values and no ε. Other raw values have a sign, whose long name is shown on hover."""
    raw = [column for column in table.columns if column.endswith(SIMULATION_ONLY)]
    table = table.drop(columns=[column for column in raw if table[column].isna().all()])
    if not algorithm(result.algorithm).private:
        table = table.drop(columns="ε so far").rename(columns={"Noisy value": "Value"})
    said = "Simulation only, never released."
    signs = {c: {"label": c.replace(SIMULATION_ONLY, " ⚠"), "help": said} for c in raw}
    show.table(table, alt="Steps about the chosen pair", most=320, digits=4, columns=signs)


def _nodes(result: RunResult, titles: Titles) -> None:
    """Show the drawn edges node by node, for algorithms that decide per node."""
    if not (rounds := result.diagnostics.rounds()):
        return
    st.markdown("**Decisions node by node**")
    st.caption(
        "At each node the exponential mechanism first draws how many edges to delete. Then it "
        "draws which edges, each with its separating set."
    )
    table = pd.DataFrame(
        {
            "Order": r.order,
            "Node": titles[r.node],
            "Edges": r.edges,
            "Deleted": len(r.deleted),
            "Which": "; ".join(
                titles[other] + (f" given {_joined(given, titles, ', ')}" if given else "")
                for other, given in r.deleted
            ),
        }
        for r in rounds
    )
    widths = {c: {"width": "small"} for c in table.columns} | {"Which": {"width": "large"}}
    alt = "How many edges of each node were deleted, and which"
    show.table(table, alt=alt, most=320, columns=widths)


def _title(pair: Pair, result: RunResult, kinds: Mapping[Pair, LinkClass], titles: Titles) -> str:
    state = "kept" if frozenset(pair) in result.skeleton else "removed"
    kind = f", {MARKS[kinds[pair]].word.lower()}" if pair in kinds else ""
    return f"{_joined(pair, titles)} ({state}{kind})"


def _reason(pair: Pair, steps: list[Step], result: RunResult, titles: Titles) -> str:
    name, kept = f"**{plain(_joined(pair, titles))}**", frozenset(pair) in result.skeleton
    if not steps:
        state = "was kept" if kept else "is not in the result"
        said = f"{name} {state}; no step of the run tests only this pair."
        return said + _strength_words(pair, result, titles)
    last = steps[-1]
    if not kept:
        given, why = plain(_set(last, titles)), plain(last.reason)
        return f"{name} was removed at order {last.order} given {given}, because {why}."
    early = "" if result.status == "complete" else " before the run ended early"
    tested = text.count(len(steps), "step")
    return f"{name} was kept: none of its {tested} found the two independent{early}."


def _strength_words(pair: Pair, result: RunResult, titles: Titles) -> str:
    """Return the weights of a score-based run in both directions."""
    found = result.diagnostics.descent()
    if found is None:
        return ""
    i, j = (result.names.index(name) for name in pair)
    there, back = (number(float(found.weights[way])) for way in ((i, j), (j, i)))
    a, b = (plain(titles[name]) for name in pair)
    return f" Its weights are {there} for {a} → {b} and {back} for {b} → {a}."


def _notes(steps: list[Step], result: RunResult) -> None:
    capped = result.ledger.cap is not None and algorithm(result.algorithm).private
    notes = [
        (any(s.threshold is not None for s in steps), "'Why' gives the reason for each step."),
        (
            any(s.value is None for s in steps),
            "If there is no noisy value, only the answer was released.",
        ),
        (
            any(s.internal for s in steps),
            "Columns marked ⚠ hold raw values, shown on public data only.",
        ),
        (capped, "'ε so far' is the budget used; the guarantee is the total."),
    ]
    st.caption(" ".join(note for wanted, note in notes if wanted))


def edges_table(result: RunResult, titles: Titles = NONE) -> pd.DataFrame:
    """Return every edge of truth or result with its class: the graphs as text, by these labels."""
    names, kinds, known = result.names, edge_classes(result), strengths(result)
    marks = {"Learned": _marks(result.displayed_cpdag, names, titles)}
    if result.truth is not None:
        marks["Truth"] = _marks(result.reference_cpdag, names, titles)
    rows: list[dict[str, str | None]] = []
    for i, j in sorted(sorted(map(names.index, pair)) for pair in kinds or result.skeleton):
        pair = names[i], names[j]
        row: dict[str, str | None] = {"Pair": _joined(pair, titles)}
        row |= {graph: said.get(frozenset(pair), "no edge") for graph, said in marks.items()}
        if (i, j) in result.untested:  # never oriented
            row["Learned"] = WAITING
        if pair in kinds:
            row["Class"] = MARKS[kinds[pair]].word
        if known is not None:
            row |= known.cells(*pair)
        rows.append(row)
    return pd.DataFrame(rows or {"Pair": [], "Learned": []})


def _marks(matrix: Adjacency, names: Sequence[str], titles: Titles) -> dict[frozenset[str], str]:
    """Return each edge of a graph in words: "a → b", or "a — b" if it is undirected."""
    return {
        frozenset((k.a, k.b)): _joined((k.a, k.b), titles, " → " if k.arrow else " — ")
        for k in links_of(matrix, names)
    }
