"""Dependence scores of two columns, and their sensitivities (Kusner et al., section 3).

Every score is small if the columns look independent. ``a`` and ``b`` are (m,) arrays of finite
numbers. Sensitivities are for one replaced record, which may change both columns.
"""

from __future__ import annotations

import math

import numpy as np

from engine.compiled import kernel
from engine.errors import InputError
from engine.pairs.regression import Vector

RANK_SCORES = ("spearman", "kendall")
KERNEL_SCORES = ("hsic", "root_hsic")
# One record can change the variance by any amount (section 3.3), so it is used only inside a vote.
SCORES = (*RANK_SCORES, *KERNEL_SCORES, "iqr", "variance")


def score(name: str, a: Vector, b: Vector, width: float) -> float:
    """Compute the score by name; ``width`` is that of both Gaussian kernels, if it has any."""
    if name == "spearman":
        return spearman(a, b)
    if name == "kendall":
        return kendall(a, b)
    if name == "iqr":
        return log_iqr(a) + log_iqr(b)
    if name == "variance":
        return sum(math.log(max(float(np.var(column)), TINY)) for column in (a, b))
    found = hsic(a, b, width, width)
    return math.sqrt(found) if name == "root_hsic" else found


TINY = 1e-300  # replaces a spread of 0, so that its logarithm stays finite


def spearman(a: Vector, b: Vector) -> float:
    """Return |rho| from midranks: 12 |sum of centred products| / (m (m^2 - 1))."""
    from scipy.stats import rankdata  # local import: it takes half a second

    m = len(a)
    centre = (m + 1) / 2
    products = (rankdata(a) - centre) @ (rankdata(b) - centre)
    return abs(12 * float(products) / (m * (m * m - 1.0)))


def kendall(a: Vector, b: Vector) -> float:
    """Return |concordant - discordant| / (m (m - 1) / 2); a tie is neither. O(m log m)."""
    from scipy.stats import kendalltau  # local import: it takes half a second

    m, levels = len(a), min(len(np.unique(a)), len(np.unique(b)))
    if levels < 2:
        return 0.0  # all pairs are tied
    # Only Stuart's tau-c does not divide by ties: it is the difference times a known factor.
    tau = float(kendalltau(a, b, method="asymptotic", variant="c").statistic)
    return abs(round(tau * m * m * (levels - 1) / (2 * levels))) / (m * (m - 1) / 2)


def hsic(a: Vector, b: Vector, width_a: float, width_b: float) -> float:
    """Return trace(KHLH) / (m - 1)^2 for Gaussian kernels (eq. 4), without an m x m matrix.

    With the row sums k_i and l_i, trace(KHLH) = sum K_ij L_ij - 2/m sum_i k_i l_i + (sum K)(sum L)
    / m^2, which needs one pass over the pairs i < j.
    """
    m = len(a)
    scaled_a = np.asarray(a, dtype=float) / (math.sqrt(2) * width_a)
    scaled_b = np.asarray(b, dtype=float) / (math.sqrt(2) * width_b)
    joint, rows_a, rows_b = _kernel_sums(scaled_a, scaled_b)
    trace = joint - 2 / m * (rows_a @ rows_b) + rows_a.sum() * rows_b.sum() / m**2
    return max(0.0, float(trace)) / (m - 1) ** 2  # rounding can make the trace negative


@kernel(fastmath=True)
def _kernel_sums(
    a: np.ndarray, b: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:  # pragma: no cover - compiled
    """Return sum_ij K_ij L_ij and the row sums of K and L, for K_ij = exp(-(a_i - a_j)^2)."""
    m = len(a)
    joint = float(m)
    rows_a, rows_b = np.ones(m), np.ones(m)
    for i in range(m):
        sum_a = sum_b = 0.0
        for j in range(i):
            k = math.exp(-((a[i] - a[j]) ** 2))
            other = math.exp(-((b[i] - b[j]) ** 2))
            joint += 2 * k * other
            sum_a += k
            sum_b += other
            rows_a[j] += k
            rows_b[j] += other
        rows_a[i] += sum_a
        rows_b[i] += sum_b
    return joint, rows_a, rows_b


def quartiles(m: int) -> tuple[int, int]:
    """Return the positions (from 0) of the first and third quartile among m sorted values."""
    return (m - 1) // 4, m - 1 - (m - 1) // 4


def log_iqr(a: Vector) -> float:
    """Return the logarithm of the interquartile range."""
    ordered, (low, high) = np.sort(a), quartiles(len(a))
    return math.log(max(float(ordered[high] - ordered[low]), TINY))


def iqr_reach(ordered: Vector, changes: int, shift: float = 0.0) -> tuple[float, float]:
    """Return the smallest and largest IQR after ``changes`` replaced values.

    All other values may move by ``shift``. A replaced value moves one quartile by one place:
    outwards if it leaves the middle, inwards if it enters it. So j of the changes affect one
    quartile and the rest the other. The result is exact if ``shift`` is 0 and values are unbounded.
    It is infinite if a quartile moves past the last value.
    """
    low, high = quartiles(len(ordered))
    j = np.arange(changes + 1)
    up, down = high + j, low - (changes - j)
    outside = (up >= len(ordered)) | (down < 0)
    widest = np.where(
        outside, np.inf, ordered[np.minimum(up, len(ordered) - 1)] - ordered[np.maximum(down, 0)]
    )
    inner, outer = high - j, low + (changes - j)
    empty = inner <= outer
    narrow = np.where(
        empty, 0.0, ordered[np.maximum(inner, 0)] - ordered[np.minimum(outer, len(ordered) - 1)]
    )
    return max(0.0, float(narrow.min()) - 2 * shift), float(widest.max()) + 2 * shift


# Sensitivities --------------------------------------------------------------------------------


def record_sensitivity(name: str, m: int, variant: str = "strict") -> float:
    """Bound the change of the score by one replaced test record of m, with a fixed fit.

    "published": Theorems 1 and 3, 30/m, 4/m, (16m - 8)/(m - 1)^2. "strict": 6/(m + 1) (tight), 4/m
    (tight), 27/(16m) + 4/m^2 for HSIC and sqrt(6)/m for its root (research/theory/pairs.md). The
    other scores have no bound.
    """
    if name == "spearman":
        return 30 / m if variant == "published" else 6 / (m + 1)
    if name == "kendall":
        return 4 / m
    if name == "hsic":
        published = variant == "published"
        return (16 * m - 8) / (m - 1) ** 2 if published else (27 / 16 + 4 / m) / m
    if name == "root_hsic":
        return math.sqrt(6) / m
    raise InputError(f"One record can move the {name} score by any amount.")


def training_sensitivity(name: str, m: int, shift: float, width: float, variant: str) -> float:
    """Bound the change of the score of m test records if each residual changes by up to ``shift``.

    "published": Theorem 7, 32 L sqrt(m) shift, where L = e^(-1/2) / width is the kernel's Lipschitz
    constant. "strict": the feature of a residual changes by at most s = sqrt(2 - 2 exp(-shift^2 /
    (2 width^2))). The root of HSIC changes by at most s m / (m - 1), and HSIC by at most m / (m -
    1) times that (research/theory/pairs.md). No score changes by more than its range, and rank
    scores have no better bound.
    """
    if name == "iqr":
        raise InputError("One record can move the iqr score by any amount.")
    if name in RANK_SCORES:
        return 1.0
    if variant == "published":
        return 32 * math.exp(-0.5) / width * math.sqrt(m) * shift
    grow = m / (m - 1)
    moved = math.sqrt(-2 * math.expm1(-(shift**2) / (2 * width**2))) * grow
    return min(moved, grow / 2) if name == "root_hsic" else min(moved * grow, grow**2 / 4)
