"""A release that goes on: it can be stopped, and says whether it has been paid for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine import Dataset, InputError
from engine.data.schema import Schema
from engine.release.file import Release
from engine.release.make import make
from engine.release.settings import COVERED
from engine.release.signature import own_key
from pages.host import apart, person, record
from pages.host.person import Person
from pages.shell import words as text
from pages.shell.data import in_force
from pages.shell.job import RUNS, Job, Slot
from pages.shell.session import Place

_LAST: Place[tuple[Release, Dataset] | None] = Place("released")


class ReleaseJob(Job):
    """One release of ``data`` at ``values``, paid by the budget ``name`` of ``payer``."""

    queue = RUNS

    def __init__(
        self,
        data: Dataset,
        schema: Schema,
        values: Mapping[str, Any],
        name: str,
        payer: Person,
        sign: bool = False,
    ):
        super().__init__()
        self._payer = payer
        self._request, self.name = (data, schema, COVERED[0], dict(values)), name
        self.data = data
        self.what = f"a release charged to “{text.plain(name)}”"
        self.charged, self._sign = False, sign
        self.kept: str | None = None  # its id in the vault
        self.released: Release | None = None

    def present(self) -> bool:
        """What has been paid for is not thrown away because a browser lost its connection."""
        return self.charged or super().present()

    def work(self) -> None:
        """Charge the budget, then release."""
        signer = own_key(self._payer.key) if self._sign else None
        try:
            self.released = make(
                *self._request,
                name=self.name,
                budgets=self._payer.budgets(),
                signer=signer,
                cancelled=self.stopped,
                on_charged=self._paid,
                on_kept=self._keep,
                beside=apart.beside,
            )
        except apart.Lost as lost:
            raise InputError(f"{lost} {self._paid_for()}") from None
        finally:
            record.release(COVERED[0], charged=self.charged, made=self.released is not None)

    def cost_of_stopping(self) -> str:
        """What a stop would cost now, in words."""
        if self.charged:
            return "It is charged: stopping now gives no release and keeps the charge."
        if self.place:
            return "Nothing is charged yet."
        return "The request is tried out on empty rows. Nothing is charged yet: stopping is free."

    def broken(self, error: Exception) -> str:
        """What went wrong, and whether it is paid for."""
        return f"{super().broken(error)} {self._paid_for()}"

    def _paid_for(self) -> str:
        if not self.charged:
            return "Nothing was charged."
        return f"The charge to “{self.name}” stays, since noise may have been drawn."

    def _paid(self) -> None:
        self.charged = True

    def _keep(self, kept: str) -> None:
        self.kept = kept


JOB: Slot[ReleaseJob] = Slot("release_job")


def begin(
    data: Dataset, schema: Schema, values: Mapping[str, Any], name: str, *, sign: bool = False
) -> None:
    """Start a release, unless one goes on."""
    if JOB.going() is None:
        JOB.begin(
            ReleaseJob(data, schema, values, name, person.required(), sign), ReleaseJob.patience
        )


def made() -> bool:
    """Whether a release was made of the file in force."""
    found = last()
    return found is not None and in_force(found[1])


def last() -> tuple[Release, Dataset] | None:
    """The last release of this session, and the data it was made of."""
    done = JOB.job()
    if done is not None and done.released is not None:
        _LAST.put((done.released, done.data))
    return _LAST.get()
