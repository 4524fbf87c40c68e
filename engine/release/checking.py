"""A release derived again from its released numbers alone, without the data.

That shows that the file is *consistent*: its promise is that of its noise levels, its graph that of
its numbers, and its numbers are not too good to be noisy. It cannot show that the numbers came from
records, that noise was drawn as stated, or that a level is called as it was: a file in which all of
it was changed together is consistent too. A signature says whom to believe
(:mod:`engine.release.signature`).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from engine.algorithm import Outcome
from engine.algorithms.marginal_pc import MarginalPCParameters, planned_releases
from engine.algorithms.marginal_pc import release as release_tables
from engine.context import Cancelled, RunContext
from engine.errors import InputError
from engine.marginals.levels import merged
from engine.marginals.moments import Moments
from engine.privacy.ledger import Ledger
from engine.privacy.sources import Replay
from engine.release.file import Release, findings
from engine.release.noise import ALARM, improbability
from engine.release.settings import MOST_ROWS, built, covered, empty, run_with, stated
from engine.runner import one_thread
from engine.tables.store import store_of

SECONDS = 120.0  # a check's patience; an honest file of 76 columns takes a few


def check(release: Release, seconds: float = SECONDS) -> float:
    """Derive everything again; the file is consistent if that ends where it says.

    Args:
        release: What :func:`engine.release.reading.load` read.
        seconds: Its patience. A file that takes longer is refused without a word on whether it is
            consistent.

    Returns:
        How improbable numbers this good would be if their noise had been drawn (at most 1).

    Raises:
        InputError: In one sentence where the file says else than what follows from its numbers, or
            where these are too good: below :data:`~engine.release.noise.ALARM`.

    Examples:
        >>> import tempfile
        >>> from dataclasses import replace
        >>> from pathlib import Path
        >>> from engine import load_dataset
        >>> from engine.data.schema import Column, Schema
        >>> from engine.release.budget import Budgets
        >>> from engine.release.make import make
        >>> rows = load_dataset("cancer", n=1_000)
        >>> named = zip(rows.names, rows.levels, strict=True)
        >>> schema = Schema(tuple(Column(name=n, type="ordered", levels=some) for n, some in named))
        >>> budgets = Budgets(Path(tempfile.mkdtemp()) / "budgets.db")
        >>> budget = budgets.new("ward", epsilon=3, delta=1e-5)
        >>> data, asked = replace(rows, schema=schema), {"epsilon": 1}
        >>> release = make(data, schema, "marginal_pc", asked, name="ward", budgets=budgets)
        >>> 0 < check(release) <= 1
        True
    """
    late = _deadline(seconds)
    session, outcome = replayed(release, late)
    if tuple(charge.label for charge in session.ledger) != release.labels:
        raise InputError("The releases of the file are not those of its algorithm.")
    _compare(release, outcome)
    doubt = too_good(release, late)
    if doubt < ALARM:
        raise InputError(
            "The released numbers are too good to be noisy: had noise of the stated size been "
            f"drawn, they would agree this well with a probability of at most {doubt:.1g}."
        )
    return doubt


def _deadline(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds

    def late() -> bool:
        if time.monotonic() > end:
            raise InputError(
                f"Checking takes longer than {seconds:g} seconds, so nothing is said of the file."
            )
        return False

    return late


def replayed(
    release: Release, cancelled: Callable[[], bool] = lambda: False
) -> tuple[RunContext, Outcome]:
    """The release's algorithm once more, on its released numbers alone.

    InputError where the file's numbers are not those of its algorithm at its (epsilon, delta).
    """
    covered(release.algorithm)
    if not 2 <= release.rows <= MOST_ROWS:
        raise InputError(f"A release has 2 to {MOST_ROWS:,} rows.")
    stated = {**release.params, "epsilon": release.total.epsilon, "delta": release.total.delta}
    params, total = built(release.algorithm, stated)
    if total != release.total or json.dumps(params.as_dict()) != json.dumps(dict(release.params)):
        raise InputError("The release's parameters are not those of its (ε, δ).")
    data = empty(release.schema, release.rows)
    assert isinstance(params, MarginalPCParameters)
    levels = merged(data).cardinalities  # what is planned is planned of these
    planned = planned_releases(levels, data.n, params.total, params.ordinal)
    if len(release.releases) != planned.number:
        raise InputError("The file holds more or fewer releases than its algorithm makes.")
    source = Replay(release.releases)
    with _ending():
        return run_with(covered(release.algorithm), data, params, source, cancelled)


@contextmanager
def _ending() -> Iterator[None]:
    """InputError for numbers with which a test fails: no rows and no noise give such."""
    try:
        yield
    except (np.linalg.LinAlgError, ArithmeticError):
        raise InputError(
            "The algorithm does not come to an end with the release's numbers."
        ) from None


def _compare(release: Release, outcome: Outcome) -> None:
    found = findings(outcome, release.names)
    if found["cpdag"] != release.cpdag:
        raise InputError("The graph of the file does not follow from its released numbers.")
    if found["tables"] != release.tables:
        raise InputError("The tables that the file names are not those that were released.")
    if not _same(release.confidence, found["confidence"]):
        raise InputError("The edges' confidence does not follow from the released numbers.")
    if not _same(release.arrows, found["arrows"]):
        raise InputError("The arrows' confidence does not follow from the released numbers.")


def _same(stated: Sequence[tuple[Any, ...]], derived: Sequence[tuple[Any, ...]]) -> bool:
    """Whether both tell of the same pairs in the same order, with the same numbers but for digits.

    Each row is two names, then numbers.
    """
    if [row[:2] for row in stated] != [row[:2] for row in derived]:
        return False
    numbers = ([x for row in rows for x in row[2:]] for rows in (stated, derived))
    return all(
        math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9) for a, b in zip(*numbers, strict=True)
    )


def too_good(release: Release, cancelled: Callable[[], bool] = lambda: False) -> float:
    """How improbable it would be that numbers this good are noisy; see engine.release.noise."""
    return improbability(release.releases[0], moments_of(release, cancelled)[0])


def moments_of(
    release: Release, cancelled: Callable[[], bool] = lambda: False
) -> tuple[Moments, tuple[tuple[str, ...], ...]]:
    """The released tensors with their noise, and the levels they are of, from the file alone.

    Columns of many levels are merged before their release, by a rule on the schema.
    """
    rows = empty(release.schema, release.rows)
    data = merged(rows)
    params = MarginalPCParameters.build(release.params)
    session = RunContext(
        Replay(release.releases),
        Ledger(params.total, method="gdp"),
        data.names,
        trace=False,
        cancelled=cancelled,
        known=stated(rows),
    )
    try:
        with one_thread(), _ending():
            tests = release_tables(store_of(data), params, params.order_limit(data), session)
    except Cancelled:
        raise InputError("Stopped: nothing is said of the file.") from None
    return tests.moments, data.levels
