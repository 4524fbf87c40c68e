"""EM-PC: PC by the exponential mechanism (Xu, Yuan and Wu 2017).

For each node, the mechanism first draws how many of its edges to delete, then which ones. Published
and strict runs share that plan. They differ in the utility. The published one counts, by a greedy
search, the records that would change the result of a G2 test. The strict one is the distance of a
rank statistic from its threshold in units of its sensitivity; one record changes it by at most 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from engine.algorithm import Algorithm, Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.diagnostics import NodeRound
from engine.params import ParameterError, again, param
from engine.privacy.accounting import advanced_total, rho_budget
from engine.privacy.budget import HAIR
from engine.privacy.events import UndefendedEvent
from engine.privacy.ledger import Ledger
from engine.privacy.mechanisms import exponential
from engine.search.diagnostics import SearchDiagnostics
from engine.search.noisy_score import NoisyScore, PrivateParameters, TwoForms, differs
from engine.search.pc import pc
from engine.search.skeleton import Graph, Query
from engine.statistics.base import QueryScores, Score, Statistic
from engine.statistics.kendall import KENDALL
from engine.statistics.likelihood import G2
from engine.statistics.oracle import ORACLE
from engine.statistics.registry import BOUNDED, STATISTICS

Utilities = NDArray[np.float64]
PROGRAM_ALPHA = 0.10  # level of the G2 test in the authors' program; the paper gives none


@dataclass(frozen=True, kw_only=True)
class EMPCParameters(TwoForms):
    """Parameters of EM-PC."""

    form: str = differs(
        ", takes α = 0.10 for G² as 'auto' and has no cap on the orders. It removes records where "
        "the text changes them, and always keeps an edge of a node. With Kendall's τ, as in "
        "CURATE's program, τ picks the sets, and G² the number of records"
    )
    statistic: str = again(
        PrivateParameters,
        "statistic",
        default="auto",
        choices=("auto", G2.key, *BOUNDED, ORACLE.key),
        help="'auto' is G² in published mode, as in the paper, and Kendall's τ in strict mode: the "
        "number of records that flip a G² test is searched for greedily, and no bound "
        "is known for one record's influence on that search.",
    )
    rounds: int | str = param(
        "auto",
        kind="int",
        words=("auto",),
        low=1,
        high=1e6,
        tuned=(2, 200),
        title="Planned rounds",
        help="The number of rounds that share the strict budget, one per node and order. The run "
        "ends with the last one. 'auto' is three for each variable.",
        when={"guarantee": ("strict",)},
    )

    @property
    def cutoff(self) -> float:
        """The threshold as a number; the program's "auto" for G2 is :data:`PROGRAM_ALPHA`."""
        if self.programmed and self.test is G2 and isinstance(self.threshold, str):
            return PROGRAM_ALPHA
        return super().cutoff

    def order_limit(self, data: Dataset) -> int:
        """Return the largest order as a number; the program's "auto" means d - 2."""
        if self.programmed and isinstance(self.max_order, str):
            return max(0, data.d - 2)
        return super().order_limit(data)

    def check_together(self) -> None:
        """Refuse G2 in strict mode: its utility has no proven sensitivity."""
        if self.strict and self.test is G2:
            raise ParameterError(
                "em_pc has no strict form for g2: choose kendall or spearman, or published."
            )

    @property
    def test(self) -> Statistic:
        """The statistic itself, with "auto" resolved."""
        if self.statistic == "auto":
            return KENDALL if self.strict else G2
        return STATISTICS[self.statistic]

    @property
    def greedy(self) -> bool:
        """True if the utility is a number of records found by a greedy search."""
        return self.test is G2 or (self.programmed and self.test.reads_data)


def share(data: Dataset, params: EMPCParameters) -> tuple[str, float]:
    """Return the ledger's method and the epsilon per round: ``epsilon``, or a share if strict.

    It is the larger of two shares that are fixed in advance. A round costs epsilon, or under zCDP
    (epsilon/2)^2/8 for the count and b (epsilon/(2b))^2/8 for the b >= 1 deletions: at most
    epsilon^2 / 16.
    """
    if not params.strict:
        return "basic", params.epsilon
    rounds = params.rounds
    if isinstance(rounds, str):  # uses only public facts
        rounds = data.d * min(3, params.order_limit(data) + 1)
    basic = params.epsilon / rounds
    zcdp = 4 * math.sqrt(rho_budget(params.epsilon, params.delta) * (1 - HAIR) / rounds)
    return ("zcdp", zcdp) if zcdp > basic else ("basic", basic)


def ledger(data: Dataset, params: EMPCParameters) -> Ledger:
    """Return a ledger: with a cap if strict, without one if published."""
    return params.ledger(share(data, params)[0])


Sets = list[tuple[int, ...]]
Options = tuple[Sets, list[float]]  # the conditioning sets of an edge, and their utilities


class GreedyUtility:
    """Records to change until G2 changes its result; deterministic, so cached per dataset."""

    def __init__(self, data: Dataset, params: EMPCParameters):
        self._scores = QueryScores(data, params.test, "published")
        self._alpha, self._n = params.cutoff, data.n
        self._programmed = params.programmed
        # The bound follows from the range: the utility lies between -n - 1 and n.
        self.defended = 2.0 * data.n + 1

    def of(self, x: int, y: int, candidates: Sequence[int], order: int) -> Options:
        """Return the set with the largest p-value and its utility: no other set is ever drawn."""
        best = self._best(min(x, y), max(x, y), candidates, order)
        return [best.given], [float(self._distance(best))]

    def _best(self, low: int, high: int, candidates: Sequence[int], order: int) -> Query:
        """Return the first of the sets with the largest p-value."""
        store = self._scores.store
        pair = ("nearness", self._scores.statistic.key, low, high, self._programmed)
        known = store.known(pair)
        sets = list(combinations(candidates, order))
        for given in sets:
            if given not in known:
                score = self._scores.compute(Query(low, high, given))
                near = _nearness(score)[: 1 if self._programmed else 2]
                store.note(pair, known, given, near)
        return Query(low, high, max(sets, key=known.__getitem__))

    def _distance(self, q: Query) -> int:
        store = self._scores.store
        count = G2.records_to_remove if self._programmed else G2.records_to_flip
        return store.keep(
            (count.__name__, self._alpha, q),
            lambda: count(store.table(q.x, q.y, q.given), self._alpha, self._n),
        )


def _nearness(score: Score) -> tuple[float, float]:
    """Return a sort key for independence: p, and -G2 per degree of freedom where p underflows."""
    if not score.testable:
        return -1.0, 0.0
    return score.p, -score.statistic / (score.dof or 1)


class GapUtility:
    """The utility (c_T - |z|) / Delta, in units of the largest change by one replaced record."""

    def __init__(self, data: Dataset, params: EMPCParameters):
        self._score, self._strict = NoisyScore(data, params, "z"), params.strict
        self.defended = self._score.defended_ratio(Query(0, min(1, data.d - 1), ()))

    def of(self, x: int, y: int, candidates: Sequence[int], order: int) -> Options:
        """Return all sets with their utilities if strict, only the best set if published."""
        sets = list(combinations(candidates, order))
        queries = [Query(min(x, y), max(x, y), given) for given in sets]
        cutoff = self._score.cutoff()
        noise = self._score.noise_sensitivity
        found = [(self._score.of(q) - cutoff) / noise(q) for q in queries]
        if self._strict:
            return sets, found
        best = max(range(len(found)), key=found.__getitem__)
        return [sets[best]], [found[best]]


def count_utilities(sorted_utilities: Utilities) -> Utilities:
    """Return u(b) of deleting b = 0..m edges, from the edges' utilities s in falling order.

    u(b) = min(s_b, -s_(b+1)), with s_0 = inf and s_(m+1) = -inf. It measures how far the data are
    from exactly b independent edges, or how clearly they have them. One record changes each s by at
    most its sensitivity, and therefore also the sorted values and this minimum. The paper's three
    cases are this value, less 1 at the right b.
    """
    # With s_0 and s_(m+1) the two ends, b = 0 and b = m, have the same expression as the others.
    s = np.concatenate([[math.inf], sorted_utilities, [-math.inf]])
    u: Utilities = np.minimum(s[:-1], -s[1:])
    return u


class EMPC:
    """Search rule that decides about all edges of a node at once."""

    def __init__(self, data: Dataset, params: EMPCParameters, context: RunContext):
        self._context, self._names = context, data.names
        self.epsilon = share(data, params)[1]
        self._greedy, self._programmed = params.greedy, params.programmed
        self._utility = (GreedyUtility if self._greedy else GapUtility)(data, params)
        # True if a set was chosen without noise in a charged draw.
        self._charged = params.strict or not params.test.reads_data
        self.node_rounds: list[NodeRound] = []

    def begin_order(self, order: int, graph: Graph) -> None:
        """Do nothing: an order needs no preparation."""

    def separate(self, x: int, order: int, graph: Graph) -> Iterator[Query]:
        """Draw the number of x's edges to remove, then which, each with a separating set."""
        if graph.largest(x) < order:  # "for each node i with |adj(i)| >= l + 1"
            return
        options = self._options(x, order, graph)
        if not options:  # background knowledge leaves no edge to decide
            return
        edges, names = len(options), self._names
        self.node_rounds.append(NodeRound(order, names[x], edges, ()))
        count = self._how_many(x, order, options)
        choices = self._choices(order, options) if count else []
        utilities = np.array([value for _, value in choices])
        for _ in range(count):
            drawn = self._draw(utilities, self.epsilon / (2 * count), "which", order)
            y, given = choices[drawn][0]
            del options[y]
            stay = [i for i, ((other, _), _) in enumerate(choices) if other != y]
            choices, utilities = [choices[i] for i in stay], utilities[stay]
            gone = (*self.node_rounds[-1].deleted, (names[y], tuple(names[g] for g in given)))
            self.node_rounds[-1] = NodeRound(order, names[x], edges, gone)
            query = Query(min(x, y), max(x, y), given)
            self._context.emit("delete", "independent", code="drawn", query=query)
            yield query
        graph.asked.update((x, y) for y in options)

    def _options(self, x: int, order: int, graph: Graph) -> dict[int, Options]:
        """Return the conditioning sets of each neighbour, and their utilities."""
        options = {}
        for y in graph.asked_about(x):
            candidates = graph.candidates(x, y) if order else ()
            if count := math.comb(len(candidates), order):
                graph.tests[order] += count
                options[y] = self._utility.of(x, y, candidates, order)
        return options

    def _how_many(self, x: int, order: int, options: dict[int, Options]) -> int:
        s = np.sort([max(utilities) for _, utilities in options.values()])[::-1]
        u = count_utilities(s)
        if self._greedy:  # the published u is this less 1 at the b that the data suggest
            u[int(np.count_nonzero(s > 0))] -= 1
        u = u[:-1] if self._programmed else u  # the program never deletes all edges of a node
        count = self._draw(u, self.epsilon / 2, "how many", order)
        if self._context.trace:
            self._context.emit(
                "how many",
                "counted",
                code="drawn_count",
                numbers={"edges": s.size, "node": self._names[x]},
                order=order,
                value=float(count),
                internal={"utilities": u.tolist()},
            )
        return count

    def _choices(
        self, order: int, options: dict[int, Options]
    ) -> list[tuple[tuple[int, tuple[int, ...]], float]]:
        """Return the edges and separating sets to draw from, and the utility of each.

        Strict: edge and set are drawn together from all combinations, at no extra cost. Published:
        the set is the one with the largest p-value. It is chosen without noise, so there is no
        guarantee once there are several sets.
        """
        if order > 0 and not self._charged:
            self._charged = True
            event = UndefendedEvent("separating sets are chosen without noise")
            self._context.ledger.charge(event, label="separating sets", order=order)
        return [
            ((y, given), value)
            for y, (sets, utilities) in options.items()
            for given, value in zip(sets, utilities, strict=True)
        ]

    def _draw(self, utilities: Utilities, epsilon: float, label: str, order: int) -> int:
        return exponential(
            self._context,
            utilities,
            epsilon=epsilon,
            defended_sensitivity=self._utility.defended,
            label=label,
            order=order,
        )


def run(data: Dataset, params: EMPCParameters, context: RunContext) -> Outcome:
    """Run; ``epsilon`` is per round if published, and a total in equal shares if strict."""
    data = params.rows(data)
    rule = EMPC(data, params, context)
    outcome = pc(data, params, context, rule)
    rounds = tuple(rule.node_rounds)
    total = advanced_total(len(rounds), params.epsilon, params.delta)
    diagnostics = SearchDiagnostics(epsilon_per_round=rule.epsilon, node_rounds=rounds)
    return replace(outcome, claimed=None if params.strict else total, diagnostics=diagnostics)


ALGORITHM = Algorithm(
    key="em_pc",
    title="EM-PC",
    family="constraint-based",
    params=EMPCParameters,
    run=run,
    reference="Xu, Yuan, Wu, IEEE PAC 2017",
    summary="Samples, for each variable, how many of its links go and which "
    "(exponential mechanism).",
    ledger=ledger,
    epsilon_pays="a round (one node at one order)",
    epsilon_unit="round",
    parent=None,  # decides per node and deletes by count, so without noise it differs from PC
)
