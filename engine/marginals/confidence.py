"""What a run's own evidence is worth: frequencies of links and arrows on random networks.

A posterior probability rests on approximations, and a link is asked about many times: the least of
many numbers is too small, and sets that see nothing leave it too large. So what is told is how
often links and arrows with such evidence were real on random networks (benchmarks/calibration.py
fits the constants and shows what they are worth on networks that they were not fitted on). The
rules read released numbers and public facts alone.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

# Least posterior probability of dependence over a link's tests, and how often it was real.
POSTERIOR = (0.0, 0.5, 0.63, 0.69, 0.75, 0.83, 0.88, 0.92, 0.95, 0.97, 0.99, 0.9996, 1.0)
FREQUENCY = (0.0, 0.44, 0.47, 0.56, 0.64, 0.75, 0.77, 0.87, 0.89, 0.935, 0.97, 0.98, 0.998)

# Of the three marks of a real link, log odds of each are SLOPE log(share + LEAST_SHARE): the shares
# of the chains, flatter where little is seen, and less so in wide graphs.
LEAST_SHARE = 0.018
SLOPE, SLOPE_BY_NOISE, SLOPE_BY_COLUMNS = 0.851, -0.164, 0.170
NEITHER, NEITHER_BY_NOISE, NEITHER_BY_COLUMNS = 0.359, -0.189, -1.173  # for no arrow
VISIBLE, COLUMNS = 0.01, 12  # where both effects are 0


def percent(p: float) -> str:
    """A probability, never rounded up to certainty."""
    return "> 99.9 %" if p > 0.999 else f"{p:.1%}".replace("%", " %")


def of_link(posterior: float) -> float:
    """Frequency of a link whose least posterior probability of dependence this is."""
    return float(np.interp(posterior, POSTERIOR, FREQUENCY))


def of_arrows(there: float, back: float, visible: float, d: int) -> tuple[float, float]:
    """Frequencies of i -> j and j -> i for a real link, by their shares of the chains.

    ``visible`` is the correlation that stands one standard deviation out of noise and sampling.
    """
    noise, columns = math.log(visible / VISIBLE), math.log(d / COLUMNS)
    slope = SLOPE + SLOPE_BY_NOISE * noise + SLOPE_BY_COLUMNS * columns
    shares: NDArray[np.float64] = np.array([there, back, max(0.0, 1.0 - there - back)])
    odds = max(slope, 0.0) * np.log(shares + LEAST_SHARE)
    odds[2] += NEITHER + NEITHER_BY_NOISE * noise + NEITHER_BY_COLUMNS * columns
    told = np.exp(odds - odds.max())
    told /= told.sum()
    return float(told[0]), float(told[1])
