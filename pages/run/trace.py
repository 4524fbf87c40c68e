"""Why an edge was removed or kept: the steps of a run that concern one pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
import streamlit as st

from engine import Dataset, RunResult
from engine.context import Step
from engine.graphs.cpdag import Adjacency
from engine.graphs.links import MARKS, LinkClass
from engine.registry import algorithm
from engine.words.steps import on_shown_scale
from pages.draw import show
from pages.draw.links import ARROW, labels_of, strengths
from pages.shell import words as text
from pages.shell.words import number, plain

SIMULATION_ONLY = " (simulation only, never released)"
_NEVER = "Simulation only, never released."
WAITING = MARKS[LinkClass.UNTESTED].word.lower()
Pair = tuple[str, str]
Titles = Mapping[str, str]
NONE: Titles = {}


def edge_classes(data: Dataset, result: RunResult) -> dict[Pair, LinkClass]:
    """Return the class of every pair adjacent in truth or result, by names; empty without a
    truth."""
    return {(data.names[i], data.names[j]): kind for (i, j), kind in result.classes.items()}


def steps_table(steps: Sequence[Step], titles: Titles = NONE) -> pd.DataFrame:
    """Return steps as rows; raw values are present only if the engine put them into the trace, and
    are marked.

    ``titles`` are the columns' labels, by default their names, which files use.
    """
    rows = [
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
    ]
    return pd.DataFrame(rows)


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
def why_view(data: Dataset, result: RunResult, *, key: str) -> None:
    """Choose a pair; show in a sentence and a table why its edge was removed or kept."""
    kinds, titles = edge_classes(data, result), labels_of(data)
    pairs = _pairs(data, kinds)
    choice = st.selectbox(
        "Edge",
        pairs,
        key=f"{key}-pair",
        format_func=lambda p: _title(p, result, kinds, titles),
        help="Pairs linked in the true or learned graph come first.",
    )
    steps = [s for s in result.steps if s.x is not None and {s.x, s.y} == set(choice)]
    st.markdown(_reason(choice, steps, result, titles))
    if steps:
        table = _shortened(steps_table(steps, titles).drop(columns="Pair"), result)
        alt = "Steps about the chosen pair"
        show.table(table, alt=alt, most=320, digits=4, columns=_columns(table))
        _notes(steps, result)
    node_view(result, titles)


def _shortened(table: pd.DataFrame, result: RunResult) -> pd.DataFrame:
    """Columns of raw values that no step has are dropped; a run without noise has no noisy values
    and no ε."""
    empty = [c for c in table.columns if c.endswith(SIMULATION_ONLY) and table[c].isna().all()]
    table = table.drop(columns=empty)
    if not algorithm(result.algorithm).private:
        table = table.drop(columns="ε so far").rename(columns={"Noisy value": "Value"})
    return table


def node_view(result: RunResult, titles: Titles) -> None:
    """Show the drawn edges node by node, for algorithms that decide per node."""
    table = nodes_table(result, titles)
    if table.empty:
        return
    st.markdown("**Decisions node by node**")
    st.caption(
        "At each node the exponential mechanism first draws how many edges to delete. Then it "
        "draws which edges, each with its separating set."
    )
    widths = {c: {"width": "small"} for c in table.columns[:-1]} | {"Which": {"width": "large"}}
    alt = "How many edges of each node were deleted, and which"
    show.table(table, alt=alt, most=320, columns=widths)


def nodes_table(result: RunResult, titles: Titles) -> pd.DataFrame:
    """Return one row per node and order: its edges, and the number and names of the removed
    ones."""
    return pd.DataFrame(
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
        for r in result.diagnostics.rounds()
    )


def _pairs(data: Dataset, kinds: Mapping[Pair, LinkClass]) -> list[Pair]:
    """Return all pairs: missed and extra edges first, then the other edges, then the rest."""
    rank = [
        LinkClass.MISSED,
        LinkClass.FALSE_POSITIVE,
        LinkClass.REVERSED,
        LinkClass.NOT_IDENTIFIABLE,
    ]
    rank += [LinkClass.UNDIRECTED, LinkClass.CORRECT, LinkClass.UNTESTED]
    every = [(a, b) for i, a in enumerate(data.names) for b in data.names[i + 1 :]]
    return sorted(every, key=lambda p: rank.index(kinds[p]) if p in kinds else len(rank))


def _title(pair: Pair, result: RunResult, kinds: Mapping[Pair, LinkClass], titles: Titles) -> str:
    state = "kept" if frozenset(pair) in result.skeleton else "removed"
    kind = f", {MARKS[kinds[pair]].word.lower()}" if pair in kinds else ""
    return f"{_joined(pair, titles)} ({state}{kind})"


def _reason(pair: Pair, steps: list[Step], result: RunResult, titles: Titles) -> str:
    name = f"**{plain(_joined(pair, titles))}**"
    last = steps[-1] if steps else None
    if frozenset(pair) not in result.skeleton and last is not None:
        why = plain(last.reason)
        given = plain(_set(last, titles))
        return f"{name} was removed at order {last.order} given {given}, because {why}."
    if last is None:
        state = "was kept" if frozenset(pair) in result.skeleton else "is not in the result"
        sentence = f"{name} {state}; no step of the run tests only this pair."
        return sentence + _strength_words(pair, result, titles)
    tested = f"none of its {text.count(len(steps), 'step')} found the two independent"
    if result.status == "complete":
        return f"{name} was kept: {tested}."
    return f"{name} was kept: {tested} before the run ended early."


def _strength_words(pair: Pair, result: RunResult, titles: Titles) -> str:
    """Return the weights of a score-based run in both directions."""
    found = result.diagnostics.descent()
    if found is None:
        return ""
    weights = found.weights
    i, j = (result.names.index(name) for name in pair)
    there, back = number(float(weights[i, j])), number(float(weights[j, i]))
    a, b = (plain(titles[name]) for name in pair)
    return f" Its weights are {there} for {a} → {b} and {back} for {b} → {a}."


def _notes(steps: list[Step], result: RunResult) -> None:
    notes = []
    if any(step.threshold is not None for step in steps):
        notes.append("'Why' gives the reason for each step.")
    if any(step.value is None for step in steps):
        notes.append("If there is no noisy value, only the answer was released.")
    if any(step.internal for step in steps):
        notes.append("Columns marked ⚠ hold raw values, shown on public data only.")
    if result.ledger.cap is not None and algorithm(result.algorithm).private:
        notes.append("'ε so far' is the budget used; the guarantee is the total.")
    st.caption(" ".join(notes))


def _columns(table: pd.DataFrame) -> dict[str, show.Options]:
    """Raw values have a sign instead of their long name, which is shown on hover."""
    return {
        name: {"label": name.replace(SIMULATION_ONLY, " ⚠"), "help": _NEVER}
        for name in table.columns
        if name.endswith(SIMULATION_ONLY)
    }


def edges_table(data: Dataset, result: RunResult, titles: Titles = NONE) -> pd.DataFrame:
    """Return every edge of truth or result with its class: the graphs as text, by these labels."""
    kinds = edge_classes(data, result)
    true = result.reference_cpdag if data.truth is not None else None
    known = strengths(result)
    index = {name: i for i, name in enumerate(data.names)}
    found: Iterable[Iterable[str]] = kinds or result.skeleton
    rows = []
    for i, j in sorted(sorted(index[name] for name in pair) for pair in found):
        a, b = data.names[i], data.names[j]
        waiting = (min(i, j), max(i, j)) in result.untested  # never oriented
        learned = WAITING if waiting else _mark(a, b, result.displayed_cpdag, index, titles)
        row: dict[str, str | None] = {"Learned": learned}
        if true is not None:
            row |= {"Truth": _mark(a, b, true, index, titles), "Class": MARKS[kinds[a, b]].word}
        if known is not None:
            row[known.column] = known.of(a, b)
            row[ARROW] = known.directions(a, b)
        rows.append({"Pair": _joined((a, b), titles), **row})
    columns = ["Pair", "Learned"] + (["Truth", "Class"] if true is not None else [])
    columns += [known.column] if known is not None else []
    columns += [ARROW] if known is not None and known.arrows else []
    return pd.DataFrame(rows, columns=columns)


def _mark(a: str, b: str, matrix: Adjacency, index: Mapping[str, int], titles: Titles) -> str:
    forth, back = matrix[index[a], index[b]], matrix[index[b], index[a]]
    if forth and back:
        return _joined((a, b), titles, " — ")
    ends = (a, b) if forth else (b, a)
    return _joined(ends, titles, " → ") if forth or back else "no edge"
