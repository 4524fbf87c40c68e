"""Budgets and releases for notebooks: charge, show, answer, combine, save.

The algorithm is :mod:`~engine.algorithms.marginal_pc`, which draws only Gaussian noise on fixed
tables. This noise has a hardened sampler (:mod:`engine.privacy.sources`), and every recipient of
the file can derive the graph again without the data (:mod:`engine.release.checking`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from html import escape
from importlib.metadata import version
from itertools import count as count_from
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from engine.algorithms.marginal_pc import MarginalPCParameters
from engine.data.dataset import Dataset
from engine.data.schema import Schema
from engine.effects.effect import Effect, current_options
from engine.errors import InputError, cut, show
from engine.graphs.edges import annotated, edge_frame
from engine.graphs.formats import FORMATS
from engine.knowledge import Knowledge
from engine.marginals.levels import check_levels
from engine.monitor import Cancelled, Monitor, OnProgress, Stop, renamed
from engine.percent import count
from engine.privacy.accounting import Guarantee
from engine.privacy.sources import Hardened, Released, Replay
from engine.question import Question, Questions
from engine.randomness import Randomness
from engine.release import budget as books
from engine.release import page
from engine.release.checking import (
    Request,
    answer,
    answers,
    check,
    combined,
    question,
    with_knowledge,
)
from engine.release.door import load
from engine.release.drawing import consistent_dag
from engine.release.file import ALGORITHM, Release, canonical, findings
from engine.release.places import check_places, page_of, private_folder, save
from engine.release.signature import own_key, signed
from engine.release.synthetic import synthetic
from engine.version import __version__

if TYPE_CHECKING:
    import pandas as pd

_EVERY = 0.3  # seconds between two reports of progress
_PACKAGES = ("numpy", "opendp", "scipy")


@dataclass(frozen=True, repr=False)
class BudgetedRelease:
    """A release, made from a budget or loaded from a file: its graph, its check, its files.

    ``release`` is the content of the file, ``kept`` the id of the saved release, if any. No method
    needs the data or costs ε.

    Examples:
        >>> import tempfile
        >>> from engine import Budget, Schema, load_dataset
        >>> frame = load_dataset("cancer", n=1_000).to_frame()
        >>> schema = Schema.draft(frame).declare(*frame.columns)
        >>> place = Path(tempfile.mkdtemp()) / "budgets.db"
        >>> paid = Budget("ward", epsilon=3, delta=1e-5, path=place).release(frame, schema)
        >>> paid.release.rows, paid.spent, 0 <= paid.check() <= 1
        (1000, Guarantee(epsilon=1.0, delta=3.33e-06), True)
    """

    release: Release
    kept: str | None = None

    def __repr__(self) -> str:
        """Return a one-line summary."""
        r, links = self.release, count(len(self.release.confidence), "link")
        return (
            f"<BudgetedRelease {r.name!r}: {links} among {len(r.names)} "
            f"columns of {r.rows:,} {r.schema.what}, ε {r.total.epsilon:g}, "
            f"δ {r.total.delta:g}, {page.signed_words(r)}>"
        )

    def _repr_html_(self) -> str:
        """Show a sentence, the graph with its probabilities, and the guarantee."""
        r, said = self.release, escape(repr(self)[1:-1])
        words = " ".join([page.doubt_words(r), page.promise_words(r), *page.combined_words(r)])
        return f"<p><b>{said}</b></p>{page.release_svg(r)}<p>{escape(words)}</p>"

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return self.release.names

    @property
    def spent(self) -> Guarantee:
        """Guarantee, which is also the charge; for combined releases the largest one."""
        return self.release.total

    @property
    def edges(self) -> pd.DataFrame:
        """Edges as a frame (:attr:`engine.RunResult.edges`)."""
        return edge_frame(page.release_edges(self.release))

    def to_networkx(self) -> nx.DiGraph:
        """Return the graph with ``mark``, ``link`` and ``arrow`` on its edges."""
        return annotated(self.names, page.release_edges(self.release))

    def to_dot(self) -> str:
        """Return the graph as Graphviz DOT."""
        return self.to_text("dot")

    def to_text(self, kind: str, *, directed: bool = False) -> str:
        """Format the graph for another tool, by a key of :data:`engine.graphs.formats.FORMATS`.

        With ``directed`` every edge has a direction, as for synthetic data: one DAG that the
        released graph allows, for tools that accept only DAGs.
        """
        if kind not in FORMATS:
            raise InputError(f"A graph is written as {', '.join(FORMATS)}; {kind!r} is none.")
        if directed:
            matrix = nx.to_numpy_array(consistent_dag(self.release.matrix), dtype=bool, weight=None)
        else:
            matrix = page.release_drawn(self.release)
        return FORMATS[kind].write(self.names, matrix)

    def check(self) -> float:
        """Derive it again from its numbers (:func:`engine.release.checking.check`)."""
        return check(self.release)

    def effect(
        self, cause: str, outcome: str, knowledge: Knowledge | None = None, **options: Any
    ) -> Effect:
        """Estimate the effect of setting ``cause`` on ``outcome``, from the released tables.

        Args:
            cause: The column that is set.
            outcome: The column whose change is estimated.
            knowledge: Background knowledge that replaces that of the release; costs no ε.
            options: ``cause_level``, ``reference``, ``outcome_level``, ``values`` and
                ``adjustment``, as in :func:`engine.effects.effect.effect_of`; ``mean`` takes the
                values from the schema.

        Returns:
            The numbers, or the reason why there are none; ``sentence`` says it in words.

        Raises:
            InputError: For an inconsistent file, and for unknown names or levels.

        Examples:
            >>> import tempfile
            >>> from engine import Budget, Knowledge, Schema, load_dataset
            >>> place = Path(tempfile.mkdtemp()) / "budgets.db"
            >>> frame = load_dataset("cancer", n=50_000).to_frame()
            >>> schema = Schema.draft(frame).declare(*frame.columns)
            >>> paid = Budget("ward", epsilon=3, delta=1e-5, path=place).release(frame, schema)
            >>> known = Knowledge(leaves=["Xray"])
            >>> found = paid.effect("Cancer", "Xray", known, cause_level="True", reference="False")
            >>> abs(found.difference.value) > 0.5  # the truth is .7
            True
        """
        paid = self if knowledge is None else self.with_knowledge(knowledge)
        chosen = current_options(options)
        if chosen.pop("mean", False):
            chosen["values"] = self.release.schema.numbers(outcome)
        return question(paid.release)(cause, outcome, **chosen)

    def answer(self, question: Question | None = None) -> Effect:
        """Answer a question from the released numbers; by default the first stored question.

        Raises:
            InputError: If there is no stored question, and for unknown names or levels.
        """
        if question is None:
            return self.answers[0]
        wanted = question
        paid = self if wanted.known is None else self.with_knowledge(wanted.known)
        if wanted.mean:
            values = self.release.schema.numbers(wanted.outcome)
            wanted = replace(wanted, mean=False, values=values)
        return answer(paid.release, wanted)

    @property
    def answers(self) -> tuple[Effect, ...]:
        """Answers to the stored questions; raises InputError if there are none."""
        if not self.release.schema.questions:
            raise InputError(
                "This release was made without a question; name a cause and an outcome."
            )
        return answers(self.release)

    def with_knowledge(self, knowledge: Knowledge) -> BudgetedRelease:
        """Return the same tables with other background knowledge, without a charge.

        Graph, effects and synthetic rows follow from it, and the file records it
        (:func:`engine.release.checking.with_knowledge`).
        """
        return BudgetedRelease(with_knowledge(self.release, knowledge))

    def synthetic(self, rows: int, seed: int = 0) -> Dataset:
        """Draw synthetic rows; no row is a record (:func:`engine.release.synthetic.synthetic`)."""
        return synthetic(self.release, rows, seed)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a new file, and next to it the page for people; return the file's path."""
        out = check_places(path)
        save(canonical(self.release), out)
        save(page.to_html(self.release), page_of(out))
        return out


def combine(
    releases: Sequence[BudgetedRelease | str | Path],
    knowledge: Knowledge | None = None,
    *,
    different_people: bool = False,
) -> BudgetedRelease:
    """Combine releases about different people under one schema, for example from hospitals.

    Args:
        releases: Two or more releases, made here or loaded, or paths of their files.
        knowledge: Background knowledge about the causes. The default is the knowledge that all
            releases declare.
        different_people: You declare that each person is in only one of them, although two are as
            similar as releases about the same people. The file then records this.

    Returns:
        A release with their pooled tables and the graph that follows, without a charge. If each
        person is in only one release, they have the (ε, δ) of that release; no file can show this.

    Raises:
        InputError: For different schemas, with the first difference; for two releases from one
            budget or as similar as those about the same people; for files that :func:`load_release`
            refuses.

    Examples:
        >>> import tempfile
        >>> from engine import Budget, Schema, load_dataset
        >>> place = Path(tempfile.mkdtemp()) / "budgets.db"
        >>> frame = load_dataset("cancer", n=2_000).to_frame()
        >>> schema = Schema.draft(frame).declare(*frame.columns)
        >>> wards = {"ward-7": frame[:1_000], "ward-8": frame[1_000:]}
        >>> both = combine([
        ...     Budget(name, epsilon=3, delta=1e-5, path=place).release(part, schema, delta=1e-6)
        ...     for name, part in wards.items()
        ... ])
        >>> both.release.rows, both.spent
        (2000, Guarantee(epsilon=1.0, delta=1e-06))
    """
    made = [each if isinstance(each, BudgetedRelease) else load_release(each) for each in releases]
    parts = [each.release for each in made]
    return BudgetedRelease(combined(parts, knowledge, different_people))


def load_release(path: str | os.PathLike[str]) -> BudgetedRelease:
    """Read a release's file and verify it: layout, digest, every signature, consistency.

    Args:
        path: The JSON file.

    Returns:
        The release with its graph, check and synthetic rows. A release without a signature is
        verified too, and reports that it has none.

    Raises:
        InputError: With one sentence if the file is not a release, was changed, has a wrong
            signature, or contradicts its numbers.

    Examples:
        >>> import tempfile
        >>> from engine import Budget, Schema, load_dataset
        >>> folder = Path(tempfile.mkdtemp())
        >>> frame = load_dataset("cancer", n=1_000).to_frame()
        >>> schema = Schema.draft(frame).declare(*frame.columns)
        >>> ward = Budget("ward", epsilon=3, delta=1e-5, path=folder / "budgets.db")
        >>> place = ward.release(frame, schema, epsilon=1).save(folder / "ward.json")
        >>> load_release(place).spent
        Guarantee(epsilon=1.0, delta=3.33e-06)
    """
    return BudgetedRelease(load(path)[0])


FREE = "Stopped: the release was not made, and nothing was charged."
CHARGED = "charged"  # phrase for a monitor once the charge is on disk


def is_kept(id_: str) -> str:
    """Say where a saved release is."""
    return (
        f"The release is saved: engine release --again {id_} --out FILE writes it without another "
        "charge."
    )


class Stopped(InputError):
    """The user stopped a release; the message says whether the budget was charged."""


class Budget:
    """A stored total (epsilon, delta) for the records that a name stands for.

    A new name is declared once with its total. A known name opens its budget, and a different total
    is refused. Charges are permanent.

    Args:
        name: Your name for these records, in every file that contains them.
        epsilon: The total ε over all releases.
        delta: The total δ.
        path: A file of budgets other than the one in your data folder.

    Raises:
        InputError: For an unknown name without a total, and for a different total.

    Examples:
        >>> import tempfile
        >>> place = Path(tempfile.mkdtemp()) / "budgets.db"
        >>> ward = Budget("ward-7", epsilon=3, delta=1e-5, path=place)
        >>> ward
        <Budget 'ward-7': ε 3 of 3 left, δ 10⁻⁵ of 10⁻⁵>
        >>> Budget("ward-7", path=place).left
        Guarantee(epsilon=3.0, delta=1e-05)
    """

    def __init__(
        self,
        name: str,
        epsilon: float | str | None = None,
        delta: float | str | None = None,
        *,
        path: str | os.PathLike[str] | None = None,
    ):
        self._book = books.Budgets(path)
        if epsilon is None or name in [one.name for one in self._book.all()]:
            found = self._book.show(name)  # raises InputError for an unknown name
        else:
            found = self._book.new(name, epsilon, 1e-6 if delta is None else delta)
        for what, said, total in (("ε", epsilon, found.epsilon), ("δ", delta, found.delta)):
            if said is not None and books.amount(said) != total:
                raise InputError(
                    f"Budget {name!r} has the total {what} = {total:g}, which cannot be changed "
                    f"to {show(said)}; leave it out, or give another name."
                )
        self.name = name

    def __repr__(self) -> str:
        """Return a one-line summary."""
        return f"<Budget {self.name!r}: {self._book.show(self.name).remaining}>"

    @property
    def left(self) -> Guarantee:
        """Remaining (epsilon, delta)."""
        return Guarantee(*map(float, self._book.show(self.name).left))

    @property
    def charges(self) -> tuple[books.Charged, ...]:
        """Charges, oldest first."""
        return self._book.show(self.name).charges

    def _repr_html_(self) -> str:
        """Show the remaining budget and the charges."""
        rows = "".join(
            f"<tr><td>{c.at} UTC</td><td>ε {c.epsilon:f}</td><td>{escape(c.what)}</td></tr>"
            for c in self.charges
        )
        return f"<p><b>{escape(repr(self)[1:-1])}</b></p><table>{rows}</table>"

    @renamed(on_charged="on_progress")
    def release(
        self,
        data: Any,
        schema: Schema | None = None,
        epsilon: float = 1.0,
        *,
        delta: float | None = None,
        sign: bool = False,
        stop: Stop | None = None,
        on_progress: OnProgress | None = None,
        resume: bool = False,
        question: Questions | None = None,
        **values: Any,
    ) -> BudgetedRelease:
        """Charge this budget, then release; after a crash in between, the charge stays.

        Args:
            data: A frame, array or file, to be read by the schema, or a Dataset read by it.
            schema: The declared public facts, with every column declared.
            epsilon: The ε that this release costs.
            delta: The δ that it costs; by default the same share of its total as epsilon.
            sign: True signs the release with your key.
            stop: A ``threading.Event``, or a function that returns True to stop. A stop before the
                charge costs nothing; after it, the charge stays.
            on_progress: A function that receives a share and a phrase, which is :data:`CHARGED`
                once the charge is on disk. While a file is read, another thread calls it.
            resume: Resume the last interrupted release of the same data with its settings, without
                a new charge. Its drawn tables are used again.
            question: A question about an effect that gets a share of the charge, or several, which
                divide it by weight; public facts.
            values: More parameters of :mod:`~engine.algorithms.marginal_pc`.

        Returns:
            The release, which is also saved next to the budgets.

        Raises:
            InputError: With one sentence, and without a charge, if the request is invalid.
        """
        monitor = Monitor(on_progress, stop)
        table = _declared(data, schema, monitor)
        if question is not None:
            assert table.schema is not None
            table = replace(table, schema=table.schema.asked(question))
        signer = own_key() if sign else None
        private_folder(self._book.folder)  # raises before the charge if no release can be saved
        if resume:
            charge, request = self._waiting(table)
        else:
            asked = {"epsilon": epsilon, **({} if delta is None else {"delta": delta}), **values}
            charge, request = self._charged(table, asked, monitor)
        monitor.tell(None, CHARGED)
        with self._book.working(charge):
            before = self._book.drawn(charge)  # raises InputError if it is complete by now
            with self._staying(charge, request.total):
                found = self._book.made(charge)
                if found is None:
                    source = Resumable(self._book, charge, before)
                    found = self._made(request, table, source, monitor)
                found = found if signer is None else signed(found, signer)
                return BudgetedRelease(found, self._book.keep(charge, found))

    def _waiting(self, table: Dataset) -> tuple[str, Request]:
        """Return the last charge without a release; raises InputError for a different table."""
        unfinished = self._book.show(self.name).unfinished
        if not unfinished:
            left = "".join(
                f" {name} is from an older version, which did not record whose tables it holds, "
                "so it is not used."
                for name in self._book.left_over()
            )
            raise InputError(f"Budget {self.name!r} has no interrupted release.{left}")
        charge = list(unfinished)[-1]
        asked = Request.parse(unfinished[charge])
        if (asked.rows, asked.schema.columns) != (table.n, getattr(table.schema, "columns", ())):
            raise InputError(
                f"The interrupted release of budget {self.name!r} used a different table: "
                f"{asked.rows:,} records with the columns {', '.join(asked.schema.names[:6])}."
            )
        return charge, asked

    def _charged(
        self, table: Dataset, values: dict[str, Any], monitor: Monitor
    ) -> tuple[str, Request]:
        """Charge the budget after a trial run on placeholder rows, so that refusals are free."""
        assert table.schema is not None
        check_levels(table.schema)
        asked = MarginalPCParameters.build(values)
        if "delta" not in values:
            asked = replace(asked, delta=self._book.show(self.name).share(float(asked.epsilon)))
        request = Request(asked, table.n, table.schema)
        request.run(request.empty, Randomness(0), _stepwise(monitor, "trying empty rows"))
        if monitor.stopped():
            raise Stopped(FREE)
        charged = self._book.charge(self.name, request.total, f"release by {ALGORITHM}", request)
        return charged.charges[-1].id, request

    def _made(
        self, request: Request, table: Dataset, source: Hardened, monitor: Monitor
    ) -> Release:
        """Make the release of a charge from its request."""
        rows = replace(table, schema=request.schema)
        context, outcome = request.run(rows, source, _stepwise(monitor, "releasing"))
        if outcome.status == "cancelled":
            raise Stopped("Stopped after the charge.")
        return Release(
            name=self.name,
            params=request.params.as_dict(),
            rows=request.rows,
            schema=request.schema,
            total=request.total,
            releases=tuple(source.given_out),
            labels=tuple(charge.label for charge in context.ledger),
            versions=_versions(),
            **findings(outcome, request.schema.names),
        )

    @contextmanager
    def _staying(self, charge: str, total: Guarantee) -> Iterator[None]:
        """Add to every error after a charge that the charge stays and which file is saved."""
        try:
            yield
        except Stopped as stopped:
            raise Stopped(f"{stopped} {self._stays(charge, total)}") from None
        except (InputError, OSError, MemoryError) as error:
            said = str(error) or "There is no memory left."
            raise InputError(f"{said} {self._stays(charge, total)}") from error
        except BaseException as error:  # a bug, or a second Ctrl-C
            error.add_note(self._stays(charge, total))
            raise

    def _stays(self, charge: str, total: Guarantee) -> str:
        kept = self._book.ids(self._book.show(self.name)).get(charge)
        if kept is not None:
            return is_kept(kept)
        return (
            f"The release was not made, and ε = {total.epsilon:g}, δ = {total.delta:g} stay "
            f"charged to budget {self.name!r}, since noise may have been drawn. The drawn tables "
            "are kept: Resume (engine release --resume) finishes it without another charge."
        )


def _stepwise(monitor: Monitor, phrase: str) -> Monitor:
    """Return a monitor that counts the steps of a run by its requests for a stop."""
    steps, told = count_from(1), [time.monotonic()]

    def stop() -> bool:
        made = next(steps)
        if (now := time.monotonic()) > told[0] + _EVERY:
            told[0] = now
            monitor.tell(None, f"{phrase}: {made:,} steps")
        return monitor.stopped()

    return Monitor(stop=stop)


@cache
def _versions() -> dict[str, str]:
    """Return the versions of the packages that affect a release."""
    return {"dp-causal-explorer": __version__} | {name: version(name) for name in _PACKAGES}


def _declared(data: Any, schema: Schema | None, monitor: Monitor) -> Dataset:
    """Read the table by its declared schema; raises InputError first if facts are undeclared."""
    if isinstance(schema, Schema) and schema.waiting:
        raise InputError(
            f"The levels of {cut(', '.join(schema.waiting))} were found in the data and are not "
            f"public: declare them (schema.declare), or leave the columns out (schema.keep)."
        )
    # local import: recipients of a release need no readers
    from engine.data.reading import as_dataset

    try:
        table = as_dataset(data, schema, monitor)
    except Cancelled:
        raise Stopped(FREE) from None
    if not table.declared:
        raise InputError("A release needs a declared schema: Schema.draft(frame).declare(...).")
    if not isinstance(data, Dataset) and (many := [u for u in table.unforeseen_cells if u.asks]):
        raise InputError(
            f"Nothing was charged: {many[0]}. If that is right, read the table first, and release "
            "the result: data = read_table(table, schema)."
        )
    return table


class Resumable(Hardened):
    """Noise source of a charge: its stored tables first, then new operating-system noise.

    Each table is stored under the charge before it is returned.
    """

    def __init__(self, book: books.Budgets, charge: str, before: Sequence[Released]):
        super().__init__()
        self._book, self._charge, self._before = book, charge, before

    def gaussian(
        self, exact: NDArray[np.float64], sensitivity: float, sigma: float
    ) -> NDArray[np.float64]:
        """Return the stored table for this position if there is one; else draw and store one."""
        place = len(self.given_out)
        if place < len(self._before):
            found = self._before[place]
        else:
            super().gaussian(exact, sensitivity, sigma)
            found = self._book.draw(self._charge, place, self.given_out.pop())
        self.given_out.append(found)
        return Replay([found]).gaussian(exact, sensitivity, sigma)
