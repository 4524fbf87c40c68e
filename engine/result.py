"""The result of one run: :class:`RunResult`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import networkx as nx

from engine.algorithm import Outcome
from engine.context import Step
from engine.errors import InputError
from engine.graphs.cpdag import Adjacency, digraph_of, matrix_of, pairs_of
from engine.graphs.edges import Edge, annotated, edge_frame, edges, svg
from engine.graphs.formats import dot
from engine.graphs.known import Known, known_of, truth_cpdag
from engine.graphs.links import LinkClass
from engine.graphs.metrics import Counts, Scores, classify, compare, count
from engine.graphs.picture import Svg
from engine.knowledge import Knowledge
from engine.params import Parameters
from engine.privacy.accounting import Guarantee
from engine.privacy.budget import STRICT
from engine.privacy.ledger import Ledger
from engine.registry import algorithm
from engine.renamed import Renamed
from engine.search.order_dependence import order_dependent
from engine.words.run import Summary, summarise

if TYPE_CHECKING:
    import pandas as pd

    from engine.effects.effect import Effect
    from engine.effects.plausible import Plausible


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RunResult(Outcome):
    """The graph that one run learned, its guarantee, scores and steps.

    ``proven`` is the (ε, δ) proven by the ledger: the cap in strict mode, the composition of the
    whole transcript in published mode, infinite without noise. ``claimed`` is the ε that the paper
    states for the same run, or None. ``separating`` maps a pair of columns to the sets that
    separated it. ``untested`` holds adjacent pairs (i, j), i < j in column order, that miss some
    tests of the order in which the run ended early. ``seconds`` is the run's wall time, and
    ``status`` is "complete", "budget_exhausted" or "cancelled".

    If there is a ``truth``, ``classes`` has the class of each pair and ``counts`` their numbers.
    ``metrics_all`` counts every partly tested pair as an edge, as the papers do; ``metrics_tested``
    scores only the fully tested edges. For a complete run both scores are equal. The run is
    compared with the maximal PDAG of the ground truth under the same background ``knowledge``.

    On private data (``public`` is False) the run stores only charged results: ``fingerprint`` is a
    random name, ``seconds`` is NaN, the noise is secret and ``seed`` is None. If a seed was given,
    ``seed_known`` is true: an attacker who knows the seed can remove the noise, so the run has no
    guarantee.

    Examples:
        >>> from engine import load_dataset, run
        >>> result = run("marginal_pc", load_dataset("cancer", n=10_000), epsilon=1.0, seed=0)
        >>> result.status, result.proven.epsilon, result.claimed
        ('complete', 1.0, None)
        >>> list(result.edges)[:4], 0 <= result.metrics_all.skeleton_f1 <= 1
        (['source', 'target', 'edge_confidence', 'direction_confidence'], True)
    """

    algorithm: str
    params: Parameters
    seed: int | None
    seed_known: bool
    public: bool
    dataset: str
    fingerprint: str
    names: tuple[str, ...]
    ledger: Ledger
    steps: tuple[Step, ...]
    seconds: float
    truth: nx.DiGraph | None = None
    knowledge: Knowledge | None = None

    simulation = Renamed("seed_known")
    metrics = Renamed("metrics_all")
    spent = Renamed("proven")

    @cached_property
    def classes(self) -> Mapping[tuple[int, int], LinkClass]:
        """(i, j), i < j -> the class of the pair as displayed; empty without a ground truth."""
        if self.truth is None:
            return {}
        return self._classes(self.displayed_cpdag)

    def _classes(self, matrix: Adjacency) -> Mapping[tuple[int, int], LinkClass]:
        """Classify the edges of a (d, d) graph; pairs that were not fully tested count as edges."""
        assert self.truth is not None
        joined = matrix.copy()
        for i, j in self.untested:
            joined[i, j] = joined[j, i] = True
        dag = matrix_of(self.truth, self.names)
        return classify(joined, self.reference_cpdag, dag=dag, untested=self.untested)

    @cached_property
    def counts(self) -> Counts | None:
        """Confusion counts over pairs, or None without a ground truth."""
        if self.truth is None:
            return None
        return count(self.classes, self.reference_cpdag)

    @cached_property
    def metrics_all(self) -> Scores | None:
        """Scores with every partly tested pair as an edge, or None without a ground truth."""
        return None if self.truth is None else compare(self.matrix, self.reference_cpdag)

    @property
    def reference_cpdag(self) -> Adjacency:
        """Return the (d, d) part of the truth to compare the graph with, or None."""
        assert self.truth is not None
        return reference_of(self.algorithm, self.truth, self.names, self.knowledge)

    @cached_property
    def known(self) -> Known | None:
        """Return the background knowledge about these columns, or None."""
        return known_of(self.knowledge, self.names)

    @cached_property
    def knowledge_alone(self) -> Scores | None:
        """Return the scores of the found edges with only the directions fixed by knowledge.

        The value is None without a ground truth or without knowledge. The difference to
        ``metrics_all`` is the contribution of the data.
        """
        if self.truth is None or self.known is None:
            return None
        return compare(self.known.turned(self.matrix | self.matrix.T), self.reference_cpdag)

    @property
    def metrics_tested(self) -> Scores | None:
        """Scores of the fully tested edges, or None without a ground truth."""
        if self.truth is None:
            return None
        return count(self._classes(self.tested), self.reference_cpdag).scores

    @cached_property
    def tested(self) -> Adjacency:
        """Return the (d, d) matrix of the CPDAG without the pairs that were not fully tested."""
        matrix = self.matrix.copy()
        for i, j in self.untested:
            matrix[i, j] = matrix[j, i] = False
        return matrix

    @cached_property
    def low_confidence(self) -> frozenset[tuple[int, int]]:
        """Low-confidence directions (i, j): directed in `metrics_all`, undirected in `counts`."""
        return self.diagnostics.low_confidence(self.tested)

    @cached_property
    def displayed_cpdag(self) -> Adjacency:
        """The (d, d) matrix for pictures and files: ``tested``, low-confidence edges undirected.

        An undirected edge has both entries.
        """
        matrix = self.tested.copy()
        for i, j in self.low_confidence:
            matrix[j, i] = True
        return matrix

    def __repr__(self) -> str:
        """Return one line with the algorithm, the data, the graph and the charges."""
        return (
            f"<RunResult {self.algorithm} on {self.dataset!r}: {len(self.skeleton)} links, "
            f"{self.ci_tests:,} tests, {self.status}, epsilon {self.proven.epsilon:.4g}>"
        )

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: a sentence, the graph, its guarantee; no rows, no scores."""
        said = self.summary(scored=False)
        title = f"{algorithm(self.algorithm).title} on {self.dataset}: {said.links}"
        return f"<p><b>{escape(title)}</b></p>{self.plot()}<p>{escape(self.guarantee)}</p>"

    @cached_property
    def order_dependent_edges(self) -> frozenset[tuple[int, int]] | None:
        """The edges (i, j), i < j, that another column order would have marked differently.

        This is computed from the run's answers, without new tests or charges. It is empty if the
        parameters make the result independent of the order, and None if these answers do not show
        it.
        """
        if not self.params.by_order:
            return frozenset()
        return order_dependent(self.matrix, self.separating, self.known)

    @property
    def order_words(self) -> str:
        """Return a sentence that names the edges that depend on column order, or an empty text."""
        if self.order_dependent_edges is None:
            return "Some edge directions may depend on the column order; PC-stable avoids this."
        if not self.order_dependent_edges:
            return ""
        return (
            f"{len(self.order_dependent_edges)} of {len(self.skeleton)} edges depend on the column "
            "order; PC-stable avoids this."
        )

    @property
    def guarantee(self) -> str:
        """Return the guarantee of this run in one or two sentences."""
        promised = self.summary().promise
        return f"{promised.terms}. {promised.sentence}"

    def summary(self, *, scored: bool = True) -> Summary:
        """Return the run in counts and sentences, as every page and file prints them.

        With ``scored=False`` the summary omits the ground truth, for use if scores would not be
        private.
        """
        return summarise(
            self.params,
            self.ledger,
            self.claimed,
            counts=self.counts if scored else None,
            links=len(self.skeleton),
            untested=len(self.untested),
            contradicted=len(self.contradicted - self.untested),
            status=self.status,
            tests=self.ci_tests,
            order=self.order_words,
        )

    def plot(self) -> Svg:
        """Return the displayed graph as SVG text that a notebook shows as a picture."""
        title = algorithm(self.algorithm).title
        return svg(self.names, self._edges, f"The graph that {title} learned from {self.dataset}")

    @cached_property
    def _edges(self) -> list[Edge]:
        found = self.diagnostics.descent()
        return edges(
            self.names,
            self.matrix,
            self.untested,
            *self.diagnostics.confidences(),
            weights=None if found is None else found.weights,
            outcomes=self.classes,
            contradicted=self.contradicted,
        )

    @property
    def edge_list(self) -> tuple[Edge, ...]:
        """Return every edge and partly tested pair as data (:class:`engine.graphs.edges.Edge`)."""
        return tuple(self._edges)

    @property
    def edges(self) -> pd.DataFrame:
        """Return the edges as a frame, one per row.

        Its columns are source, target, edge_confidence, direction_confidence and class, and also
        link and arrow, the names of the confidences in version 0.3. ``edge_confidence`` is the
        share of such edges that are real. ``direction_confidence`` is the share of the real ones
        that run from source to target (NaN if the algorithm does not give it). ``class`` is
        "directed", "undirected" (source and target are in column order) or "untested".
        """
        return edge_frame(self._edges)

    def to_networkx(self) -> nx.DiGraph:
        """Return the networkx graph with ``mark`` and the confidences on its edges."""
        return annotated(self.names, self._edges)

    def to_dot(self) -> str:
        """Return the graph in Graphviz DOT, as it is drawn: :attr:`displayed_cpdag`."""
        return dot(self.names, self.displayed_cpdag)

    @cached_property
    def skeleton(self) -> set[frozenset[str]]:
        """The adjacent pairs, without direction."""
        return pairs_of(self.matrix, self.names)

    @cached_property
    def untested_pairs(self) -> set[frozenset[str]]:
        """Return the names of the pairs that were not fully tested."""
        return {frozenset((self.names[i], self.names[j])) for i, j in self.untested}

    @cached_property
    def cpdag(self) -> nx.DiGraph:
        """The learned CPDAG; an undirected edge has both directions."""
        return digraph_of(self.matrix, self.names)

    @cached_property
    def separating_sets(self) -> dict[frozenset[str], tuple[frozenset[str], ...]]:
        """Pairs of names with the sets that separated them."""
        return {
            frozenset(self.names[i] for i in pair): tuple(
                frozenset(self.names[i] for i in one) for one in sets
            )
            for pair, sets in self.separating.items()
        }

    def effect(
        self, cause: str, outcome: str, *, names: Sequence[str] | None = None, **options: Any
    ) -> Effect:
        """Estimate the effect of setting one column on another, from Marginal PC's release.

        ``names`` are other names of the columns, in their order, for the arguments and the
        sentences. ``options`` are those of :func:`engine.effects.effect.effect_of`; the estimate
        costs no ε. Raises InputError for any other algorithm, because it releases no tables.
        """
        # Imported here because only runs of Marginal PC need it.
        from engine.effects.effect import current_options, effect_of

        found = self.diagnostics.effects()
        if found is None or found.released is None:
            raise InputError(
                "Effects are computed from released tables: run marginal_pc until it finishes."
            )
        options = current_options(options)
        return effect_of(
            found.released, names or self.names, found.levels, self._plausible, cause, outcome,
            corrected=found.answers, **options,
        )  # fmt: skip

    @cached_property
    def _plausible(self) -> Plausible:
        """The plausible DAGs, which every effect needs; with many columns they take seconds."""
        from engine.effects.plausible import plausible

        found = self.diagnostics.effects()
        assert found is not None
        return plausible(found, self.matrix, self.known)

    @property
    def ci_tests(self) -> int:
        """Number of conditional independence tests over all orders."""
        return sum(self.ci_tests_by_order)

    @property
    def proven(self) -> Guarantee:
        """The proven (ε, δ) of this run."""
        return self.ledger.proven

    @property
    def guaranteed_epsilon(self) -> float | None:
        """The ε that a strict run guarantees, or None if there is no cap."""
        strict = getattr(self.params, "guarantee", None) == STRICT
        return self.proven.epsilon if strict else None

    @property
    def attacker_success(self) -> float:
        """The largest probability that an attacker guesses a person's row; 1 without a guarantee.

        The attacker knows all other rows and chooses between two equally likely ones.
        """
        return self.summary(scored=False).promise.attacker_success / 100


def reference_of(
    key: str, truth: nx.DiGraph, names: tuple[str, ...], knowledge: Knowledge | None
) -> Adjacency:
    """Return the part of the truth to compare the algorithm's result with.

    It is the identifiable part: its CPDAG or MPDAG, or all of its directed edges.
    """
    if algorithm(key).directs_all:
        return matrix_of(truth, names)
    return truth_cpdag(truth, names, knowledge)
