"""CURATE's total, guarantee and seed."""

from __future__ import annotations

from dataclasses import dataclass

from engine.params import Parameters
from engine.score.budgets import LARGEST
from pages.shell import fields as declare
from pages.shell.address import kept_fields
from pages.shell.drafts import Draft, drafted_source, kept
from pages.shell.fields import choice, defaults, slider, spec_of
from pages.shell.form import number, parameter, seed
from pages.shell.settings import MOST_SEED, Settings, filled


@dataclass(frozen=True, kw_only=True)
class Fields(Parameters):
    """The Budget page's settings, kept over changes of page and in its address.

    Numbers beyond what a total can be are refused in words where they are used.
    """

    guarantee: str = choice("published", "Guarantee", ("published", "strict"))
    epsilon: float = declare.number(20.0, "Total ε", -LARGEST, LARGEST)
    seed: int = declare.number(0, "Noise seed", 0, MOST_SEED)
    beta1: float = slider(0.2, "Margin β₁", 0.0, 1.0, 0.05)
    beta2: float = slider(0.4, "Margin β₂", 0.0, 1.0, 0.05)
    threshold: float = slider(0.05, "Threshold T", 0.01, 0.3, 0.01)
    rows: int = declare.among(
        100_000,
        "Rows n",
        (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000),
    )
    total: float = declare.number(10.0, "Total ε of the descent", -LARGEST, LARGEST)
    initial: float = declare.number(0.1, "Initial ε₀", -LARGEST, LARGEST)


def draft() -> Draft:
    """What the fields show."""
    if drafted_source().own:  # what runs on a person's own data by default must be defended
        fresh = defaults(Fields) | {"guarantee": "strict", "epsilon": 0.5}
        return kept("budget_own_draft", fresh)
    return kept_fields("budget", Fields)


def field(d: Draft, name: str) -> None:
    """Show one field."""
    parameter(spec_of(Fields, name), d, key="budget")


def typed(d: Draft, name: str, help: str = "") -> None:
    """Show one field that is typed."""
    number(d, name, spec_of(Fields, name).title, key=f"budget-{name}", help=help)


def fields() -> Draft:
    """Show the fields; returns the draft."""
    d = draft()
    field(d, "guarantee")
    typed(d, "epsilon", "The total of the whole run in both modes.")
    if not drafted_source().own:
        seed(d, "seed", "Noise seed", key="budget-seed")
    return d


def settings(d: Draft) -> Settings:
    """CURATE on the drafted dataset."""
    source = drafted_source()
    asked = {name: d[name] for name in ("guarantee", "epsilon", "beta1", "beta2")}
    params = filled("curate_pc", asked)
    return Settings(source, "curate_pc", params, None if source.own else d["seed"])
