"""Sub-sampled Gaussian PC under a moments accountant (Priv-PC preprint, section 4.2).

The paper names the method and its references but gives no pseudo-code. Here every test is computed
on a fresh sample of m rows and gets Gaussian noise (Abadi et al. 2016). The total is that of the
sub-sampled Gaussian without replacement (Wang, Balle and Kasiviswanathan 2019).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from engine.algorithm import Algorithm, Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.params import ParameterError, param
from engine.privacy.accounting import Guarantee, renyi_to_epsilon
from engine.privacy.budget import HAIR
from engine.privacy.events import SubsampledGaussianEvent, renyi
from engine.privacy.ledger import Ledger
from engine.privacy.mechanisms import gaussian
from engine.search.allocation import likely_tests
from engine.search.diagnostics import SearchDiagnostics
from engine.search.noisy_score import NoisyTestParameters, least_unit, noisy_score
from engine.search.pc import pc
from engine.search.skeleton import Query, TestByTest
from engine.statistics.registry import BOUNDED
from engine.theory import best_subsample


@dataclass(frozen=True, kw_only=True)
class GaussPCParameters(NoisyTestParameters):
    """Parameters of the sub-sampled Gaussian."""

    subsample: int | str = param(
        "auto",
        kind="int",
        words=("auto", "off"),
        low=1,
        high=1e9,
        tuned=(200, "rows"),
        title="Subsample size m",
        help="Rows in each test's sample. 'auto' is Priv-PC's best m in published mode and all "
        "rows in strict mode, because here a sample weakens the signal more than the noise.",
    )
    tests: int | str = param(
        "auto",
        kind="int",
        words=("auto",),
        low=1,
        high=1e9,
        tuned=(10, 1000),
        title="Planned tests",
        help="The number of tests that share the strict budget. The run ends with the last one. "
        "'auto' is estimated from the number of variables.",
        when={"guarantee": ("strict",)},
    )

    def check_together(self) -> None:
        """Refuse the smooth-sensitivity median, which is defined with Laplace noise here."""
        if self.test.aggregated and not self.strict:
            raise ParameterError(
                f"gauss_pc runs {self.test.label} in strict mode only: "
                f"choose {', '.join(BOUNDED)} or strict."
            )

    def rows_in_sample(self, n: int) -> int:
        """m as a number."""
        if self.subsample == "auto" and not self.strict:
            return best_subsample(self.epsilon, n)
        return n if isinstance(self.subsample, str) else min(self.subsample, n)

    def planned_tests(self, d: int) -> int:
        """Return the number of tests that the plan allows for, computed from public facts."""
        return sum(likely_tests(d)) if isinstance(self.tests, str) else self.tests


# With sampling, dp-accounting is exact for integer orders. It is slow, so only a few are tried.
WHOLE_ORDERS = tuple(float(a * 2**k) for k in range(7) for a in (2, 3))


@dataclass(frozen=True)
class NoisePlan:
    """Noise in units of the sensitivity, and the Renyi order at which the ledger composes."""

    multiplier: float
    renyi_order: float


@lru_cache(maxsize=256)
def least_noise(total: Guarantee, tests: int, rate: float) -> NoisePlan:
    """Return the least noise for which ``tests`` releases at sampling ``rate`` cost the total."""
    grid = 1 + np.logspace(-2, 4, 241) if rate >= 1 else WHOLE_ORDERS
    best = NoisePlan(math.inf, 2.0)
    for renyi_order in map(float, grid):
        room = total.epsilon - renyi_to_epsilon(0.0, renyi_order, total.delta)
        if room > 0:
            each = room / tests * (1 - HAIR)
            multiplier = _multiplier(each, rate, renyi_order, best.multiplier)
            if multiplier < best.multiplier:
                best = NoisePlan(multiplier, renyi_order)
    return best


def _multiplier(cost: float, rate: float, renyi_order: float, known: float) -> float:
    """Return sigma / sensitivity at which a release has this Renyi cost; inf if above ``known``."""
    # Without sampling the cost is renyi_order / (2 sigma^2).
    full = math.sqrt(renyi_order / (2 * cost))
    if rate >= 1:
        return full

    def excess(log_share: float) -> float:
        event = SubsampledGaussianEvent(1.0, full * math.exp(log_share), rate)
        return math.log(max(renyi(event, renyi_order), 1e-300) / cost)

    # A value that suffices at another order is tried first, which avoids the search at most orders.
    if known < full and excess(math.log(known / full)) > 0:
        return math.inf
    from scipy.optimize import brentq  # slow to import, and few runs need it

    lowest, tolerance = math.log(rate / 10), 1e-4
    if excess(lowest) <= 0 or excess(0.0) >= 0:  # sampling has no advantage at this order
        return full
    return full * math.exp(brentq(excess, lowest, 0.0, xtol=tolerance) + tolerance)


def planned(data: Dataset, params: GaussPCParameters) -> NoisePlan:
    """Make the strict plan from public facts only."""
    rate = params.rows_in_sample(data.n) / data.n
    return least_noise(params.total, params.planned_tests(data.d), rate)


def ledger(data: Dataset, params: GaussPCParameters) -> Ledger:
    """Return a ledger: capped, with Renyi costs at the plan's order, if strict; else uncapped."""
    if not params.strict:
        return Ledger(delta=params.delta)
    return Ledger(params.total, method="rdp", renyi_order=planned(data, params).renyi_order)


class GaussPC(TestByTest):
    """Search rule: add Gaussian noise to each test statistic and compare it with the threshold."""

    def __init__(self, data: Dataset, params: GaussPCParameters, context: RunContext):
        super().__init__()
        self._score, self._context = noisy_score(data, params, context.randomness), context
        self.m, self._n, self.answers = params.rows_in_sample(data.n), data.n, 0
        if params.strict:
            self.multiplier = planned(data, params).multiplier
        else:  # the Gaussian mechanism as Abadi et al. 2016 give it
            self.multiplier = math.sqrt(2 * math.log(1.25 / params.delta)) / params.epsilon

    def independent(self, q: Query) -> bool:
        """Return True if the noisy statistic is above the threshold."""
        score, sampled = self._score, self.m < self._n
        rows = score.sample(self.m, self._context.randomness) if sampled else None
        raw, unit = score.of(q, rows), score.noise_sensitivity(q, self.m)
        noisy = gaussian(
            self._context,
            raw,
            sensitivity=score.defended_ratio(q, self.m) * unit,
            sigma=unit * self.multiplier,
            rate=self.m / self._n,
            label="test",
            order=q.order,
        ).item()
        self.answers += 1
        return score.conclude(self._context, "test", q, noisy, raw)


def claimed_total(answers: int, multiplier: float, rate: float, delta: float) -> Guarantee:
    """Return the moments accountant's total of t tests, for replace-one neighbours."""
    from dp_accounting.rdp import compute_epsilon

    if answers == 0:
        return Guarantee(0.0, 0.0)
    event = SubsampledGaussianEvent(1.0, multiplier, rate)
    costs = [answers * renyi(event, renyi_order) for renyi_order in WHOLE_ORDERS]
    return Guarantee(float(compute_epsilon(WHOLE_ORDERS, costs, delta)[0]), delta)


def noise(data: Dataset, params: GaussPCParameters) -> float:
    """Return the sigma of a test.

    A statistic on a sample is smaller, and one record changes it more. Both factors enlarge the
    equivalent noise on the statistic of all rows.
    """
    rate = params.rows_in_sample(data.n) / data.n
    return planned(data, params).multiplier / rate * least_unit(data, params)


def run(data: Dataset, params: GaussPCParameters, context: RunContext) -> Outcome:
    """Run; ``epsilon``, ``delta`` are for the noise of one test if published, for all if strict."""
    rule, claimed = GaussPC(data, params, context), None
    outcome = pc(data, params, context, rule)
    if not params.strict:
        claimed = claimed_total(rule.answers, rule.multiplier, rule.m / data.n, params.delta)
    diagnostics = SearchDiagnostics(noise_multiplier=rule.multiplier, rows_in_sample=rule.m)
    return replace(outcome, claimed=claimed, diagnostics=diagnostics)


ALGORITHM = Algorithm(
    key="gauss_pc",
    title="Sub-sampled Gaussian PC",
    family="constraint-based",
    params=GaussPCParameters,
    run=run,
    reference="Wang, Pang, Song 2020 (preprint), section 4.2; Abadi et al. 2016",
    summary="Adds noise to every answer, each computed on a random part of the rows, which "
    "hides people better.",
    ledger=ledger,
    noise=noise,
    epsilon_pays="a test",
    epsilon_unit="test",
    parent="pc",
)
