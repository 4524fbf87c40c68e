"""CURATE's total, guarantee and seed."""

from __future__ import annotations

from pages.components.forms.fields import number, radio, seed
from pages.components.state.drafts import Draft, drafted_source, kept
from pages.components.state.settings import Settings, filled


def draft() -> Draft:
    """The Budget page's settings, kept over changes of page."""
    start = {"guarantee": "published", "epsilon": 20.0, "seed": 0}
    lemma = {"beta1": 0.2, "beta2": 0.2, "threshold": 0.05, "rows": 100_000}
    return kept("budget_draft", {**start, **lemma, "total": 10.0, "initial": 0.1})


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
