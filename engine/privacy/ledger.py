"""The ledger: append-only, and the privacy filter.

A charge is checked whole *before* any noise is drawn; one that does not fit raises
:class:`BudgetExhausted` and leaves the ledger as it was. The filter's rule, "basic" (sum of pure
epsilons) or "zcdp" (sum of rhos), is fixed when the ledger is made, from public facts alone, which
is what makes it valid for adaptively chosen mechanisms and data-dependent stopping (Rogers et al.
2016; Feldman and Zrnic 2021; Whitehouse et al. 2023).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from engine.privacy.accounting import rho_budget, rho_to_epsilon
from engine.privacy.events import Event


class BudgetExhausted(Exception):
    """The next charge would exceed the cap; nothing was drawn for it."""


@dataclass(frozen=True)
class Guarantee:
    """An (epsilon, delta) statement; epsilon is ``inf`` where nothing can be defended."""

    epsilon: float
    delta: float


@dataclass(frozen=True)
class Charge:
    """One line of the ledger: the event, and the order of the search that caused it."""

    event: Event
    label: str
    order: int | None

    @property
    def epsilon(self) -> float:
        return self.event.epsilon

    @property
    def rho(self) -> float:
        return self.event.rho

    @property
    def cost(self) -> float:
        """What a budget bar shows: epsilon, or for an event without a pure one, its rho."""
        return self.epsilon if math.isfinite(self.epsilon) else self.rho


class Ledger(Sequence[Charge]):
    """Append-only record of charges under an optional hard cap.

    ``cap=None`` records without refusing (the papers' own accounting). ``method`` is "basic" or
    "zcdp"; with a cap, delta > 0 is needed for "zcdp".
    """

    # Rounding of a sum of many equal shares must not cost the last share.
    _SLACK = 1e-9

    def __init__(
        self, cap: Guarantee | None = None, *, method: str = "basic", delta: float | None = None
    ):
        self.cap, self.method = cap, method
        self.delta = cap.delta if cap is not None else (delta or 0.0)
        self._charges: list[Charge] = []
        self._epsilon = self._rho = self._delta = 0.0

    @property
    def limit(self) -> float:
        """The cap in the method's own unit: epsilon for "basic", rho for "zcdp"."""
        if self.cap is None:
            return math.inf
        if self.method == "basic":
            return self.cap.epsilon
        return rho_budget(self.cap.epsilon, self.cap.delta)

    @property
    def used(self) -> float:
        """The running total in the method's own unit: an odometer reading, not a guarantee."""
        return self._epsilon if self.method == "basic" else self._rho

    @property
    def left(self) -> float:
        """What of the limit is left, in the method's own unit."""
        return max(0.0, self.limit - self.used)

    @property
    def used_epsilon(self) -> float:
        """The running total as an epsilon (at this ledger's delta)."""
        if self.cap is not None:
            return (
                self._epsilon if self.method == "basic" else rho_to_epsilon(self._rho, self.delta)
            )
        return min(self._epsilon, rho_to_epsilon(self._rho, self.delta))

    def cost(self, event: Event) -> float:
        """What the event costs in the method's own unit."""
        return event.epsilon if self.method == "basic" else event.rho

    def affords(self, *events: Event) -> bool:
        """Whether all the events together still fit under the cap."""
        if self.cap is None:
            return True
        # A NaN compares false: an event whose cost cannot be told is refused.
        return self.used + sum(map(self.cost, events)) <= self.limit * (1 + self._SLACK) and (
            self._delta + sum(e.delta for e in events) <= self.cap.delta
        )

    def charge(self, event: Event, *, label: str = "", order: int | None = None) -> None:
        """Record the event, or raise BudgetExhausted and record nothing."""
        if not self.affords(event):
            raise BudgetExhausted(
                f"{event.describe()} would cost {self.cost(event):.4g} of the {self.left:.4g} left."
            )
        self._charges.append(Charge(event, label, order))
        self._epsilon += event.epsilon
        self._rho += event.rho
        self._delta += event.delta

    @property
    def defended(self) -> Guarantee:
        """What can be defended for everything charged so far.

        Under a cap it is the cap itself: the run decides from the data when to stop, so only the
        filter's limit, not the odometer, is a differential privacy guarantee. Without a cap it is
        the better of basic and zCDP composition of this transcript.
        """
        if not self._charges:
            return Guarantee(0.0, 0.0)
        if self.cap is not None:
            return Guarantee(self.cap.epsilon, 0.0 if self.method == "basic" else self.cap.delta)
        by_rho = rho_to_epsilon(self._rho, self.delta)
        if self._epsilon <= by_rho:
            return Guarantee(self._epsilon, self._delta)
        return Guarantee(by_rho, self._delta + self.delta)

    def by_order(self) -> dict[int, float]:
        """Order of the search -> what its charges cost in the method's own unit."""
        totals: dict[int, float] = {}
        for charge in self._charges:
            if charge.order is not None:
                totals[charge.order] = totals.get(charge.order, 0.0) + self.cost(charge.event)
        return totals

    def __len__(self) -> int:
        return len(self._charges)

    @overload
    def __getitem__(self, index: int) -> Charge: ...
    @overload
    def __getitem__(self, index: slice) -> list[Charge]: ...
    def __getitem__(self, index: int | slice) -> Charge | list[Charge]:
        return self._charges[index]

    def __iter__(self) -> Iterator[Charge]:
        return iter(self._charges)


def shares(total: Guarantee, count: int) -> tuple[str, float]:
    """The better way to give ``count`` pure steps an equal share of a total, fixed in advance.

    Returns the ledger's method and the epsilon of each step: total/count under basic composition,
    or sqrt(2 rho*/count) under zCDP. Depends on public facts alone.
    """
    basic = total.epsilon / count
    if total.delta <= 0:
        return "basic", basic
    rho = rho_budget(total.epsilon, total.delta) / count
    zcdp = math.sqrt(2 * rho)  # inverse of rho = epsilon^2 / 2
    return ("zcdp", zcdp) if zcdp > basic else ("basic", basic)
