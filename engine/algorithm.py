"""What an algorithm declares, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.data.dataset import Dataset
from engine.graphs.cpdag import Adjacency, SeparatingSets
from engine.params import Parameters
from engine.privacy.accounting import Guarantee
from engine.privacy.ledger import Ledger
from engine.session import Session


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What an algorithm returns; the runner turns it into a RunResult.

    ``cpdag`` (d, d) boolean. ``claimed`` is the paper's own total, None in strict mode.
    ``extras`` holds what only some algorithms have, by name (planned budgets, weights, ...).
    """

    cpdag: Adjacency
    separating: SeparatingSets = field(default_factory=dict)
    tests_by_order: tuple[int, ...] = ()
    status: str = "complete"
    claimed: Guarantee | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Algorithm:
    """One registry line. ``run(data, params, session) -> Outcome``; ``family`` groups the form."""

    key: str
    title: str
    family: str
    params: type[Parameters]
    run: Callable[[Dataset, Any, Session], Outcome]
    private: bool
    reference: str
    summary: str = ""
    # How the ledger of a strict run is capped; public facts only. None: no noise, no ledger rule.
    ledger: Callable[[Dataset, Any], Ledger] | None = None
    # Facts about the data that it takes: this many columns (None: any), at least so many rows.
    columns: int | None = None
    min_rows: int = 2
    # Whether it tells the directed graph itself, not only its equivalence class (the CPDAG).
    directs_all: bool = False
