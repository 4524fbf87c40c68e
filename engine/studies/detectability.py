"""Statements about a setting before any run, from public facts only: levels, rows, epsilon.

Pages show these statements next to an input for epsilon, so this module imports no more than a run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from statistics import fmean, stdev
from typing import Any

import networkx as nx
import numpy as np

from engine.data.dataset import Dataset
from engine.percent import number
from engine.privacy.accounting import mu_budget
from engine.registry import algorithm
from engine.search.noisy_score import NoisyTestParameters

# If only links above this correlation stand out, no algorithm's mean F1 on a network reached
# UNREACHED (benchmarks/results/forecast.jsonl).
SEEN, UNREACHED = 0.2, 0.6
# If every link above GRAPH stands out, Marginal PC's mean F1 was at least UNREACHED on every
# network except Water, which has less than .7 without noise (same file).
GRAPH, MOST_EPSILON = 0.06, 10.0
DEVIATIONS = 3.0  # noise deviations above which a statistic can be distinguished from noise
# A statistic stands out only above this share of the largest possible one. The F1 of runs at these
# settings is in research/theory/privacy_audit.md.
HIDDEN = 0.5
# Shares of rows that are not at the first level, for the independent columns in turn. The margins
# of real columns are not public.
MARGINS = (0.5, 0.3, 0.1, 0.02)
_STREAM = int.from_bytes(b"null", "big")


@dataclass(frozen=True)
class Shape:
    """Public facts about a table: the number of levels per column, the rows, and numeric bounds.

    ``public`` is True if the table itself is public. Otherwise even the existence of a table with
    this shape is confidential.
    """

    cardinalities: tuple[int, ...]
    rows: int
    bounds: tuple[tuple[float, float], ...] | None = None
    public: bool = True

    @staticmethod
    def of(data: Dataset) -> Shape:
        """Return the shape of a table without reading its rows."""
        return Shape(data.cardinalities, data.n, data.bounds, data.public)

    @property
    def columns(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Names for its columns, and for their levels."""
        levels = [tuple(map(str, range(size))) for size in self.cardinalities]
        return tuple(f"X{i}" for i in range(len(levels))), levels

    def independent(self, draw: int, margins: Sequence[float] = MARGINS) -> Dataset:
        """Make the ``draw``-th simulated table of this shape; its true graph has no link.

        Columns with bounds are normal around their middle, four deviations from each bound. Other
        columns have levels, with ``margins`` in turn.
        """
        from engine.data.imagined import (  # local import: runs draw no simulated tables
            independent,
            independent_numbers,
        )

        rng, (names, levels) = np.random.default_rng([_STREAM, draw]), self.columns
        truth = nx.empty_graph(names, create_using=nx.DiGraph)
        if self.bounds is not None:
            values = independent_numbers(self.bounds, self.rows, rng)
            return Dataset.from_values(values, self.bounds, names, truth=truth, public=True)
        codes = independent(self.cardinalities, self.rows, margins, rng)
        return Dataset.from_codes(codes, names, levels, name="nothing", truth=truth, public=True)


@dataclass(frozen=True)
class Invented:
    """Numbers of false positives in several runs on independent columns."""

    counts: tuple[int, ...]

    @property
    def mean(self) -> float:
        """Expected number of links per run."""
        return fmean(self.counts)

    @property
    def error(self) -> float:
        """Standard error of the mean; infinite for a single run."""
        draws = len(self.counts)
        return stdev(self.counts) / math.sqrt(draws) if draws > 1 else math.inf

    @property
    def about(self) -> str:
        """Mean as text for tables and sentences: whole from 2 on, 0 below .05."""
        mean = self.mean
        return "0" if mean < 0.05 else f"{mean:.1f}" if mean < 2 else f"{mean:.0f}"

    @property
    def sentence(self) -> str:
        """Sentence for the choice of a setting."""
        count = "no false positive" if self.about == "0" else f"about {self.about} false positives"
        return f"On independent data of this size, this setting gives {count}."


def smallest_correlation(rows: int, columns: int, epsilon: float, delta: float) -> float:
    """Return the correlation above which a link stands out from noise and chance.

    It is three deviations, for balanced binary columns and one release of all pairs' contrasts with
    the whole budget (research/theory/marginal_pc.md, "The floor"). No better design is known. It is
    below 1 only if any link is visible.

    Args:
        rows: n.
        columns: d, 2 or more.
        epsilon: Guaranteed ε.
        delta: Its δ.

    Examples:
        >>> round(smallest_correlation(100_000, 37, 0.1, 1e-6), 3)
        0.041
    """
    noise = (columns * columns // 4) / mu_budget(epsilon, delta) ** 2
    return 3.0 * math.sqrt(4.0 * noise / rows**2 + 1.0 / rows)


def detectability(
    rows: int,
    columns: int,
    epsilons: Sequence[float],
    delta: float = 1e-6,
    *,
    brief: bool = False,
) -> str:
    """Return a warning if little is found at some of these epsilons; "" if all are enough.

    It depends only on n, d, ε and δ, so it can be shown next to an ε before any run. ``brief``
    leaves out the reasons and the remedies.

    Examples:
        >>> detectability(10_000, 8, [1.0])
        ''
        >>> detectability(10_000, 20, [0.1, 1.0])[:60]
        'With 10,000 rows, 20 columns and ε = 0.1 little can be found'
    """
    if rows < 2 or columns < 2:
        return ""
    bad = [e for e in sorted(set(epsilons)) if smallest_correlation(rows, columns, e, delta) > SEEN]
    if not bad:
        return ""
    least = smallest_correlation(rows, columns, bad[-1], delta)
    amount = "little" if least < 1 else "next to nothing"
    which = f"only links above a correlation of {least:.1f}" if least < 1 else "no link"
    these = ", ".join(map(number, bad))
    found = f"With {rows:,} rows, {columns} columns and ε = {these} {amount} can be found"
    if brief:
        return f"{found}."
    return (
        f"{found}: {which} would clearly exceed the noise. There no method reached an average "
        f"skeleton F1 of {UNREACHED:g} on any network tried. "
        f"{remedies(rows, columns, bad[-1], delta)}"
    )


def remedies(rows: int, columns: int, epsilon: float, delta: float = 1e-6) -> str:
    """Return a sentence about remedies if this budget does not show a graph.

    Remedies are a larger epsilon, fewer columns, or combined releases of several similar tables.

    Examples:
        >>> remedies(10_000, 20, 0.1)[:66]
        'A graph needs ε = 0.5, at most 4 columns or 14 such tables combine'
    """
    least = smallest_correlation(rows, columns, epsilon, delta)
    wanted = GRAPH if least > GRAPH else least / 2  # if links are weaker than usual

    def shows(columns: int, epsilon: float) -> bool:
        return smallest_correlation(rows, columns, epsilon, delta) <= wanted

    steps = (k / 10 for k in range(1, 1 + round(10 * MOST_EPSILON)))
    larger = next((e for e in steps if e > epsilon and shows(columns, e)), None)
    fewer = next((d for d in range(columns - 1, 2, -1) if shows(d, epsilon)), None)
    # For k tables, noise and chance are those of one table divided by sqrt(k).
    ways = [f"ε = {number(larger)}"] if larger else []
    ways += [f"at most {fewer} columns"] if fewer else []
    ways += [f"{max(2, math.ceil((least / wanted) ** 2)):,} such tables combined"]
    said = f"{', '.join(ways[:-1])} or {ways[-1]}" if ways[1:] else ways[0]
    alone = "" if larger else " A larger ε does not suffice with so few rows."
    return f"A graph needs {said}.{alone} Background knowledge helps and costs no ε."


def unworkable(
    keys: Sequence[str],
    shapes: Sequence[Shape],
    values: Mapping[str, Any],
    *,
    brief: bool = False,
) -> list[str]:
    """Return sentences about strict settings whose noise hides the answers, at the largest such ε.

    They follow from public facts, so they can be shown before a run: the noise deviation of an
    answer in the algorithm's plan, and the largest statistic for this number of rows. There is no
    sentence for algorithms that add no noise to the statistic of a pair.

    Args:
        keys: Algorithms.
        shapes: Shapes of tables.
        values: Parameters, with one or several ``epsilon``; each algorithm uses those that it
            declares.
        brief: Leave out the reasons.

    Raises:
        InputError: For invalid parameters.

    Examples:
        >>> unworkable(["curate_pc"], [Shape((2,) * 8, 100_000)], {"epsilon": 1})
        []
        >>> unworkable(["curate_pc"], [Shape((2,) * 500, 100_000)], {}, brief=True)
        ['CURATE cannot work here.']
    """
    found, asked = dict[object, str](), values.get("epsilon", 1.0)
    epsilons = [asked] if isinstance(asked, int | float) else sorted(asked)
    for key, shape, epsilon in product(keys, shapes, epsilons):
        chosen = algorithm(key)
        given, declared = {**values, "epsilon": epsilon}, chosen.params.specs()
        params = chosen.params.build({s.name: given[s.name] for s in declared if s.name in given})
        columns, rows = len(shape.cardinalities), shape.rows
        if chosen.noise is None or rows < chosen.min_rows or columns < 2:
            continue
        assert isinstance(params, NoisyTestParameters)
        if not params.strict or params.perturbed != "z" or not params.test.bounded:
            continue
        noise, largest = chosen.noise(_rowless(shape), params), params.test.largest(rows)
        of_it = (
            f"an answer gets noise of ±{noise:,.3g} on a score that {rows:,} rows keep below "
            f"{largest:,.3g}"
            if noise < math.inf
            else "nothing is left for a single answer"
        )
        if DEVIATIONS * noise > HIDDEN * largest:
            why = (
                f" The tests that {columns} columns may need share ε = {number(epsilon)}, so "
                f"{of_it}. Use fewer columns, a larger ε or Marginal PC, which pays once for all "
                "pairs."
            )
            found[key, shape] = f"{chosen.title} cannot work here.{'' if brief else why}"
    return list(dict.fromkeys(found.values()))


@lru_cache(maxsize=16)
def _rowless(shape: Shape) -> Dataset:
    """Make a table of this shape with identical rows, because plans read no row."""
    codes = np.zeros((1, len(shape.cardinalities)), np.int64)
    return Dataset.from_codes(codes, *shape.columns, weights=[shape.rows], public=True)
