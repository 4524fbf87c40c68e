"""Plan the share of a release for its question: first tables, then one number per set.

Earlier releases determine plausible graphs and so the adjustment sets. All queries follow from
these and from public facts, so the parts compose adaptively.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np

from engine.effects.adjustment import OPTIMAL
from engine.effects.effect import weighed
from engine.effects.estimate import AIPW, Contrast, Estimate, Set, cell_variance, hidden
from engine.effects.influence import Numbers, countable, influence
from engine.effects.outcome import column_of, contrast_of
from engine.effects.plausible import Plausible
from engine.errors import InputError
from engine.marginals.contrasts import Array
from engine.marginals.moments import ONE_WAY, Key, Moments
from engine.marginals.sensitivity import tables_change
from engine.question import Question

ORDER_WEIGHT = 0.5  # of a table with m + 1 columns relative to one with m
MOST_CELLS = 512  # largest whole table to release
MOST_NOISE = 0.25  # of an average cell: noisier whole tables or triples are not released


@dataclass(frozen=True)
class Asked:
    """A question in codes: the contrast and, if given, the named adjustment set."""

    contrast: Contrast
    adjust: Set | None


def asked_of(question: Question, names: Sequence[str], levels: Sequence[Sequence[str]]) -> Asked:
    """Translate a question to a table's codes, or raise InputError for unknown names and levels."""
    if question.mean:
        raise InputError("A mean needs public numbers in the schema; otherwise give values.")
    reference, level = question.levels or (None, None)
    contrast = contrast_of(
        names, levels, question.cause, question.outcome, cause_level=level, reference=reference,
        outcome_level=question.outcome_level, values=question.values,
    )  # fmt: skip
    named = question.adjust
    adjust = None if named is None else tuple(sorted(column_of(names, z) for z in named))
    return Asked(contrast, adjust)


def adjustment_sets(asked: Asked, dags: Plausible, root: bool) -> list[Set]:
    """Return the adjustment sets of plausible graphs, heaviest first, with parents.

    A named set is used without others, and a cause without causes (``root``) needs no set.
    """
    wanted = _rungs(asked, dags, root)
    return list(dict.fromkeys(chosen for rungs in wanted for chosen in rungs)) or [()]


def _rungs(asked: Asked, dags: Plausible, root: bool) -> list[tuple[Set, ...]]:
    """Return the sets to try for each wanted graph, first choices first."""
    if asked.adjust is not None or root:
        return [(asked.adjust or (),)]
    contrast = asked.contrast
    return [*weighed(dags, contrast.cause, contrast.outcome, OPTIMAL)[2]] if dags.dags else []


def wanted_tables(
    contrast: Contrast, sets: Sequence[Set], cardinalities: Sequence[int], mu: float, n: int
) -> dict[Key, float]:
    """Return the tables to release, mu-GDP together, each with the weight of its noise.

    They are all pairs inside {x, y} and each set, and their columns. Larger tables inside a set are
    added if the noise of a cell is at most a quarter of an average cell, otherwise the set's
    triples with x and y.
    """
    x, y = contrast.cause, contrast.outcome
    pairs = {_key(pair) for some in sets for pair in combinations((x, y, *some), 2)}
    of = Counter(v for pair in pairs for v in pair)
    weights: dict[Key, float] = {(i,): ONE_WAY * math.sqrt(of[i]) for i in sorted(of)}
    weights |= dict.fromkeys(sorted(pairs), 1.0)
    for some in filter(None, sets):
        whole = tuple(sorted((x, y, *some)))
        orders = {key: ORDER_WEIGHT ** (len(key) - 2) for size in range(3, len(whole) + 1)
                  for key in combinations(whole, size)}  # fmt: skip
        triples = {_key((x, y, z)): ORDER_WEIGHT for z in some}
        cells = math.prod(cardinalities[c] for c in whole)
        if cells <= MOST_CELLS:
            trial = weights | orders
            entry = _entry_variance(trial, cardinalities, mu * n)
            noise = cell_variance(partial(_over_weight, entry, trial), whole, cardinalities)
            if cells * math.sqrt(noise) <= MOST_NOISE:
                weights = trial
                continue
        trial = weights | triples
        entry = _entry_variance(trial, cardinalities, mu * n) / ORDER_WEIGHT
        cells = max(math.prod(cardinalities[c] for c in key) for key in triples)
        if math.sqrt(entry * cells) <= MOST_NOISE:
            weights = trial
    return weights


def _entry_variance(weights: dict[Key, float], cards: Sequence[int], mu_n: float) -> float:
    """Return the noise variance of an entry, over n, for a tensor of weight 1."""
    return tables_change(list(weights), cards, list(weights.values())) / mu_n**2


def _over_weight(entry: float, weights: dict[Key, float], key: Key) -> float:
    return entry / weights[key]


def _key(columns: Sequence[int]) -> Key:
    return tuple(sorted(columns))


def planned_numbers(
    m: Moments, asked: Asked, dags: Plausible, root: bool, mu: float
) -> Numbers | None:
    """Return the numbers to release, one per set, or None if a level of the cause is hidden.

    There is one for each adjustment set of a plausible graph, or for the parents if the set has too
    many cells. The result is also None if both have too many cells for some graph.
    """
    contrast = asked.contrast
    if hidden(m, contrast.cause)[[contrast.level, contrast.reference]].any():
        return None
    rungs = _rungs(asked, dags, root)
    chosen = [next((s for s in each if countable(m, contrast, s)), None) for each in rungs]
    if not chosen or None in chosen:
        return None
    sets = [s for s in dict.fromkeys(chosen) if s is not None]
    return Numbers(tuple(influence(m, contrast, s, mu) for s in sets))


def corrected(m: Moments, found: Numbers, noisy: Array, sigma: float) -> list[Estimate]:
    """Convert released sums, with noise of this deviation, to an estimate per set."""
    r = m.cardinalities[found.sets[0].asked.cause]
    mean, covariance = np.full(r, math.nan), np.full((r, r), math.nan)
    return [
        Estimate(each.asked, each.adjusted, AIPW, False, mean, covariance, covariance, interval)
        for each, interval in zip(found.sets, found.intervals(noisy, sigma, m.n), strict=True)
    ]
