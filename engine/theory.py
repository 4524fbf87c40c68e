"""The papers' bounds and closed forms, as functions of public quantities.

Priv-PC (2020) and its preprint: Theorems 2, 3, 6 to 9, Algorithm 5 and the sub-sampling optimum of
section 3.2. CURATE (2024): Lemmas 1 and 2, eq. 16. Kusner et al. (2016): Theorems 1 to 7. Not all
of the papers' statements are true; research/reproduction.md says which are.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from scipy.special import lambertw

from engine.errors import InputError
from engine.privacy.accounting import Guarantee, unsampled

MIN_RATE = 1 / 20  # Priv-PC section 3.2 clips the optimum to (n/20, n)


def sieve_epsilon(epsilon: float, n: int, m: int) -> float:
    """Priv-PC's epsilon' = ln(1 + (n/m)(e^(epsilon/2) - 1)), for a sieve on m of n rows.

    Amplification by sub-sampling brings it back to epsilon/2. Algorithm 1, line 3.

    Args:
        epsilon: The ε of one round, above 0.
        n: Number of rows.
        m: Rows of the sample, from 1 to n.

    Raises:
        InputError: If epsilon or a size is outside its range.

    Examples:
        >>> round(sieve_epsilon(1.0, n=1000, m=100), 4)
        2.0132
    """
    _check_sizes(epsilon, n, m)
    return unsampled(Guarantee(epsilon / 2, 0.0), m / n).epsilon


# Root of 2u = (1+u) ln(1+u): with u = e^L - 1, L = 2 - 2 e^-L; L - 2 is Lambert's W at -2 e^-2.
_BEST_U = math.expm1(2 + float(lambertw(-2 * math.exp(-2)).real))


def best_rate(epsilon: float) -> float:
    """Return the sampling rate m/n that minimises the sieve's noise, clipped to [1/20, 1].

    The noise is proportional to sqrt(n/m) / epsilon'(epsilon, n/m). With u = (e^(epsilon/2)-1) n/m
    its minimum is at 2u = (1+u) ln(1+u), for every epsilon.

    Args:
        epsilon: The ε of one round.

    Examples:
        >>> round(best_rate(1.0), 4)
        0.1654
    """
    if epsilon / 2 > 500:
        return 1.0
    return float(np.clip(math.expm1(epsilon / 2) / _BEST_U, MIN_RATE, 1.0))


def best_subsample(epsilon: float, n: int) -> int:
    """Priv-PC's best m: the number of rows at :func:`best_rate`, between n/20 and n.

    Args:
        epsilon: The ε of one round, above 0.
        n: Number of rows, at least 1.

    Raises:
        InputError: If epsilon or n is outside its range.

    Examples:
        >>> best_subsample(1.0, n=100_000)
        16542
    """
    _check_sizes(epsilon, n, 1)
    return max(1, round(best_rate(epsilon) * n))


def sieve_errors(
    gap: float, tweak: float, epsilon: float, n: int, m: int, sensitivity: float
) -> tuple[float, float]:
    """Theorem 2's bounds (type I, type II) of one sieve-and-examine answer, clipped to [0, 1].

    Type I: the sieve filters a score of at least T + alpha. Type II: a score of at most T - alpha
    passes. The theorem needs alpha >= t; for a smaller alpha the bound is 1. The paper's exponent
    12 epsilon alpha / (6 Delta) is kept as printed. Algorithm 1's examine noise Lap(2 Delta /
    epsilon) supports only 3 epsilon alpha / (6 Delta), so the type II bound can be below the
    simulated rate (the Learn page then says so).

    Args:
        gap: Alpha, the distance of the score from the threshold, in the score's unit.
        tweak: The paper's t, in the same unit.
        epsilon: The ε of one round.
        n: Number of rows.
        m: Rows of the sample.
        sensitivity: The score's sensitivity on the rows from which it is computed.

    Raises:
        InputError: If epsilon or a size does not fit.

    Examples:
        >>> one, two = sieve_errors(0.1, 0.02, 1.0, n=100_000, m=16_542, sensitivity=0.0467)
        >>> round(one, 3), round(two, 4)
        (0.442, 0.0074)
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
    """CURATE's Lemma 1: bounds (type I, type II) on the error of one noisy test.

    The bounds are c/2 + e^(-T beta epsilon / Delta) / 2, with beta1 and c1 for a missed removal
    (type I), and with beta2 and c2 for a wrong removal (type II).

    Args:
        epsilon: The test's ε, at least 0.
        threshold: T, at least 0.
        sensitivity: Delta of the perturbed score, which depends on n (:func:`kendall_p_bound`).
        beta1: Margin of type I, as a share of T.
        beta2: Margin of type II, as a share of T.
        c1: Probability that the noisy score lies between the margins; the lemma does not give it,
            and 1 is always safe.
        c2: The same for type II.

    Raises:
        InputError: If epsilon or T is negative, or the sensitivity is not above 0.

    Examples:
        >>> round(lemma1(1.0, 0.05, kendall_p_bound(10_000))[0], 3)
        0.571
    """
    if not (epsilon >= 0 and threshold >= 0 and sensitivity > 0):
        raise InputError("Lemma 1 needs epsilon and T of at least 0 and a sensitivity above 0.")
    rate = threshold * epsilon / sensitivity
    return (c1 + math.exp(-beta1 * rate)) / 2, (c2 + math.exp(-beta2 * rate)) / 2


def kendall_p_bound(n: int, stratum: int = 2) -> float:
    """Eq. 16 of CURATE: the sensitivity of Kendall's p-value on n rows.

    The bound is 2 / sqrt(pi n) (9 a (a + 1) / (2 (2 (a + 1) + 5)) - 9 a^2 / (2 (2 a + 5))) / (a -
    1). Here a, the paper's n_i, is the row count of the stratum that one record enters. The bound
    falls with a: .513 / sqrt(n) at 2, .0418 / sqrt(n) at 10, .0126 / sqrt(n) at 20. This is the
    paper's number; it does not bound the p-value (research/theory/privacy_proofs.md).

    Args:
        n: Rows, at least 1.
        stratum: Rows of the stratum, at least 2. The paper does not give its value.

    Raises:
        InputError: If there are fewer rows.

    Examples:
        >>> round(kendall_p_bound(10_000), 5), round(kendall_p_bound(10_000, stratum=10), 5)
        (0.00513, 0.00042)
    """
    if n < 1 or stratum < 2:
        raise InputError("Eq. 16 needs at least one row, and a stratum of at least two.")
    a = stratum
    grown = Fraction(9 * a * (a + 1), 2 * (2 * a + 7)) - Fraction(9 * a**2, 2 * (2 * a + 5))
    share = grown / (a - 1)
    return 2 / math.sqrt(math.pi) * share.numerator / share.denominator / math.sqrt(n)


def conditional_kendall_bound(n: int, strata: int, least: float = math.inf) -> float:
    """Theorem 7 of Priv-PC's preprint: the sensitivity of the conditional Kendall z.

    The bound is 27 / (4 sqrt(c (n - k))) + 9 / (2 a sqrt(c (n - k))), c = 9 a / (2 (2 a + 5)), for
    k strata of at least a rows each. As a grows without limit it becomes Theorem 3's (9/2) / sqrt(n
    - k). Published runs use 6 / sqrt(n) instead, which is valid without a conditioning set, because
    the text gives no a.

    Args:
        n: Rows, more than there are strata.
        strata: k, at least 1.
        least: a, at least 1.

    Raises:
        InputError: If a number is outside its range.

    Examples:
        >>> round(conditional_kendall_bound(100_001, strata=1), 5)
        0.01423
    """
    if not (n > strata >= 1 and least >= 1):
        raise InputError("Theorem 7 needs more rows than strata, and a row in each stratum.")
    c = 9 / (2 * (2 + 5 / least))
    return (27 / 4 + 9 / (2 * least)) / math.sqrt(c * (n - strata))


def sparse_vector_scale(epsilon: float, quota: int = 1, delta: float = 0.0) -> float:
    """Algorithm 5 of Priv-PC's preprint: the threshold's Laplace scale, for 1-sensitive queries.

    The scale is 2 c / epsilon for a quota of c positive answers, or sqrt(32 c ln(1 / delta)) /
    epsilon; a query's noise has twice the scale. SVT-PC and Priv-PC start a new round for each
    positive answer, with a quota of 1 and delta 0, so no run uses the other cases.

    Args:
        epsilon: The ε of all c answers together, above 0.
        quota: c, at least 1.
        delta: From 0, below 1.

    Raises:
        InputError: If a number is outside its range.

    Examples:
        >>> sparse_vector_scale(1.0), round(sparse_vector_scale(1.0, 10, 1e-6), 2)
        (2.0, 66.49)
    """
    if not (epsilon > 0 and quota >= 1 and 0 <= delta < 1):
        raise InputError("A sparse vector needs epsilon above 0, a quota of 1 or more, delta < 1.")
    if delta == 0:
        return 2 * quota / epsilon
    return math.sqrt(32 * quota * math.log(1 / delta)) / epsilon


def uniform_epsilon(quadratic: float, linear: float, total: float) -> float:
    """Return the epsilon per test if all tests get the same and cost ``total`` together.

    Solves quadratic e^2 + linear e = total for e >= 0.

    Args:
        quadratic: Sum of the tests' costs in e^2: t / 2 for t tests under zCDP.
        linear: Sum of the tests' costs in e: t for t tests under basic composition.
        total: Their cost together, in rho or epsilon.

    Raises:
        InputError: If a number is negative, or the tests cost nothing.

    Examples:
        >>> round(uniform_epsilon(50, 0, 1.0), 4)
        0.1414
    """
    if not (quadratic >= 0 and linear >= 0 and quadratic + linear > 0 and total >= 0):
        raise InputError(
            "A uniform budget needs tests that cost something and a total of at least 0."
        )
    return 2 * total / (linear + math.sqrt(linear**2 + 4 * quadratic * total))


def affordable_iterations(total: float, initial: float, increment: str) -> float:
    """Lemma 2 of CURATE: the number of iterations that a total epsilon allows.

    Args:
        total: Epsilon of all iterations together, above 0.
        initial: The first iteration's epsilon_0, above 0.
        increment: "additive" epsilon_0 (1 + i/I), "exponential" epsilon_0 e^(i/I) (the paper's
            conservative form), "multiplicative" epsilon_0^(1 + i/I) (eq. 19 drops a "1 +" for
            epsilon_0 > 1; it is restored here).

    Returns:
        The exact real number; the number of iterations is its floor.

    Raises:
        InputError: If the total or the initial epsilon is not above 0, or the increment is unknown.

    Examples:
        >>> affordable_iterations(1.0, 0.1, "additive")
        7.0
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
    """Kusner et al. Theorem 2: the probability that the correct direction wins.

    It is 1 - (gap + 2 scale) / (4 scale) e^(-gap / scale) for two scores, each with Laplace noise.

    Args:
        gap: Difference of the two scores; negative if the wrong direction is ahead.
        scale: The noise's scale, above 0, in the scores' unit.

    Raises:
        InputError: If the scale is not above 0.

    Examples:
        >>> round(direction_probability(1.0, 1.0), 7)
        0.7240904
    """
    if not scale > 0:
        raise InputError("The noise scale must be above 0.")
    if gap < 0:
        return 1 - direction_probability(-gap, scale)
    return 1 - (gap + 2 * scale) / (4 * scale) * math.exp(-gap / scale)


def one_release_probability(gap: float, scale: float) -> float:
    """Probability that the correct direction wins if one noisy difference decides (ours).

    It is 1 - e^(-gap / scale) / 2.

    Args:
        gap: Size of the difference; negative if it points in the wrong direction.
        scale: The scale of its Laplace noise, above 0, in the same unit.

    Raises:
        InputError: If the scale is not above 0.

    Examples:
        >>> round(one_release_probability(1.0, 1.0), 4)
        0.8161
    """
    if not scale > 0:
        raise InputError("The noise scale must be above 0.")
    if gap < 0:
        return 1 - one_release_probability(-gap, scale)
    return 1 - math.exp(-gap / scale) / 2


def iqr_direction_probability(gap: float, scale: float) -> float:
    """Kusner et al. Theorem 4, part 2: the same for four noisy log interquartile ranges.

    It is 1 - e^(-g/s) (48 s^3 + 33 s^2 g + 9 s g^2 + g^3) / (96 s^3).

    Args:
        gap: g = Q_y + Q_rX - Q_x - Q_rY (the paper prints the last sign as +).
        scale: s, the scale of each one's Laplace noise, above 0.

    Raises:
        InputError: If the scale is not above 0.

    Examples:
        >>> round(iqr_direction_probability(1.0, 1.0), 7)
        0.6512809
    """
    if not scale > 0:
        raise InputError("The noise scale must be above 0.")
    if gap < 0:
        return 1 - iqr_direction_probability(-gap, scale)
    g = gap / scale
    return 1 - math.exp(-g) * (48 + 33 * g + 9 * g**2 + g**3) / 96


def hsic_bounds(m: int) -> tuple[float, float]:
    """Kusner et al. Theorem 3: HSIC's sensitivity on m test records, and the improved bound.

    The bounds are (16 m - 8) / (m - 1)^2 and (12 m - 11) / (m - 1)^2; the proof of the second is in
    an appendix that we do not have. The bound proven here is 27 / (16 m) + 4 / m^2
    (research/theory/pairs.md).

    Args:
        m: Test records, at least 2.

    Raises:
        InputError: If there are fewer records.

    Examples:
        >>> [round(bound, 5) for bound in hsic_bounds(1000)]
        [0.01602, 0.01201]
    """
    if m < 2:
        raise InputError(f"HSIC needs two records; {m} is fewer.")
    return (16 * m - 8) / (m - 1) ** 2, (12 * m - 11) / (m - 1) ** 2


def null_probabilities(changes: float, epsilon: float, delta: float) -> tuple[float, float]:
    """Kusner et al. Theorem 4, part 1: the probability of releasing an IQR, and the paper's bound.

    An IQR is released if a noisy count R_j = A_j + Lap(1 / epsilon) of one of two intervals exceeds
    1 + ln(1 / delta) / epsilon. The first number is the probability of this if both counts equal
    ``changes``; the second is the paper's bound 3 delta / 2, stated for counts of at most e. The
    bound is valid for counts of at most 1, which is enough for privacy: at e the probability is
    e^(epsilon (e - 1)) delta.

    Args:
        changes: A_1 = A_2, the number of records to change before the IQR leaves its interval.
        epsilon: The ε of each part, above 0.
        delta: Above 0, below 1.

    Raises:
        InputError: If a number is outside its range.

    Examples:
        >>> released, bound = null_probabilities(1.0, 1.0, 1e-3)
        >>> round(released, 6), bound
        (0.001, 0.0015)
    """
    if not (epsilon > 0 and 0 < delta < 1):
        raise InputError("Theorem 4 needs epsilon above 0 and delta between 0 and 1.")
    gap = math.log(1 / delta) - epsilon * (changes - 1)  # in units of the noise
    one = math.exp(-gap) / 2 if gap >= 0 else 1 - math.exp(gap) / 2
    return 1 - (1 - one) ** 2, 1.5 * delta


def stable_release_probability(distance: float, epsilon: float, delta: float) -> float:
    """Kusner et al. Theorem 6: the probability 1 - beta that a stable rank score is released.

    A score is released with probability at least 1 - beta if (ln(1 / delta) + ln(1 / beta)) /
    epsilon records can change without effect. Here beta follows from the records; the result is 0
    if no beta below 1 fits.

    Args:
        distance: Number of records that can change without effect.
        epsilon: Above 0.
        delta: Above 0, below 1.

    Raises:
        InputError: If a number is outside its range.

    Examples:
        >>> round(stable_release_probability(10, 1.0, 1e-3), 4)
        0.9546
    """
    if not (epsilon > 0 and 0 < delta < 1):
        raise InputError("Theorem 6 needs epsilon above 0 and delta between 0 and 1.")
    return max(0.0, 1 - math.exp(math.log(1 / delta) - epsilon * distance))


def repeated_epsilon(total: float, slack: float, times: int = 3) -> float:
    """Corollary 3.21 of Dwork and Roth, as Kusner et al. use it for three IQRs of one sample.

    Return the epsilon of each of k mechanisms that together are (total, k delta + slack)-private:
    total / (2 sqrt(2 k ln(1 / slack))). An IQR divides it equally among three parts.

    Args:
        total: epsilon', above 0 and below 1.
        slack: delta', above 0 and below 1.
        times: k, at least 1.

    Raises:
        InputError: If a number is outside its range.

    Examples:
        >>> round(repeated_epsilon(0.9, 1e-6), 5)
        0.04943
    """
    if not (0 < total < 1 and 0 < slack < 1 and times >= 1):
        raise InputError("Corollary 3.21 needs a total and a slack between 0 and 1.")
    return total / (2 * math.sqrt(2 * times * math.log(1 / slack)))


def _check_sizes(epsilon: float, n: int, m: int) -> None:
    if not epsilon > 0:
        raise InputError(f"epsilon must be above 0; {epsilon} is not.")
    if not 1 <= m <= n:
        raise InputError(f"The subsample size m must lie between 1 and n = {n}; {m} does not.")
