"""A query as a private algorithm sees it: one number, what it is compared with, its sensitivity."""

from __future__ import annotations

import math
from typing import Any

from engine.context import RunContext, compared
from engine.data.dataset import Dataset
from engine.params import ParameterError
from engine.privacy.events import Event, LaplaceEvent
from engine.privacy.mechanisms import laplace
from engine.randomness import Randomness
from engine.search.parameters import PrivateParameters
from engine.search.scores import QueryScores
from engine.search.skeleton import Query
from engine.statistics.rank import critical_z, p_sensitivity
from engine.statistics.registry import BOUNDED
from engine.tables.subsample import draw


class Noise:
    """What is put on a value that is released: Laplace(unit / epsilon), as the papers put it.

    A variant overrides both methods. Noise is calibrated to ``unit`` and ``epsilon``;
    ``sensitivity`` is the one that is charged.
    """

    def event(self, sensitivity: float, unit: float, epsilon: float) -> Event:
        """What :meth:`draw` charges."""
        return LaplaceEvent(sensitivity, unit / epsilon)

    def draw(
        self,
        context: RunContext,
        value: float,
        sensitivity: float,
        unit: float,
        epsilon: float,
        **told: Any,
    ) -> float:
        """The noisy value, by a mechanism that gets ``told`` as it is."""
        return laplace(context, value, sensitivity=sensitivity, scale=unit / epsilon, **told)


LAPLACE = Noise()


class Evidence:
    """A query as a private algorithm sees it: a number that is high when x and y look independent.

    ``perturbed`` "p" takes the rank test's p-value, "z" takes -|z|; both are compared with
    :meth:`cutoff`. ``noise_sensitivity`` is the one that noise is calibrated to (the paper's in
    published mode, the proven one in strict mode); ``defended_ratio`` is how far the defended
    sensitivity exceeds it, 1 in strict mode. An untestable query counts as fully dependent.

    Algorithms put noise on it in two ways: :meth:`release`, and :meth:`gap` in a sparse vector.
    """

    # What a release itself adds to delta: none, but for noise on a smooth sensitivity.
    slack = 0.0
    # The oracle reads no data; a token unit keeps its noise below any comparison.
    _ORACLE_SENSITIVITY = 1e-12

    def __init__(
        self, data: Dataset, params: PrivateParameters, perturbed: str, noise: Noise = LAPLACE
    ):
        if params.test.aggregated:
            raise ParameterError(
                f"{params.test.key} has no bounded sensitivity for this algorithm: "
                f"choose {' or '.join(BOUNDED)}."
            )
        largest = params.test.largest_p
        if perturbed == "p" and params.cutoff > largest:
            raise ParameterError(f"threshold must be at most {largest}: p never exceeds it here.")
        self.scores, self._noise = QueryScores(data, params.test, params.guarantee), noise
        self.perturbed, self.strict, self.threshold = perturbed, params.strict, params.cutoff
        self._test, self._cardinalities, self._n = params.test, data.cardinalities, data.n
        self._units: dict[tuple[Any, int | None], float] = {}  # by shape of query and rows

    @property
    def noisy_name(self) -> str:
        """What a released value is called in a reason."""
        return {"p": "noisy p-value", "z": "noisy −|z|", "votes": "noisy number of votes"}.get(
            self.perturbed, "noisy median p-value"
        )

    def sample(self, m: int, randomness: Randomness) -> Any:
        """A fresh sample of m rows, without replacement, as :meth:`of` takes it."""
        return draw(self.scores.store, m, randomness)

    def of(self, q: Query, rows: Any = None) -> float:
        """The query's evidence on a sample, or on all rows."""
        result = self.scores.full(q) if rows is None else self.scores.on(rows, q)
        if self.perturbed == "p":
            return result.p if result.testable else 0.0
        return -abs(result.statistic) if result.testable else -self._test.largest(self._n)

    def cutoff(self, tweak: float = 0.0) -> float:
        """What evidence is compared with: the threshold lowered by ``tweak`` on the p scale."""
        return self.cutoff_at(max(0.0, self.threshold - tweak))

    def cutoff_at(self, threshold: float) -> float:
        """What evidence is compared with if the threshold on the p scale is the one given."""
        return threshold if self.perturbed == "p" else -critical_z(threshold)

    def noise_sensitivity(self, q: Query, n: int | None = None) -> float:
        """The sensitivity that noise is calibrated to, for a score on n rows (default: all)."""
        shape = self._shape(q)
        found = self._units.get((shape, n))
        if found is None:
            found = self._units[shape, n] = self._unit(shape, n)
        return found

    def _shape(self, q: Query) -> Any:
        """What of a query its sensitivity depends on: strict (levels of x, of y, whether there is a
        set), published the set's strata, None without one or where they make no difference."""
        if self.strict:
            return self._cardinalities[q.x], self._cardinalities[q.y], bool(q.given)
        if q.given and self._test.by_strata:
            return math.prod([self._cardinalities[c] for c in q.given])
        return None

    def _unit(self, shape: Any, n: int | None) -> float:
        if not self._test.reads_data:
            return self._ORACLE_SENSITIVITY
        z = self._z_sensitivity(shape, self._n)
        full = z if self.perturbed == "z" else p_sensitivity(z)
        if n is None or n == self._n:
            return full
        if self.strict and self.perturbed == "p":
            return p_sensitivity(self._z_sensitivity(shape, n))
        return full * math.sqrt(self._n / n)

    def _z_sensitivity(self, shape: Any, n: int) -> float:
        if self.strict:
            x, y, conditional = shape
            return self._test.sensitivity(n, x, y, conditional=conditional)
        return self._test.published_sensitivity(n, shape)

    def defended_ratio(self, q: Query, n: int | None = None) -> float:
        """Defended sensitivity over the calibrated one, the largest there is for queries like q.

        Published scores have no useful global sensitivity; what holds is their range: p lies in
        [0, 1/2], and |z| is at most the root of the largest weight.
        """
        if not self._test.reads_data:
            return 0.0
        if self.strict:
            return 1.0
        p, test = self.perturbed == "p", self._test
        span = test.largest_p if p else test.largest(n or self._n)
        return max(1.0, span / self.noise_sensitivity(Query(q.x, q.y, ()), n))

    def least_unit(self) -> float:
        """The sensitivity of the most favourable pair: that of the columns with fewest levels."""
        x, y = sorted(range(len(self._cardinalities)), key=self._cardinalities.__getitem__)[:2]
        return self.noise_sensitivity(Query(x, y, ()))

    def event(self, q: Query, epsilon: float, n: int | None = None) -> Event:
        """What :meth:`release` charges."""
        unit = self.noise_sensitivity(q, n)
        return self._noise.event(self.defended_ratio(q, n) * unit, unit, epsilon)

    def release(
        self, context: RunContext, q: Query, epsilon: float, *, label: str, rows: Any = None
    ) -> tuple[float, float]:
        """(released value, exact value): the evidence with noise for ``epsilon``."""
        n = None if rows is None else rows.n
        raw, unit = self.of(q, rows), self.noise_sensitivity(q, n)
        defended = self.defended_ratio(q, n) * unit
        noisy = self._noise.draw(context, raw, defended, unit, epsilon, label=label, order=q.order)
        return noisy, raw

    def conclude(self, context: RunContext, kind: str, q: Query, noisy: float, raw: float) -> bool:
        """Whether a released value says independent: above the cutoff. One step of the trace."""
        cutoff = self.cutoff()
        found = noisy > cutoff
        if context.trace:
            context.emit(
                kind,
                "independent" if found else "dependent",
                reason=compared(self.noisy_name, noisy, cutoff),
                query=q,
                value=noisy,
                threshold=cutoff,
                internal={"exact": raw},
            )
        return found

    def gap(self, q: Query, rows: Any, tweak: float, epsilon: float) -> tuple[float, float, float]:
        """(evidence, cutoff, sensitivity) for a sparse vector run at ``epsilon``, which sees their
        (evidence - cutoff) / sensitivity."""
        n = None if rows is None else rows.n
        return self.of(q, rows), self.cutoff(tweak), self.noise_sensitivity(q, n)
