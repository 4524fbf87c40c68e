"""An attack on a finished release: its own answers, forced upon neighbours of its own settings.

A release says what was asked, of which schema and how many rows, and what was answered. Whatever
the records were, an algorithm that follows from its answers takes the same course on any others. So
its answers are forced upon pairs of tables that differ in one record: charges and results must be
the same, and no mechanism's exact input may move by more than the sensitivity that the file states.
The tables that this very release chose are attacked (its triples, too), without its data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.algorithm import Algorithm
from engine.audit.replay import Finding
from engine.audit.watching import ROUNDING
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.params import Parameters
from engine.privacy.ledger import Charge, Ledger
from engine.privacy.sources import Released, Replay
from engine.runner import one_thread

PROPOSALS = 30  # of each climb
Record = NDArray[np.int64]


class Forced(Replay):
    """Gives out the release's answers, and keeps each exact input with what was charged for it."""

    def __init__(self, releases: Sequence[Released]):
        super().__init__(releases)
        self.seen: list[tuple[NDArray[np.float64], float]] = []

    def gaussian(
        self, exact: NDArray[np.float64], sensitivity: float, sigma: float
    ) -> NDArray[np.float64]:
        """The next answer; InputError where the run asks for another."""
        self.seen.append((np.array(exact, dtype=float).ravel(), sensitivity))
        return super().gaussian(exact, sensitivity, sigma)


def attack(
    algorithm: Algorithm,
    params: Parameters,
    releases: Sequence[Released],
    schema: Dataset,
    *,
    proposals: int = PROPOSALS,
    seed: int = 0,
    cancelled: Callable[[], bool] = lambda: False,
    watch: Callable[[Finding], None] = lambda found: None,
) -> Finding:
    """Climb, for each answer, to the two records that move its exact input furthest.

    ``schema`` is any table of the release's columns and levels with its number of rows. The ratios
    of the finding are by the charges' labels, the answer's number in front; ``watch`` sees it grow.
    """
    rng = np.random.default_rng(seed)
    levels = np.array(schema.cardinalities)
    rest = rng.integers(levels, size=(3, len(levels)))
    found, first = Finding(pairs=0), np.zeros(len(levels), dtype=np.int64)
    pair = _Pair(algorithm, params, releases, schema, rest)
    for at in range(len(releases)):
        if cancelled():
            return found
        a, b = first.copy(), levels - 1
        best = pair.compare(a, b)
        found += best
        for _ in range(proposals):
            if cancelled() or best.faults:
                return found
            one, other = _proposal(rng, a, b, levels)
            tried = pair.compare(one, other)
            found += tried
            watch(found)
            if _ratio(tried, at) >= _ratio(best, at):
                a, b, best = one, other, tried
    return found


def _ratio(finding: Finding, at: int) -> float:
    return list(finding.ratios.values())[at] if at < len(finding.ratios) else 0.0


def _proposal(
    rng: np.random.Generator, a: Record, b: Record, levels: Record
) -> tuple[Record, Record]:
    """One column of either record changed, or made the same in both."""
    one, other = a.copy(), b.copy()
    column = int(rng.integers(len(levels)))
    if rng.integers(2):
        other[column] = one[column]
    else:
        (one, other)[int(rng.integers(2))][column] = rng.integers(levels[column])
    return one, other


class _Pair:
    """What is the same for all pairs of an attack; ``compare`` forces the answers upon one."""

    def __init__(
        self,
        algorithm: Algorithm,
        params: Parameters,
        releases: Sequence[Released],
        schema: Dataset,
        rest: Record,
    ):
        self._algorithm, self._params, self._releases = algorithm, params, releases
        self._schema, self._rest = schema, rest

    def compare(self, one: Record, other: Record) -> Finding:
        """The ratios and faults of the tables that hold one record or the other."""
        seen, charges, written = self._run(one)
        again, others, rewritten = self._run(other)
        faults = []
        if charges != others:
            faults.append("the charges differ")
        if written != rewritten:
            faults.append("the result differs")
        ratios: dict[str, float] = {}
        for number, (charge, (a, paid), (b, _)) in enumerate(
            zip(charges, seen, again, strict=False), 1
        ):
            size = float(np.linalg.norm(a - b)) if a.shape == b.shape else float("inf")
            name = f"{number}. {charge.label}"
            ratios[name] = size / paid
            if size > paid * (1 + ROUNDING):
                faults.append(f"{name}: its input moves by {size / paid:.4g} times its charge")
        return Finding(ratios, tuple(faults))

    def _run(
        self, record: Record
    ) -> tuple[list[tuple[NDArray[np.float64], float]], list[Charge], str]:
        codes = np.concatenate([self._rest, record[None, :]]).astype(np.uint8)
        spread = np.full(len(codes), 1)
        spread[0] = self._schema.n - len(codes) + 1
        data = Dataset.from_codes(
            codes, self._schema.names, self._schema.levels, weights=spread.tolist()
        )
        source = Forced(self._releases)
        ledger = self._algorithm.ledger(data, self._params) if self._algorithm.ledger else Ledger()
        session = RunContext(source, ledger, data.names, trace=False)
        with one_thread():
            outcome = self._algorithm.run(data, self._params, session)
        result = repr((outcome.cpdag.tolist(), outcome.diagnostics, outcome.status))
        return source.seen, list(ledger), result
