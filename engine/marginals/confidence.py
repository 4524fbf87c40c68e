"""Confidence from a run's evidence: frequencies of edges and directions on random networks.

A posterior probability rests on approximations, and a link takes part in many tests. The least of
many probabilities is too small, and tests without information leave it too large. Therefore a
confidence reports how often edges and directions with similar evidence were true on random
networks. benchmarks/calibration.py fits the constants and shows their error on other networks. The
rules read only released numbers and public facts.
"""

from __future__ import annotations

import numpy as np

from engine.marginals.contrasts import Array

# Least posterior probability of dependence over a link's tests, and how often the link was true.
POSTERIOR = (0.0, 0.5, 0.63, 0.69, 0.75, 0.83, 0.88, 0.92, 0.95, 0.97, 0.99, 0.9996, 1.0)
FREQUENCY = (0.0, 0.44, 0.47, 0.56, 0.64, 0.75, 0.77, 0.87, 0.89, 0.935, 0.97, 0.98, 0.998)

RESTORED = 0.7  # frequency of true links among restored links (engine/marginals/repair.py)

# A true edge has three possible marks. Their log odds are SLOPE log(share + LEAST_SHARE), where
# share is the mark's share of the chains; the odds are flatter if little is visible. A mark in the
# learned graph, after Meek's rules, counts more.
LEAST_SHARE = 0.0395
SLOPE, SLOPE_BY_NOISE = 0.687, -0.290
DRAWN = 0.536  # for the arrow in the learned graph
NEITHER, NEITHER_BY_COLUMNS = 0.430, -0.777  # for no arrow
UNDRAWN = -0.323  # for no arrow if the learned graph has none
WHOLE = 0.6  # for no arrow if whole DAGs were compared; shares come from their evidence
VISIBLE, COLUMNS = 0.01, 12  # the point at which noise and columns have no effect


def of_link(posterior: float) -> float:
    """Return how often a link with this least posterior probability of dependence is true."""
    return float(np.interp(posterior, POSTERIOR, FREQUENCY))


def of_arrows(
    there: float, back: float, visible: float, d: int, drawn: int, whole: bool = False
) -> tuple[float, float]:
    """Return the frequencies of i -> j and j -> i for a true link, from their shares of the chains.

    ``visible`` is the correlation equal to one standard deviation of noise and sampling. ``drawn``
    is 1 if the learned graph has i -> j, -1 if it has j -> i, and 0 otherwise. ``whole`` is True if
    the shares come from whole DAGs, compared by the evidence in tensors of all orders.
    """
    rates = of_marks(*(np.array([value]) for value in (there, back, visible, d, drawn, whole)))
    return float(rates[0, 0]), float(rates[0, 1])


def of_marks(
    there: Array, back: Array, visible: Array, d: Array, drawn: Array, whole: Array
) -> Array:
    """Return :func:`of_arrows` for many links, and the frequency of neither; (links, 3)."""
    shares = np.stack([there, back, np.maximum(0.0, 1.0 - there - back)], axis=1)
    slope = np.maximum(SLOPE + SLOPE_BY_NOISE * np.log(visible / VISIBLE), 0.0)
    odds = slope[:, None] * np.log(shares + LEAST_SHARE)
    odds[:, 0] += DRAWN * (drawn > 0)
    odds[:, 1] += DRAWN * (drawn < 0)
    odds[:, 2] += NEITHER + NEITHER_BY_COLUMNS * np.log(d / COLUMNS) + UNDRAWN * (drawn == 0)
    odds[:, 2] += WHOLE * whole
    odds -= odds.max(axis=1, keepdims=True)
    rates: Array = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    return rates
