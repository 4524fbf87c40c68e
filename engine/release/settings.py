"""What a release runs: the algorithms that have hardened noise, and what theirs costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from engine.algorithm import Algorithm, Outcome
from engine.context import RunContext, Step
from engine.data.dataset import Dataset
from engine.data.schema import Schema
from engine.errors import InputError
from engine.graphs.known import Known, known_of
from engine.params import Parameters
from engine.privacy.accounting import Guarantee
from engine.privacy.ledger import Ledger
from engine.privacy.sources import DISTANCE, NoiseSource
from engine.randomness import Randomness
from engine.registry import algorithm
from engine.runner import one_thread

COVERED = ("marginal_pc",)
MOST_ROWS = 10_000_000_000
Ask = Callable[[], bool]


def covered(key: str) -> Algorithm:
    """The algorithm; InputError for one whose noise has no hardened sampler here."""
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


def built(key: str, values: Mapping[str, Any]) -> tuple[Parameters, Guarantee]:
    """The algorithm's parameters, and the (epsilon, delta) that the release costs."""
    params: Any = covered(key).params.build(values)
    total = Guarantee(float(params.epsilon), float(params.delta))
    return replace(params, delta=params.delta - allowance(total)), total


def empty(schema: Schema, rows: int) -> Dataset:
    """Rows of the schema that hold nothing: all of the first level, folded into one.

    They carry the schema, so that what it states of the causes is known of them too.
    """
    codes = np.zeros((1, len(schema.columns)), dtype=np.uint8)
    found = Dataset.from_codes(
        codes, schema.names, schema.levels, name="empty", public=True, weights=[rows]
    )
    return replace(found, schema=schema)


def stated(data: Dataset) -> Known | None:
    """What the data's schema states of the causes."""
    return known_of(None if data.schema is None else data.schema.knowledge, data.names)


def run_with(
    chosen: Algorithm,
    data: Dataset,
    params: Parameters,
    source: Randomness | NoiseSource,
    cancelled: Ask = lambda: False,
    on_step: Callable[[Step], None] | None = None,
) -> tuple[RunContext, Outcome]:
    """One run that takes its noise from ``source``; ``on_step`` sees each step as it happens."""
    ledger = chosen.ledger(data, params) if chosen.ledger is not None else Ledger()
    watched = on_step is not None
    session = RunContext(
        source,
        ledger,
        data.names,
        trace=watched,
        on_step=on_step,
        cancelled=cancelled,
        known=stated(data),
    )
    # One thread, so that whoever reads the file adds up in the same order.
    with one_thread():
        return session, chosen.run(data, params, session)
