"""Show the privacy of a run: its claimed and proven ε, and every charge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import accumulate

import pandas as pd
import streamlit as st

from engine.percent import percent
from engine.result import RunResult
from engine.words.run import CLAIMED, GUARANTEED, PROVEN, stated
from pages.draw import show
from pages.draw.links import labels_of
from pages.shell.runs import Shown
from pages.shell.words import RESEARCH_TOOL, UNITS, number

_COUNTED = {
    "basic": "charges add up in ε",
    "zcdp": "charges add up in ρ (zCDP), which allows more charges than adding ε",
    "gdp": "Gaussian releases add up in μ² (Gaussian DP), whose total is converted exactly",
    "rdp": "charges add up as Rényi divergence of one order",
}
_SIZES = ("one", "two", "three", "four", "five", "six")

Tile = tuple[str, str, str]


def privacy_sentence(result: RunResult) -> None:
    """Explain the guarantee at the top in one or two sentences."""
    proven = result.proven
    if reasons := result.ledger.no_guarantee_reasons:
        words = (
            f"No guarantee: {'; '.join(reasons)}. The run added the noise that was set, but no "
            f"guarantee follows."
        )
    elif (cap := result.ledger.cap) is not None:
        words = (
            f"{stated(GUARANTEED, cap.epsilon)}, δ = {number(proven.delta)}. It was fixed "
            f"before the run and stays the same even if budget is unused. {RESEARCH_TOOL}"
        )
    elif result.claimed is not None:
        words = (
            f"{stated(CLAIMED, result.claimed.epsilon)}, as the paper composes it. "
            f"{stated(PROVEN, proven.epsilon)}, because the sensitivity that the paper assumes "
            "does not bound every dataset. Neither is a guarantee fixed in advance. For one, "
            "choose Strict."
        )
    else:
        words = "No privacy: the result may reveal anyone's row. Use it as the baseline only."
    st.caption(words)


def privacy_tiles(result: RunResult) -> list[Tile]:
    """Return (title, value, help) of a run's costs, for experts."""
    ledger, spent, claimed = result.ledger, result.proven, result.claimed
    if ledger.no_guarantee_reasons or ledger.cap is None:
        tiles = [
            (PROVEN, number(spent.epsilon), "Computed with proven sensitivities."),
            ("Charges", f"{len(ledger):,}", "Number of charges in the ledger."),
        ]
        if claimed is not None and not ledger.no_guarantee_reasons:
            paper = f"As the paper composes it, with δ = {number(claimed.delta)}."
            tiles.insert(0, (CLAIMED, number(claimed.epsilon), paper))
        return tiles
    unit, limit = UNITS[ledger.method], ledger.limit
    left = ledger.remaining if ledger.remaining > 1e-9 * limit else 0.0  # rounding is no budget
    used = (
        f"The total is {number(limit)}: {_COUNTED[ledger.method]}. The guarantee stays the same "
        "even if budget is unused."
    )
    return [
        (GUARANTEED, number(ledger.cap.epsilon), f"With δ = {number(spent.delta)}. A cap."),
        (f"Budget used ({unit})", f"{number(ledger.used)} · {percent(ledger.used / limit)}", used),
        (f"Remaining ({unit})", number(left), "Budget not used by this run."),
    ]


def released_view(result: RunResult, titles: Mapping[str, str]) -> None:
    """Draw the released tables, those with the most variables first, if there are any."""
    released = sorted(result.diagnostics.tables(), key=lambda t: -len(t))
    if not released:
        return
    words = dict(enumerate(_SIZES, 1))
    sizes = sorted(Counter(map(len, released)).items())
    counts = ", ".join(f"{n:,} {words.get(k, k)}-way" for k, n in sizes)
    st.markdown("**Released tables**")
    st.caption(f"{counts}; the rest of the run is computed from them and costs no ε.")
    rows = [(len(t), ", ".join(titles[result.names[i]] for i in t)) for t in released]
    table = pd.DataFrame(rows, columns=["Variables in it", "Table"])
    show.table(table, alt="Released tables and their variables", most=280)


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
    ledger, charges = result.ledger, list(result.ledger)
    columns = {
        "#": range(1, len(charges) + 1),
        "Order": pd.array([c.order for c in charges], "Int64"),
        "Mechanism": [c.label for c in charges],
        "ε": [c.epsilon for c in charges],
        "ρ": [c.rho for c in charges],
        f"Total {UNITS[ledger.method]}": list(accumulate(ledger.cost(c.event) for c in charges)),
        "Details": [c.event.describe() for c in charges],
    }
    return pd.DataFrame(columns)


def ledger_view(run: Shown) -> None:
    """Show every charge, their sum, and the released tables."""
    result = run.result
    show.table(ledger_table(result), alt="Every charge of the run", height=320, digits=4)
    if words := sum_words(result):
        st.caption(words)
    released_view(result, labels_of(run.data))
