"""The append-only ledger and its privacy filter.

The ledger checks a whole charge *before* any noise is drawn. A charge that does not fit raises
:class:`BudgetExhausted` and leaves the ledger unchanged. The filter's rule is "basic" (sum of pure
epsilons), "zcdp" (sum of rhos), "rdp" (sum of Renyi costs at one order) or "gdp" (sum of squared mu
of Gaussian mechanisms). It is fixed when the ledger is created, only from public facts. It is
therefore valid for adaptively chosen mechanisms and data-dependent stopping (Rogers et al. 2016;
Feldman and Zrnic 2021; Whitehouse et al. 2023; for "gdp", Smith and Thakurta 2022).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, overload

from engine.privacy.accounting import (
    Guarantee,
    mu_budget,
    mu_to_epsilon,
    renyi_to_epsilon,
    rho_budget,
    rho_to_epsilon,
    sampled_delta,
    sampled_epsilon,
    unsampled,
)
from engine.privacy.events import Event, GaussianEvent, UndefendedEvent, renyi
from engine.renamed import Renamed

K = TypeVar("K", int, str)

FILTERS = ("basic", "zcdp", "gdp", "rdp")


class BudgetExhausted(Exception):
    """The next charge would exceed the cap; no noise was drawn for it."""


@dataclass(frozen=True)
class Charge:
    """One line of the ledger: the event, and the order or iteration that caused it."""

    event: Event
    label: str
    order: int | None
    iteration: int | None = None

    @property
    def epsilon(self) -> float:
        """The event's pure cost, or inf if there is none."""
        return self.event.epsilon

    @property
    def rho(self) -> float:
        """The event's zero-concentrated cost."""
        return self.event.rho

    @property
    def cost(self) -> float:
        """The cost shown by a budget bar: epsilon, or rho for an event without a pure epsilon."""
        return self.epsilon if math.isfinite(self.epsilon) else self.rho


_SMALLEST = 1074  # every float is a multiple of 2^-1074, the smallest one above 0


def _whole(cost: float) -> int:
    """Return a finite float as a multiple of 2^-1074; sums of such numbers are exact."""
    above, below = cost.as_integer_ratio()  # below is a power of two
    return above << (_SMALLEST + 1 - below.bit_length())


class Ledger(Sequence[Charge]):
    """Append-only record of charges under an optional hard cap.

    ``cap=None`` accepts every charge (as in the papers' accounting). ``method`` is "basic", "zcdp",
    "gdp" or, with a ``renyi_order`` above 1, "rdp". With a cap, the last three need delta > 0.
    "gdp" accepts only Gaussian releases and converts their total exactly, while zCDP's conversion
    is loose. Its unit is mu^2 / 2 = sensitivity^2 / (2 sigma^2), which is zCDP's rho.

    ``rate`` < 1 means that the whole run uses one sample with this share of the rows, drawn without
    replacement. The run on the sample may then cost ln(1 + (e^epsilon - 1) / rate) and delta /
    rate, and the cap applies to all rows (Balle, Barthe and Gaboardi 2018, Theorem 9).
    """

    # A run plans with ``limit``, slightly below the cap, so that rounding does not prevent the last
    # of many equal shares. The filter adds up exactly, so no charge exceeds the cap.
    _HAIR = 1e-12

    undefended = Renamed("no_guarantee_reasons")
    defended = Renamed("proven")
    left = Renamed("remaining")

    def __init__(
        self,
        cap: Guarantee | None = None,
        *,
        method: str = "basic",
        delta: float | None = None,
        renyi_order: float | None = None,
        rate: float = 1.0,
    ):
        if method not in FILTERS or (method == "rdp") != (renyi_order is not None):
            raise ValueError('method must be "basic", "zcdp", "gdp", or "rdp" with a Renyi order.')
        self.cap, self.method, self.renyi_order, self.rate = cap, method, renyi_order, rate
        self.delta = cap.delta if cap is not None else (delta or 0.0)
        self._charges: list[Charge] = []
        self._epsilon = self._rho = self._delta = self._renyi = 0.0
        self._spent = 0  # exact cost of the charges under a cap: see _whole
        self.no_guarantee_reasons: tuple[str, ...] = ()

    @property
    def limit(self) -> float:
        """The total that a run may plan with: the cap in the method's unit, slightly reduced."""
        return self.most * (1 - self._HAIR)

    @cached_property
    def most(self) -> float:
        """The cap in the method's unit: epsilon for "basic", rho for "zcdp" or a Renyi cost."""
        if self.cap is None:
            return math.inf
        inner = unsampled(self.cap, self.rate)
        if self.method == "basic":
            return inner.epsilon
        if self.renyi_order is not None:
            return inner.epsilon - renyi_to_epsilon(0.0, self.renyi_order, inner.delta)
        if self.method == "gdp":
            return mu_budget(inner.epsilon, inner.delta) ** 2 / 2
        return rho_budget(inner.epsilon, inner.delta)

    @property
    def used(self) -> float:
        """The total so far in the method's unit; it is not a guarantee."""
        return {"basic": self._epsilon, "rdp": self._renyi}.get(self.method, self._rho)

    @property
    def remaining(self) -> float:
        """The rest of the limit, in the method's unit."""
        return max(0.0, self.limit - self.used)

    @property
    def used_epsilon(self) -> float:
        """The total so far as an epsilon (at this ledger's delta)."""
        if self.cap is None:
            return min(self._epsilon, rho_to_epsilon(self._rho, self.delta))
        inner = sampled_delta(self.delta, self.rate)
        if self.renyi_order is not None:
            spent = renyi_to_epsilon(self._renyi, self.renyi_order, inner) if self._charges else 0.0
        elif self.method == "gdp":
            spent = mu_to_epsilon(math.sqrt(2 * self._rho), inner)
        else:
            spent = self._epsilon if self.method == "basic" else rho_to_epsilon(self._rho, inner)
        return sampled_epsilon(spent, self.rate)

    def cost(self, event: Event) -> float:
        """Return the event's cost in the method's unit."""
        if self.renyi_order is not None:
            return renyi(event, self.renyi_order)
        if self.method == "gdp" and type(event) is not GaussianEvent:
            return math.inf
        return event.epsilon if self.method == "basic" else event.rho

    def affords(self, *events: Event) -> bool:
        """Return True if all the events together still fit under the cap."""
        return self._spent_with(*events) is not None

    def _spent_with(self, *events: Event) -> int | None:
        """Return the exact cost of the charges and these events, or None if they exceed the cap."""
        if self.cap is None:
            return 0
        # Comparisons with NaN are false, so an event with unknown, infinite or negative cost is
        # refused.
        costs = [self.cost(e) for e in events]
        if not all(0 <= c < math.inf and e.delta >= 0 for c, e in zip(costs, events, strict=True)):
            return None
        spent = self._spent + sum(map(_whole, costs))
        if spent <= self._most and self._delta + sum(e.delta for e in events) <= self._delta_left:
            return spent
        return None

    @cached_property
    def _most(self) -> int:
        return _whole(self.most)

    @property
    def _delta_left(self) -> float:
        """The delta that the events may add, or 0 if the method itself needs the cap's delta."""
        assert self.cap is not None
        return self.cap.delta if self.method == "basic" else 0.0

    def charge(
        self,
        event: Event,
        *,
        label: str = "",
        order: int | None = None,
        iteration: int | None = None,
    ) -> None:
        """Record the event, or raise BudgetExhausted and record nothing."""
        spent = self._spent_with(event)
        if spent is None:
            raise BudgetExhausted(
                f"{event.describe()} would cost {self.cost(event):.4g} of the {self.remaining:.4g} "
                "left."
            )
        self._charges.append(Charge(event, label, order, iteration))
        self._spent = spent
        self._epsilon += event.epsilon
        self._rho += event.rho
        self._delta += event.delta
        if self.renyi_order is not None:
            self._renyi += renyi(event, self.renyi_order)

    def void(self, reason: str) -> None:
        """Record that this run has no guarantee, for any charges."""
        self.no_guarantee_reasons += (reason,)
        self._charges.append(Charge(UndefendedEvent(reason), "no guarantee", None))

    @property
    def proven(self) -> Guarantee:
        """The guarantee proven for all charges so far.

        Under a cap it is the cap. The run uses the data to decide when to stop, so only the
        filter's limit, not the total so far, is a differential privacy guarantee. Without a cap it
        is the better of basic and zCDP composition of this transcript.
        """
        if self.no_guarantee_reasons:
            return Guarantee(math.inf, 0.0)
        if not self._charges:
            return Guarantee(0.0, 0.0)
        if self.cap is not None:
            free = self.method == "basic" and self._delta == 0
            return Guarantee(self.cap.epsilon, 0.0 if free else self.cap.delta)
        by_rho = rho_to_epsilon(self._rho, self.delta)
        if self._epsilon <= by_rho:
            return Guarantee(self._epsilon, self._delta)
        return Guarantee(by_rho, self._delta + self.delta)

    def by_order(self) -> dict[int, float]:
        """Return the cost of each order's charges, in the method's unit."""
        return self._totals(lambda charge: charge.order)

    def by_iteration(self) -> dict[int, float]:
        """Return the cost of each iteration of a descent, in the method's unit."""
        return self._totals(lambda charge: charge.iteration)

    def by_label(self) -> dict[str, float]:
        """Return the cost of each kind of release, in the method's unit."""
        return self._totals(lambda charge: charge.label)

    def _totals(self, of: Callable[[Charge], K | None]) -> dict[K, float]:
        totals: dict[K, float] = {}
        for charge in self._charges:
            if (key := of(charge)) is not None:
                totals[key] = totals.get(key, 0.0) + self.cost(charge.event)
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
