"""Hill climbing by BIC with the columns shuffled, because its score rests on their order in a file.

As filed, the order often agrees with the arrows: ties between equivalent steps go to the first.
"""

from __future__ import annotations

import math
import time
from functools import cache

import numpy as np

from engine.data.dataset import Dataset
from engine.graphs.cpdag import Adjacency
from engine.graphs.orientation import reachable
from engine.tables.store import Store

SEED = 0  # of the shuffle


def hill_run(data: Dataset) -> tuple[float, Adjacency]:
    """CPU seconds and skeleton (d, d): add, delete or turn the edge that raises BIC most."""
    order = np.random.default_rng(SEED).permutation(data.d)
    start, rows = time.process_time(), Store(data).rows

    @cache
    def score(i: int, parents: frozenset[int]) -> float:
        columns = [int(order[c]) for c in (*sorted(parents), i)]
        counts = rows.counts(columns).reshape(-1, data.cardinalities[columns[-1]]).astype(float)
        share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        fit = float((counts * np.log(np.where(counts > 0, share, 1))).sum())
        return fit - 0.5 * math.log(data.n) * len(counts) * (counts.shape[1] - 1)

    parents = [frozenset[int]() for _ in order]
    while True:
        dag = np.zeros((data.d, data.d), dtype=bool)
        for j, some in enumerate(parents):
            dag[list(some), j] = True
        ways, best = reachable(dag), (0.0, parents)
        for i, j in np.argwhere(~np.eye(data.d, dtype=bool)).tolist():
            changed = {j: parents[j] ^ {i}}
            if not dag[i, j] and (dag[j, i] or ways[j, i]):
                if not dag[j, i] or (dag[j] & ways[:, i]).any():
                    continue  # another path leads from j to i: the edge would close a cycle
                changed[i] = parents[i] - {j}
            gain = sum(score(v, new) - score(v, parents[v]) for v, new in changed.items())
            if gain > best[0] + 1e-6:
                best = gain, [changed.get(v, old) for v, old in enumerate(parents)]
        if best[0] <= 0:
            place = np.argsort(order)
            return time.process_time() - start, (dag | dag.T)[np.ix_(place, place)]
        parents = best[1]
