"""Every release, kept for its maker in a private folder next to the budgets, before it is shown.

What has been paid for is not lost with a closed tab or a mistyped place: a release can be written
out again as often as one likes, which costs nothing. A release's id is the number of its charge
and the beginning of its file's digest.

A release that ends between its charge and its file has been paid for. Every table that was drawn is
kept, so that the release can go on from there: tables that are there are given out again, and only
the others are drawn, of the same data under the same charge. What was drawn and did not reach the
disk has been seen by nobody.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError, show
from engine.privacy.sources import Hardened, Replay
from engine.release.budget import Budget, Budgets
from engine.release.file import Release, canonical, digest, parse_released
from engine.release.page import to_html
from engine.release.places import append, private_folder, save

_DIGITS = 8  # of the digest


@dataclass(frozen=True)
class Kept:
    """A release's two files, word for word."""

    id: str
    text: str
    page: str


class Vault:
    """The releases paid by one file of budgets."""

    def __init__(self, budgets: Budgets):
        self._budgets = budgets
        self.folder = budgets.path.with_name(f"{budgets.path.name}.releases")

    def prepare(self) -> None:
        """Make the folder; InputError, before anything is charged, where none can be kept."""
        private_folder(self.folder)
        self.check()

    def drawn(self, charge: int) -> Path:
        """Where the noisy tables of a charge's release are kept while it is made."""
        return self.folder / f"drawn-{charge}.jsonl"

    def keep(self, charge: int, release: Release) -> str:
        """Write a release's file and page, and let go of what it was made of; its id."""
        found = f"{charge}-{digest(release)[:_DIGITS]}"
        try:
            for kind, text in (("html", to_html(release)), ("json", canonical(release))):
                if not (path := self._path(found, kind)).exists():  # else it was cut short later
                    save(text, path)
        except OSError as error:
            raise InputError(f"The release could not be kept: {error.strerror}.") from None
        self._budgets.finished(charge)
        self.drawn(charge).unlink(missing_ok=True)
        return found

    def ids(self, budget: Budget) -> dict[int, str]:
        """Charge -> id, for the charges of a budget of which the release is kept."""
        numbers = {charge.number for charge in budget.charges}
        return {_charge(one): one for one in self._all() if _charge(one) in numbers}

    def check(self) -> None:
        """InputError where releases are kept that no charge accounts for: spent budget is back.

        So it is once an old copy of the budgets took the place of the newest: the charges since are
        gone, or their numbers were given out a second time.
        """
        charged = {c.number for budget in self._budgets.all() for c in budget.charges}
        kept = [_charge(one) for one in self._all()]
        if lost := len(kept) - len(charged.intersection(kept)):
            raise InputError(
                f"{self._budgets.path} is an older copy: {lost} of the kept releases are on no "
                "budget, so more is spent than the budgets say. Put the newest copy back; until "
                "then nothing is released."
            )

    def get(self, wanted: str) -> Kept:
        """A release by its id, or by the number of its charge; InputError if there is none."""
        found = [one for one in self._all() if wanted in (one, str(_charge(one)))]
        if len(found) != 1:
            raise InputError(
                f"There is no release {show(wanted)}; python -m engine budget show lists them."
            )
        try:
            kinds = (self._path(found[0], kind) for kind in ("json", "html"))
            return Kept(found[0], *(path.read_text(encoding="utf-8") for path in kinds))
        except (OSError, ValueError):
            raise InputError(f"The kept release {found[0]} cannot be read.") from None

    def _all(self) -> list[str]:
        """The ids of all kept releases."""
        ids = sorted(path.stem for path in self.folder.glob("*-*.json"))
        return [one for one in ids if one.partition("-")[0].isdecimal()]

    def _path(self, found: str, kind: str) -> Path:
        return self.folder / f"{found}.{kind}"


def _charge(kept: str) -> int:
    return int(kept.partition("-")[0])


class Resumable(Hardened):
    """Fresh noise from the operating system, after what the file ``path`` has of this release."""

    def __init__(self, path: Path):
        super().__init__()
        self._path = path
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole = text[: text.rfind("\n") + 1]  # the last line may be torn
        if whole != text:
            path.write_text(whole, encoding="utf-8")
        self._before = [parse_released(json.loads(line)) for line in whole.splitlines()]

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
        append(json.dumps(vars(self.given_out[-1])) + "\n", self._path)
        return found
