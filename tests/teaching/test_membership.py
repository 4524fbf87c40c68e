"""The membership game: no guesser beats the bound where there is privacy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from engine import Dataset, InputError, load_dataset
from engine.statistics import kendall_z
from engine.teaching.membership import loudest, play
from engine.teaching.neighbours import guess_bound


def test_a_guesser_stays_below_the_bound() -> None:
    """Judged on draws he has not seen; 3 standard errors of room."""
    data = load_dataset("cancer", n=500, seed=1)
    row, record = loudest(data)
    values = {"epsilon": 0.5}
    seen, fresh = (
        play("svt_pc", data, row, record, draws=60, seed=s, values=values) for s in (0, 1000)
    )
    assert seen.draws == fresh.draws == 60
    assert seen.bound == guess_bound(0.5, seen.delta)
    assert seen.success(fresh) <= seen.bound + 3 * math.sqrt(0.25 / 120)


def critical(data: Dataset) -> float:
    """A threshold between the p-values of the two neighbours below."""
    tables = [np.array([[[5, 2], [2, 5]]]), np.array([[[4, 3], [2, 5]]])]
    assert tables[0].sum() == data.n
    return float(np.mean([norm.sf(abs(kendall_z(t, "strict"))) for t in tables]))


def test_without_privacy_he_wins() -> None:
    """An epsilon so large that the noise hides nothing."""
    # Half of the people differ from the others in everything but for one, who makes the test lean.
    codes = np.repeat([[0, 0], [1, 1], [0, 1], [1, 0]], [5, 5, 2, 2], axis=0)
    data = Dataset.from_codes(codes, public=True)
    values = {"epsilon": 1e6, "threshold": critical(data)}
    seen = play("gauss_pc", data, 0, (0, 1), draws=5, values=values)
    again = play("gauss_pc", data, 0, (0, 1), draws=5, seed=99, values=values)
    assert seen.inside != seen.outside
    assert seen.success(again) == 1.0
    assert seen.bound == 1.0


def test_refusals() -> None:
    import dataclasses

    data = load_dataset("cancer", n=50)
    with pytest.raises(InputError, match="no noise"):
        play("pc", data, 0, (0, 0, 0, 0, 0))
    with pytest.raises(InputError, match="not your own"):
        play("svt_pc", dataclasses.replace(data, public=False), 0, (0, 0, 0, 0, 0))
    with pytest.raises(InputError, match="no row"):
        play("svt_pc", data, 50, (0, 0, 0, 0, 0))
    with pytest.raises(InputError, match="code of a level"):
        play("svt_pc", data, 0, (0, 0, 0, 0, 9))
