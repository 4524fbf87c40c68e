"""Show the privacy of a run: its claimed and proven ε, and every charge."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from engine.percent import percent
from engine.result import RunResult
from engine.words.run import CLAIMED, GUARANTEED, PROVEN, stated
from pages.draw import show
from pages.shell import words as text
from pages.shell.words import UNITS, number

_COUNTED = {
    "basic": "charges add up in ε",
    "zcdp": "charges add up in ρ (zCDP), which allows more charges than adding ε",
    "gdp": "Gaussian releases add up in μ² (Gaussian DP), whose total is converted exactly",
    "rdp": "charges add up as Rényi divergence of one order",
}

Tile = tuple[str, str, str]


def privacy_sentence(result: RunResult) -> None:
    """Explain the guarantee at the top in one or two sentences."""
    if reasons := result.ledger.no_guarantee_reasons:
        words = (
            f"No guarantee: {'; '.join(reasons)}. The run added the noise that was set, but no "
            f"guarantee follows."
        )
    elif (cap := result.ledger.cap) is not None:
        words = (
            f"{stated(GUARANTEED, cap.epsilon)}, δ = {number(result.proven.delta)}. It was fixed "
            "before the run and stays the same even if budget is unused. "
            f"{text.RESEARCH_TOOL}"
        )
    elif result.claimed is not None:
        words = _published(result)
    else:
        words = "No privacy: the result may reveal anyone's row. Use it as the baseline only."
    st.caption(words)


def _published(result: RunResult) -> str:
    assert result.claimed is not None
    return (
        f"{stated(CLAIMED, result.claimed.epsilon)}, as the paper composes it. "
        f"{stated(PROVEN, result.proven.epsilon)}, because the sensitivity that the paper assumes "
        "does not bound every dataset. Neither is a guarantee fixed in advance. For one, choose "
        "Strict."
    )


def privacy_tiles(result: RunResult) -> list[Tile]:
    """Return (title, value, help) of a run's costs, for experts."""
    ledger, spent, claimed = result.ledger, result.proven, result.claimed
    charges = ("Charges", f"{len(ledger):,}", "Number of charges in the ledger.")
    proven = (PROVEN, number(spent.epsilon), "Computed with proven sensitivities.")
    if ledger.no_guarantee_reasons or (ledger.cap is None and claimed is None):
        return [proven, charges]
    if ledger.cap is None:
        assert claimed is not None
        paper = f"As the paper composes it, with δ = {number(claimed.delta)}."
        return [(CLAIMED, number(claimed.epsilon), paper), proven, charges]
    unit = UNITS[ledger.method]
    left = (
        ledger.remaining if ledger.remaining > 1e-9 * ledger.limit else 0.0
    )  # rounding is not a budget
    counted = f"The total is {number(ledger.limit)}: {_COUNTED[ledger.method]}."
    capped = number(ledger.cap.epsilon)
    return [
        (GUARANTEED, capped, f"With δ = {number(spent.delta)}. A cap."),
        (
            f"Budget used ({unit})",
            f"{number(ledger.used)} · {percent(ledger.used / ledger.limit)}",
            f"{counted} The guarantee stays the same even if budget is unused.",
        ),
        (f"Remaining ({unit})", number(left), "Budget not used by this run."),
    ]


def released_view(result: RunResult, titles: Mapping[str, str]) -> None:
    """Draw the released tables, if the run releases tables."""
    released = result.diagnostics.tables()
    if not released:
        return
    sizes = {len(t): 0 for t in released}
    for table in released:
        sizes[len(table)] += 1
    words = dict(enumerate(("one", "two", "three", "four", "five", "six"), 1))
    counts = ", ".join(f"{n:,} {words.get(k, k)}-way" for k, n in sorted(sizes.items()))
    st.markdown("**Released tables**")
    st.caption(f"{counts}; the rest of the run is computed from them and costs no ε.")
    alt = "Released tables and their variables"
    show.table(released_table(result, titles), alt=alt, most=280)


def released_table(result: RunResult, titles: Mapping[str, str]) -> pd.DataFrame:
    """Return one row per released table, those with the most variables first."""
    tables = sorted(result.diagnostics.tables(), key=lambda t: -len(t))
    rows = [(len(t), ", ".join(titles[result.names[i]] for i in t)) for t in tables]
    return pd.DataFrame(rows, columns=["Variables in it", "Table"])


def sum_words(result: RunResult) -> str:
    """Return sentences that relate the charges to the guarantee at the top of the page; empty
    without a cap."""
    ledger = result.ledger
    if ledger.no_guarantee_reasons or (cap := ledger.cap) is None:
        return ""
    unit, delta = UNITS[ledger.method], number(result.proven.delta)
    said = (
        f"In {unit} the charges use {number(ledger.used)} of {number(ledger.limit)}, "
        f"which is the cap (ε = {number(cap.epsilon)}, δ = {delta})"
    )
    if ledger.method == "basic":
        return f"{said}."
    return f"{said} in that unit. No charge uses δ. The conversion from {unit} to ε uses δ."


def ledger_table(result: RunResult) -> pd.DataFrame:
    """Return every charge in order, with the running total in the ledger's unit."""
    total, rows = 0.0, []
    for k, charge in enumerate(result.ledger, 1):
        total += result.ledger.cost(charge.event)
        rows.append(
            (
                k,
                charge.order,
                charge.label,
                charge.epsilon,
                charge.rho,
                total,
                charge.event.describe(),
            )
        )
    unit = UNITS[result.ledger.method]
    columns = ["#", "Order", "Mechanism", "ε", "ρ", f"Total {unit}", "Details"]
    return pd.DataFrame(rows, columns=columns).astype({"Order": "Int64"})


def ledger_view(result: RunResult, titles: Mapping[str, str]) -> None:
    """Show every charge, their sum, and the released tables."""
    table = ledger_table(result)
    show.table(table, alt="Every charge of the run", height=320, digits=4)
    if words := sum_words(result):
        st.caption(words)
    released_view(result, titles)
