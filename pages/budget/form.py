"""CURATE's total, guarantee and seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pages.shell.address import arrived, draft_query, fill, source_query, write
from pages.shell.drafts import Draft, drafted_source, kept
from pages.shell.fields import number, radio, seed
from pages.shell.settings import Settings, filled

ROWS = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000)
FRESH: Mapping[str, Any] = {
    **{"guarantee": "published", "epsilon": 20.0, "seed": 0},
    **{"beta1": 0.2, "beta2": 0.4, "threshold": 0.05, "rows": 100_000},
    **{"total": 10.0, "initial": 0.1},
}
ALLOWED: Mapping[str, Sequence[Any]] = {
    "guarantee": ("published", "strict", ""),
    "seed": (0, 2**53),
    "beta1": (0.0, 1.0),
    "beta2": (0.0, 1.0),
    "threshold": (0.01, 0.3),
    "rows": ROWS,
}


def draft() -> Draft:
    """The Budget page's settings, kept over changes of page and in its address."""
    if drafted_source().own:  # what runs on a person's own data by default must be defended
        return kept("budget_own_draft", {**FRESH, "guarantee": "strict", "epsilon": 0.5})
    form = kept("budget_draft", dict(FRESH))
    if (query := arrived("budget")) is not None:
        fill("budget", query, form, FRESH, ALLOWED)
    return form


def keep_address(d: Draft) -> None:
    """Write what the fields show into the address."""
    write("budget", source_query() | draft_query("budget", d, FRESH))


def fields() -> Draft:
    """Show the fields; returns the draft."""
    d = draft()
    radio(d, "guarantee", "Guarantee", ["published", "strict"], key="budget-guarantee")
    about = "The total of the whole run in both modes."
    number(d, "epsilon", "Total ε", key="budget-epsilon", help=about)
    if not drafted_source().own:
        seed(d, "seed", "Noise seed", key="budget-seed")
    return d


def settings(d: Draft) -> Settings:
    """CURATE on the drafted dataset."""
    source = drafted_source()
    params = filled("curate_pc", {"guarantee": d["guarantee"], "epsilon": d["epsilon"]})
    return Settings(source, "curate_pc", params, None if source.own else d["seed"])
