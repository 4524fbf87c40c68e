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
    """One round of EM-PC: a node's edges of an order, and those that were drawn to go.

    ``deleted`` holds (neighbour, conditioning set) by name, in the order drawn.
    """

    order: int
    node: str
    edges: int
    deleted: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class OrderBudget:
    """An order's tests, the epsilon of each, and their cost together in the total's unit."""

    order: int
    tests: int
    epsilon: float
    cost: float


@dataclass(frozen=True)
class Allocation:
    """The plan of a run and its charges by order.

    ``planned`` holds one plan an order that was run, made at its turn for it and all later ones;
    ``spent`` holds the charges of the orders; ``unit`` is that of the costs, "ε" or "ρ".
    """

    planned: tuple[tuple[OrderBudget, ...], ...]
    spent: tuple[OrderBudget, ...]
    unit: str

    def at_the_start(self) -> dict[int, OrderBudget]:
        """Order -> its budget in the first plan."""
        return {b.order: b for b in self.planned[0]} if self.planned else {}

    def at_its_turn(self) -> dict[int, OrderBudget]:
        """Order -> its budget in the plan made just before it."""
        return {plan[0].order: plan[0] for plan in self.planned if plan}

    def paid(self) -> dict[int, OrderBudget]:
        """Return the charge of each order."""
        return {b.order: b for b in self.spent}


@dataclass(frozen=True, kw_only=True, eq=False)
class OracleThreshold:
    """The threshold with the best skeleton F1. It uses the truth, and is no part of a release."""

    f1: float
    threshold: float


class Descent(Protocol):
    """The record of a score-based run (:class:`engine.score.learned.ScoreDiagnostics`)."""

    @property
    def weights(self) -> NDArray[np.float64]:
        """(d, d) weights before pruning."""

    @property
    def threshold(self) -> float:
        """The threshold that pruned them."""

    @property
    def objective(self) -> tuple[float, ...]:
        """One value per iteration."""

    @property
    def h(self) -> tuple[float, ...]:
        """The measure of cycles per iteration."""

    @property
    def epsilon(self) -> tuple[float, ...]:
        """The charge per iteration."""

    @property
    def oracle(self) -> OracleThreshold | None:
        """The best threshold by the ground truth."""


class Fact(NamedTuple):
    """One number that a family of algorithms reports in addition to its graph."""

    name: str
    value: float
    unit: str = ""
    help: str = ""


Confidences = Mapping[tuple[int, int], float]


@dataclass(frozen=True, kw_only=True)
class Diagnostics:
    """Record what only a family of algorithms has; views ask for a capability, never for a class.

    ``chosen`` says which algorithm was chosen for the table and why; empty where none was chosen.
    Every method returns nothing for a family without the capability.
    """

    chosen: str = ""

    def facts(self) -> tuple[Fact, ...]:
        """Return the numbers that belong next to the scores."""
        return ()

    def low_confidence(self, cpdag: Adjacency) -> frozenset[tuple[int, int]]:
        """Return the (d, d) graph's directed edges (i, j) whose direction has a low confidence."""
        return frozenset()

    def confidences(self) -> tuple[Confidences, Confidences]:
        """Return those of edges, by (i, j), i < j, and those of directions, by (from, to)."""
        return {}, {}

    def descent(self) -> Descent | None:
        """Return the weights, iterations and thresholds of an optimisation."""
        return None

    def effects(self) -> Any:
        """Return the released tables and the evidence that effects are estimated from."""
        return None

    def tables(self) -> tuple[tuple[int, ...], ...]:
        """Return the columns of each table of counts that was released."""
        return ()

    def rounds(self) -> tuple[NodeRound, ...]:
        """Return the decisions that were made for a node at once."""
        return ()

    def plan(self) -> Allocation | None:
        """Return the budget that was planned and spent by order."""
        return None
