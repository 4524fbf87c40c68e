"""What a constraint-based run shows beside its graph."""

from __future__ import annotations

from dataclasses import dataclass

from engine.algorithm import Diagnostics
from engine.search.allocation import Allocation


@dataclass(frozen=True)
class NodeRound:
    """One round of EM-PC: a node's edges of an order, and those that were drawn to go.

    ``deleted`` holds (neighbour, conditioning set) by name, in the order drawn.
    """

    order: int
    node: str
    edges: int
    deleted: tuple[tuple[str, tuple[str, ...]], ...]


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
