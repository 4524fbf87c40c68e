"""The papers' bounds and closed forms, as functions of public quantities.

Priv-PC (2020): Theorem 2 and the sub-sampling optimum of section 3.2. CURATE (2024): Lemma 2.
Kusner et al. (2016): Theorems 2 and 4.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import lambertw

from engine.errors import InputError

MIN_RATE = 1 / 20  # Priv-PC section 3.2 clips the optimum to (n/20, n)


def sieve_epsilon(epsilon: float, n: int, m: int) -> float:
    """Priv-PC's epsilon' = ln(1 + (n/m)(e^(epsilon/2) - 1)), for a sieve on m of n rows.

    Amplification by sub-sampling brings it back to epsilon/2. Algorithm 1, line 3.
    """
    _check_sizes(epsilon, n, m)
    half = epsilon / 2
    if half > 500:  # e^half overflows; ln(1 + r(e^h - 1)) -> h + ln r
        return half + math.log(n / m)
    return math.log1p(n / m * math.expm1(half))


# Where 2u = (1+u) ln(1+u): with u = e^L - 1, L = 2 - 2 e^-L; L - 2 is Lambert's W at -2 e^-2.
_BEST_U = math.expm1(2 + float(lambertw(-2 * math.exp(-2)).real))


def best_rate(epsilon: float) -> float:
    """The sampling rate m/n that minimises the sieve's noise level, clipped to [1/20, 1].

    The noise is proportional to sqrt(n/m) / epsilon'(epsilon, n/m); with u = (e^(epsilon/2)-1) n/m
    its minimum lies where 2u = (1+u) ln(1+u), whatever epsilon.
    """
    if epsilon / 2 > 500:
        return 1.0
    return float(np.clip(math.expm1(epsilon / 2) / _BEST_U, MIN_RATE, 1.0))


def best_subsample(epsilon: float, n: int) -> int:
    """Priv-PC's best m: the number of rows at :func:`best_rate`, between n/20 and n."""
    _check_sizes(epsilon, n, 1)
    return max(1, round(best_rate(epsilon) * n))


def sieve_errors(
    gap: float, tweak: float, epsilon: float, n: int, m: int, sensitivity: float
) -> tuple[float, float]:
    """Theorem 2's bounds (type I, type II) of one sieve-and-examine answer, clipped to [0, 1].

    ``gap`` is alpha, the distance of the score from the threshold, ``tweak`` t, ``sensitivity`` of
    the score on the data it is computed on. Type I: a score of at least T + alpha is sifted out.
    Type II: a score of at most T - alpha passes; the theorem needs alpha >= t, and 1 is returned
    below that. The paper's exponent 12 epsilon alpha / (6 Delta) is kept as printed; Algorithm 1's
    examine noise Lap(2 Delta / epsilon) supports only 3 epsilon alpha / (6 Delta), so the type II
    bound can lie below what simulation shows (the Sieve page says so where it does).
    """
    inner = sieve_epsilon(epsilon, n, m)

    def tail(x: float) -> float:
        return min(1.0, math.exp(-x) - math.exp(-2 * x) / 4) if x >= 0 else 1.0

    type_one = tail(inner * (gap + tweak) / (6 * sensitivity))
    if gap < tweak:
        return type_one, 1.0
    first = math.exp(-(12 * epsilon * gap + inner * (gap - tweak)) / (6 * sensitivity))
    second = math.exp(-(6 * epsilon * gap + inner * (gap - tweak)) / (3 * sensitivity))
    return type_one, max(0.0, first - second / 4)


def lemma1(
    epsilon: float,
    threshold: float,
    sensitivity: float,
    *,
    beta1: float = 0.2,
    beta2: float = 0.2,
    c1: float = 1.0,
    c2: float = 1.0,
) -> tuple[float, float]:
    """CURATE's Lemma 1: bounds (type I, type II) on one noisy test's error.

    c/2 + e^(-T beta epsilon / Delta) / 2 with beta1, c1 for a lost deletion (type I) and beta2, c2
    for a wrong one (type II). ``sensitivity`` is Delta of the perturbed score, which carries n
    (0.5129 / sqrt(n) for Kendall's p-value, eq. 16); c is the chance that the noisy score lies
    between the margins, which the lemma leaves open: its safe value is 1.
    """
    if not (epsilon >= 0 and threshold >= 0 and sensitivity > 0):
        raise InputError("Lemma 1 needs epsilon and T of at least 0 and a sensitivity above 0.")
    rate = threshold * epsilon / sensitivity
    return (c1 + math.exp(-beta1 * rate)) / 2, (c2 + math.exp(-beta2 * rate)) / 2


def kendall_p_bound(n: int) -> float:
    """Eq. 16 of CURATE at its largest: the sensitivity of Kendall's p-value on n rows.

    (2 / sqrt(pi)) (5 / 11) / sqrt(n), about 0.5129 / sqrt(n): eq. 16 for strata of two rows.
    """
    if n < 1:
        raise InputError(f"Eq. 16 needs at least one row; {n} is none.")
    return 2 / math.sqrt(math.pi) * 5 / 11 / math.sqrt(n)


def uniform_epsilon(quadratic: float, linear: float, total: float) -> float:
    """The epsilon that every test gets if all get the same and cost ``total`` together.

    Solves quadratic e^2 + linear e = total for e >= 0, with the coefficients of all tests' costs
    added up (t e^2 / 2 for zCDP, t e for basic composition).
    """
    if not (quadratic >= 0 and linear >= 0 and quadratic + linear > 0 and total >= 0):
        raise InputError("A uniform budget needs tests that cost something and a total from 0 on.")
    return 2 * total / (linear + math.sqrt(linear**2 + 4 * quadratic * total))


def affordable_iterations(total: float, initial: float, increment: str) -> float:
    """Lemma 2: how many iterations a total epsilon affords that starts at ``initial``.

    ``increment``: "additive" epsilon_0 (1 + i/I), "exponential" epsilon_0 e^(i/I) (the paper's
    conservative form), "multiplicative" epsilon_0^(1 + i/I) (eq. 19 drops a "1 +" for
    epsilon_0 > 1; it is restored here). Returns the real number; take its floor.
    """
    if not (total > 0 and initial > 0):
        raise InputError("Both the total and the initial epsilon must be above 0.")
    if increment == "additive":
        # (total + initial/2) / (1.5 initial), written so that total/initial = 10 gives 7 exactly
        return (2 * (total / initial) + 1) / 3
    if increment == "exponential":
        return total / (math.e * initial)
    if increment != "multiplicative":
        raise InputError(
            f"increment must be additive, exponential or multiplicative; {increment!r} is not."
        )
    if initial == 1:
        return total  # the limit of both branches: every iteration costs 1
    ratio = initial * abs(initial - 1) / total
    if initial > 1:
        return math.log(initial) / math.log1p(ratio)
    return math.log(initial) / math.log1p(-ratio) if ratio < 1 else 0.0


def direction_probability(gap: float, scale: float) -> float:
    """Kusner et al. Theorem 2: probability that the right direction wins.

    1 - (gap + 2 scale) / (4 scale) e^(-gap / scale) for two scores that lie ``gap`` apart, each
    with Laplace noise of the given scale.
    """
    if not scale > 0:
        raise InputError("The noise scale must be above 0.")
    if gap < 0:
        return 1 - direction_probability(-gap, scale)
    return 1 - (gap + 2 * scale) / (4 * scale) * math.exp(-gap / scale)


def one_release_probability(gap: float, scale: float) -> float:
    """Probability that the right direction wins where one noisy difference decides (ours).

    1 - e^(-gap / scale) / 2 for a difference of size ``gap`` with Laplace noise of that scale.
    """
    if not scale > 0:
        raise InputError("The noise scale must be above 0.")
    if gap < 0:
        return 1 - one_release_probability(-gap, scale)
    return 1 - math.exp(-gap / scale) / 2


def iqr_direction_probability(gap: float, scale: float) -> float:
    """Kusner et al. Theorem 4, part 2: the same for four noisy log interquartile ranges.

    1 - e^(-g/s) (48 s^3 + 33 s^2 g + 9 s g^2 + g^3) / (96 s^3), with the gap g = Q_y + Q_rX - Q_x -
    Q_rY (the paper prints the last sign as +).
    """
    if not scale > 0:
        raise InputError("The noise scale must be above 0.")
    if gap < 0:
        return 1 - iqr_direction_probability(-gap, scale)
    g = gap / scale
    return 1 - math.exp(-g) * (48 + 33 * g + 9 * g**2 + g**3) / 96


def _check_sizes(epsilon: float, n: int, m: int) -> None:
    if not epsilon > 0:
        raise InputError(f"epsilon must be above 0; {epsilon} is not.")
    if not 1 <= m <= n:
        raise InputError(f"The subsample size m must lie between 1 and n = {n}; {m} does not.")
