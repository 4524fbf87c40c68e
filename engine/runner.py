"""Run one algorithm on one dataset: ``run()`` -> :class:`RunResult`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache, cached_property
from html import escape
from threading import Event
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from threadpoolctl import ThreadpoolController

from engine.algorithm import Algorithm, Diagnostics, Outcome
from engine.data.anything import as_dataset
from engine.data.dataset import Dataset
from engine.data.schema import Schema
from engine.effects.effect import Effect, effect_of
from engine.errors import InputError
from engine.graphs.cpdag import Adjacency, digraph_of, matrix_of, pairs_of
from engine.graphs.edges import Edge, annotated, edge_frame, edges, svg
from engine.graphs.formats import dot
from engine.graphs.known import Known, known_of, truth_mpdag
from engine.graphs.metrics import (
    Counts,
    EdgeClass,
    Metrics,
    Scores,
    classify,
    compare,
    count,
)
from engine.knowledge import Knowledge
from engine.marginals.diagnostics import MarginalDiagnostics
from engine.params import Parameters
from engine.privacy.accounting import Guarantee
from engine.privacy.ledger import Ledger
from engine.randomness import Randomness
from engine.registry import algorithm
from engine.search.orders import hanging
from engine.session import Session, Step

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class RunResult:
    """What one run found, what it cost, and how it got there.

    ``spent`` is what the ledger can defend: the cap in strict mode, the composition of the whole
    transcript in published mode, inf without noise. ``claimed`` is the paper's own total of the
    same run, or None. ``separating`` maps a pair of columns to the sets that separated it.
    ``untested`` are adjacent pairs (i, j), i < j in the columns' order, whose tests of the order
    that the run ended early in were not all made. ``seconds`` is the run's wall time, ``status``
    "complete", "budget_exhausted" or "cancelled".

    With a ``truth``, ``classes`` says what became of each pair and ``counts`` how many of each kind
    there are. ``metrics`` scores the graph as it stands, with every pair not tested to the end as a
    link, as the papers do; ``metrics_tested`` scores the links tested to the end alone. The two are
    one where a run ended by itself. What was known (``knowledge``) is known of the truth too: the
    graph is held against the truth's maximal PDAG under it.

    On private data (``public`` False) nothing is told that was not paid for: ``fingerprint`` is a
    random name, ``seconds`` NaN, the noise secret and ``seed`` None. A given seed makes the run a
    ``simulation``: whoever knows it can take the noise away, and nothing is defended.
    """

    algorithm: str
    params: Parameters
    seed: int | None
    simulation: bool
    public: bool
    dataset: str
    fingerprint: str
    names: tuple[str, ...]
    matrix: Adjacency
    metrics: Metrics | None
    ci_tests_by_order: tuple[int, ...]
    claimed: Guarantee | None
    ledger: Ledger
    steps: tuple[Step, ...]
    seconds: float
    status: str
    separating: Mapping[frozenset[int], Sequence[frozenset[int]]]
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    untested: frozenset[tuple[int, int]] = frozenset()
    truth: nx.DiGraph | None = field(default=None, repr=False)
    knowledge: Knowledge | None = None

    @cached_property
    def classes(self) -> Mapping[tuple[int, int], EdgeClass]:
        """(i, j), i < j -> what became of the pair; empty without a truth."""
        if self.truth is None:
            return {}
        dag = matrix_of(self.truth, self.names)
        return classify(self.matrix, self.told, dag=dag, untested=self.untested)

    @cached_property
    def counts(self) -> Counts | None:
        """How many pairs are found, invented, missed and so on; None without a truth."""
        if self.truth is None:
            return None
        return count(self.classes, self.told)

    @property
    def told(self) -> Adjacency:
        """(d, d): what of the truth the graph is held against; only where there is a truth."""
        assert self.truth is not None
        return told_of(self.algorithm, self.truth, self.names, self.knowledge)

    @cached_property
    def known(self) -> Known | None:
        """What was known, on these columns; None where nothing was."""
        return known_of(self.knowledge, self.names)

    @cached_property
    def knowledge_alone(self) -> Scores | None:
        """Scores of the links found with no arrows but those that knowledge decides.

        None without a truth or knowledge. What ``metrics`` has beyond it the data said.
        """
        if self.truth is None or self.known is None:
            return None
        return compare(self.known.turned(self.matrix | self.matrix.T), self.told)

    @property
    def metrics_tested(self) -> Scores | None:
        """Scores of the links tested to the end alone; None without a truth."""
        return None if self.counts is None else self.counts.scores

    @cached_property
    def tested(self) -> Adjacency:
        """The CPDAG's (d, d) matrix without the pairs that were not tested to the end."""
        matrix = self.matrix.copy()
        for i, j in self.untested:
            matrix[i, j] = matrix[j, i] = False
        return matrix

    @cached_property
    def doubted(self) -> frozenset[tuple[int, int]]:
        """Arrows (i, j) whose direction is in doubt; counts and scores take them as arrows."""
        return self.diagnostics.doubted(self.tested)

    @cached_property
    def drawn(self) -> Adjacency:
        """The (d, d) matrix of every picture, table and file: ``tested``, doubted arrows as lines.

        An undirected edge is both directions.
        """
        matrix = self.tested.copy()
        for i, j in self.doubted:
            matrix[j, i] = True
        return matrix

    def __repr__(self) -> str:
        """One line: what ran on what, what it found and what it spent."""
        return (
            f"<RunResult {self.algorithm} on {self.dataset!r}: {len(self.skeleton)} links, "
            f"{self.ci_tests:,} tests, {self.status}, epsilon {self.spent.epsilon:.4g}>"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: a sentence, the graph, what it guarantees; no row and no score."""
        title = algorithm(self.algorithm).title
        found = f"{title} found {len(self.skeleton)} links in {self.dataset}."
        alt = f"The graph that {title} learned from {self.dataset}"
        lines = [f"<p><b>{escape(found)}</b></p>", svg(self.names, self._edges, alt)]
        return "".join([*lines, f"<p>{escape(self.guarantee)}</p>"])

    @cached_property
    def hanging(self) -> frozenset[tuple[int, int]] | None:
        """The links (i, j), i < j, that the columns in another order would have marked otherwise.

        On the answers that this run was given: nothing is asked and nothing spent. Empty where the
        parameters make the order idle; None where it cannot be told from these answers.
        """
        if not self.params.by_order:
            return frozenset()
        return hanging(self.matrix, self.separating, self.names, self.known)

    @property
    def order_words(self) -> str:
        """What of the graph hangs on the order of the columns, in a sentence; empty for nothing."""
        if self.hanging is None:
            return (
                "Which links are arrows may hang on the order of the columns; not so in PC-stable."
            )
        if not self.hanging:
            return ""
        return (
            f"{len(self.hanging)} of {len(self.skeleton)} links would be drawn otherwise with the "
            "columns in another order, on the same answers; not so in PC-stable."
        )

    @property
    def guarantee(self) -> str:
        """What is promised of this run, in a sentence."""
        if not algorithm(self.algorithm).private:
            return "Without noise: nothing is promised."
        if self.ledger.undefended:
            return f"Nothing is defended: {'; '.join(self.ledger.undefended)}."
        if math.isinf(self.spent.epsilon):
            return "Nothing is defended: no finite ε bounds what this run gave out."
        return (
            f"Defended: (ε, δ) = ({self.spent.epsilon:.4g}, {self.spent.delta:.3g}), for replacing "
            "one record; the number of records and the schema are public."
        )

    @cached_property
    def _edges(self) -> list[Edge]:
        link = getattr(self.diagnostics, "edge_confidence", None)
        arrow = getattr(self.diagnostics, "arrow_confidence", None)
        return edges(self.names, self.matrix, self.untested, link, arrow)

    @property
    def edges(self) -> pd.DataFrame:
        """The edges as a frame, one a row: cause, effect, link, arrow, class.

        ``link`` is how often such a link is real and ``arrow`` how often it runs from cause to
        effect if it is (NaN where the algorithm does not say); ``class`` is "directed",
        "undirected" or "untested".
        """
        return edge_frame(self._edges)

    def to_networkx(self) -> nx.DiGraph:
        """The graph with ``mark``, ``link`` and ``arrow`` on its edges."""
        return annotated(self.names, self._edges)

    def to_dot(self) -> str:
        """The graph as Graphviz DOT, as it is drawn: :attr:`drawn`."""
        return dot(self.names, self.drawn)

    @cached_property
    def skeleton(self) -> set[frozenset[str]]:
        """Adjacent pairs, without direction."""
        return pairs_of(self.matrix, self.names)

    @cached_property
    def untested_pairs(self) -> set[frozenset[str]]:
        """Pairs that were not tested to the end, by their names."""
        return {frozenset((self.names[i], self.names[j])) for i, j in self.untested}

    @cached_property
    def cpdag(self) -> nx.DiGraph:
        """The learned CPDAG; an undirected edge is both directions."""
        return digraph_of(self.matrix, self.names)

    @cached_property
    def separating_sets(self) -> dict[frozenset[str], tuple[frozenset[str], ...]]:
        """Pairs of names, with the sets that separated them."""
        return {
            frozenset(self.names[i] for i in pair): tuple(
                frozenset(self.names[i] for i in one) for one in sets
            )
            for pair, sets in self.separating.items()
        }

    def effect(self, cause: str, effect: str, **options: Any) -> Effect:
        """What setting one column does to another, from what a run of Marginal PC released.

        ``options`` are those of :func:`engine.effects.effect.effect_of`; nothing is spent. Raises
        InputError for another algorithm, which releases no tables.
        """
        found = self.diagnostics
        if not isinstance(found, MarginalDiagnostics) or found.released is None:
            raise InputError("Effects follow from released tables: run marginal_pc to its end.")
        tables = found.released, self.names, found.levels, self.matrix
        return effect_of(*tables, cause, effect, **options)

    @property
    def ci_tests(self) -> int:
        """Number of conditional independence tests, of all orders."""
        return sum(self.ci_tests_by_order)

    @property
    def spent(self) -> Guarantee:
        """The (epsilon, delta) that can be defended for this run."""
        return self.ledger.defended


@cache
def _blas() -> ThreadpoolController:
    """The linear algebra libraries of this process, looked up once."""
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Linear algebra on one thread.

    The matrices here are small: threads only wait for each other (NOTEARS on Alarm: 20 times).
    """
    limited: AbstractContextManager[Any] = _blas().limit(limits=1, user_api="blas")
    return limited


Stop = Callable[[], bool] | Event


def asking(stop: Stop) -> Callable[[], bool]:
    """What tells whether a person wants to stop: an event, or a function that is asked."""
    found = getattr(stop, "is_set", stop)
    if not callable(found):
        raise InputError("What stops a run is a threading.Event, or a function that says so.")
    return found


def check_seed(seed: Any) -> int:
    """The seed as an int; raises InputError unless it is a whole number of at least 0."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError(f"seed must be a whole number of at least 0; {seed!r} is not.")
    return int(seed)


def run(
    key: str,
    data: Any,
    *,
    schema: Schema | None = None,
    seed: int | None = None,
    trace: bool = True,
    on_step: Callable[[Step], None] | None = None,
    stop: Stop | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    knowledge: Knowledge | None = None,
    **values: Any,
) -> RunResult:
    """Run an algorithm on a dataset.

    Args:
        key: An algorithm's key, such as "marginal_pc" (:data:`engine.ALGORITHMS`).
        data: A Dataset (:func:`engine.load_dataset`, :func:`engine.read_table`); or a frame, an
            (n, d) array or the path of a file, which are read first.
        schema: The declared public facts by which a frame, array or file is read; without one
            nothing is defended.
        seed: Fixes every draw. Without one, public data take 0, and private data a secret one that
            nobody is told; a seed given for private data makes the run a simulation, for which
            nothing is defended, and so does a schema that was not declared.
        trace: False keeps no steps.
        on_step: Sees each step as it happens.
        stop: A ``threading.Event``, or what is called to ask; ends the run with what it has.
        cancelled: The same, as the pages ask.
        knowledge: What is known of the causes; without it, what the data's schema states. Public,
            so the guarantee is the same with it and without.
        values: The algorithm's parameters by name, such as ``epsilon=1.0``.

    Returns:
        The graph, its scores where the truth is known, what was spent, and the trace.

    Raises:
        InputError: In one sentence, for anything that does not fit.

    Examples:
        >>> from engine import load_dataset, run
        >>> result = run("marginal_pc", load_dataset("asia", n=20_000), epsilon=1.0)
        >>> len(result.skeleton), result.spent
        (9, Guarantee(epsilon=1.0, delta=1e-06))
        >>> result.edges.columns.tolist()
        ['cause', 'effect', 'link', 'arrow', 'class']
    """
    chosen = algorithm(key)
    params = chosen.params.build(values)
    data = as_dataset(data, schema)
    if stop is not None:
        cancelled = asking(stop)
    seed = None if seed is None else check_seed(seed)
    known = known_of(_stated(chosen, data, knowledge), data.names)
    session = Session(
        randomness=Randomness(0 if seed is None and data.public else seed),
        ledger=_ledger(chosen, data, params, seed),
        names=data.names,
        reveal=data.public,
        trace=trace,
        known=known,
        on_step=on_step,
        cancelled=cancelled,
    )
    start = time.perf_counter()
    with one_thread():
        outcome = chosen.run(data, params, session)
    seconds = time.perf_counter() - start
    return _result(key, data, params, seed, session, outcome, seconds)


def _stated(chosen: Algorithm, data: Dataset, knowledge: Knowledge | None) -> Knowledge | None:
    """What is known: said here, or in the schema. InputError where it would decide the answer."""
    if knowledge is None and data.schema is not None and chosen.columns is None:
        knowledge = data.schema.knowledge
    if knowledge and chosen.columns is not None:
        raise InputError(
            f"{chosen.title} asks which of two columns is the cause; what is known would answer it."
        )
    return knowledge


GIVEN_SEED = "a simulation: its seed was given, and whoever knows the seed can take the noise away"
FOUND_SCHEMA = (
    "the schema was found in the data and not declared, and one record with a new value would "
    "change it with certainty"
)


def _ledger(chosen: Algorithm, data: Dataset, params: Parameters, seed: int | None) -> Ledger:
    """The algorithm's ledger; without anything to defend where what is around the run leaks."""
    if chosen.ledger is None:
        return Ledger()
    ledger = chosen.ledger(data, params)
    if not data.public and seed is not None:
        ledger.void(GIVEN_SEED)
    if not (data.public or data.declared):
        ledger.void(FOUND_SCHEMA)
    return ledger


def _result(
    key: str,
    data: Dataset,
    params: Parameters,
    seed: int | None,
    session: Session,
    outcome: Outcome,
    seconds: float,
) -> RunResult:
    knowledge = None if session.known is None else session.known.knowledge
    metrics = None
    if data.truth is not None:
        metrics = compare(outcome.cpdag, told_of(key, data.truth, data.names, knowledge))
    return RunResult(
        algorithm=key,
        params=params,
        seed=0 if seed is None and data.public else seed,
        simulation=seed is not None and not data.public,
        public=data.public,
        dataset=data.name,
        fingerprint=data.identity,
        names=data.names,
        matrix=outcome.cpdag,
        metrics=metrics,
        ci_tests_by_order=outcome.tests_by_order,
        claimed=outcome.claimed,
        ledger=session.ledger,
        steps=tuple(session.steps),
        seconds=seconds if data.public else math.nan,
        status=outcome.status,
        separating=outcome.separating,
        diagnostics=outcome.diagnostics,
        untested=outcome.untested,
        truth=data.truth,
        knowledge=knowledge,
    )


def told_of(
    key: str, truth: nx.DiGraph, names: tuple[str, ...], knowledge: Knowledge | None
) -> Adjacency:
    """What of the truth the algorithm's result is held against.

    All that data and knowledge can tell: its CPDAG or MPDAG, or all of its arrows.
    """
    if algorithm(key).directs_all:
        return matrix_of(truth, names)
    return truth_mpdag(truth, names, knowledge)
