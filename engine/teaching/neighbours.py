"""Replace one person: the neighbouring dataset, its effect on one test, and a guessing game.

The module also builds a record for which a published sensitivity fails. It shows exact test
statistics, so it is for public data only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.audit.neighbours import Neighbours, from_dataset
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.privacy.ledger import Ledger
from engine.randomness import Randomness
from engine.search.skeleton import Query
from engine.statistics.base import p_sensitivity
from engine.statistics.kendall import KENDALL, kendall_z
from engine.tables.store import store_of
from engine.teaching.lessons import strict_score

Table = NDArray[np.int64]
Cell = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class NeighbourTest:
    """Two datasets that differ in one row, and one noisy test on each.

    ``before`` and ``after`` are the labels of the columns that changed, by name. ``exact`` holds
    |z| of the test on either dataset.
    """

    pair: Neighbours
    before: dict[str, str]
    after: dict[str, str]
    q: Query
    exact: tuple[float, float]
    epsilon: float

    def drawn(self, which: int, seed: int) -> float:
        """Release and charge a noisy |z| of the data (0) or of its neighbour (1)."""
        data = (self.pair.data, self.pair.other)[which]
        context = RunContext(Randomness(seed), Ledger(), data.names)
        return -strict_score(data).release(context, self.q, self.epsilon, label="game")[0]

    def at(self, epsilon: float) -> NeighbourTest:
        """Return the same two datasets at another epsilon."""
        if not epsilon > 0:
            raise InputError("Epsilon must be above 0.")
        return replace(self, epsilon=epsilon)


def guess_bound(epsilon: float, delta: float = 0.0) -> float:
    """Return (e^eps + delta) / (1 + e^eps), the largest probability of a right guess.

    An attacker guesses between two neighbours from an (epsilon, delta)-DP output; a fair coin chose
    one of them (Wasserman and Zhou 2010; Kairouz, Oh and Viswanath 2015, section 2: the
    probabilities of both kinds of error add up to at least 2 (1 - delta) / (1 + e^eps)).
    """
    if not epsilon >= 0:
        raise InputError("Epsilon must be at least 0.")
    pure = 1 / (1 + math.exp(-epsilon))
    return pure + delta * (1 - pure)


@dataclass(frozen=True, eq=False)
class Moves:
    """Every way to replace one row of a test's table (strata, x levels, y levels).

    ``z`` is the strict |z| of the table. ``moved[source, target]`` is that of the table with one
    row of cell ``source`` moved to cell ``target``. ``sensitivity`` bounds the difference.
    """

    table: Table
    z: float
    moved: dict[tuple[Cell, Cell], float]
    sensitivity: float

    @property
    def farthest(self) -> tuple[Cell, Cell]:
        """Move that changes the statistic most; raises InputError if there is none."""
        if not self.moved:
            raise InputError("The test's table has one cell only: no row can be replaced.")
        return max(self.moved, key=lambda move: abs(self.moved[move] - self.z))


def moves(data: Dataset, q: Query) -> Moves:
    """Try every pair of cells of the test's table; only the columns of the test change."""
    seen = strict_score(data)
    table = store_of(data).table(q.x, q.y, q.given)
    cells = list(np.ndindex(table.shape))
    moved = {}
    for source in cells:
        for target in cells:
            if table[source] > 0 and source != target:
                other = table.copy()
                other[source] -= 1
                other[target] += 1
                moved[source, target] = abs(kendall_z(other, "strict"))
    return Moves(table, abs(kendall_z(table, "strict")), moved, seen.noise_sensitivity(q))


def farthest(data: Dataset, q: Query, epsilon: float) -> NeighbourTest:
    """Make the replacement of one row that changes the strict |z| of the test most."""
    columns, sizes = [*q.given, q.x, q.y], [data.cardinalities[g] for g in q.given]
    old, new = (
        [*map(int, np.unravel_index(cell[0], sizes) if sizes else ()), *cell[1:]]
        for cell in moves(data, q).farthest
    )
    codes = data.row_codes()
    row = int(np.flatnonzero((codes[:, columns] == np.array(old)).all(axis=1))[0])
    record = codes[row].astype(int)
    record[columns] = new
    pair = from_dataset(data, row, record.tolist())
    changed = [(c, a, b) for c, a, b in zip(columns, old, new, strict=True) if a != b]
    scores = [-strict_score(d).of(q) for d in (pair.data, pair.other)]
    return NeighbourTest(
        pair=pair,
        before={data.names[c]: data.levels[c][a] for c, a, _ in changed},
        after={data.names[c]: data.levels[c][b] for c, _, b in changed},
        q=q,
        exact=(scores[0], scores[1]),
        epsilon=epsilon,
    )


@dataclass(frozen=True)
class Place:
    """A possible cell of the one record (stratum, x, y), and the table's statistics with it."""

    cell: Cell
    p: float
    z: float


@dataclass(frozen=True, eq=False)
class Counterexample:
    """A record for which a published sensitivity fails.

    ``rest`` is the table without it, ``places`` has every cell that it may join; ``p`` the
    published p-value before and after it moves. ``claims`` are the changes of p that published
    calibrations allow on n rows; ``bound`` is the proven bound for the strict |z|.
    """

    rest: Table
    places: tuple[Place, ...]
    p: tuple[float, float]
    claims: dict[str, float]
    bound: float


def counterexample(small: int = 40, large: int = 49_960) -> Counterexample:
    """Build strata of ``small`` and ``large`` rows; one record moves from the small to the large.

    In the small stratum both columns agree. In the large stratum one column is constant, so the
    published test skips the stratum until the record joins it. A fifth of its rows differ in the
    other column.
    """
    if small < 4 or large < 10:
        raise InputError("The strata need at least 4 and 10 rows.")
    half, apart, n = small // 2, round(large * 9_960 / 49_960), small + large
    rest = np.array([[[small - half, 0], [0, half - 1]], [[large - apart, apart], [0, 0]]])
    places = []
    for cell in np.ndindex(*rest.shape):
        table = rest.copy()
        table[cell] += 1
        p = KENDALL.score(table, "published").p
        places.append(Place(tuple(map(int, cell)), p, abs(kendall_z(table, "strict"))))
    published = {place.cell: place.p for place in places}
    return Counterexample(
        rest=rest,
        places=tuple(places),
        p=(published[0, 1, 1], published[1, 1, 0]),
        claims={
            "Priv-PC's code, Φ(6/√n) − ½": p_sensitivity(6 / math.sqrt(n)),
            "CURATE's code, 0.36267/√n": 0.36267 / math.sqrt(n),
        },
        bound=KENDALL.sensitivity(n, 2, 2, conditional=True),
    )
