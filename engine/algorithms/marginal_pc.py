"""Marginal PC: spend the whole budget on a few noisy marginals, then test at no further cost.

The run makes Gaussian releases under one Gaussian DP filter. Each depends on earlier ones:

1. all one-way and two-way contrasts, from which any conditional independence can be tested up to
   products of the conditioning variables;
2. twice more (once with nine variables or fewer) the pairs that the earlier releases leave joined;
3. the triples that could still explain an edge through such a product, or the joined pairs once
   more if noise would hide the product. A table with few cells gets all contrasts of three and more
   columns: these determine the whole table, and the run compares DAGs by it;
4. if noise is far below sampling error, twice: the whole tables of the tests that removed links.

A run with questions about effects spends a share of the budget on them at the end, divided by
weight. It releases, for each question, tables of the cause, the outcome and the adjustment sets of
plausible graphs, then one number per adjustment set.

The PC search, the directions, and the confidence of edges and directions are post-processing. The
proof is in research/theory/marginal_pc.md, the measurements in research/marginal_pc.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, groupby
from typing import NamedTuple

import numpy as np
from networkx.utils import UnionFind

from engine.algorithm import Algorithm, Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.effects.estimate import Estimate
from engine.effects.plan import (
    Asked,
    adjustment_sets,
    asked_of,
    corrected,
    planned_numbers,
    wanted_tables,
)
from engine.effects.plausible import Plausible, plausible
from engine.graphs.cpdag import Adjacency, SeparatingSets
from engine.graphs.dags import MOST_COLUMNS, classes, climbed
from engine.graphs.known import Known
from engine.graphs.orientation import by_strength
from engine.graphs.weighed_colliders import (
    EARNED,
    MAJORITY,
    ORIENTATIONS,
    Orientation,
    collider_weights,
    orient,
    separators,
)
from engine.marginals import confidence
from engine.marginals.citest import NoisyTests
from engine.marginals.diagnostics import MarginalDiagnostics
from engine.marginals.evidence import Evidence
from engine.marginals.levels import check_levels, merged
from engine.marginals.moments import (
    Moments,
    Pair,
    Triple,
    refine_pairs,
    release_orders,
    release_pairs,
    release_tables,
    release_triples,
    release_weighted,
)
from engine.marginals.repair import repaired
from engine.marginals.sensitivity import hidden
from engine.marginals.strata import fits
from engine.monitor import Cancelled
from engine.params import again, param
from engine.privacy.accounting import Guarantee, mu_budget, mu_to_epsilon
from engine.privacy.budget import STRICT
from engine.privacy.ledger import Ledger
from engine.privacy.mechanisms import gaussian
from engine.question import budget_shares
from engine.search.noisy_score import PrivateParameters
from engine.search.pc import pc
from engine.search.skeleton import Graph, Query, TestByTest, search
from engine.statistics.kendall import KENDALL
from engine.statistics.likelihood import CHI2, G2
from engine.statistics.spearman import SPEARMAN
from engine.tables.store import store_of

# Constants of the decisions (research/marginal_pc.md, "Defaults").
ORDER = 3
EDGES_PER_NODE = 1.2  # expected, for the prior odds of adjacency
LEAST_ODDS = 1.0
SLACK = 0.1  # in favour of the edge, so that a test without information removes nothing
FOREST = 1.0  # log odds in favour of the edges of the strongest spanning forest
REPAIRED = "repaired"  # releases of version 0.3 and earlier have STRONGEST, and keep its graph
LINK = 1.0  # least log odds of the evidence for a link if all tensors are released
MOST_CELLS = 256
# largest correlation hidden by noise if much is released at once (also for auto)
MOST_HIDDEN = 0.01
SCREEN_P, SCREEN_FACTOR = 0.15, math.exp(-1.5)
# largest noise of a correlation, relative to sampling error, for releasing whole tables
QUIET = 0.4
SEPARATORS = 8  # candidate separators per edge whose triples may be released
DIGITS = 6  # of log Bayes factors in comparisons, so that rounding errors decide nothing
# noise of E[u_x u_y u_z] above which too few products are visible to pay for triples
VISIBLE = 0.0065


@dataclass(frozen=True, kw_only=True)
class MarginalPCParameters(PrivateParameters):
    """Parameters of Marginal PC."""

    statistic: str = again(
        PrivateParameters,
        "statistic",
        default=G2.key,
        choices=(G2.key, CHI2.key, KENDALL.key, SPEARMAN.key),
        help="All tests are free once the marginals are released. G² and χ² (one and the same "
        "here) look at every contrast of the levels; Kendall and Spearman (likewise) at the trend "
        "between midranks alone.",
    )
    threshold: float | str = again(
        PrivateParameters,
        "threshold",
        help="An edge is removed if the posterior probability of independence exceeds T ('auto' "
        "is ½). "
        "It is also removed if its columns show no more dependence than chance would among all "
        "pairs.",
    )
    max_order: int | str = again(
        PrivateParameters, "max_order", high=10, help="The largest conditioning set; 'auto' is 3."
    )
    stable: bool = again(
        PrivateParameters,
        "stable",
        default=True,
        help="Draw conditioning sets from the adjacencies at the start of each order, so that the "
        "result does not depend on the order of the columns. The tests cost nothing.",
    )
    orientation: str = param(
        REPAIRED,
        kind="choice",
        choices=(REPAIRED, *ORIENTATIONS),
        title="Directions",
        help="Strongest: all colliders are weighed against each other by their Bayes factors, and "
        "an arrow is drawn where its probability exceeds 0.4; in tables of few cells whole graphs "
        "near the one that the tests find are compared. Repaired: the same, and a deleted edge "
        "comes back where no plausible graph without it explains the dependence. Majority: a "
        "middle node is a collider if it lies in fewer than half of the sets that separated its "
        "neighbours.",
    )
    guarantee: str = again(
        PrivateParameters,
        "guarantee",
        choices=(STRICT,),
        help="Always strict: a total (ε, δ) that is never exceeded, for replace-one neighbours.",
    )

    @property
    def cutoff(self) -> float:
        """The threshold as a number."""
        return 0.5 if isinstance(self.threshold, str) else self.threshold

    @property
    def ordinal(self) -> bool:
        """True if the test looks only at the trend."""
        return self.test in (KENDALL, SPEARMAN)

    @property
    def by_position(self) -> bool:
        """True if the columns' order breaks ties, to check releases of version 0.3."""
        return self.orientation != REPAIRED

    def order_limit(self, data: Dataset) -> int:
        """Return the largest order as a number."""
        wanted = ORDER if isinstance(self.max_order, str) else self.max_order
        return min(wanted, max(0, data.d - 2))


def prior_odds(d: int) -> float:
    """Return the prior odds of non-adjacency, (pairs - edges) / edges; at least 1."""
    pairs, edges = d * (d - 1) / 2, EDGES_PER_NODE * d
    return max(LEAST_ODDS, pairs / edges - 1)


@dataclass(frozen=True)
class Round:
    """One release of the pairs that a screen of the given order leaves joined; its share of rho.

    A variable keeps about ``nulls`` pairs by chance, so their number grows with d, not d squared.
    """

    share: float
    nulls: float = 5.5
    order: int = 1


@dataclass(frozen=True)
class Releases:
    """The shares of rho: for all pairs, for each further round of pairs, and for the last release.

    If noise is small, whole tables follow.
    """

    first: float
    again: tuple[Round, ...]
    last: float
    # shares for the whole tables of the tests that decide at that time
    tables: tuple[float, ...] = ()

    @property
    def number(self) -> int:
        """Number of releases."""
        return 2 + len(self.again) + len(self.tables)


SMALL = Releases(0.5, (Round(0.15),), 0.35)
FEW = Releases(0.6, (Round(0.2),), 0.2)
USUAL = Releases(0.4, (Round(0.25), Round(0.15)), 0.2)
WIDE = Releases(0.45, (Round(0.25, nulls=11.0, order=0), Round(0.2)), 0.1)
TABLES = (0.06, 0.06)


def planned_releases(
    cardinalities: Sequence[int], n: int, total: Guarantee, ordinal: bool = False
) -> Releases:
    """Plan the releases for n rows and columns with these numbers of levels, under a budget.

    See research/marginal_pc.md, "Choosing before measuring". For binary variables all pairs
    together have the squared sensitivity floor(d^2 / 4); pairs chosen later have up to 1 each. If
    that of all pairs is at most twice the expected number of edges, choosing saves little, so most
    of the budget goes to the release of all pairs. In wide tables a screen must be stricter than
    SCREEN_P, and edges that the first screen loses cost most. The first release has the noise of
    all pairs, so there it gets more of the budget, and the screen keeps more pairs. If noise is at
    most two fifths of sampling error, whole tables get a share too; a trend test does not need
    them.
    """
    d = len(cardinalities)
    if known_whole(cardinalities, n, total):
        return SMALL
    if d * d // 4 <= 2 * EDGES_PER_NODE * d:
        plan = FEW
    else:
        plan = WIDE if Round.nulls / d < SCREEN_P else USUAL
    quiet = d > 2 and not ordinal and hidden(cardinalities, n, total) * math.sqrt(n) <= QUIET
    return with_tables(plan) if quiet else plan


def with_tables(plan: Releases) -> Releases:
    """Return the plan with shares for whole tables; all other shares shrink by the same factor."""
    left = 1 - sum(TABLES)
    rounds = tuple(replace(each, share=left * each.share) for each in plan.again)
    return Releases(left * plan.first, rounds, left * plan.last, TABLES)


def known_whole(cardinalities: Sequence[int], n: int, total: Guarantee) -> bool:
    """Return True if the tensors of all orders are released; a public fact.

    This is so if there are few cells and little noise; with more noise, pairs are more useful.
    """
    few = 3 <= len(cardinalities) <= MOST_COLUMNS and math.prod(cardinalities) <= MOST_CELLS
    return few and hidden(cardinalities, n, total) <= MOST_HIDDEN


class Posterior(TestByTest):
    """Search rule: remove an edge when independence is more probable than the threshold.

    P(independent) = 1 / (1 + factor / odds), with the Bayes factor of the noisy test and prior odds
    of independence: 1 under a conditioning set, ``odds`` without one, where most pairs are not
    adjacent. A test without information has a factor near 1 and removes nothing.

    A pair with no more dependence than chance gives in all pairs (:meth:`NoisyTests.seen`) is
    removed for any factor, so almost no link is reported on independent columns.

    Among the other pairs, the edges of the maximum spanning forest of the marginal dependences
    (Chow and Liu 1968) have prior odds that are better by e^FOREST. A pair that is joined through
    others is weaker than each link of the path. The strongest links are therefore edges, and an
    accidental zero under some set must not remove them.
    """

    def __init__(
        self, tests: NoisyTests, threshold: float = 0.5, context: RunContext | None = None
    ):
        super().__init__()
        self._tests, self._context, self._threshold = tests, context, threshold
        self._odds = math.log(prior_odds(tests.d))
        self._seen = tests.seen()
        self._forest: set[Pair] = set()
        self.lowest: dict[Pair, float] = {}  # least probability of dependence of each pair

    def begin_order(self, order: int, graph: Graph) -> None:
        """Find the forest among the current edges (at first all pairs)."""
        if order < 2:
            self._forest = strongest_forest(self._tests, graph.matrix() & self._seen)

    def independent(self, q: Query) -> bool:
        """Return True if the pair's dependence is not visible or P(independent) > threshold."""
        pair = (q.x, q.y)
        p = self._probability(q) if self._seen[pair] else 1.0
        self.lowest[pair] = min(self.lowest.get(pair, 1.0), 1 - p)
        decision = p > self._threshold
        if self._context is not None:
            self._context.emit(
                "test", "independent" if decision else "dependent",
                code="independence" if self._seen[pair] else "not_seen",
                query=q, value=p, threshold=self._threshold,
            )  # fmt: skip
        return decision

    def _probability(self, q: Query) -> float:
        """Return P(independent)."""
        evidence = self._tests.test(*q).bayes + (SLACK if q.given else -self._odds)
        evidence += FOREST if (q.x, q.y) in self._forest else 0.0
        return 1 / (1 + math.exp(min(max(evidence, -700.0), 700.0)))


def strongest_forest(tests: NoisyTests, edges: Adjacency) -> set[Pair]:
    """Return the maximum spanning forest of the edges i < j by their marginal dependence.

    If edges are equally strong, it includes all that are in some maximum spanning forest.
    """
    pairs = [(i, j) for i, j in np.argwhere(np.triu(edges, 1)).tolist()]
    strengths = {pair: -round(float(tests.marginal_bayes[pair]), DIGITS) for pair in pairs}
    forest, trees = set[Pair](), UnionFind(range(len(edges)))
    for _, some in groupby(sorted(pairs, key=strengths.__getitem__), strengths.__getitem__):
        joining = [(i, j) for i, j in some if trees[i] != trees[j]]
        forest.update(joining)
        for pair in joining:
            trees.union(*pair)
    return forest


class Screen(TestByTest):
    """Search rule that keeps a pair if a better measurement may show that it is adjacent."""

    def __init__(self, tests: NoisyTests, nulls: float):
        super().__init__()
        self._tests, self._level = tests, min(SCREEN_P, nulls / tests.d)

    def independent(self, q: Query) -> bool:
        """Return True if no dependence is visible without a set, or a set clearly explains it."""
        verdict = self._tests.test(*q)
        if q.given:
            return verdict.bayes < math.log(SCREEN_FACTOR)
        return verdict.p > self._level


def _joined(rule: TestByTest, moments: Moments, order: int, context: RunContext) -> Graph:
    """Find the skeleton by the rule from the tables released so far."""
    graph = Graph(moments.d, stable=True, known=context.links_known)
    search(graph, rule, order, check=context.check)
    return graph


def _edges(graph: Graph) -> list[Pair]:
    return [(x, y) for x in range(graph.d) for y in graph.adjacent(x) if x < y]


def wanted_triples(
    tests: NoisyTests,
    graph: Graph,
    largest: int,
    context: RunContext,
    *,
    by_position: bool = False,
) -> list[Triple]:
    """List the triples that could show that an edge is a product of the conditioning variables.

    For each edge, take the few sets that come nearest to explaining it if their products may carry
    some dependence, including ties. List the triples that the test with products needs for each
    set. With ``by_position`` the columns' order breaks ties, as in version 0.3.
    """
    wanted: set[tuple[int, ...]] = set()
    skeleton = graph.matrix()
    for x, y in _edges(graph):
        if y not in graph.open(x):
            continue
        scored = {}
        for s in separators(skeleton, x, y, largest, graph.known, by_position=by_position):
            if len(s) < 2:
                continue
            context.check()
            scored[s] = tests.test(x, y, s).leak_bayes
        if by_position:
            near = sorted(scored, key=lambda s: (scored[s], s))[:SEPARATORS]
            limit = 0.0
        else:
            near = list(scored)
            scored = {s: round(bayes, DIGITS) for s, bayes in scored.items()}
            limit = min([0.0, *sorted(scored.values())[:SEPARATORS][-1:]])
        for s in (s for s in near if scored[s] <= limit):
            for pair in combinations(s, 2):
                wanted |= {tuple(sorted((x, *pair))), tuple(sorted((y, *pair)))}
            wanted.update(combinations(s, 3))
    return [(t[0], t[1], t[2]) for t in sorted(wanted)]


class Released(NamedTuple):
    """The releases of a run: tests on its tables, and the estimates that answer its questions.

    ``whole`` is True if the tables include the tensors of all orders.
    """

    tests: NoisyTests
    whole: bool
    answers: tuple[Estimate, ...]


def release(data: Dataset, params: MarginalPCParameters, context: RunContext) -> Released:
    """Release all tables and numbers, which together spend the ledger's whole rho."""
    rho, questions, total = context.ledger.limit, context.questions, params.total
    asked = [asked_of(each, data.names, data.levels) for each in questions]
    share = questions[0].share if questions else 0.0
    if questions:
        graph_mu = math.sqrt(1 - share) * mu_budget(total.epsilon, total.delta)
        total = Guarantee(mu_to_epsilon(graph_mu, total.delta), total.delta)
    whole = known_whole(data.cardinalities, data.n, total)
    found = Released(graph_tables(data, params, total, context, (1 - share) * rho), whole, ())
    for k, (each, part) in enumerate(zip(asked, budget_shares(questions), strict=True), 1):
        label = "question's" if len(asked) == 1 else f"question {k}'s"
        found = answered(data, params, context, found, each, part * rho / 2, label)
    return found


def answered(
    data: Dataset,
    params: MarginalPCParameters,
    context: RunContext,
    found: Released,
    asked: Asked,
    part: float,
    label: str,
) -> Released:
    """Release the tables of a question for rho = ``part``, then its numbers for the same rho."""
    store, tests, mu = store_of(data), found.tests, math.sqrt(2 * part)
    root = context.known is not None and bool(context.known.barred[:, asked.contrast.cause].all())

    def dags() -> Plausible:
        quiet = replace(context, trace=False, steps=[])
        outcome = conclude(data, tests, params, quiet, found.whole)
        assert isinstance(outcome.diagnostics, MarginalDiagnostics)
        return plausible(outcome.diagnostics, outcome.matrix, context.known)

    sets = adjustment_sets(asked, dags(), root)
    wanted = wanted_tables(asked.contrast, sets, data.cardinalities, mu, data.n)
    release_weighted(context, store, tests.moments, wanted, part, label=f"{label} tables")
    tests = tests.again()
    numbers = planned_numbers(tests.moments, asked, dags(), root, mu)
    if numbers is None:
        refine_pairs(context, store, tests.moments, [key for key in wanted if len(key) == 2], part)
        return found._replace(tests=tests.again())
    sigma = numbers.sensitivity / mu
    noisy = gaussian(
        context, numbers.sums(store.rows), sensitivity=numbers.sensitivity, sigma=sigma,
        label=f"{label} numbers", order=2,
    )  # fmt: skip
    more = corrected(tests.moments, numbers, noisy, sigma)
    return found._replace(tests=tests, answers=(*found.answers, *more))


def graph_tables(
    data: Dataset,
    params: MarginalPCParameters,
    total: Guarantee,
    context: RunContext,
    rho: float,
) -> NoisyTests:
    """Release the tables of the graph for ``rho``, by the plan for a budget of ``total``."""
    store, order = store_of(data), params.order_limit(data)
    planned = planned_releases(store.rows.cardinalities, store.n, total, params.ordinal)
    tests_on = partial(NoisyTests, ordinal=params.ordinal, check=context.check)
    moments = release_pairs(context, store, planned.first * rho)

    def joined_again(graph: Graph, share: float, whole: bool = False) -> NoisyTests:
        refine_pairs(context, store, moments, _edges(graph), share * rho)
        return tests_on(moments, leaks=False, whole=whole)

    tests = tests_on(moments, leaks=False)
    for each in planned.again:
        screen = Screen(tests, each.nulls)
        graph = _joined(screen, moments, min(order, each.order), context)
        tests = joined_again(graph, each.share)
    if planned is SMALL:
        release_orders(context, store, moments, planned.last * rho)
        return tests_on(moments, leaks=False)
    tests = tests_on(moments)
    graph = _joined(Posterior(tests, params.cutoff), moments, order, context)
    triples = wanted_triples(tests, graph, order, context, by_position=params.by_position)
    last = planned.last * rho
    if triples and release_triples(context, store, moments, triples, last, VISIBLE):
        tests = tests.with_higher()
    else:
        tests = joined_again(graph, planned.last)
    for share in planned.tables:
        graph = _joined(Posterior(tests, params.cutoff), moments, order, context)
        deciding = deciding_tables(graph, moments.cardinalities)
        if release_tables(context, store, moments, deciding, share * rho):
            tests = tests.with_higher(whole=True)
        else:
            tests = joined_again(graph, share, whole=True)
    return tests


def deciding_tables(graph: Graph, levels: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the columns of each test that removed a link.

    A mean over the cells of the set hides a dependence whose sign changes between cells; their
    whole tables show it.
    """
    asked = ((sorted(pair), s) for pair, sets in graph.separating.items() for s in sets)
    columns = ((x, y, *sorted(s)) for (x, y), s in asked if s)
    return sorted({tuple(sorted(c)) for c in columns if fits([levels[i] for i in c])})


def run(data: Dataset, params: MarginalPCParameters, context: RunContext) -> Outcome:
    """Release the tables, then search on them."""
    if data.schema is not None and not data.public:
        check_levels(data.schema, "unordered")
    data = merged(data)
    try:
        found = release(data, params, context)
        return conclude(data, found.tests, params, context, found.whole, found.answers)
    except Cancelled:  # cancelled before the search, which would keep its decisions
        context.close()
        pairs = frozenset(combinations(range(data.d), 2))
        return Outcome(matrix=~np.eye(data.d, dtype=bool), status="cancelled", untested=pairs)


def conclude(
    data: Dataset,
    tests: NoisyTests,
    params: MarginalPCParameters,
    context: RunContext,
    whole: bool | None = None,
    answers: tuple[Estimate, ...] = (),
) -> Outcome:
    """Return the graph that follows from the released tables.

    If ``whole`` is True, graphs are compared by the tensors of all orders. By default this depends
    on whether a run with this many rows and this budget releases them.
    """
    rule = Posterior(tests, params.cutoff, context=context)
    outcome = pc(data, params, context, rule)
    least, arrows, evidence, restored = rule.lowest, dict[Pair, float](), None, set[Pair]()
    if params.orientation != MAJORITY and outcome.status == "complete":
        skeleton, limit = outcome.matrix | outcome.matrix.T, params.order_limit(data)
        if whole is None:
            whole = known_whole(data.cardinalities, data.n, params.total)
        whole = whole and not params.ordinal
        if whole:
            by_position = params.by_position
            best = Compared(tests, skeleton, params.cutoff, context, by_position=by_position)
            skeleton, least, found = best.skeleton, best.links(), best.directions()
        else:
            directed = partial(
                directions, tests=tests, largest=limit, by_position=params.by_position
            )
            if params.orientation == REPAIRED:
                by_links = partial(directed, known=context.links_known)
                skeleton, restored = repaired(skeleton, tests, outcome.separating, by_links)
            found = directed(skeleton, known=context.known)
        separating = _apart(outcome.separating, skeleton)
        outcome = replace(
            outcome,
            matrix=found.cpdag,
            separating=separating,
            contradicted=found.contradicted,
        )
        arrows, evidence = arrow_frequencies(found, tests.moments, whole), found.evidence
        arrows |= _certain(skeleton, context.known)
    edges = [(i, j) for i, j in _linked(outcome.matrix) if i < j]
    diagnostics = MarginalDiagnostics(
        edge_confidence={
            p: confidence.RESTORED if p in restored else confidence.of_link(least.get(p, 1.0))
            for p in edges
        },
        direction_confidence=arrows,
        released_tables=tuple(tests.moments.released()),
        released=tests.moments,
        levels=data.levels,
        evidence=evidence,
        answers=answers,
    )
    return replace(outcome, diagnostics=diagnostics)


class Compared:
    """DAGs near a skeleton, compared by their evidence in the tensors of all orders.

    The search starts from the best DAG on the skeleton and changes one link per step
    (:mod:`engine.graphs.dags`). A link must raise the evidence by e^LINK and by the odds of the
    threshold. A pair with no more dependence than chance gives in all pairs gets no link.
    ``skeleton`` is the result. Background knowledge that fixes only directions does not affect
    which links there are. Internally, the columns are in the order of their released means, because
    this order decides which DAG represents a class. With ``by_position`` they keep their order, as
    in version 0.3.
    """

    def __init__(
        self,
        tests: NoisyTests,
        skeleton: Adjacency,
        threshold: float,
        context: RunContext,
        *,
        by_position: bool = False,
    ):
        moments, seen, known = tests.moments, tests.seen(), context.known
        order = list(range(moments.d))
        if not by_position:
            order.sort(key=lambda i: moments.tensor_of(i).tolist())
        place, at = np.argsort(order), np.ix_(order, order)
        self._order, self._back = order, np.ix_(place, place)
        self._evidence = Evidence(moments, order, by_position=by_position)
        self._known, self._known_inside = known, known and known.ordered(order)
        links_known = self._known_inside and self._known_inside.on_links
        share = min(max(threshold, 1e-9), 1 - 1e-9)
        self._price = LINK + math.log((1 - share) / share)
        start = max((c.dag for c in classes(skeleton[at], links_known)), key=self._value)
        addable = (seen | seen.T)[at]
        self._dag = climbed(start, self._value, addable, links_known, by_position=by_position)
        links: Adjacency = self._dag | self._dag.T
        self._links = links if links_known is None else links_known.joined(links)
        self.skeleton = self._links[self._back]

    def _value(self, dag: Adjacency) -> float:
        return self._evidence.of(dag) - self._price * int(dag.sum())

    def links(self) -> dict[Pair, float]:
        """Return the posterior probability of each link i < j against the DAG without it."""
        out: dict[Pair, float] = {}
        for i, j in np.argwhere(self._dag).tolist():
            less = self._dag.copy()
            less[i, j] = False
            rise = min(max(self._value(self._dag) - self._value(less), -700.0), 700.0)
            low, high = sorted((self._order[i], self._order[j]))
            out[low, high] = 1 / (1 + math.exp(-rise))
        return out

    def directions(self) -> Orientation:
        """Return each arrow's probability: the share of the skeleton's classes that have it."""
        inside = {c.graph[self._back].tobytes(): self._evidence.of(c.dag)
                  for c in classes(self._links, self._known_inside)}  # fmt: skip
        on = classes(self.skeleton, self._known)
        logs = np.array([inside[c.graph.tobytes()] for c in on])
        shares = np.exp(logs - np.logaddexp.reduce(logs))
        arrows = np.einsum("k,kij->ij", shares, np.array([c.graph & ~c.graph.T for c in on]))
        drawn = by_strength(self.skeleton, arrows, self._known, EARNED)
        return Orientation(*drawn, arrows, tuple(logs.tolist()))


def _apart(separating: SeparatingSets, skeleton: Adjacency) -> SeparatingSets:
    """Return the separating sets of the pairs without a final link."""
    joined = {frozenset(pair) for pair in np.argwhere(skeleton).tolist()}
    return {pair: sets for pair, sets in separating.items() if pair not in joined}


def _linked(cpdag: Adjacency) -> list[Pair]:
    """Return the adjacent columns, each pair in both orders."""
    return [(i, j) for i, j in np.argwhere(cpdag | cpdag.T).tolist()]


def _certain(skeleton: Adjacency, known: Known | None) -> dict[Pair, float]:
    """Return the arrows fixed by background knowledge that were not found: certain if linked."""
    if known is None:
        return {}
    fixed = [(i, j) for i, j in np.argwhere(known.fixed_arrows(skeleton)).tolist()]
    return dict.fromkeys(fixed, 1.0) | {(j, i): 0.0 for i, j in fixed}


def arrow_frequencies(found: Orientation, moments: Moments, whole: bool) -> dict[Pair, float]:
    """Return how often the arrow of each linked pair (i, j) is right if its link is.

    The keys have both orders of each pair. ``whole`` is True if DAGs were compared by the evidence
    in tensors of all orders.
    """
    shares_of: dict[Pair, float] = {}
    shares, marks = found.arrows, found.cpdag
    for i, j in _linked(marks):
        # The correlation of two balanced binary columns is twice the covariance of their contrasts.
        visible = math.sqrt(4 * moments.variance(i, j) + 1 / moments.n)
        there, back, drawn = shares[i, j], shares[j, i], int(marks[i, j]) - int(marks[j, i])
        shares_of[i, j], _ = confidence.of_arrows(there, back, visible, moments.d, drawn, whole)
    return shares_of


def directions(
    skeleton: Adjacency,
    tests: NoisyTests,
    largest: int,
    known: Known | None = None,
    *,
    by_position: bool = False,
) -> Orientation:
    """Direct the skeleton by the Bayes factors of the released tensors; this costs no ε."""

    def dependence(x: int, y: int, given: tuple[int, ...]) -> float:
        return tests.test(x, y, given).bayes

    weights = collider_weights(skeleton, dependence, largest, known, by_position=by_position)
    return orient(skeleton, weights, known=known, by_position=by_position)


def ledger(data: Dataset, params: MarginalPCParameters) -> Ledger:
    """Return a ledger with a cap under Gaussian DP, whose filter allows adaptive releases."""
    return Ledger(params.total, method="gdp")


ALGORITHM = Algorithm(
    key="marginal_pc",
    title="Marginal PC",
    family="constraint-based",
    params=MarginalPCParameters,
    run=run,
    ours=True,
    reference="This project, research/theory/marginal_pc.md",
    summary="Counts a few well-chosen groups of variables once, with noise, and answers all "
    "questions from those counts for free.",
    ledger=ledger,
    parent=None,  # tests noisy tables with a different statistic
)
