"""Records that a family of algorithms reports in addition to its graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.graphs.cpdag import Adjacency


@dataclass(frozen=True)
class NodeRound:
    """One round of EM-PC: a node's edges in one order, and the edges drawn for removal.

    ``deleted`` holds (neighbour, conditioning set) by name, in the order drawn.
    """

    order: int
    node: str
    edges: int
    deleted: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class OrderBudget:
    """The number of an order's tests, the epsilon per test, and their total cost."""

    order: int
    tests: int
    epsilon: float
    cost: float


@dataclass(frozen=True)
class Allocation:
    """The budget allocation of a run and its charges by order.

    ``planned`` holds one plan per completed order. Each was made just before its order, for this
    order and all later ones. ``spent`` holds the charges per order. ``unit`` is the unit of the
    costs, "ε" or "ρ".
    """

    planned: tuple[tuple[OrderBudget, ...], ...]
    spent: tuple[OrderBudget, ...]
    unit: str

    def at_the_start(self) -> dict[int, OrderBudget]:
        """Order -> its budget in the first plan."""
        return {b.order: b for b in self.planned[0]} if self.planned else {}

    def at_its_turn(self) -> dict[int, OrderBudget]:
        """Order -> its budget in the plan made just before the order."""
        return {plan[0].order: plan[0] for plan in self.planned if plan}

    def paid(self) -> dict[int, OrderBudget]:
        """Return the charge of each order."""
        return {b.order: b for b in self.spent}


@dataclass(frozen=True, kw_only=True, eq=False)
class OracleThreshold:
    """The threshold with the best skeleton F1; it uses the ground truth, so no release has it."""

    f1: float
    threshold: float


class Descent(Protocol):
    """The record of a score-based run (:class:`engine.score.learned.ScoreDiagnostics`)."""

    @property
    def weights(self) -> NDArray[np.float64]:
        """The (d, d) weights before pruning."""

    @property
    def threshold(self) -> float:
        """The threshold that pruned the weights."""

    @property
    def objective(self) -> tuple[float, ...]:
        """The objective's value per iteration."""

    @property
    def h(self) -> tuple[float, ...]:
        """The acyclicity measure per iteration."""

    @property
    def epsilon(self) -> tuple[float, ...]:
        """The charge per iteration."""

    @property
    def oracle(self) -> OracleThreshold | None:
        """The threshold that is best against the ground truth."""


class Fact(NamedTuple):
    """One number that a family of algorithms reports in addition to its graph."""

    name: str
    value: float
    unit: str = ""
    help: str = ""


Confidences = Mapping[tuple[int, int], float]


@dataclass(frozen=True, kw_only=True)
class Diagnostics:
    """Records that only one family of algorithms has; views ask for a record, not for a class.

    ``chosen`` says which algorithm was chosen for the table and why; it is empty if the user named
    the algorithm. For a family without a record, its method returns an empty value.
    """

    chosen: str = ""

    def facts(self) -> tuple[Fact, ...]:
        """Return the numbers to show next to the scores."""
        return ()

    def low_confidence(self, cpdag: Adjacency) -> frozenset[tuple[int, int]]:
        """Return the low-confidence directed edges (i, j) of the (d, d) graph."""
        return frozenset()

    def confidences(self) -> tuple[Confidences, Confidences]:
        """Return edge confidences by (i, j), i < j, and direction confidences by (from, to)."""
        return {}, {}

    def descent(self) -> Descent | None:
        """Return the weights, iterations and thresholds of an optimisation."""
        return None

    def effects(self) -> Any:
        """Return the released tables and other evidence from which effects are estimated."""
        return None

    def tables(self) -> tuple[tuple[int, ...], ...]:
        """Return the columns of each released table of counts."""
        return ()

    def rounds(self) -> tuple[NodeRound, ...]:
        """Return the decisions that were made for one node at a time."""
        return ()

    def plan(self) -> Allocation | None:
        """Return the budget planned and charged per order."""
        return None
