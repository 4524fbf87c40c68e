"""What a release runs: the algorithms that have hardened noise, and what theirs costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.algorithm import Algorithm, Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.data.schema import Schema, parse_schema
from engine.errors import InputError
from engine.graphs.known import known_of
from engine.params import Parameters
from engine.privacy.accounting import Guarantee
from engine.privacy.ledger import Ledger
from engine.privacy.sources import DISTANCE
from engine.randomness import Randomness
from engine.registry import algorithm
from engine.runner import one_thread

COVERED = ("marginal_pc",)
Ask = Callable[[], bool]


def covered(key: str) -> Algorithm:
    """The algorithm; InputError for one that has no hardened noise sampler here."""
    if algorithm(key).key not in COVERED:
        raise InputError(
            f"A release of {key} is refused: hardened samplers cover Gaussian noise on fixed "
            f"tables alone; use {', '.join(COVERED)}."
        )
    return algorithm(key)


def allowance(total: Guarantee) -> float:
    """What of delta pays for the discrete noise's distance from a rounded Gaussian.

    Two runs that are each within DISTANCE of (epsilon, delta')-DP ones are (epsilon, delta' +
    (1 + e^epsilon) DISTANCE)-DP. InputError where that is more than half of delta.
    """
    cost = (1 + math.exp(min(total.epsilon, 700.0))) * DISTANCE
    if cost > total.delta / 2:
        raise InputError(
            f"With ε = {total.epsilon:g} the hardened noise needs a δ of at least {2 * cost:.1g}; "
            "choose a smaller epsilon or a larger delta."
        )
    return cost


@dataclass(frozen=True)
class Request:
    """What a release asks for, public facts alone: an algorithm, its values, rows and schema."""

    algorithm: str
    values: Mapping[str, Any]
    rows: int
    schema: Schema

    @classmethod
    def parse(cls, content: Mapping[str, Any]) -> Request:
        """A request from its JSON value."""
        schema = parse_schema(content["schema"])
        return cls(content["algorithm"], content["values"], content["rows"], schema)

    def to_json(self) -> dict[str, Any]:
        """Its JSON value."""
        return vars(self) | {"schema": self.schema.to_json()}

    @property
    def total(self) -> Guarantee:
        """The (epsilon, delta) that the release costs."""
        asked: Any = covered(self.algorithm).params.build(self.values)
        return Guarantee(float(asked.epsilon), float(asked.delta))

    @property
    def params(self) -> Parameters:
        """The algorithm's parameters, of which delta is smaller by :func:`allowance`."""
        total, chosen = self.total, covered(self.algorithm)
        return chosen.params.build({**self.values, "delta": total.delta - allowance(total)})

    @property
    def empty(self) -> Dataset:
        """The rows without what they hold: all of the first level, as one weighted row."""
        codes = np.zeros((1, len(self.schema.columns)), dtype=np.uint8)
        facts = self.schema.names, self.schema.levels
        found = Dataset.from_codes(codes, *facts, name="empty", public=True, weights=[self.rows])
        return replace(found, schema=self.schema)

    def context(self, source: Randomness, ledger: Ledger, cancelled: Ask) -> RunContext:
        """What a run under the schema's knowledge takes its noise from."""
        names = self.schema.names
        known = known_of(self.schema.knowledge, names)
        return RunContext(source, ledger, names, trace=False, known=known, cancelled=cancelled)

    def run(self, data: Dataset, source: Randomness, cancelled: Ask) -> tuple[RunContext, Outcome]:
        """One run on the rows, or on others of the schema."""
        chosen, params = covered(self.algorithm), self.params
        assert chosen.ledger is not None
        context = self.context(source, chosen.ledger(data, params), cancelled)
        with one_thread():  # so that whoever reads the file adds up in the same order
            return context, chosen.run(data, params, context)
