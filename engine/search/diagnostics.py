"""What a constraint-based run shows with its graph."""

from __future__ import annotations

from dataclasses import dataclass

from engine.algorithm import Diagnostics


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
    """An order's tests, the epsilon of each, and what they cost together in the total's unit."""

    order: int
    tests: int
    epsilon: float
    cost: float


@dataclass(frozen=True)
class Allocation:
    """What a run planned and spent by order.

    ``planned`` holds one plan an order that was run, made at its turn for it and all later ones;
    ``spent`` what the orders cost in the end; ``unit`` is that of the costs, "ε" or "ρ".
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
        """Order -> what was spent on it."""
        return {b.order: b for b in self.spent}


@dataclass(frozen=True, kw_only=True)
class SearchDiagnostics(Diagnostics):
    """How a private search laid its budget out; None or empty where an algorithm has no such thing.

    ``epsilon_per_round`` of sparse-vector and exponential rounds; ``rows_in_sample`` of a sieve or
    of a sampled test; ``noise_multiplier`` is sigma over the sensitivity; ``node_rounds`` are
    EM-PC's, ``allocation`` is CURATE's.
    """

    epsilon_per_round: float | None = None
    rows_in_sample: int | None = None
    noise_multiplier: float | None = None
    node_rounds: tuple[NodeRound, ...] = ()
    allocation: Allocation | None = None
