"""Spend a part of a budget on one release; and read a release back.

Only algorithms whose result follows from Gaussian releases alone are covered: their noise has a
hardened sampler (:mod:`engine.privacy.sources`), and whoever has the file can derive the graph
again without the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np

from engine.algorithm import Algorithm, Outcome
from engine.data.dataset import Dataset
from engine.data.schema import Schema
from engine.errors import InputError
from engine.params import Parameters
from engine.privacy.accounting import Guarantee
from engine.privacy.ledger import Ledger
from engine.privacy.sources import DISTANCE, Hardened, NoiseSource, Replay
from engine.randomness import Randomness
from engine.registry import algorithm
from engine.release.budget import Budgets
from engine.release.file import Release, findings
from engine.runner import one_thread
from engine.session import Session
from engine.version import __version__

COVERED = ("marginal_pc",)
_PACKAGES = ("numpy", "opendp", "scipy")


Ask = Callable[[], bool]


class Stopped(InputError):
    """The person stopped a release; the message says whether the budget was charged."""


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
    total = Guarantee(params.epsilon, params.delta)
    return replace(params, delta=params.delta - allowance(total)), total


def rehearse(
    key: str, values: Mapping[str, Any], schema: Schema, rows: int, cancelled: Ask = lambda: False
) -> Guarantee:
    """Run on empty rows of the schema; what a release would cost.

    Whatever is wrong with the request is found here, before anything is spent.
    """
    params, total = built(key, values)
    _run(covered(key), empty(schema, rows), params, Randomness(0), cancelled)
    if cancelled():
        raise Stopped("Stopped: the release was not made, and nothing was charged.")
    return total


def make(
    data: Dataset,
    schema: Schema,
    key: str,
    values: Mapping[str, Any],
    *,
    name: str,
    budgets: Budgets,
    cancelled: Ask = lambda: False,
    on_charged: Callable[[], None] = lambda: None,
) -> Release:
    """Charge the budget ``name``, then release; a crash in between leaves the charge.

    ``data`` must have been read with ``schema``. Raises InputError in one sentence, and charges
    nothing, where the request does not fit. ``cancelled`` is asked all along: before the charge a
    stop costs nothing, after it the charge stays. Either raises :class:`Stopped`.
    """
    if not data.declared or data.names != schema.names or data.levels != schema.levels:
        raise InputError("A release needs data that were read with the declared schema.")
    total = rehearse(key, values, schema, data.n, cancelled)
    budgets.charge(name, total, f"release by {key}")
    on_charged()
    params, _ = built(key, values)
    source = Hardened()
    session, outcome = _run(covered(key), data, params, source, cancelled)
    if outcome.status == "cancelled":
        raise Stopped(
            f"Stopped after the charge: the release was not made, and ε = {total.epsilon:g}, "
            f"δ = {total.delta:g} stay charged to budget {name!r}, since noise may have been drawn."
        )
    return Release(
        name=name,
        algorithm=key,
        params=params.as_dict(),
        rows=data.n,
        schema=schema,
        total=total,
        releases=tuple(source.given_out),
        labels=tuple(charge.label for charge in session.ledger),
        versions={"dp-causal-explorer": __version__} | {p: version(p) for p in _PACKAGES},
        **findings(outcome, schema.names),
    )


def replayed(release: Release) -> tuple[Session, Outcome]:
    """The release's algorithm once more, on its released numbers alone.

    InputError where the file's numbers are not those of its algorithm at its (epsilon, delta).
    """
    covered(release.algorithm)
    stated = {**release.params, "epsilon": release.total.epsilon, "delta": release.total.delta}
    params, total = built(release.algorithm, stated)
    if total != release.total or params.as_dict() != dict(release.params):
        raise InputError("The release's parameters are not those of its (ε, δ).")
    source = Replay(release.releases)
    data = empty(release.schema, release.rows)
    session, outcome = _run(covered(release.algorithm), data, params, source)
    if source.left:
        raise InputError("The file holds more releases than its algorithm makes.")
    return session, outcome


def check(release: Release) -> None:
    """Derive everything again from the released numbers; InputError where the file says else."""
    session, outcome = replayed(release)
    found = findings(outcome, release.names)
    if tuple(charge.label for charge in session.ledger) != release.labels:
        raise InputError("The releases of the file are not those of its algorithm.")
    if found["cpdag"] != release.cpdag:
        raise InputError("The graph of the file does not follow from its released numbers.")
    if found["tables"] != release.tables:
        raise InputError("The tables that the file names are not those that were released.")
    stated, derived = dict(_by_pair(release.confidence)), dict(_by_pair(found["confidence"]))
    same = stated.keys() == derived.keys() and all(
        math.isclose(stated[p], derived[p], rel_tol=1e-6, abs_tol=1e-9) for p in stated
    )
    if not same:
        raise InputError("The edges' confidence does not follow from the released numbers.")


def _by_pair(edges: tuple[tuple[str, str, float], ...]) -> list[tuple[tuple[str, str], float]]:
    return [((a, b), c) for a, b, c in edges]


def empty(schema: Schema, rows: int) -> Dataset:
    """Rows of the schema that hold nothing: all of the first level, folded into one."""
    codes = np.zeros((1, len(schema.columns)), dtype=np.uint8)
    return Dataset.from_codes(
        codes, schema.names, schema.levels, name="empty", public=True, weights=[rows]
    )


def _run(
    chosen: Algorithm,
    data: Dataset,
    params: Parameters,
    source: Randomness | NoiseSource,
    cancelled: Ask = lambda: False,
) -> tuple[Session, Outcome]:
    ledger = chosen.ledger(data, params) if chosen.ledger is not None else Ledger()
    session = Session(source, ledger, data.names, trace=False, cancelled=cancelled)
    # One thread, so that whoever reads the file adds up in the same order.
    with one_thread():
        return session, chosen.run(data, params, session)
