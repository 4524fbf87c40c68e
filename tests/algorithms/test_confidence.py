"""What a link's and an arrow's evidence is told to be worth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.marginals import confidence as fit
from engine.marginals.confidence import FREQUENCY, POSTERIOR, of_arrows, of_link

SHARE = st.floats(0, 1)


def test_more_evidence_is_never_worth_less() -> None:
    assert list(POSTERIOR) == sorted(POSTERIOR)
    assert list(FREQUENCY) == sorted(FREQUENCY)
    told = [of_link(p) for p in np.linspace(0, 1, 1001)]
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0.0, FREQUENCY[-1])


@given(SHARE, SHARE, st.floats(0.003, 1.0), st.integers(2, 1000))
def test_arrows_are_frequencies(there: float, rest: float, visible: float, d: int) -> None:
    """Both and neither add up to 1, order does not matter, and the larger share is told larger."""
    back = rest * (1 - there)
    a, b = of_arrows(there, back, visible, d)
    assert 0 <= a <= 1
    assert 0 <= b <= 1
    assert a + b <= 1 + 1e-12
    assert of_arrows(back, there, visible, d) == pytest.approx((b, a))
    assert (a >= b) == (there >= back) or a == pytest.approx(b)


def test_the_same_share_is_worth_less_where_less_is_seen() -> None:
    told = [of_arrows(0.98, 0.01, visible, 12)[0] for visible in (0.004, 0.02, 0.1)]
    assert told == sorted(told, reverse=True)
    assert told[0] > told[-1] + 0.1


@pytest.mark.parametrize(("visible", "d"), [(0.01, 12), (0.04, 12), (0.01, 48), (0.03, 24)])
def test_arrows_are_worth_what_was_fitted(visible: float, d: int) -> None:
    """A power of each share; neither by a factor of its own; both by noise and columns."""
    noise, columns = visible / fit.VISIBLE, d / fit.COLUMNS
    slope = fit.SLOPE + fit.SLOPE_BY_NOISE * math.log(noise)
    slope += fit.SLOPE_BY_COLUMNS * math.log(columns)
    there, back, none = ((p + fit.LEAST_SHARE) ** slope for p in (0.6, 0.3, 0.1))
    none *= math.exp(fit.NEITHER) * noise**fit.NEITHER_BY_NOISE
    none *= columns**fit.NEITHER_BY_COLUMNS
    total = there + back + none
    assert of_arrows(0.6, 0.3, visible, d) == pytest.approx((there / total, back / total))
