"""Declarations and outcomes of algorithms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.diagnostics import Diagnostics
from engine.graphs.cpdag import Adjacency, SeparatingSets
from engine.params import Parameters
from engine.privacy.accounting import Guarantee
from engine.privacy.budget import PRESETS
from engine.privacy.ledger import Ledger

WHOLE_RUN = "the whole run"
OMITTED = {"omitted": True}  # metadata of a field that a result's JSON leaves out: a large table


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """Outcome of an algorithm; a RunResult adds its request.

    ``matrix`` is the CPDAG, (d, d) boolean. ``claimed`` is the paper's own total, None in strict
    mode. ``untested`` are pairs (i, j), i < j, that are still adjacent when the run ends early,
    before all their tests of its last order. ``contradicted`` are the undirected edges (i, j),
    i < j, whose arrow contradicts other arrows (:mod:`engine.graphs.orientation`). ``diagnostics``
    is its family's record of what only such algorithms have.
    """

    matrix: Adjacency
    separating: SeparatingSets = field(default_factory=dict)
    ci_tests_by_order: tuple[int, ...] = ()
    status: str = "complete"
    claimed: Guarantee | None = None
    untested: frozenset[tuple[int, int]] = frozenset()
    contradicted: frozenset[tuple[int, int]] = frozenset()
    diagnostics: Diagnostics = field(default_factory=Diagnostics)


@dataclass(frozen=True)
class Algorithm:
    """One registry line: all facts about an algorithm that other files use.

    ``run(data, params, session) -> Outcome``; ``family`` groups algorithms in forms; ``summary``
    describes it in one sentence to readers without its paper.
    """

    key: str
    title: str
    family: str
    params: type[Parameters]
    run: Callable[[Dataset, Any, RunContext], Outcome]
    reference: str
    summary: str = ""
    # True for methods introduced here: no published form exists, so our bounds apply.
    ours: bool = False
    # How the ledger of a strict run is capped; public facts only. None: no noise, no ledger rule.
    ledger: Callable[[Dataset, Any], Ledger] | None = None
    # Deviation of a strict run's noise on one answer about a pair, in units of |z|, from the
    # stand-in's columns and rows alone, which are public; None where noise is put on no |z|.
    noise: Callable[[Dataset, Any], float] | None = None
    # Unit covered by the published epsilon, e.g. "a round"; None: there is no published form.
    epsilon_pays: str | None = None
    # The unit of which each has the published epsilon, as in "ε per test"; empty: the whole run.
    epsilon_unit: str = ""
    # The key of the algorithm without privacy that this one becomes without noise, exactly; None
    # where there is none.
    parent: str | None = None
    # Facts about the data that it takes: this many columns (None: any), at least so many rows.
    columns: int | None = None
    min_rows: int = 2
    # Whether it runs another of these, which it chooses: studies of all leave it out.
    chooses: bool = False
    # Whether it tells the directed graph itself, not only its equivalence class (the CPDAG).
    directs_all: bool = False

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees a run can have; none without privacy."""
        declared = {spec.name: spec for spec in self.params.specs()}.get("guarantee")
        return declared.choices if declared is not None else ()

    @property
    def private(self) -> bool:
        """Whether noise protects the rows, and a ledger says how far."""
        return self.ledger is not None

    @property
    def presets(self) -> Mapping[str, Mapping[str, Any]]:
        """Settings by name, laid over the defaults: the same for all of the same guarantees."""
        return {k: v for k, v in PRESETS.items() if v["guarantee"] in self.guarantees}
