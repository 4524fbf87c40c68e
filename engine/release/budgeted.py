"""Releases as a notebook holds them: look, ask, combine, save."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx

from engine.data.dataset import Dataset
from engine.effects.effect import Effect
from engine.errors import InputError
from engine.graphs.edges import annotated, edge_frame
from engine.graphs.formats import FORMATS
from engine.knowledge import Knowledge
from engine.percent import count
from engine.privacy.accounting import Guarantee
from engine.release import page
from engine.release.checking import check, combined, question, with_knowledge
from engine.release.file import Release, canonical, load
from engine.release.places import check_places, page_of, save
from engine.release.synthetic import consistent_dag, synthetic

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class BudgetedRelease:
    """A release that was paid for, or one that was loaded: its graph, its check, its files.

    ``release`` is all that the file holds, ``kept`` its id in the vault, if it is there. Nothing
    here needs the data or costs anything.

    Examples:
        >>> import tempfile
        >>> from engine import Budget, Schema, load_dataset
        >>> frame = load_dataset("cancer", n=1_000).to_frame()
        >>> schema = Schema.draft(frame).state(*frame.columns)
        >>> place = Path(tempfile.mkdtemp()) / "budgets.db"
        >>> paid = Budget("ward", epsilon=3, delta=1e-5, path=place).release(frame, schema)
        >>> paid.release.rows, paid.spent, 0 <= paid.check() <= 1
        (1000, Guarantee(epsilon=1.0, delta=3.33e-06), True)
    """

    release: Release
    kept: str | None = None

    def __repr__(self) -> str:
        """One line."""
        r, links = self.release, count(len(self.release.confidence), "link")
        return (
            f"<BudgetedRelease {r.name!r}: {links} among {len(r.names)} "
            f"columns of {r.rows:,} {r.schema.what}, ε {r.total.epsilon:g}, δ {r.total.delta:g}>"
        )

    def _repr_html_(self) -> str:
        """A sentence, the graph with its probabilities, what it guarantees."""
        r, said = self.release, escape(repr(self)[1:-1])
        words = " ".join([page.doubt_words(r), page.promise_words(r), *page.combined_words(r)])
        return f"<p><b>{said}</b></p>{page.release_svg(r)}<p>{escape(words)}</p>"

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return self.release.names

    @property
    def spent(self) -> Guarantee:
        """What it promises, and what it cost; combined the largest of its releases'."""
        return self.release.total

    @property
    def edges(self) -> pd.DataFrame:
        """The edges as a frame (:attr:`engine.RunResult.edges`)."""
        return edge_frame(page.release_edges(self.release))

    def to_networkx(self) -> nx.DiGraph:
        """The graph with ``mark``, ``link`` and ``arrow`` on its edges."""
        return annotated(self.names, page.release_edges(self.release))

    def to_dot(self) -> str:
        """The graph as Graphviz DOT."""
        return self.to_text("dot")

    def to_text(self, kind: str, *, directed: bool = False) -> str:
        """The graph for another tool, by a key of :data:`engine.graphs.formats.FORMATS`.

        With ``directed`` every edge has a direction, as in synthetic tables: one DAG of those that
        the released graph allows, for tools that take no other graph.
        """
        if kind not in FORMATS:
            raise InputError(f"A graph is written as {', '.join(FORMATS)}; {kind!r} is none.")
        if directed:
            matrix = nx.to_numpy_array(consistent_dag(self.release), dtype=bool, weight=None)
        else:
            matrix = page.release_drawn(self.release)
        return FORMATS[kind].write(self.names, matrix)

    def check(self) -> float:
        """Derive it again from its numbers alone (:func:`engine.release.checking.check`)."""
        return check(self.release)

    def effect(
        self, cause: str, effect: str, knowledge: Knowledge | None = None, **options: Any
    ) -> Effect:
        """What setting ``cause`` does to ``effect``, by the released tables and plausible graphs.

        Args:
            cause: The column that is set.
            effect: The column that is looked at.
            knowledge: What is known of the causes, in the place of what the release has; free.
            options: ``level``, ``base``, ``event`` and ``sets``, as in
                :func:`engine.effects.effect.effect_of`.

        Returns:
            The numbers, or why there are none; its ``sentence`` says it.

        Raises:
            InputError: For a file that is not consistent, and for names or levels that there are
                not.

        Examples:
            >>> import tempfile
            >>> from engine import Budget, Knowledge, Schema, load_dataset
            >>> place = Path(tempfile.mkdtemp()) / "budgets.db"
            >>> frame = load_dataset("cancer", n=100_000).to_frame()
            >>> schema = Schema.draft(frame).state(*frame.columns)
            >>> paid = Budget("ward", epsilon=3, delta=1e-5, path=place).release(frame, schema)
            >>> known = Knowledge(leaves=["Xray"])
            >>> found = paid.effect("Cancer", "Xray", known, level="True", base="False")
            >>> abs(found.difference.value) > 0.5  # the truth is .7
            True
        """
        paid = self if knowledge is None else self.with_knowledge(knowledge)
        return question(paid.release)(cause, effect, **options)

    def with_knowledge(self, knowledge: Knowledge) -> BudgetedRelease:
        """The same tables under other knowledge of the causes; nothing is charged.

        Graph, effects and synthetic rows follow from it, and its file says which it is
        (:func:`engine.release.checking.with_knowledge`).
        """
        return BudgetedRelease(with_knowledge(self.release, knowledge))

    def synthetic(self, rows: int, seed: int = 0) -> Dataset:
        """Rows drawn from it, none a record (:func:`engine.release.synthetic.synthetic`)."""
        return synthetic(self.release, rows, seed)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write its file, a new one, and next to it the page for people; the file's path."""
        out = check_places(path)
        save(canonical(self.release), out)
        save(page.to_html(self.release), page_of(out))
        return out


def combine(
    releases: Sequence[BudgetedRelease], knowledge: Knowledge | None = None
) -> BudgetedRelease:
    """Releases of different people under one schema as one: hospitals, or months; free.

    Args:
        releases: Two or more, made here or loaded.
        knowledge: What is known of the causes. Without it what all of the releases state.

    Returns:
        Their tables added up, and the graph that follows. Each person's (ε, δ) is that of the
        release that holds them, if nobody is in two of them, which no file can show.

    Raises:
        InputError: For other schemas, with the first difference; for the same release twice; for
            files that are not consistent.

    Examples:
        >>> import tempfile
        >>> from engine import Budget, Schema, load_dataset
        >>> place = Path(tempfile.mkdtemp()) / "budgets.db"
        >>> frame = load_dataset("cancer", n=2_000).to_frame()
        >>> schema = Schema.draft(frame).state(*frame.columns)
        >>> wards = {"ward-7": frame[:1_000], "ward-8": frame[1_000:]}
        >>> both = combine([
        ...     Budget(name, epsilon=3, delta=1e-5, path=place).release(part, schema, delta=1e-6)
        ...     for name, part in wards.items()
        ... ])
        >>> both.release.rows, both.spent
        (2000, Guarantee(epsilon=1.0, delta=1e-06))
    """
    return BudgetedRelease(combined([each.release for each in releases], knowledge))


def load_release(path: str | os.PathLike[str]) -> BudgetedRelease:
    """Read a release's file.

    Args:
        path: The JSON file.

    Returns:
        The release with its graph, check and synthetic rows.

    Raises:
        InputError: In one sentence where it is none.

    Examples:
        >>> import tempfile
        >>> from engine import Budget, Schema, load_dataset
        >>> folder = Path(tempfile.mkdtemp())
        >>> frame = load_dataset("cancer", n=1_000).to_frame()
        >>> schema = Schema.draft(frame).state(*frame.columns)
        >>> ward = Budget("ward", epsilon=3, delta=1e-5, path=folder / "budgets.db")
        >>> place = ward.release(frame, schema, epsilon=1).save(folder / "ward.json")
        >>> load_release(place).spent
        Guarantee(epsilon=1.0, delta=3.33e-06)
    """
    return BudgetedRelease(load(path))
