"""Minimise with noisy gradients: as published (NOLEAKS, CURATE), and with proven bounds.

Published: the mean gradient is clipped entry by entry, which does not bound the influence of one
row, and the line search reads rows that are declared public. Strict: the gradient of every row is
clipped. The step sizes, the dual steps and the stop depend only on noisy quantities and public
numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.algorithm import Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.graphs.known import Known
from engine.privacy.accounting import Guarantee, rho_budget
from engine.privacy.budget import HAIR, PrivateBudget
from engine.privacy.events import UndefendedEvent
from engine.privacy.ledger import Ledger
from engine.privacy.mechanisms import gaussian
from engine.score.acyclicity import Matrix, acyclicity
from engine.score.encodings import Encoding, encoding_of, first_rows, level_counts
from engine.score.learned import learned, report
from engine.score.optimiser import Trace, fold_parts, keeping, least_squares
from engine.score.parameters import GradientParameters, LinearParameters
from engine.score.records import ClippedGradient, Records, norm_limit, records

PUBLISHED_SCALE = 10.0  # columns in [-1, 1] times 10: the published midpoints times 20, centred


@dataclass(frozen=True, kw_only=True)
class NoisyDescentParameters(GradientParameters, PrivateBudget, LinearParameters):
    """Parameters of a descent on noisy gradients."""

    def pruned_at(self, weights: Matrix, data: Dataset) -> float:
        """Return the edge threshold that prunes a run's last weights."""
        return self.edge_threshold(data, not self.strict)


def ledger(data: Dataset, params: NoisyDescentParameters) -> Ledger:
    """Return a ledger: with a cap in zCDP if strict, without one if published."""
    if not params.strict:
        return Ledger(delta=params.delta)
    return Ledger(params.total, method="zcdp")


def descend(
    data: Dataset,
    params: NoisyDescentParameters,
    context: RunContext,
    published: Callable[[Dataset, Any, RunContext, Trace], None],
    claimed: Callable[[Trace], Guarantee],
    epsilons: Sequence[float],
    planned_epsilon: tuple[float, ...] = (),
) -> Outcome:
    """Let a run fill the trace, prune its last weights, and report; a stop keeps its progress.

    A strict run divides its total among gradients in the ratios of ``epsilons``. A published run
    follows its paper, and ``claimed`` returns the Claimed ε of the gradients taken.
    """
    trace = Trace(np.zeros((data.d, data.d)))
    with keeping(trace):
        if params.strict:
            strict_run(data, params, epsilons, context, trace)
        else:
            published(data, params, context, trace)
    threshold = params.pruned_at(trace.weights, data)
    result = learned(trace.weights, threshold, known=context.known)
    context.close()
    return Outcome(
        **result.oriented._asdict(),
        status=trace.status,
        claimed=None if params.strict else claimed(trace),
        diagnostics=report(
            result,
            data,
            objective=tuple(trace.objective),
            h=tuple(trace.h),
            epsilon=tuple(trace.epsilon),
            planned_epsilon=planned_epsilon,
        ),
    )


def off_diagonal(noisy: Matrix) -> Matrix:
    """Set the array's diagonal to 0 in place, and return it."""
    np.fill_diagonal(noisy, 0.0)
    return noisy


def claimed_sensitivity(clip: float, d: int, n: int) -> float:
    """Return sqrt(d (d - 1)) 2 s / n, the sensitivity to which NOLEAKS calibrates its noise."""
    return 2 * norm_limit(clip, d) / n


def defended_sensitivity(clip: float, d: int) -> float:
    """Return the proven sensitivity of a mean gradient clipped entry by entry: its range.

    One row with large values can change an entry of the mean from one clip to the other.
    """
    return 2 * norm_limit(clip, d)


def release_gradient(
    context: RunContext, exact: Matrix, sensitivity: float, sigma: float, iteration: int
) -> Matrix:
    """Release a gradient with N(0, sigma^2) on every entry and diagonal 0; emits one step."""
    noisy = off_diagonal(
        gaussian(
            context,
            exact,
            sensitivity=sensitivity,
            sigma=sigma,
            label="gradient",
            iteration=iteration,
        )
    )
    context.emit(
        "gradient",
        "released",
        code="gradient_released",
        value=float(np.linalg.norm(noisy)),
    )
    return noisy


def published_gradient(
    w: Matrix, covariance: Matrix, clip: float, sigma: float, context: RunContext, iteration: int
) -> Matrix:
    """Return clip(-S (I - W), +-s) plus Gaussian noise, diagonal 0; charge the Proven ε."""
    context.check()
    exact = np.clip(least_squares(w, covariance)[1], -clip, clip)
    return release_gradient(context, exact, defended_sensitivity(clip, len(w)), sigma, iteration)


def published_data(
    data: Dataset, kind: str, public_rows: int, context: RunContext, private: int | None = None
) -> tuple[Matrix, Matrix]:
    """Return the covariance of all rows, and the second moments of public ones, both (d, d).

    As published, encoding and centring use exact frequencies. The public rows are the first ones.
    With ``private``, they follow the first ``private`` rows, and the covariance is that of those
    rows.
    """
    start = private or 0
    rows = min(public_rows, data.n - start)
    where = f"{rows:,} rows after the first {start:,}" if start else f"first {rows:,} rows"
    context.ledger.charge(
        UndefendedEvent(
            f"encoding and centring read the data without noise, and the line search reads the "
            f"{where}"
        ),
        label="encoding and line search",
    )
    encoding = encoding_of(data, kind, [c / data.n for c in level_counts(data)])
    scale = np.full(data.d, PUBLISHED_SCALE) if data.bounds is None else encoding.half
    everything = records(data, encoding)
    means = everything.mean()
    some = (first_rows(data, encoding, start + rows) - means) * scale
    public = some[start:]
    if private is None:
        covariance = everything.centred(means, scale).covariance()
    else:
        covariance = some[:start].T @ some[:start] / start
    return covariance, public.T @ public / rows


# Strict runs -----------------------------------------------------------------------------

ENCODING_SHARE = 0.05  # share of a strict run's ε, for the column means or one-way tables


@dataclass(frozen=True)
class GradientPlan:
    """Plan of a strict run, fixed in advance: the cost of the encoding, and sigma per gradient.

    ``shares`` are the gradients' parts of the rho that remains after the encoding; their sum is 1.
    """

    total: Guarantee
    shares: tuple[float, ...]

    @property
    def rho(self) -> float:
        """The whole budget in zCDP."""
        return rho_budget(self.total.epsilon, self.total.delta) * (1 - HAIR)

    def encoding_sigma(self, sensitivity: float) -> float:
        """Return the noise of the released means or frequencies."""
        return sensitivity / math.sqrt(2 * self.rho * ENCODING_SHARE)

    def sigmas(self, sensitivity: float) -> tuple[float, ...]:
        """Return the noise of each gradient: Delta / sqrt(2 rho_k)."""
        left = self.rho * (1 - ENCODING_SHARE)
        return tuple(sensitivity / math.sqrt(2 * left * share) for share in self.shares)


def proportional(epsilons: Sequence[float]) -> tuple[float, ...]:
    """Return shares of rho in proportion to epsilon^2, for these epsilons of gradients."""
    squares = np.square(np.asarray(epsilons, dtype=float) / max(epsilons))
    return tuple(float(s) for s in squares / squares.sum())


def strict_records(data: Dataset, kind: str, plan: GradientPlan, context: RunContext) -> Records:
    """Encode and centre rows in a common unit, from public facts and one charged release.

    For ordinal scores and numeric values, the release is the d means, with l2 sensitivity 2 sqrt(d)
    / n on the box [-1, 1]^d. Otherwise it is all one-way tables as frequencies, with sensitivity
    sqrt(2 d) / n. The unit is half the width of the widest column, so that relative variances are
    as in the data's units.
    """
    d, n = data.d, data.n
    if data.bounds is not None or kind == "ordinal":
        encoding = encoding_of(data)
        rows = records(data, encoding)
        bound = 2 * math.sqrt(d) / n
        means = gaussian(
            context,
            rows.mean(),
            sensitivity=bound,
            sigma=plan.encoding_sigma(bound),
            label="column means",
        )
    else:
        encoding, means = noisy_scores(
            data, kind, plan.encoding_sigma(math.sqrt(2 * d) / n), context
        )
        rows = records(data, encoding)
    context.emit("release", "released", code="centres_released")
    return rows.centred(np.clip(means, -1.0, 1.0), encoding.half / encoding.half.max())


def noisy_scores(
    data: Dataset, kind: str, sigma: float, context: RunContext
) -> tuple[Encoding, NDArray[np.float64]]:
    """Return scores from noisy one-way tables, and the means that the tables imply."""
    noisy = gaussian(
        context,
        np.concatenate(level_counts(data)) / data.n,
        sensitivity=math.sqrt(2 * data.d) / data.n,
        sigma=sigma,
        label="one-way tables",
    )
    return scores_from(data, kind, noisy)


def scores_from(
    data: Dataset, kind: str, noisy: NDArray[np.float64]
) -> tuple[Encoding, NDArray[np.float64]]:
    """Derive encoding and column means from noisy frequencies, concatenated over the columns."""
    parts = np.split(noisy, np.cumsum(data.cardinalities)[:-1])
    encoding = encoding_of(data, kind, parts)
    assert encoding.scores is not None
    clean = [np.maximum(p, 0.0) for p in parts]
    means = [
        float(s @ p) / max(float(p.sum()), 1e-12)
        for s, p in zip(encoding.scores, clean, strict=True)
    ]
    return encoding, np.array(means)


def strict_run(
    data: Dataset,
    params: NoisyDescentParameters,
    epsilons: Sequence[float],
    context: RunContext,
    trace: Trace,
) -> None:
    """Run with clipped rows, a public plan and a cap; ``epsilons`` per step go into the trace."""
    plan = GradientPlan(params.total, proportional(epsilons))
    rows = strict_records(data, params.scores(), plan, context)
    radius = norm_limit(params.clip_at(strict=True), data.d)
    sigmas = plan.sigmas(2 * radius / data.n)
    unit = float(encoding_of(data).half.max())  # unit of the rows, in units of the columns
    strict_descent(rows, radius, sigmas, epsilons, params.l1(data) / unit**2, context, trace)


DUAL_STEPS = 12  # planned rounds of the augmented Lagrangian in a strict run
FIRST_PENALTY, LAST_PENALTY = 0.1, 1e3
STEP, LAST_STEP = 0.05, 0.005  # first and last step of Adam; steps fall geometrically
DECAYS = (0.9, 0.99)


def strict_descent(
    rows: Records,
    radius: float,
    sigmas: Sequence[float],
    epsilons: Sequence[float],
    l1: float,
    context: RunContext,
    trace: Trace,
) -> None:
    """Run proximal Adam on noisy gradients; the penalty on cycles grows by a public plan.

    Each gradient is that of clipped rows plus N(0, sigma_k^2). Adam scales the steps by earlier
    noisy gradients. The stop and the dual steps do not depend on the data.
    """
    steps = len(sigmas)
    first, second = np.zeros_like(trace.weights), np.zeros_like(trace.weights)
    multiplier, clipped = 0.0, ClippedGradient(rows, radius)
    h, h_slope = acyclicity(trace.weights)
    for k, (penalty, ends) in enumerate(_dual_plan(steps)):
        context.check()
        w = trace.weights
        noisy = release_gradient(context, clipped(w), 2 * radius / rows.n, sigmas[k], k)
        slope = noisy + (penalty * h + multiplier) * h_slope
        # Adam (Kingma and Ba 2015): running means of the noisy slope and of its square, the second
        # corrected for its start at 0. The scale of a step therefore depends only on noisy
        # gradients.
        first = DECAYS[0] * first + (1 - DECAYS[0]) * slope
        second = DECAYS[1] * second + (1 - DECAYS[1]) * slope**2
        unbiased = second / (1 - DECAYS[1] ** (k + 1))
        size = STEP * (LAST_STEP / STEP) ** (k / max(1, steps - 1))
        rate = size / (np.sqrt(unbiased) + 1e-8)
        moved = w - rate * first / (1 - DECAYS[0] ** (k + 1))
        trace.weights = off_diagonal(soft(moved, rate * l1))
        if context.links_known is not None:
            trace.weights[context.links_known.barred] = 0.0
        h, h_slope = acyclicity(trace.weights)
        trace.h.append(h)
        trace.epsilon.append(epsilons[k])
        if ends:  # the dual step of the augmented Lagrangian, alpha += rho h
            multiplier += penalty * h


def _dual_plan(steps: int) -> Iterator[tuple[float, bool]]:
    """Yield for each gradient the penalty on cycles, and True if a dual step follows."""
    rounds = max(1, min(DUAL_STEPS, steps))
    for k in range(steps):
        now, after = k * rounds // steps, (k + 1) * rounds // steps
        penalty = FIRST_PENALTY * (LAST_PENALTY / FIRST_PENALTY) ** (now / max(1, rounds - 1))
        yield penalty, after > now


def soft(w: Matrix, amount: float | Matrix) -> Matrix:
    """Apply the soft threshold, which is the proximal step of the l1 penalty."""
    shrunk: Matrix = np.sign(w) * np.maximum(np.abs(w) - amount, 0.0)
    return shrunk


# Published CURATE ---------------------------------------------------------------------


def quasi_newton(
    gradient: Callable[[Matrix, int], Matrix],
    value: Callable[[Matrix, float, float], float],
    steps: int,
    l1: float,
    trace: Trace,
    known: Known | None = None,
) -> None:
    """Run CURATE's Algorithm 2: noisy direction, line search on public rows, a gradient per step.

    ``gradient(w, k)`` is the k-th noisy gradient of the loss, ``value(w, penalty, multiplier)`` the
    objective on public rows. The iterations are spread evenly over dual steps, because the paper
    does not specify it. Directions come from limited-memory BFGS over W = W+ - W-, projected onto
    W+, W- >= 0.
    """
    d = len(trace.weights)
    barred = np.eye(d, dtype=bool) if known is None else known.barred
    free = np.tile(~barred.ravel(), 2)
    at = np.zeros(2 * d * d)
    penalty, multiplier, h_before = 1.0, 0.0, math.inf
    memory: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
    last: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    rounds = max(1, min(DUAL_STEPS, steps))
    for k in range(steps):
        w = fold_parts(at, d)
        h, h_slope = acyclicity(w)
        smooth = (gradient(w, k) + (penalty * h + multiplier) * h_slope).ravel()
        # For W = W+ - W- the l1 term has slope +l1 in both halves; the other terms change sign.
        slope = np.where(free, np.concatenate([smooth + l1, -smooth + l1]), 0.0)
        if last is not None:
            _remember(memory, at - last[0], slope - last[1])
        last = (at, slope)
        at = _line_search(at, _direction(memory, at, slope), slope, penalty, multiplier, value, d)
        trace.weights = fold_parts(at, d)
        trace.h.append(acyclicity(trace.weights)[0])
        trace.objective.append(value(trace.weights, 0.0, 0.0))
        if (k + 1) * rounds // steps > k * rounds // steps:
            multiplier += penalty * trace.h[-1]
            if trace.h[-1] > 0.25 * h_before:
                penalty *= 10.0
            h_before = trace.h[-1]
            memory.clear()
            last = None


_MEMORY = 10


def _remember(
    memory: list[tuple[NDArray[np.float64], NDArray[np.float64]]],
    step: NDArray[np.float64],
    change: NDArray[np.float64],
) -> None:
    """Keep a pair only if its curvature is positive; noise often makes it negative."""
    if step @ change > 1e-10 * float(np.linalg.norm(step) * np.linalg.norm(change)):
        memory.append((step, change))
        del memory[:-_MEMORY]


def _direction(
    memory: list[tuple[NDArray[np.float64], NDArray[np.float64]]],
    at: NDArray[np.float64],
    slope: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Apply the two-loop recursion to the variables that the bounds do not keep at 0."""
    held = (at <= 0) & (slope > 0)
    q = np.where(held, 0.0, slope)
    pairs = [(s, y, 1 / float(s @ y)) for s, y in memory]
    scales = []
    for s, y, inverse in reversed(pairs):
        scales.append(inverse * float(s @ q))
        q = q - scales[-1] * y
    if pairs:
        s, y, inverse = pairs[-1]
        q = q / (inverse * float(y @ y))
    else:
        q = q / max(1.0, float(np.abs(q).sum()))
    for (s, y, inverse), scale in zip(pairs, reversed(scales), strict=True):
        q = q + (scale - inverse * float(y @ q)) * s
    direction = np.where(held, 0.0, -q)
    # If noise makes the direction point uphill, the negative gradient replaces it.
    if direction @ slope >= 0:
        direction = np.where(held, 0.0, -slope) / max(1.0, float(np.abs(slope).sum()))
    return direction


def _line_search(
    at: NDArray[np.float64],
    direction: NDArray[np.float64],
    slope: NDArray[np.float64],
    penalty: float,
    multiplier: float,
    value: Callable[[Matrix, float, float], float],
    d: int,
) -> NDArray[np.float64]:
    """Backtrack until the objective on public rows falls enough; take no step if it never does."""
    before, size = value(fold_parts(at, d), penalty, multiplier), 1.0
    for _ in range(25):
        trial = np.maximum(at + size * direction, 0.0)
        gain = float(slope @ (trial - at))
        if value(fold_parts(trial, d), penalty, multiplier) <= before + 1e-4 * min(gain, 0.0):
            return trial
        size /= 2
    return at
