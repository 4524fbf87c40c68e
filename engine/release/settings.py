"""What a release runs: the algorithms that have hardened noise, and what theirs costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from engine.algorithm import Algorithm
from engine.data.dataset import Dataset
from engine.data.schema import Schema
from engine.errors import InputError
from engine.graphs.known import Known, known_of
from engine.params import Parameters
from engine.privacy.accounting import Guarantee
from engine.privacy.sources import DISTANCE
from engine.registry import algorithm

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


def known_in(data: Dataset) -> Known | None:
    """What the data's schema states of the causes."""
    return known_of(None if data.schema is None else data.schema.knowledge, data.names)
