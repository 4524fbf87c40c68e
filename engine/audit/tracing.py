"""How much a released Bayesian network reveals about its members: a tracing attack and limits.

The attack is from Murakonda, Shokri and Theodorakopoulos (AISTATS 2021). The attacker has the
released graph with its tables, the population's tables and a record, and wants to know whether the
record was in the data. The strongest statistic is the record's likelihood under the release divided
by that in the population. Their limit is: with C free parameters and n records, z of the power
minus z of the false positive rate is at most about sqrt(C / n). Differential privacy limits the
power of every attack.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.privacy.accounting import analytic_gaussian_sigma
from engine.privacy.ledger import Ledger
from engine.privacy.mechanisms import gaussian
from engine.randomness import Randomness

FALSE_POSITIVES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
DELTA = 1e-6
POOLS = 40  # groups of members whose tables are released
SMOOTHING = 0.5  # records added to each cell, so that no likelihood is 0

Counts = NDArray[np.float64]
Cells = NDArray[np.intp]


@dataclass(frozen=True)
class Tracing:
    """Measured power of the attack at each false positive rate, and its upper limit.

    ``parameters`` is the network's number of free parameters, and ``members`` is the n of a group.
    ``claimed`` is Murakonda's limit without noise; with noise it is e^epsilon times the rate, plus
    delta.
    """

    members: int
    parameters: int
    epsilon: float | None
    false_positives: tuple[float, ...]
    measured: tuple[float, ...]
    claimed: tuple[float, ...]


def tracing(data: Dataset, members: int = 200, epsilon: float | None = None) -> Tracing:
    """Release the true network's tables for groups of rows, and trace members and other rows.

    ``epsilon`` is the cost of one release of all tables with Gaussian noise; None means no noise.
    The last half of the rows is the population.

    Raises:
        InputError: If the data have no true graph or too few rows.

    Examples:
        >>> from engine import load_dataset
        >>> found = tracing(load_dataset("asia", n=4_000), members=20)
        >>> found.parameters, found.measured[3] > 0.2
        (18, True)
    """
    needed = 4 * members * POOLS
    if data.truth is None or data.n < needed:
        raise InputError(
            f"Tracing {members} members needs a true graph and at least {needed:,} rows, half of "
            "them as the population."
        )
    cells, sizes = _family_cells(data)
    population = _log_likelihoods(_tables(cells[data.n // 2 :], sizes), sizes, data)
    inside, outside = [], []
    for seed in range(POOLS):
        start = seed * 2 * members
        group, others = cells[start : start + members], cells[start + members :][:members]
        released = _tables(group, sizes)
        if epsilon is not None:
            released = _noisy(released, data.d, epsilon, seed)
        gain = _log_likelihoods(released, sizes, data) - population
        inside.append(gain[group].sum(axis=1))
        outside.append(gain[others].sum(axis=1))
    rates = np.array(FALSE_POSITIVES)
    thresholds = np.quantile(np.concatenate(outside), 1 - rates)
    measured = (np.concatenate(inside)[:, None] > thresholds).mean(axis=0)
    parameters = sum(size - size // levels for size, levels in zip(sizes, data.cardinalities,
                                                                   strict=True))  # fmt: skip
    if epsilon is None:
        claimed = ndtr(math.sqrt(parameters / members) + ndtri(rates))
    else:
        claimed = np.minimum(math.exp(epsilon) * rates + DELTA,
                             1 - math.exp(-epsilon) * (1 - DELTA - rates))  # fmt: skip
    said = (tuple(map(float, values)) for values in (measured, claimed))
    return Tracing(members, parameters, epsilon, FALSE_POSITIVES, *said)


def _family_cells(data: Dataset) -> tuple[Cells, list[int]]:
    """Return each row's cells in the joined tables of all families (n, d), and their sizes."""
    assert data.truth is not None
    codes = data.row_codes().astype(np.intp)
    columns: list[Cells] = []
    sizes: list[int] = []
    for name in data.names:
        cell, size = np.zeros(data.n, np.intp), 1
        for parent in (*data.truth.predecessors(name), name):
            k = data.names.index(parent)
            cell, size = cell * data.cardinalities[k] + codes[:, k], size * data.cardinalities[k]
        columns.append(cell + sum(sizes))
        sizes.append(size)
    return np.stack(columns, axis=1), sizes


def _tables(cells: Cells, sizes: list[int]) -> Counts:
    return np.bincount(cells.ravel(), minlength=sum(sizes)).astype(float)


def _noisy(tables: Counts, d: int, epsilon: float, seed: int) -> Counts:
    """Release all tables once; a replaced record moves two cells of each table by 1."""
    context = RunContext(Randomness(seed), Ledger(delta=DELTA), trace=False)
    moved = math.sqrt(2 * d)
    sigma = analytic_gaussian_sigma(epsilon, DELTA, moved)
    noisy: Counts = gaussian(context, tables, sensitivity=moved, sigma=sigma, label="tables")
    return noisy


def _log_likelihoods(tables: Counts, sizes: list[int], data: Dataset) -> Counts:
    """Return the log of each cell's probability, given the levels of its parents."""
    logs = []
    for part, levels in zip(np.split(tables, np.cumsum(sizes)[:-1]), data.cardinalities,
                            strict=True):  # fmt: skip
        given = np.maximum(part.reshape(-1, levels), 0.0) + SMOOTHING
        logs.append(np.log(given / given.sum(axis=1, keepdims=True)).ravel())
    return np.concatenate(logs)
