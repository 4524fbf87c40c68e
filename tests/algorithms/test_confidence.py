"""The confidence that an edge's and a direction's evidence gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import calibration
from engine.marginals import confidence as fit
from engine.marginals.confidence import FREQUENCY, POSTERIOR, of_arrows, of_link

SHARE = st.floats(0, 1)


def test_more_evidence_is_never_worth_less():
    assert list(POSTERIOR) == sorted(POSTERIOR)
    assert list(FREQUENCY) == sorted(FREQUENCY)
    told = [of_link(p) for p in np.linspace(0, 1, 1001)]
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0.0, FREQUENCY[-1])


@given(SHARE, SHARE, st.floats(0.003, 1.0), st.integers(2, 1000), st.sampled_from([-1, 0, 1]))
def test_arrows_are_frequencies(there, rest, visible, d, drawn):
    """Both and neither add up to 1, order does not matter, and what was drawn is told larger."""
    back = rest * (1 - there)
    a, b = of_arrows(there, back, visible, d, drawn)
    assert 0 <= a <= 1
    assert 0 <= b <= 1
    assert a + b <= 1 + 1e-12
    assert of_arrows(back, there, visible, d, -drawn) == pytest.approx((b, a))
    if drawn == 0:
        assert (a >= b) == (there >= back) or a == pytest.approx(b)
    else:
        line, _ = of_arrows(there, back, visible, d, 0)
        assert (a - line) * drawn > -1e-12


def test_the_constants_are_what_a_fit_finds():
    """Marks drawn at random from what is told: maximum likelihood finds the constants again.

    20,000 links. Over seeds the constants of such fits spread by .005 (LEAST_SHARE) and .01 to .03.
    """
    rng, count = np.random.default_rng(0), 20_000
    shares = rng.dirichlet((0.5, 0.5, 0.5), count)
    visible, d = np.exp(rng.uniform(-6, -2.5, count)), rng.integers(5, 40, count)
    drawn = rng.integers(-1, 2, count)
    whole = rng.random(count) < 0.5
    asked = np.stack([shares[:, 0], shares[:, 1], visible, d, drawn, whole], axis=1)
    told = fit.of_marks(*asked.T).cumsum(axis=1)
    marks = np.array([1, -1, 0])[(rng.random((count, 1)) > told).sum(axis=1).clip(0, 2)]
    real = []
    for row, mark in zip(asked.tolist(), marks.tolist(), strict=True):
        there, back = calibration.share(*row)
        real.append(calibration.Claim(0, 1, 1.0, 1.0, there, back, True, mark, 0))
    for name, value in calibration.arrow_constants(real).items():
        within = 0.02 if name == "LEAST_SHARE" else 0.1
        assert value == pytest.approx(getattr(fit, name), abs=within), name
