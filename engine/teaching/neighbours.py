"""One person replaced: the neighbouring dataset, both output distributions, and a guessing game.

Also the record on which a published sensitivity fails. Everything is for public data: it shows
exact scores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.privacy.ledger import Ledger
from engine.randomness import Randomness
from engine.search.skeleton import Query
from engine.statistics.base import p_sensitivity
from engine.statistics.kendall import KENDALL, kendall_z
from engine.tables.store import store_of
from engine.teaching.lessons import laplace_density, strict_score

Table = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NeighbourTest:
    """Two datasets that differ in one row, and what one noisy test says of each.

    ``row`` is the person; ``before`` and ``after`` the labels of the columns that changed, by
    name. ``exact`` holds |z| of the test on either; noise is Laplace with scale
    ``sensitivity / epsilon``, so that the answer is epsilon-DP.
    """

    data: Dataset
    other: Dataset
    row: int
    before: dict[str, str]
    after: dict[str, str]
    q: Query
    exact: tuple[float, float]
    sensitivity: float
    epsilon: float

    @property
    def scale(self) -> float:
        """The noise's b."""
        return self.sensitivity / self.epsilon

    @property
    def best(self) -> float:
        """How often the best guess is right on these two: 1/2 plus half the total variation.

        Two Laplace densities of scale b at distance D overlap in e^(-D / 2b).
        """
        gap = abs(self.exact[0] - self.exact[1])
        return 1 - math.exp(-gap / (2 * self.scale)) / 2

    def density(self, which: int, x: float) -> float:
        """The density of the noisy |z| at x, on the data (0) or on the other (1)."""
        return laplace_density(x - self.exact[which], self.scale)

    def likelier(self, value: float) -> int:
        """The best guess: the dataset on which the output is likelier."""
        return int(self.density(1, value) > self.density(0, value))

    def drawn(self, which: int, seed: int) -> float:
        """A noisy |z| of the data (0) or the other (1): a release like any other, charged."""
        data = (self.data, self.other)[which]
        session = RunContext(Randomness(seed), Ledger(), data.names)
        seen = strict_score(data, 0.1)
        noisy, _ = seen.release(session, self.q, self.epsilon, label="game")
        return -noisy

    def at(self, epsilon: float) -> NeighbourTest:
        """The same two datasets at another epsilon."""
        if not epsilon > 0:
            raise InputError("Epsilon must be above 0.")
        return replace(self, epsilon=epsilon)


def guess_bound(epsilon: float, delta: float = 0.0) -> float:
    """(e^eps + delta) / (1 + e^eps): how often any guess between two neighbours can be right.

    For an (epsilon, delta)-DP output and a fair coin (Wasserman and Zhou 2010; Kairouz, Oh and
    Viswanath 2015, section 2: both kinds of errors are together at least 2 (1 - delta) / (1 +
    e^eps)).
    """
    if not epsilon >= 0:
        raise InputError("Epsilon must be at least 0.")
    pure = 1 / (1 + math.exp(-epsilon))
    return pure + delta * (1 - pure)


Cell = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Moves:
    """Every way to replace one row of a test's table (strata, x levels, y levels).

    ``z`` is the strict |z| of the table as it is, ``moved[source, target]`` that of the table with
    one row of cell ``source`` in cell ``target``; ``sensitivity`` bounds the difference.
    """

    table: Table
    z: float
    moved: dict[tuple[Cell, Cell], float]
    sensitivity: float

    @property
    def farthest(self) -> tuple[Cell, Cell]:
        """The move that changes the score most; InputError where there is none."""
        if not self.moved:
            raise InputError("The test's table has one cell only: no row can be replaced.")
        return max(self.moved, key=lambda move: abs(self.moved[move] - self.z))


def moves(data: Dataset, q: Query) -> Moves:
    """Try every pair of cells of the test's table; only the test's own columns change."""
    seen = strict_score(data, 0.1)
    table = store_of(data).table(q.x, q.y, q.given)
    cells = [tuple(map(int, c)) for c in np.ndindex(table.shape)]
    moved = {
        (source, target): abs(kendall_z(_moved(table, source, target), "strict"))
        for source in cells
        if table[source] > 0
        for target in cells
        if source != target
    }
    return Moves(table, abs(kendall_z(table, "strict")), moved, seen.noise_sensitivity(q))


def farthest(data: Dataset, q: Query, epsilon: float) -> NeighbourTest:
    """Replace the one row that moves the test's strict |z| most, by the row that does so."""
    every = moves(data, q)
    return _built(data, q, every.farthest, epsilon, every.sensitivity)


def _moved(table: Table, source: Cell, target: Cell) -> Table:
    out = table.copy()
    out[source] -= 1
    out[target] += 1
    return out


def _built(
    data: Dataset,
    q: Query,
    move: tuple[Cell, Cell],
    epsilon: float,
    sensitivity: float,
) -> NeighbourTest:
    """The neighbouring dataset itself, with the first row of the source's cell replaced."""
    sizes = [data.cardinalities[g] for g in q.given]
    columns = [*q.given, q.x, q.y]
    old, new = (_codes(cell, sizes) for cell in move)
    rows = np.flatnonzero((data.row_codes()[:, columns] == np.array(old)).all(axis=1))
    if not len(rows):
        raise InputError("No row lies in that cell.")
    codes = np.array(data.row_codes())
    codes[rows[0], columns] = new
    other = Dataset.from_codes(
        codes,
        data.names,
        data.levels,
        name=f"{data.name}, one person replaced",
        truth=data.truth,
        public=True,
    )
    changed = [(c, int(a), int(b)) for c, a, b in zip(columns, old, new, strict=True) if a != b]
    scores = tuple(abs(-strict_score(d, 0.1).of(q)) for d in (data, other))
    return NeighbourTest(
        data=data,
        other=other,
        row=int(rows[0]),
        before={data.names[c]: data.levels[c][a] for c, a, _ in changed},
        after={data.names[c]: data.levels[c][b] for c, _, b in changed},
        q=q,
        exact=(scores[0], scores[1]),
        sensitivity=sensitivity,
        epsilon=epsilon,
    )


def _codes(cell: tuple[int, ...], sizes: list[int]) -> list[int]:
    """The codes of a cell's stratum, then of x and y."""
    stratum = np.unravel_index(cell[0], sizes) if sizes else ()
    return [*map(int, stratum), *cell[1:]]


@dataclass(frozen=True, eq=False)
class Counterexample:
    """Two tables one record apart; the published p-value and the strict |z| of both.

    ``claims`` are the changes of p that published calibrations allow on n rows; ``bound`` is the
    proved one of the strict |z|.
    """

    tables: tuple[Table, Table]
    p: tuple[float, float]
    z: tuple[float, float]
    claims: dict[str, float]
    bound: float


def one_record_apart(small: int = 40, large: int = 49_960) -> tuple[Table, Table]:
    """Two strata of ``small`` and ``large`` rows; one record of the small one joins the large one.

    In the small stratum both columns agree. In the large one a column is constant, so that the
    published test skips it, until the record makes it count (with a fifth of its rows apart).
    """
    if small < 4 or large < 10:
        raise InputError("The strata need at least 4 and 10 rows.")
    half, apart = small // 2, round(large * 9_960 / 49_960)
    table = np.array([[[small - half, 0], [0, half]], [[large - apart, apart], [0, 0]]])
    other = table.copy()
    other[0, 1, 1] -= 1
    other[1, 1, 0] += 1
    return table, other


@dataclass(frozen=True)
class Place:
    """Where the one record may go: its cell, and the scores of the table with it there."""

    cell: tuple[int, int, int]
    p: float
    z: float


def places(small: int = 40, large: int = 49_960) -> tuple[Table, list[Place]]:
    """The table without the record of :func:`one_record_apart`, and every cell it may join."""
    start = (0, 1, 1)
    rest = one_record_apart(small, large)[0]
    rest[start] -= 1
    found = []
    for cell in np.ndindex(*rest.shape):
        table = rest.copy()
        table[cell] += 1
        p, z = KENDALL.score(table, "published").p, abs(kendall_z(table, "strict"))
        found.append(Place((int(cell[0]), int(cell[1]), int(cell[2])), p, z))
    return rest, found


def counterexample(small: int = 40, large: int = 49_960) -> Counterexample:
    """What that record does to Kendall's published p-value, and to the strict |z|."""
    tables = one_record_apart(small, large)
    n = small + large
    p = [KENDALL.score(t, "published").p for t in tables]
    z = [abs(kendall_z(t, "strict")) for t in tables]
    return Counterexample(
        tables=tables,
        p=(p[0], p[1]),
        z=(z[0], z[1]),
        claims={
            "Priv-PC's code, Φ(6/√n) − ½": p_sensitivity(6 / math.sqrt(n)),
            "CURATE's code, 0.36267/√n": 0.36267 / math.sqrt(n),
        },
        bound=KENDALL.sensitivity(n, 2, 2, conditional=True),
    )
