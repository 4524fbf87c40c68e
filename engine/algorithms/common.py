"""What constraint-based algorithms share: parameters, evidence of a query, the wrapped search."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from engine.aggregate import (
    Blocks,
    default_blocks,
    odd,
    smooth_sensitivity_of_median,
    votes,
)
from engine.data import Dataset
from engine.graphs import Adjacency, SeparatingSets, cpdag
from engine.oracle import OracleScores
from engine.params import ParameterError, Parameters, param
from engine.privacy.events import Event, LaplaceEvent, SmoothEvent
from engine.privacy.ledger import BudgetExhausted, Guarantee, Ledger
from engine.privacy.mechanisms import AboveThreshold, laplace, smooth_beta, smooth_laplace
from engine.session import Cancelled, Session
from engine.skeleton import Graph, Query, Rule, search
from engine.statistics import (
    DEFAULT_THRESHOLD,
    LIKELIHOOD,
    RANK,
    STATISTICS,
    Score,
    critical_z,
    p_sensitivity,
    rank_sensitivity,
    score,
)
from engine.tables import Rows, Store, store_of

PUBLISHED, STRICT = "published", "strict"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What an algorithm returns; the runner turns it into a RunResult.

    ``cpdag`` (d, d) boolean. ``claimed`` is the paper's own total, None in strict mode.
    ``extras`` holds what only some algorithms have, by name (planned budgets, weights, ...).
    """

    cpdag: Adjacency
    separating: SeparatingSets = field(default_factory=dict)
    tests_by_order: tuple[int, ...] = ()
    status: str = "complete"
    claimed: Guarantee | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Algorithm:
    """One registry line. ``run(data, params, session) -> Outcome``; ``family`` groups the form."""

    key: str
    title: str
    family: str
    params: type[Parameters]
    run: Callable[[Dataset, Any, Session], Outcome]
    private: bool
    reference: str
    summary: str = ""
    # How the ledger of a strict run is capped; public facts only. None: no noise, no ledger rule.
    ledger: Callable[[Dataset, Any], Ledger] | None = None


@dataclass(frozen=True, kw_only=True)
class SearchParameters(Parameters):
    """Parameters of the PC loop and its test, common to the constraint-based family."""

    statistic: str = param(
        "kendall",
        kind="choice",
        choices=STATISTICS,
        title="Independence test",
        help="Conditional Kendall's τ and Spearman's ρ read the levels as ordered; G² and χ² do "
        "not. The oracle asks the true graph (d-separation) instead of the data.",
    )
    threshold: float | str = param(
        "auto",
        kind="float",
        words=("auto",),
        low=0.0,
        high=1.0,
        title="Threshold T",
        help="An edge goes when the p-value exceeds T. Rank tests have p in [0, ½] and T = 0.10 as "
        "published; G² and χ² have p in [0, 1] and T = 0.01. 'auto' takes these.",
    )
    max_order: int | str = param(
        "auto",
        kind="int",
        words=("auto",),
        low=0,
        high=50,
        title="Largest order",
        help="The largest conditioning set. 'auto' is the paper's clip(⌊log₂ n⌋ − 5, 0, d − 2).",
    )
    stable: bool = param(
        False,
        kind="bool",
        title="PC-stable",
        help="Draw conditioning sets from the adjacencies at the start of each order, so that the "
        "result does not depend on the order of the columns. Costs more tests.",
    )

    @property
    def level(self) -> float:
        """The threshold as a number."""
        if isinstance(self.threshold, str):
            return DEFAULT_THRESHOLD[self.statistic]
        return self.threshold

    def order_limit(self, data: Dataset) -> int:
        """The largest order as a number, for n rows and d columns."""
        if isinstance(self.max_order, str):
            return int(np.clip(math.floor(math.log2(data.n)) - 5, 0, max(0, data.d - 2)))
        return min(self.max_order, max(0, data.d - 2))


@dataclass(frozen=True, kw_only=True)
class PrivateBudget(Parameters):
    """The budget and the guarantee it carries."""

    epsilon: float = param(
        1.0,
        kind="float",
        low=0.0,
        open_low=True,
        high=1e7,
        log=True,
        title="Privacy budget ε",
        help="Strict: the total for the whole run, a hard cap. Published: what the paper calls ε.",
    )
    delta: float = param(
        1e-6,
        kind="float",
        low=0.0,
        open_low=True,
        high=0.1,
        log=True,
        title="Failure probability δ",
        help="δ of the total guarantee. It should be far below 1/n.",
    )
    guarantee: str = param(
        STRICT,
        kind="choice",
        choices=(STRICT, PUBLISHED),
        title="Guarantee",
        help="Strict: sensitivities that hold and a total (ε, δ) that is never exceeded, for "
        "replace-one neighbours. Published: the paper's pseudo-code and constants, with the "
        "paper's total beside what can be defended.",
    )

    @property
    def total(self) -> Guarantee:
        """The strict cap."""
        return Guarantee(self.epsilon, self.delta)

    @property
    def strict(self) -> bool:
        """Whether the run's guarantee is strict."""
        return self.guarantee == STRICT


@dataclass(frozen=True, kw_only=True)
class PrivateParameters(PrivateBudget, SearchParameters):
    """Budget and guarantee of the PC loop."""


# A block has few rows and little power: a stricter level than a single test's loses weak edges, and
# the vote over the blocks, not the level, guards against chance.
BLOCK_THRESHOLD = 0.10


@dataclass(frozen=True, kw_only=True)
class NoisyTestParameters(PrivateParameters):
    """Adds what noise is put on: a rank test's score, or the aggregate of G² or χ² by blocks."""

    score: str = param(
        "auto",
        kind="choice",
        choices=("auto", "p", "z"),
        title="Perturbed score",
        help="Noise on the p-value, as published, or on |z|, which has a stronger signal. 'auto' "
        "is p in published mode and z in strict mode.",
        when={"statistic": RANK},
    )
    blocks: int | str = param(
        "auto",
        kind="int",
        words=("auto",),
        low=3,
        high=10_001,
        title="Blocks",
        help="G² and χ² run in this many random blocks of rows (made odd). Strict: how many blocks "
        "find independence, a count that one record changes by 1. Published: the median p-value "
        "with its smooth sensitivity. 'auto' is n / 1000, at least 11.",
        when={"statistic": LIKELIHOOD},
    )

    @property
    def level(self) -> float:
        """The threshold as a number; inside blocks "auto" is :data:`BLOCK_THRESHOLD`."""
        if isinstance(self.threshold, str) and self.statistic in LIKELIHOOD:
            return BLOCK_THRESHOLD
        return super().level

    @property
    def scale(self) -> str:
        """The perturbed score with "auto" resolved."""
        return {"auto": "z" if self.strict else "p"}.get(self.score, self.score)

    def block_count(self, n: int) -> int:
        """The odd number of blocks for n rows."""
        return default_blocks(n) if isinstance(self.blocks, str) else odd(self.blocks)


class Scores:
    """Scores queries on all rows of a dataset, each computed at most once per store."""

    def __init__(self, data: Dataset, statistic: str, variant: str):
        self.statistic, self.variant = statistic, variant
        self.store: Store = store_of(data)
        self._oracle = OracleScores(data) if statistic == "oracle" else None

    def full(self, q: Query) -> Score:
        """The query's score on all rows."""
        key = ("score", self.statistic, self.variant, q)
        return self.store.keep(key, lambda: self._compute(self.store.rows, q))

    def on(self, rows: Rows, q: Query) -> Score:
        """The query's score on a subsample."""
        return self.full(q) if rows is self.store.rows else self._compute(rows, q)

    def _compute(self, rows: Rows, q: Query) -> Score:
        if self._oracle is not None:
            return self._oracle.score(q)
        found = score(rows.table(q.x, q.y, q.given), self.statistic, self.variant)
        if not found.testable and not q.given:
            # Without a conditioning set a column is constant, and a constant is independent of
            # everything. (With one, the set determines a variable: nothing can be concluded.)
            return Score(0.0, 0.5 if self.statistic in RANK else 1.0, found.dof)
        return found


class Evidence:
    """A query as a private algorithm sees it: a number that is high when x and y look independent.

    ``scale`` "p" takes the rank test's p-value, "z" takes -|z|; both are compared with
    :meth:`level`. ``unit`` is the sensitivity that noise is calibrated to (the paper's in
    published mode, the proven one in strict mode); ``excess`` is how far the defended sensitivity
    exceeds it, 1 in strict mode. An untestable query counts as fully dependent.

    Algorithms put noise on it in two ways: :meth:`release`, and :meth:`gap` in a sparse vector.
    """

    # What a release itself adds to delta: none, but for noise on a smooth sensitivity.
    slack = 0.0
    # The oracle reads no data; a token unit keeps its noise below any comparison.
    _ORACLE_UNIT = 1e-12

    def __init__(self, data: Dataset, params: PrivateParameters, scale: str):
        if params.statistic in LIKELIHOOD:
            raise ParameterError(
                f"{params.statistic} has no bounded sensitivity for this algorithm: "
                f"choose {' or '.join(RANK)}."
            )
        if scale == "p" and params.level > 0.5:
            raise ParameterError("threshold must be at most 0.5: a rank test's p never exceeds it.")
        self.scores = Scores(data, params.statistic, params.guarantee)
        self.scale, self.strict, self.threshold = scale, params.strict, params.level
        self._statistic, self._cardinalities, self._n = params.statistic, data.cardinalities, data.n

    def sample(self, m: int, rng: np.random.Generator) -> Any:
        """A fresh sample of m rows, without replacement, as :meth:`of` takes it."""
        return self.scores.store.subsample(m, rng)

    def of(self, q: Query, rows: Any = None) -> float:
        """The query's evidence on a sample, or on all rows."""
        result = self.scores.full(q) if rows is None else self.scores.on(rows, q)
        if self.scale == "p":
            return result.p if result.testable else 0.0
        return -abs(result.statistic) if result.testable else -math.sqrt(_largest_z2(self._n))

    def level(self, tweak: float = 0.0) -> float:
        """What evidence is compared with: the threshold lowered by ``tweak`` on the p scale."""
        return self.level_at(max(0.0, self.threshold - tweak))

    def level_at(self, threshold: float) -> float:
        """What evidence is compared with if the threshold on the p scale is the one given."""
        return threshold if self.scale == "p" else -critical_z(threshold)

    def unit(self, q: Query, n: int | None = None) -> float:
        """The sensitivity that noise is calibrated to, for a score on n rows (default: all)."""
        if self._statistic == "oracle":
            return self._ORACLE_UNIT
        z = self._z_unit(q, self._n)
        full = z if self.scale == "z" else p_sensitivity(z)
        if n is None or n == self._n:
            return full
        if self.strict and self.scale == "p":
            return p_sensitivity(self._z_unit(q, n))
        return full * math.sqrt(self._n / n)

    def excess(self, q: Query, n: int | None = None) -> float:
        """Defended sensitivity divided by ``unit``, the largest there is for queries like q.

        Published scores have no useful global sensitivity; what holds is their range: p lies in
        [0, 1/2], and |z| is at most the root of the largest weight.
        """
        if self._statistic == "oracle":
            return 0.0
        if self.strict:
            return 1.0
        span = 0.5 if self.scale == "p" else math.sqrt(_largest_z2(n or self._n))
        return max(1.0, span / self.unit(q._replace(given=()), n))

    def _z_unit(self, q: Query, n: int) -> float:
        if self.strict:
            x, y = self._cardinalities[q.x], self._cardinalities[q.y]
            return rank_sensitivity(self._statistic, n, x, y, conditional=bool(q.given))
        if self._statistic == "spearman":
            # Preprint, theorems 8 and 9, with the schema's number k of strata.
            k = math.prod(self._cardinalities[c] for c in q.given)
            return 31 * math.sqrt(k / (n - k)) if q.given and k < n else 30 / math.sqrt(n)
        # Priv-PC calibrates every order to the unconditional replace-one bound.
        return 6.0 / math.sqrt(n)

    def event(self, q: Query, epsilon: float, n: int | None = None) -> Event:
        """What :meth:`release` charges."""
        unit = self.unit(q, n)
        return LaplaceEvent(self.excess(q, n) * unit, unit / epsilon)

    def release(
        self, session: Session, q: Query, epsilon: float, *, label: str, rows: Any = None
    ) -> tuple[float, float]:
        """(released value, exact value): the evidence with Laplace noise for ``epsilon``."""
        n = None if rows is None else rows.n
        raw, unit = self.of(q, rows), self.unit(q, n)
        noisy = laplace(
            session,
            raw,
            sensitivity=self.excess(q, n) * unit,
            scale=unit / epsilon,
            label=label,
            order=q.order,
        )
        return noisy, raw

    def gap(self, q: Query, rows: Any, tweak: float, epsilon: float) -> tuple[float, float, float]:
        """(evidence, level, unit) for a sparse vector run at ``epsilon``, which sees their
        (evidence - level) / unit."""
        n = None if rows is None else rows.n
        return self.of(q, rows), self.level(tweak), self.unit(q, n)


class VoteEvidence(Evidence):
    """How many blocks find independence in G2 or chi2, compared with half of them.

    One replaced record changes one block, so the count has sensitivity 1, on every sample and for
    every query: sound with Laplace and Gaussian noise and in a sparse vector. The tweak lowers the
    share of votes asked for.
    """

    def __init__(self, data: Dataset, params: NoisyTestParameters, rng: np.random.Generator):
        self.scores = Scores(data, params.statistic, "published")
        self.scale, self.strict, self.threshold = "votes", params.strict, params.level
        self._statistic, self._n = params.statistic, data.n
        self._count = params.block_count(data.n)
        self._dealt = Blocks.deal(self.scores.store, self._count, rng)
        self._kept: dict[Query, NDArray[np.float64]] = {}

    def sample(self, m: int, rng: np.random.Generator) -> Blocks:
        """m rows dealt afresh; the run's own blocks where that is all rows."""
        if m >= self._n:
            return self._dealt
        return Blocks.deal(self.scores.store, self._count, rng, m)

    def of(self, q: Query, rows: Any = None) -> float:
        """The number of blocks that find q independent."""
        return float(votes(self.p_values(q, rows), self.threshold))

    def p_values(self, q: Query, rows: Any = None) -> NDArray[np.float64]:
        """Each block's p-value; those of the run's own blocks are kept."""
        if rows is not None and rows is not self._dealt:
            return cast(Blocks, rows).p_values(q.x, q.y, q.given, self._statistic)
        if q not in self._kept:
            self._kept[q] = self._dealt.p_values(q.x, q.y, q.given, self._statistic)
        return self._kept[q]

    def level(self, tweak: float = 0.0) -> float:
        """Half of the blocks, less the tweak's share of them."""
        return self._count * max(0.0, 0.5 - tweak)

    def level_at(self, threshold: float) -> float:
        """The threshold applies inside the blocks; between them it scales the half."""
        share = threshold / self.threshold if self.threshold > 0 else 1.0
        return self._count * min(1.0, 0.5 * share)

    def unit(self, q: Query, n: int | None = None) -> float:
        """One record changes one vote."""
        return 1.0

    def excess(self, q: Query, n: int | None = None) -> float:
        """The sensitivity holds as it is."""
        return 1.0


class MedianEvidence(VoteEvidence):
    """The blocks' median p-value with noise on its smooth sensitivity (preprint, Algorithm 6).

    A release is (epsilon, delta)-DP (:class:`SmoothEvent`). In a sparse vector the noise of every
    negative answer has a scale of its own that depends on the data, and such answers are not free:
    nothing is defended there.
    """

    def __init__(self, data: Dataset, params: NoisyTestParameters, rng: np.random.Generator):
        super().__init__(data, params, rng)
        self.scale, self.slack = "median", params.delta

    def of(self, q: Query, rows: Any = None) -> float:
        """The median of the blocks' p-values."""
        return float(np.median(self.p_values(q, rows)))

    def level(self, tweak: float = 0.0) -> float:
        """The threshold, less the tweak."""
        return self.level_at(max(0.0, self.threshold - tweak))

    def level_at(self, threshold: float) -> float:
        """The threshold itself."""
        return threshold

    def unit(self, q: Query, n: int | None = None) -> float:
        """The range: used only where no release is drawn from it."""
        return 1.0

    def excess(self, q: Query, n: int | None = None) -> float:
        """Not bounded in a sparse vector."""
        return math.inf

    def event(self, q: Query, epsilon: float, n: int | None = None) -> Event:
        """What :meth:`release` charges."""
        return SmoothEvent(epsilon, self.slack)

    def release(
        self, session: Session, q: Query, epsilon: float, *, label: str, rows: Any = None
    ) -> tuple[float, float]:
        """(released value, exact value): Laplace noise of scale 2 S / epsilon."""
        raw = self.of(q, rows)
        noisy = smooth_laplace(
            session,
            raw,
            smooth_sensitivity=self._smooth(q, rows, epsilon),
            epsilon=epsilon,
            slack=self.slack,
            label=label,
            order=q.order,
        )
        return noisy, raw

    def gap(self, q: Query, rows: Any, tweak: float, epsilon: float) -> tuple[float, float, float]:
        """As the paper's sparse vector, with the smooth sensitivity in the sensitivity's place."""
        return self.of(q, rows), self.level(tweak), self._smooth(q, rows, epsilon)

    def _smooth(self, q: Query, rows: Any, epsilon: float) -> float:
        beta = smooth_beta(epsilon, self.slack)
        return smooth_sensitivity_of_median(self.p_values(q, rows), beta)


def evidence_of(
    data: Dataset, params: NoisyTestParameters, scale: str, rng: np.random.Generator
) -> Evidence:
    """The evidence of the chosen test: rank scores, or the aggregate of G2 and chi2 by blocks."""
    if params.statistic not in LIKELIHOOD:
        return Evidence(data, params, scale)
    return (VoteEvidence if params.strict else MedianEvidence)(data, params, rng)


class Rounds:
    """Sparse vector rounds: each positive answer ends one, and the next query opens another.

    A round runs at ``epsilon`` on a fresh sample of m rows: in units of the sensitivity its
    threshold gets Lap(2/epsilon) and every query Lap(4/epsilon). Rounds are charged whole as they
    open; ``reserve`` says what a positive answer to a query will lead to, for which room must be.
    """

    def __init__(
        self,
        evidence: Evidence,
        session: Session,
        *,
        epsilon: float,
        m: int,
        n: int,
        label: str,
        positive: str = "independent",
        reserve: Callable[[Query], tuple[Event, ...]] = lambda q: (),
    ):
        self._evidence, self._session, self._epsilon = evidence, session, epsilon
        self._m, self._rate = m, m / n
        self._label, self._positive, self._reserve = label, positive, reserve
        self._run: AboveThreshold | None = None
        self._sample: Any = None

    def _open(self, q: Query) -> AboveThreshold:
        run = AboveThreshold(
            self._session,
            threshold=0.0,
            sensitivity=self._evidence.excess(q, self._m),
            threshold_scale=2 / self._epsilon,
            query_scale=4 / self._epsilon,
            rate=self._rate,
            reserve=self._reserve(q),
            label=self._label,
            order=q.order,
        )
        self._sample = self._evidence.sample(self._m, self._session.rng)
        return run

    def above(self, q: Query, tweak: float = 0.0) -> bool:
        """Whether the query's noisy evidence reaches the round's noisy level."""
        if self._run is None or not self._run.open:
            self._run = self._open(q)
        raw, level, unit = self._evidence.gap(q, self._sample, tweak, self._epsilon)
        answer = self._run.above(_in_units(raw - level, unit))
        self._session.emit(
            self._label,
            self._positive if answer else "dependent",
            query=q,
            threshold=level,
            internal={
                "exact": raw,
                "noisy value": level + unit * self._run.noisy_value,
                "noisy threshold": level + unit * self._run.noisy_threshold,
            },
        )
        return answer


def _in_units(difference: float, unit: float) -> float:
    """difference / unit; without a unit its sign decides, and a tie is not independence."""
    if math.isnan(difference) or (unit == 0 and difference == 0):
        return -math.inf
    return difference / unit if unit > 0 else math.copysign(math.inf, difference)


def _largest_z2(n: int) -> float:
    """The largest z^2 a conditional rank test on n rows can reach: Kendall's w(n) < 9n/4."""
    return 9 * n / 4


def likely_tests(d: int) -> tuple[int, ...]:
    """A guess of the number of tests of order 0 to d - 2, for planning a strict budget.

    Every pair once at order 0; half of a complete graph's tests at order 1; each further order
    half of the one before. The guess is a public fact: it may fail, and then costs utility only.
    """
    pairs = d * (d - 1) // 2
    return (pairs, *(math.ceil(pairs * (d - 2) / 2**k) for k in range(1, d - 1)))


def advanced_total(steps: int, epsilon: float, delta: float) -> Guarantee:
    """Advanced composition as the papers claim it: sqrt(2 k ln(1/delta)) e + k e (e^e - 1)."""
    if steps == 0:
        return Guarantee(0.0, 0.0)
    if epsilon > 500:  # e^epsilon overflows
        return Guarantee(math.inf, delta)
    root = math.sqrt(2 * steps * math.log(1 / delta)) * epsilon
    return Guarantee(root + steps * epsilon * math.expm1(epsilon), delta)


def learn(data: Dataset, params: SearchParameters, session: Session, rule: Rule) -> Outcome:
    """Run the PC loop with a rule; keep what was decided if the budget or the user ends it."""
    graph = Graph(data.d, stable=params.stable)
    status = "complete"
    try:
        search(graph, rule, params.order_limit(data), check=session.check)
    except BudgetExhausted:
        status = "budget_exhausted"
    except Cancelled:
        status = "cancelled"
    session.close()
    return Outcome(
        cpdag=cpdag(graph.matrix(), graph.separating),
        separating={pair: tuple(sets) for pair, sets in graph.separating.items()},
        tests_by_order=graph.tests_by_order(),
        status=status,
    )
