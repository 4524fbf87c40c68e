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
OMITTED = {"omitted": True}  # marks a large field that a result's JSON leaves out


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """The outcome of an algorithm; a RunResult adds the request.

    ``matrix`` is the CPDAG, (d, d) boolean. ``claimed`` is the ε that the paper states, or None in
    strict mode. ``untested`` holds pairs (i, j), i < j, that are still adjacent because the run
    ended before it had made all their tests of the last order. ``contradicted`` holds the
    undirected edges (i, j), i < j, whose direction contradicts other directions
    (:mod:`engine.graphs.orientation`). ``diagnostics`` is the record that is specific to the
    algorithm's family.
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
    """One registered algorithm, with all facts about it that other files use.

    ``run(data, params, session)`` returns an Outcome. ``family`` groups algorithms in forms.
    ``summary`` describes the algorithm in one sentence for readers who do not know its paper.
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
    # The ledger of a strict run with its cap, from public facts only. None: no noise and no ledger.
    ledger: Callable[[Dataset, Any], Ledger] | None = None
    # Standard deviation of a strict run's noise on one answer about a pair, in units of |z|, from
    # the public columns and row count only. None if the algorithm adds no noise to |z|.
    noise: Callable[[Dataset, Any], float] | None = None
    # Unit covered by the published epsilon, e.g. "a round", or None if there is no published form.
    epsilon_pays: str | None = None
    # Unit to which the published epsilon applies, as in "ε per test"; empty for the whole run.
    epsilon_unit: str = ""
    # Key of the algorithm without privacy that this one equals when there is no noise, or None.
    parent: str | None = None
    # Requirements on the data: the exact number of columns (None: any) and the fewest rows.
    columns: int | None = None
    min_rows: int = 2
    # True if it chooses and runs another algorithm; studies of all algorithms leave it out.
    chooses: bool = False
    # True if it returns the directed graph, not only its equivalence class (the CPDAG).
    directs_all: bool = False

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The guarantees that a run can have; empty for an algorithm without privacy."""
        declared = {spec.name: spec for spec in self.params.specs()}.get("guarantee")
        return declared.choices if declared is not None else ()

    @property
    def private(self) -> bool:
        """True if noise protects the rows and a ledger accounts for it."""
        return self.ledger is not None

    @property
    def presets(self) -> Mapping[str, Mapping[str, Any]]:
        """Named settings that replace defaults; algorithms with the same guarantees share them."""
        return {k: v for k, v in PRESETS.items() if v["guarantee"] in self.guarantees}
