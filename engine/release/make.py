"""Budgets as a notebook holds them; spend a part of one on a release.

A release is one of :mod:`~engine.algorithms.marginal_pc`, which draws nothing but Gaussian noise on
fixed tables: that has a hardened sampler (:mod:`engine.privacy.sources`), and whoever has the file
can derive the graph again without the data (:mod:`engine.release.checking`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.algorithms.marginal_pc import MarginalPCParameters
from engine.data.dataset import Dataset
from engine.data.reading import as_dataset
from engine.data.schema import Schema
from engine.errors import InputError, cut, need, show
from engine.privacy.accounting import Guarantee
from engine.privacy.sources import Hardened, Replay
from engine.randomness import Randomness
from engine.release import budget as books
from engine.release.budgeted import BudgetedRelease
from engine.release.checking import Ask, Request
from engine.release.file import ALGORITHM, MOST_ROWS, Release, findings, parse_released
from engine.release.places import append, private_folder
from engine.release.signature import own_key, signed
from engine.runner import Stop, asking
from engine.version import __version__

_PACKAGES = ("numpy", "opendp", "scipy")


class Stopped(InputError):
    """The person stopped a release; the message says whether the budget was charged."""


class Budget:
    """A total (epsilon, delta) for the records that a name stands for, kept beyond this session.

    A name that is new is declared with its total, once and for all; a known one is opened, and
    refuses another total. Nothing takes a charge back.

    Args:
        name: What you call these records, whatever file they come in.
        epsilon: The total ε over all releases.
        delta: The total δ.
        path: Another file of budgets than the one in your data folder.

    Raises:
        InputError: For a name that is not there and comes without a total, or another total.

    Examples:
        >>> import tempfile
        >>> place = Path(tempfile.mkdtemp()) / "budgets.db"
        >>> ward = Budget("ward-7", epsilon=3, delta=1e-5, path=place)
        >>> ward
        <Budget 'ward-7': ε 3 of 3 left, δ 1e-05 of 1e-05>
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
        if epsilon is None or name in {one.name for one in self._book.all()}:
            found = self._book.show(name)  # InputError for a name that is not there
        else:
            found = self._book.new(name, epsilon, 1e-6 if delta is None else delta)
        for what, said, total in (("ε", epsilon, found.epsilon), ("δ", delta, found.delta)):
            if said is not None and books.amount(said) != total:
                raise InputError(
                    f"Budget {name!r} has the total {what} = {total:g}, which is never changed to "
                    f"{show(said)}; leave it out, or give another name."
                )
        self.name = name

    def __repr__(self) -> str:
        """One line."""
        return f"<Budget {self.name!r}: {self._book.show(self.name).remaining}>"

    @property
    def left(self) -> Guarantee:
        """What can still be charged."""
        return Guarantee(*map(float, self._book.show(self.name).left))

    @property
    def charges(self) -> tuple[books.Charged, ...]:
        """What was charged, oldest first."""
        return self._book.show(self.name).charges

    def _repr_html_(self) -> str:
        """What is left, and what was charged."""
        said = escape(repr(self)[1:-1])
        rows = "".join(
            f"<tr><td>{c.at} UTC</td><td>ε {c.epsilon:f}</td><td>{escape(c.what)}</td></tr>"
            for c in self.charges
        )
        return f"<p><b>{said}</b></p><table>{rows}</table>"

    def release(
        self,
        data: Any,
        schema: Schema | None = None,
        epsilon: float = 1.0,
        *,
        delta: float | None = None,
        sign: bool = False,
        on_charged: Callable[[], None] = lambda: None,
        stop: Stop | None = None,
        resume: bool = False,
        **values: Any,
    ) -> BudgetedRelease:
        """Charge this budget, then release; a crash in between leaves the charge.

        Args:
            data: A frame, array or file, read by the schema; or a Dataset that was.
            schema: The declared public facts, every column stated.
            epsilon: What this release costs.
            delta: Likewise; unless said the same share of the total as epsilon is.
            sign: Whether to sign it with your key.
            on_charged: Called once the charge is on the disk.
            stop: A ``threading.Event``, or what is called to ask: free before the charge, after
                it the charge stays.
            resume: End the last release that was charged and cut short, at the settings that it
                had, of the same data; nothing is charged.
            values: More parameters of :mod:`~engine.algorithms.marginal_pc`.

        Returns:
            The release, kept in the vault next to the budgets.

        Raises:
            InputError: In one sentence, and nothing is charged, where the request does not fit.
        """
        table = _declared(data, schema)
        signer = own_key() if sign else None
        cancelled = (lambda: False) if stop is None else asking(stop)
        private_folder(self._book.folder)  # where nothing can be kept, nothing is charged
        self._book.check()
        if resume:
            number, request = self._waiting(table)
        else:
            asked = {"epsilon": epsilon, **({} if delta is None else {"delta": delta}), **values}
            number, request = self._charged(table, asked, cancelled)
        on_charged()
        with self._paid(request.total):
            source = Resumable(self._book.drawn(number))
            found = self._made(request, table, source, cancelled)
        found = found if signer is None else signed(found, signer)
        try:
            return BudgetedRelease(found, self._book.keep(number, found))
        except InputError:  # what has been paid for is returned all the same
            return BudgetedRelease(found)

    def _waiting(self, table: Dataset) -> tuple[int, Request]:
        """The last charge without a release, what it asked for; InputError for another table."""
        unfinished = self._book.show(self.name).unfinished
        if not unfinished:
            raise InputError(f"No release of budget {self.name!r} waits to be ended.")
        number = max(unfinished)
        asked = Request.parse(unfinished[number])
        columns = table.schema.columns if table.schema else ()
        if (asked.rows, asked.schema.columns) != (table.n, columns):
            raise InputError(
                f"The release of budget {self.name!r} that waits to be ended is of another table: "
                f"{asked.rows:,} records of {', '.join(asked.schema.names[:6])}."
            )
        return number, asked

    def _charged(
        self, table: Dataset, values: dict[str, Any], cancelled: Ask
    ) -> tuple[int, Request]:
        """A new charge, once what it asks for has run on empty rows: whatever is wrong is free."""
        assert table.schema is not None
        asked = MarginalPCParameters.build(values)
        if "delta" not in values:
            asked = replace(asked, delta=self._book.show(self.name).share(float(asked.epsilon)))
        request = Request(asked, table.n, table.schema)
        request.run(request.empty, Randomness(0), cancelled)
        if cancelled():
            raise Stopped("Stopped: the release was not made, and nothing was charged.")
        charged = self._book.charge(self.name, request.total, f"release by {ALGORITHM}", request)
        return charged.charges[-1].number, request

    @contextmanager
    def _paid(self, total: Guarantee) -> Iterator[None]:
        """Whatever goes wrong inside also says that the charge stays."""
        stays = (
            f"The release was not made, and ε = {total.epsilon:g}, δ = {total.delta:g} stay "
            f"charged to budget {self.name!r}, since noise may have been drawn. What was drawn is "
            "kept: engine release --resume ends it, and is not charged again."
        )
        try:
            yield
        except Stopped as stopped:
            raise Stopped(f"{stopped} {stays}") from None
        except (InputError, OSError, MemoryError) as error:
            raise InputError(f"{str(error) or 'There is no memory left.'} {stays}") from error
        except BaseException as error:  # a fault of ours, or a second Ctrl-C
            error.add_note(stays)
            raise

    def _made(self, request: Request, table: Dataset, source: Resumable, cancelled: Ask) -> Release:
        """The release that a charge paid for, as it was asked for then."""
        rows = replace(table, schema=request.schema)
        context, outcome = request.run(rows, source, cancelled)
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
            versions={"dp-causal-explorer": __version__} | {p: version(p) for p in _PACKAGES},
            **findings(outcome, request.schema.names),
        )


def _declared(data: Any, schema: Schema | None) -> Dataset:
    """The table under its declared schema; InputError, before anything is read, where it waits."""
    if isinstance(schema, Schema) and schema.waiting:
        raise InputError(
            f"What {cut(', '.join(schema.waiting))} can hold was found in the data and is not "
            "public: state it (schema.state), or leave the column out (schema.keep)."
        )
    need("opendp", "release")
    table = as_dataset(data, schema)
    if not table.declared or table.n > MOST_ROWS:
        raise InputError(
            "A release needs a declared schema, Schema.draft(frame).state(...), and at most "
            f"{MOST_ROWS:,} rows."
        )
    if not isinstance(data, Dataset) and (many := [u for u in table.unforeseen_cells if u.asks]):
        raise InputError(
            f"Nothing was charged: {many[0]}. If that is right, read the table first and release "
            "what was read: data = read_table(table, schema)."
        )
    return table


class Resumable(Hardened):
    """Fresh noise from the operating system, after what the file ``path`` has of this release."""

    def __init__(self, path: Path):
        super().__init__()
        self._path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        whole = [line for line in lines if line.endswith("}")]  # one may be torn
        self._before = [parse_released(json.loads(line)) for line in whole]

    def gaussian(
        self, exact: NDArray[np.float64], sensitivity: float, sigma: float
    ) -> NDArray[np.float64]:
        """The next table of the file if there is one; else a new one, which is kept first."""
        place = len(self.given_out)
        if place < len(self._before):
            found = Replay([self._before[place]]).gaussian(exact, sensitivity, sigma)
            self.given_out.append(self._before[place])
            return found
        found = super().gaussian(exact, sensitivity, sigma)
        append("\n" + json.dumps(vars(self.given_out[-1])), self._path)
        return found
