"""The report of a constraint-based run, in addition to its graph."""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine.diagnostics import Allocation, Diagnostics, Fact, NodeRound

_ROUND = "The share of the budget that each round may charge."
_SAMPLE = "The rows m that a test or a sieve draws."
_NOISE = "The standard deviation of the noise over the sensitivity."


@dataclass(frozen=True, kw_only=True)
class SearchDiagnostics(Diagnostics):
    """How a private search spent its budget; a field is None or empty if it does not apply.

    ``epsilon_per_round`` is for sparse-vector and exponential rounds, and ``rows_in_sample`` for a
    sieve or a sampled test. ``noise_multiplier`` is sigma divided by the sensitivity.
    ``node_rounds`` belong to EM-PC, and ``allocation`` to CURATE.
    """

    epsilon_per_round: float | None = None
    rows_in_sample: int | None = None
    noise_multiplier: float | None = None
    node_rounds: tuple[NodeRound, ...] = ()
    allocation: Allocation | None = None

    def facts(self) -> tuple[Fact, ...]:
        """Return the sample size and noise of a test, if the algorithm has them."""
        known = (
            Fact("ε per round", self.epsilon_per_round or math.nan, help=_ROUND),
            Fact("Rows in the subsample", self.rows_in_sample or math.nan, help=_SAMPLE),
            Fact("Noise multiplier", self.noise_multiplier or math.nan, help=_NOISE),
        )
        return tuple(fact for fact in known if not math.isnan(fact.value))

    def rounds(self) -> tuple[NodeRound, ...]:
        """Return EM-PC's rounds."""
        return self.node_rounds

    def plan(self) -> Allocation | None:
        """Return CURATE's allocation."""
        return self.allocation
