"""Rows for the papers' theorems, lemmas and formulas, each computed in a second way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.stats import laplace

from engine.algorithms.priv_pc import PrivPCParameters
from engine.pairs.dependence import hsic, record_sensitivity, training_sensitivity
from engine.pairs.regression import Ridge, residual_bound
from engine.papers.table import Row
from engine.papers.work import Work
from engine.privacy.accounting import advanced_total
from engine.privacy.events import AboveThresholdEvent
from engine.statistics.base import p_sensitivity
from engine.statistics.kendall import KENDALL
from engine.statistics.spearman import SPEARMAN
from engine.theory import (
    affordable_iterations,
    best_rate,
    conditional_kendall_bound,
    direction_probability,
    hsic_bounds,
    iqr_direction_probability,
    kendall_p_bound,
    lemma1,
    null_probabilities,
    repeated_epsilon,
    sieve_epsilon,
    sieve_errors,
    sparse_vector_scale,
    stable_release_probability,
)

N, M = 100_000, 16_542  # rows in the papers, and Priv-PC's best m at epsilon 1
# Quantiles of Laplace noise of scale 1; the probabilities below are sums over them.
NOISE: NDArray[np.float64] = laplace.ppf((np.arange(4_000) + 0.5) / 4_000)


def theorems(work: Work) -> list[Row]:
    """Return all rows; this runs no algorithm and reads no data."""
    return [*_priv_pc(), *_curate(), *_kusner()]


def _above(gap: float, first: float, second: float) -> float:
    """Return P(gap + Lap(first) >= Lap(second))."""
    return float(laplace.cdf((gap + first * NOISE) / second).mean())


def _priv_pc() -> list[Row]:
    unit = p_sensitivity(KENDALL.published_sensitivity(N, None))
    on_sample, inner, gap, tweak = unit * math.sqrt(N / M), sieve_epsilon(1.0, N, M), 0.1, 0.02
    printed = sieve_errors(gap, tweak, 1.0, N, M, on_sample)
    scales = 4 * on_sample / inner, 2 * on_sample / inner
    lost = 1 - _above(gap + tweak, *scales)
    passed = _above(tweak - gap, *scales) * math.exp(-gap / (2 * unit)) / 2
    best = minimize_scalar(
        lambda rate: rate**-0.5 / sieve_epsilon(1.0, N, max(1, round(rate * N))),
        bounds=(0.05, 1.0),
        method="bounded",
    )
    seven = conditional_kendall_bound(N, 8, 40)
    three = conditional_kendall_bound(10**9, 1) * math.sqrt(10**9)
    rounds = [
        10 * AboveThresholdEvent(1.0, s, 2 * s).epsilon for s in (sparse_vector_scale(1.0, 10),)
    ]
    programmed = PrivPCParameters.build({"guarantee": "published", "form": "program"})
    where = f"α = {gap:g}, t = {tweak:g}, ε = 1, m = {M:,}"
    return [
        Row("Priv-PC Theorem 1", "ε of sieve and examine together, ε = 1 per round",
            [1.0], [math.log1p((math.expm1(inner)) * M / N) + 0.5],
            "Holds for replaced records under a sensitivity that holds; the published one is not "
            "global, so that the proven ε of a run is larger.", "†"),
        Row("Priv-PC Theorem 2, type I", f"probability at {where}", [printed[0]], [lost],
            "The bound holds of the sieve.", "=" if lost <= printed[0] else "≠"),
        Row("Priv-PC Theorem 2, type II", f"probability at {where}", [printed[1]], [passed],
            "The printed exponent 12εα is four times what Algorithm 1's examine noise "
            "Lap(2Δ/ε) supports: its proof takes e^(−2εα/Δ) for ½e^(−εα/2Δ).",
            "=" if passed <= printed[1] else "†"),
        Row("Priv-PC §3.2", "best m / n at ε = 1", [float(best.x)], [best_rate(1.0)],
            "The paper solves it numerically, as done under 'paper'; closed form here. The "
            "program's search ends early: .05 at ε = 10, where all rows are best.", "†",
            program=[programmed.rows_in_sieve(1.0, N) / N]),
        Row("Priv-PC Theorem 3", "constant of conditional Kendall's z", [4.5], [three],
            "Published runs calibrate to the authors' 6/√n (on p .00757 instead of .00568 at n = "
            "100,000): 9/2 needs strata of at least c₁ rows, which the text does not give; "
            "without a set, 6 holds.", "†"),
        Row("Priv-PC Definition 5", "τ of two independent fair binary columns, ties discordant",
            "0, as its test takes it", [_tau_with_ties([25, 25, 25, 25])],
            "Definition 5, and Kusner's, call every pair that is not concordant discordant, ties "
            "too, so that independence is far from 0. The programs and the runs here give ties no "
            "sign.", "†", program=[0.0]),
        Row("Priv-PC Theorem 6", "added record, unconditional τ of n = 3, 4, 5: 2/(n − 1)",
            [2 / (n - 1) for n in (3, 4, 5)], [_added_to_tau(n) for n in (3, 4, 5)],
            "Does not hold from n = 4 on. All orders of n + 1 records give 4/(n + 1): the proof "
            "lets |C − D| grow by n, but it can fall by n.", "†"),
        Row("Priv-PC Theorem 7", "8 strata of at least 40 rows", "27/(4√(c(n−k))) + …",
            f"{seven:.4g}", "A formula here. It is not global either: one record moved p by .45.",
            "†"),
        Row("Priv-PC Theorem 8", "Spearman's ρ, n = 100,000", [30 / N], [6 / (N + 1)],
            "Valid, but five times the influence of one replaced record; published runs take it.",
            "†"),
        Row("Priv-PC Theorem 9", "conditional Spearman, 8 strata, 40 rows",
            [31 * math.sqrt(8 / 32)], [_largest_spearman_change(8)],
            "31 is the text's typical constant. The bound holds: measured by all replacements of "
            "one record in 5 tables. Published runs take it, with the schema's k.", "="),
        Row("Priv-PC Algorithm 5", "ε of 10 answers at noise for ε = 1, δ = 0", [1.0], rounds,
            "SVT-PC and Priv-PC open a round with a quota of 1 and δ = 0 for each answer, so that "
            "no run uses the other forms; they are formulas here."),
        Row("Priv-PC Algorithm 5", "the same at δ = 10⁻⁶", [1.0],
            [advanced_total(10, 2 / sparse_vector_scale(1.0, 10, 1e-6), 1e-6).epsilon],
            "√(32 c ln(1/δ)) is twice the noise that advanced composition asks for.", "†"),
    ]  # fmt: skip


def _tau(order: tuple[int, ...]) -> float:
    """Return Kendall's τ of records in this order, by its definition."""
    signs = [1 if a < b else -1 for a, b in combinations(order, 2)]
    return sum(signs) / len(signs)


def _tau_with_ties(cells: Sequence[int]) -> float:
    """Return τ of a binary table (00, 01, 10, 11), counting ties as discordant."""
    records = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], cells, axis=0)
    pairs = [1 if (a < b).all() or (a > b).all() else -1 for a, b in combinations(records, 2)]
    return sum(pairs) / len(pairs)


def _added_to_tau(n: int) -> float:
    """Return the largest change of τ when one record joins n, over all orders of n + 1 records."""
    changes = []
    for order in permutations(range(n + 1)):
        for out in range(n + 1):
            before = (*order[:out], *order[out + 1 :])
            changes.append(abs(_tau(order) - _tau(before)))
    return max(changes)


def _largest_spearman_change(strata: int) -> float:
    """Return conditional Spearman's largest change of z by one replaced record (strata of 5)."""
    largest, cells = 0.0, 4 * strata
    for stratum in ([2, 1, 0, 2], [3, 1, 1, 0], [2, 0, 0, 3], [1, 2, 1, 1], [4, 0, 0, 1]):
        table = np.resize(stratum, cells)
        here = SPEARMAN.z(table.reshape(strata, 2, 2), "published")
        for source, target in permutations(range(cells), 2):
            if table[source]:
                other = table.copy()
                other[source] -= 1
                other[target] += 1
                there = SPEARMAN.z(other.reshape(strata, 2, 2), "published")
                largest = max(largest, abs(np.nan_to_num(there) - np.nan_to_num(here)))
    return float(largest)


def _residual_change(n: int, ridge: float) -> float:
    """Return the largest change of a prediction when an isolated record reverses its y."""
    x, y = np.full(n, -1.0), np.full(n, -1.0)
    x[0] = y[0] = 1.0
    there = y.copy()
    there[0] = -1.0
    first, second = (Ridge.fit(x, one, 0.2).predict(x, ridge) for one in (y, there))
    return float(np.abs(first - second).max())


def _hsic_change(m: int, shift: float) -> float:
    """Return the change of HSIC when residuals equal to x move towards -x."""
    x = np.linspace(-1.0, 1.0, m)
    there = x + np.clip(-2 * x, -shift, shift) * (x > 0)
    return abs(hsic(x, there, 0.2, 0.2) - hsic(x, x, 0.2, 0.2))


def _curate() -> list[Row]:
    # probability that noise moves T to its margin
    rate = float(laplace.cdf(-0.05 * 0.2 / kendall_p_bound(N)))
    totals = []
    for kind, initial in (("additive", 0.1), ("exponential", 0.1), ("multiplicative", 0.1)):
        count = int(affordable_iterations(1.0, initial, kind))
        shares = np.arange(count) / count
        steps = {
            "additive": initial * (1 + shares),
            "exponential": initial * np.exp(shares),
            "multiplicative": initial ** (1 + shares),
        }
        totals.append(float(steps[kind].sum()))
    return [
        Row("CURATE Lemma 1", "type I at T = .05, β = .2, ε = 1, c = 0: e^(−Tβε/Δ)/2",
            [lemma1(1.0, 0.05, kendall_p_bound(N), c1=0, c2=0)[0]], [rate],
            "The paper does not fix c₁ and c₂; 1, the safe value, is the default here."),
        Row("CURATE eq. 16", "sensitivity of p times √n, nᵢ = 2", "any nᵢ", [kendall_p_bound(1)],
            "The program takes nᵢ = 2, the largest value, and leaves out eq. 16's √2. It does not "
            "bound p at any nᵢ.", "†", program=[kendall_p_bound(1) / math.sqrt(2)]),
        Row("CURATE Lemma 2", "ε of as many iterations as a total of 1 affords, ε₀ = .1: additive, "
            "exponential, multiplicative", "at most 1", totals,
            "Sums of the schedules. The additive one starts at i = 0 here and at 1 in the proof; "
            "the exponential form is conservative. Eq. 19 drops a '1 +' for ε₀ > 1, restored here.",
            "=" if max(totals) <= 1 + 1e-9 else "≠"),
        Row("CURATE Algorithm 1", "δ′ an order", "10⁻¹²", "δ, an order's in published mode",
            "The claimed δ of a run is the sum over its orders. The stop at δ_Total, 10⁻¹⁰ in the "
            "program, is left out: at 10⁻¹⁴ an order no run reaches it.", program="10⁻¹⁴"),
        Row("CURATE Algorithm 1", "orders of tests", "0 to d − 2", "0 to ⌊log₂ n⌋ − 5 = 11",
            "The cap is that of Priv-PC's code, in no text: a test of order 12 has 4,096 strata or "
            "more. Child's last order would be 18. The field 'largest order' lifts it.", "†"),
        Row("CURATE Algorithm 2", "where the gradient is taken", "W₀, of the whole objective",
            "W_k; the loss alone is clipped",
            "Taken at W₀ every gradient would be the same; the penalties read no data.", "†"),
    ]  # fmt: skip


def _kusner() -> list[Row]:
    m, shift = 1000, residual_bound(1000, 0.01, "published")
    printed, improved = hsic_bounds(m)
    gaps = laplace.cdf(1.0 + NOISE).mean()
    two = NOISE[2::5, None] + NOISE[None, 2::5]
    spread = np.sort(two.ravel())
    four = np.searchsorted(spread, 1.0 + spread[::97], side="right").mean() / len(spread)
    released, bound = null_probabilities(1.0, 1.0, 1e-3)
    at_e = null_probabilities(math.e, 1.0, 1e-3)[0]
    stable = float((math.log(1e3) < 10 + NOISE).mean())
    each = repeated_epsilon(0.9, 1e-6)
    moved, turned = _residual_change(1000, 0.01), _hsic_change(m, shift)
    bound7 = training_sensitivity("hsic", m, shift, 0.2, "published")
    return [
        Row("Kusner Theorem 1", "Spearman, Kendall on 1,000 test records", [30 / m, 4 / m],
            [record_sensitivity("spearman", m), record_sensitivity("kendall", m)],
            "30/m is valid; one replaced record moves ρ by at most 6/(m + 1). 4/m is tight.", "†"),
        Row("Kusner Theorem 2", "right direction, margin 1, noise 1",
            [direction_probability(1.0, 1.0)], [float(gaps)], "Summed over the noise's quantiles."),
        Row("Kusner Theorem 3", "HSIC on 1,000 test records: printed, improved",
            [printed, improved], [printed, record_sensitivity("hsic", m)],
            "Proven here: 27/(16m) + 4/m², a seventh of the improved one, whose proof is in an "
            "appendix that is not among the texts.", "†"),
        Row("Kusner Theorem 4 (1)", "an IQR is released, both counts 1, ε = 1, δ = 10⁻³",
            [bound], [released],
            f"3δ/2 bounds it for counts of at most 1; for counts of at most e, as printed, the "
            f"chance is {at_e:.2g}.", "†"),
        Row("Kusner Theorem 4 (2)", "right direction, margin 1, noise 1",
            [iqr_direction_probability(1.0, 1.0)], [float(four)],
            "The last sign of γ is printed as +; the decision compares with −."),
        Row("Kusner §4.3, Corollary 3.21", "total of three IQRs at δ′ = 10⁻⁶ for ε′ = .9", [0.9],
            [advanced_total(3, each, 1e-6).epsilon],
            f"Valid, and of no use: it allows {each:.3g} each, plain addition .3.", "†"),
        Row("Kusner Theorem 5", "residuals, n = 1,000, λ = .01", [shift], [moved],
            "The bound holds: measured on a record that stands alone and turns its y. Strict runs "
            "take a smaller proven bound.", "=" if moved <= shift else "≠"),
        Row("Kusner Theorem 6", "released, 10 records without effect, ε = 1, δ = 10⁻³: at least",
            [stable_release_probability(10, 1.0, 1e-3)], [stable],
            "Noise against the release has half the probability, so β is half as large.", "="),
        Row("Kusner Theorem 7", "HSIC, 1,000 records, width .2, λ = .01: R·32L√m/n",
            [bound7], [turned],
            "The bound holds, and exceeds HSIC's range at small λ; strict runs stop at the range. "
            "Measured: dependent residuals, each moved by at most the bound of Theorem 5.",
            "=" if turned <= bound7 else "≠"),
        Row("Kusner §3", "width of HSIC's kernels", "not named", "0.2 of the stated bounds",
            "A median of distances would read the data; a fixed width does not.", "?"),
    ]  # fmt: skip
