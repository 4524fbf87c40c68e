"""Parameters that all score-based methods share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.data.dataset import Dataset
from engine.graphs.known import Known
from engine.params import Parameters, param
from engine.score.acyclicity import Matrix
from engine.score.encodings import ENCODINGS
from engine.score.learned import Learned, learned, learned_by_correlation
from engine.score.optimiser import H_TOLERANCE

# Discrete columns lie in [-1, 1]. Their defaults were tuned on Asia, Sachs and simulated models.
# Numeric columns keep their units and have NOTEARS' defaults.
DISCRETE_PENALTY, NUMERIC_PENALTY = 0.01, 0.1

DISCRETE_THRESHOLD, NUMERIC_THRESHOLD = 0.15, 0.3

# Defaults if a covariance is available: the penalty in units of correlation, and the threshold of
# partial correlations.
SCALED_PENALTY, PARTIAL_THRESHOLD = 0.03, 0.08


@dataclass(frozen=True, kw_only=True)
class LinearParameters(Parameters):
    """Encoding, penalty and edge threshold of a linear model."""

    encoding: str = param(
        "auto",
        choices=("auto", *ENCODINGS),
        title="Scores of levels",
        help="Ordinal: levels spaced equally in [−1, 1], a public fact. Ridit: midpoints of the "
        "cumulative frequency, in the levels' order. Frequency: the same after sorting by "
        "frequency, as NOLEAKS has it. Strict runs pay for the frequencies. 'auto' is ordinal, "
        "and frequency for NOLEAKS and CURATE as published. Numeric columns need none.",
    )
    penalty: float | str = param(
        "auto",
        kind="float",
        words=("auto",),
        low=0.0,
        high=100.0,
        tuned=(0.001, 0.5),
        title="ℓ1 penalty λ",
        help="Weight of the sum of |W|. 'auto' is 0.01 for discrete columns in [−1, 1], and "
        "NOTEARS' 0.1 for unscaled numeric columns and for published modes.",
    )
    threshold: float | str = param(
        "auto",
        kind="float",
        words=("auto",),
        low=0.0,
        high=10.0,
        tuned=(0.01, 1.0),
        title="Edge threshold",
        help="Smaller weights are set to 0; raised where cycles are left. 'auto' is 0.15 for "
        "discrete columns, and NOTEARS' 0.3 for numeric columns and published modes.",
    )

    def scores(self, published: bool = False) -> str:
        """Resolve "auto" to an encoding."""
        if self.encoding == "auto":
            return "frequency" if published else "ordinal"
        return self.encoding

    def l1(self, data: Dataset, published: bool = False) -> float:
        """Return the penalty as a number."""
        if not isinstance(self.penalty, str):
            return self.penalty
        return NUMERIC_PENALTY if published or data.bounds is not None else DISCRETE_PENALTY

    def edge_threshold(self, data: Dataset, published: bool = False) -> float:
        """Return the edge threshold as a number."""
        if not isinstance(self.threshold, str):
            return self.threshold
        return NUMERIC_THRESHOLD if published or data.bounds is not None else DISCRETE_THRESHOLD


PUBLISHED_CLIP, STRICT_CLIP = 2.0, 1.0


@dataclass(frozen=True, kw_only=True)
class GradientParameters(Parameters):
    """The additional parameters of methods that release a noisy gradient per iteration."""

    clip: float | str = param(
        "auto",
        kind="float",
        words=("auto",),
        low=1e-6,  # a clip that underflows would make the sensitivity and the noise 0
        high=1e3,
        tuned=(0.05, 20.0),
        title="Clip s",
        help="Published: every entry of the mean gradient is clipped to ±s. Strict: every row's "
        "own gradient is shrunk to the norm s√(d(d−1)), the same noise. 'auto' is 2, and 1 in "
        "strict mode, where columns lie in [−1, 1].",
    )
    public_rows: int = param(
        1_000,
        low=1,
        high=10_000_000,
        title="Public rows",
        help="The first rows of the data, on which the published line search computes the "
        "objective. Nothing protects them.",
        when={"guarantee": ("published",)},
    )

    def clip_at(self, strict: bool) -> float:
        """Return the clip as a number."""
        if isinstance(self.clip, str):
            return STRICT_CLIP if strict else PUBLISHED_CLIP
        return self.clip


@dataclass(frozen=True, kw_only=True)
class CovarianceParameters(LinearParameters):
    """Parameters for methods with a covariance, which can refit and test edges on it."""

    rule: str = param(
        "auto",
        choices=("auto", "weight", "partial"),
        title="Edge rule",
        help="Weight: keep edges with |W| above the threshold. Partial: refit, and keep edges "
        "whose partial correlation given the other parents is above it. 'auto' is 0.08 there, and "
        "0.03 for λ, in units of correlation. As an edge rule 'auto' is partial for discrete "
        "columns.",
    )

    tolerance: float = param(
        H_TOLERANCE,
        kind="float",
        low=1e-12,
        high=1.0,
        log=True,
        title="Tolerance of h(W)",
        help="The solver stops when its measure of cycles is this small; cycles that are left are "
        "pruned. NOTEARS' own 1e-8 takes several times as long.",
    )

    def by_correlation(self, data: Dataset) -> bool:
        """Return True if edges are kept by their partial correlations."""
        return self.rule == "partial" or (self.rule == "auto" and data.bounds is None)

    def penalties(self, data: Dataset, covariance: Matrix) -> float | Matrix:
        """Return the penalty: one number, or one per edge, scaled by both standard deviations."""
        if not self.by_correlation(data):
            return self.l1(data)
        spread = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        each = SCALED_PENALTY if isinstance(self.penalty, str) else self.penalty
        return each * np.outer(spread, spread)

    def prune(
        self,
        weights: Matrix,
        covariance: Matrix,
        data: Dataset,
        noise: float | Matrix = 0.0,
        known: Known | None = None,
    ) -> Learned:
        """Learn the graph by the edge rule; noise in the covariance raises the threshold."""
        spread = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
        if not self.by_correlation(data):
            # A weight is a covariance divided by the parent's variance.
            widening = noise / spread[:, None] ** 2
            return learned(weights, self.edge_threshold(data), widening, known)
        cut = PARTIAL_THRESHOLD if isinstance(self.threshold, str) else self.threshold
        widening = noise / np.outer(spread, spread)
        return learned_by_correlation(weights, covariance, cut, widening, known)
