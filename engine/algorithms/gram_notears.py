"""NOTEARS on a Gram matrix that is released once; later steps cost no ε (introduced here)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import erfc

from engine.algorithm import Algorithm, Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.graphs.cpdag import Adjacency
from engine.params import again, param
from engine.privacy.accounting import Guarantee
from engine.privacy.budget import HAIR, STRICT, PrivateBudget
from engine.privacy.ledger import Ledger
from engine.privacy.mechanisms import analytic_gaussian
from engine.score.acyclicity import Matrix
from engine.score.descent import scores_from
from engine.score.encodings import Encoding, encoding_of, level_counts
from engine.score.gram import Packing, best_constant, covariance, second_moments, semidefinite
from engine.score.learned import Learned, report
from engine.score.optimiser import Trace, solve
from engine.score.parameters import CovarianceParameters
from engine.statistics.multiplicity import step_up


@dataclass(frozen=True, kw_only=True)
class GramParameters(PrivateBudget, CovarianceParameters):
    """Parameters of NOTEARS on a released Gram matrix."""

    guarantee: str = again(
        PrivateBudget,
        "guarantee",
        choices=(STRICT,),
        help="Strict only: no paper describes this method. The total (ε, δ) is never exceeded, for "
        "replace-one neighbours.",
    )
    radius: float | str = param(
        "auto",
        kind="float",
        words=("auto",),
        low=0.0,
        open_low=True,
        high=1.0,
        title="Clipping radius",
        help="Rows longer than this share of √d, with every column in [−1, 1], are shrunk to it: "
        "less noise, some bias. 'auto' is 1 (no row is) for discrete and 0.5 for numeric columns.",
    )
    caution: float = param(
        1.0,
        low=0.0,
        high=10.0,
        tuned=(0.0, 3.0),
        title="Caution",
        help="How many standard deviations of the known noise are added to the penalty and to the "
        "edge threshold. 0 adds nothing. If the threshold is 'auto', columns are joined only if "
        "their covariance exceeds chance among all pairs, at any caution.",
    )

    def ball(self, data: Dataset) -> float:
        """Return the radius as a number."""
        share = self.radius
        if isinstance(share, str):
            share = 0.5 if data.bounds is not None else 1.0
        return share * math.sqrt(data.d)


# The share of epsilon and delta for the one-way tables of "ridit" and "frequency".
TABLES_SHARE = 0.1
TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class NoisyGram:
    """Released covariance (d, d) in the columns' units, and the known noise of its entries.

    ``chance`` (d, d) is the variance of an entry for independent columns: the noise of the product
    and of both means, and sampling. ``jump`` (d, d) is the largest change of the entry by one row.
    """

    covariance: Matrix
    noise: Matrix
    chance: Matrix
    jump: Matrix


def release(data: Dataset, params: GramParameters, context: RunContext) -> NoisyGram:
    """Spend the whole budget on one Gaussian release, after one of the tables if set."""
    encoding, left = _encoding(data, params, context)
    radius = params.ball(data)
    packing = Packing(data.d, data.n, best_constant(data.d), radius, encoding.fixed_square)
    noisy, sigma = analytic_gaussian(
        context,
        packing.pack(second_moments(data, encoding, radius)),
        sensitivity=packing.sensitivity,
        epsilon=left.epsilon,
        delta=left.delta,
        label="Gram matrix",
    )
    context.emit(
        "release",
        "released",
        code="gram_released",
        value=sigma,
    )
    moments = packing.unpack(noisy)
    noise = packing.entry_noise(sigma) * np.outer(encoding.half, encoding.half)
    found, means = _projected(covariance(moments, encoding), noise), moments[0, 1:]
    squares, farthest = (means / packing.constant) ** 2, encoding.half * (1 + np.abs(means))
    of_noise = noise**2 * (1 + np.add.outer(squares, squares))
    of_rows = np.outer(np.diag(found), np.diag(found)) / data.n
    return NoisyGram(found, noise, of_noise + of_rows, np.outer(farthest, farthest) / data.n)


def _encoding(
    data: Dataset, params: GramParameters, context: RunContext
) -> tuple[Encoding, Guarantee]:
    """Return the encoding, and the budget that remains after its charge."""
    kind, total = params.scores(), params.total
    if kind == "ordinal" or data.bounds is not None:
        return encoding_of(data), total
    noisy, _ = analytic_gaussian(
        context,
        np.concatenate(level_counts(data)) / data.n,
        sensitivity=math.sqrt(2 * data.d) / data.n,
        epsilon=total.epsilon * TABLES_SHARE * (1 - HAIR),
        delta=total.delta * TABLES_SHARE,
        label="one-way tables",
    )
    context.emit("release", "released", code="tables_released")
    rest = (1 - TABLES_SHARE) * (1 - HAIR)
    return scores_from(data, kind, noisy)[0], Guarantee(total.epsilon * rest, total.delta * rest)


def _projected(noisy: Matrix, noise: Matrix) -> Matrix:
    """Return the nearest matrix with no eigenvalue below the noise, in units where that is 1.

    An exact covariance (without noise) does not change.
    """
    unit = np.sqrt(np.diag(noise))
    whole = np.outer(unit, unit)
    mended: Matrix = semidefinite(noisy / whole, 1.0) * whole
    return mended


def fit(
    released: NoisyGram, data: Dataset, params: GramParameters, context: RunContext
) -> tuple[Trace, Learned]:
    """Fit NOTEARS with penalty and threshold raised by the known noise; post-processing."""
    known = params.caution * released.noise
    penalty = params.penalties(data, released.covariance) + known
    trace = solve(released.covariance, penalty, context, params.tolerance)
    weights = trace.weights
    if isinstance(params.threshold, str):
        weights = np.where(seen(released), weights, 0.0)
    return trace, params.prune(weights, released.covariance, data, known, context.known)


def seen(released: NoisyGram) -> Adjacency:
    """Return the pairs, (d, d) symmetric, with more covariance than chance gives in all pairs.

    A partial correlation is not enough: if two columns hardly vary, their residuals given the
    others are noise, and may have any correlation.
    """
    pairs = np.triu_indices(len(released.covariance), 1)
    found = np.abs(released.covariance[pairs])
    # As in Bernstein's inequality: a small count of two rare levels has a heavier tail than its
    # variance suggests.
    spread = released.chance[pairs] + released.jump[pairs] * found / 3
    p = erfc(found / np.sqrt(np.maximum(2 * spread, TINY)))
    out = np.zeros(released.covariance.shape, dtype=bool)
    out[pairs] = p <= step_up(p)
    return out | out.T


def ledger(data: Dataset, params: GramParameters) -> Ledger:
    """Return the cap, under basic composition of the (epsilon, delta) of one or two releases."""
    return Ledger(params.total)


def run(data: Dataset, params: GramParameters, context: RunContext) -> Outcome:
    """Release, then fit."""
    released = release(data, params, context)
    trace, result = fit(released, data, params, context)
    diagnostics = report(
        result,
        data,
        objective=tuple(trace.objective),
        h=tuple(trace.h),
        epsilon=(params.epsilon,),
        entry_noise=float(np.median(released.noise)),
    )
    context.close()
    return Outcome(**result.oriented._asdict(), status=trace.status, diagnostics=diagnostics)


ALGORITHM = Algorithm(
    key="gram_notears",
    title="Gram-NOTEARS",
    family="score-based",
    params=GramParameters,
    run=run,
    ours=True,
    reference="ours",
    summary="Measures how all variables vary together once, with noise; NOTEARS then fits to "
    "that for free. On columns of levels a third of its arrows on true edges point the wrong way.",
    ledger=ledger,
    parent="notears",
)
