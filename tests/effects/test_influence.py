"""One number per adjustment set: the AIPW correction, its sensitivity, and its error."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

from engine import Dataset, load_dataset
from engine.effects.estimate import Contrast
from engine.effects.influence import Numbers, influence
from engine.tables.store import store_of
from tests.effects.models import event, exact, noisy
from tests.effects.test_estimate import confounded


def whole(data, columns):
    """All tensors inside of the columns, without noise."""
    sets = [k for size in range(3, len(columns) + 1) for k in combinations(sorted(columns), size)]
    return exact(data, wide=sets)


def numbers_of(m, asked, sets, mu=1.0):
    return Numbers(tuple(influence(m, asked, s, mu) for s in sets))


def test_a_wrong_fit_is_corrected_by_the_records_influence():
    """From pairs alone the fit has no interaction; the mean influence is AIPW's by hand."""
    rng, p = np.random.default_rng(1), confounded()
    cells = rng.choice(8, 200_000, p=p.ravel())
    codes = np.array(np.unravel_index(cells, p.shape)).T
    data = Dataset.from_codes(codes, ("x", "y", "z"), (("no", "yes"),) * 3, public=True)
    m = exact(data)
    asked = event(m, 0, 1, 1)
    numbers = numbers_of(m, asked, [(2,)])
    rows = store_of(data).rows
    sums = numbers.sums(rows)
    (found,) = numbers.intervals(sums, 0.0, data.n)
    # P(y | do(x)): .45 - .2 = .25; the residual of a fit with the true margins of (x, z) is exact.
    assert found.value == pytest.approx(0.25, abs=0.005)
    assert found.low < 0.25 < found.high
    one = numbers.sets[0]
    x, y, z = codes.T
    by_hand = one.unit * one.steps[x, z, y].mean()
    assert found.value == pytest.approx(one.value + by_hand, abs=1e-9)
    turned = SimpleNamespace(codes=rows.codes[::-1], weights=rows.weights[::-1])
    assert (sums == numbers.sums(turned)).all()  # whole numbers: the order changes no bit


def test_the_released_sum_shifts_the_answer_and_its_noise_widens_it():
    data = load_dataset("asia", n=20_000)
    columns = [data.names.index(v) for v in ("smoke", "dysp", "bronc", "lung")]
    m = whole(data, columns)
    asked = event(m, columns[0], columns[1], 0, 0, 1)
    numbers = numbers_of(m, asked, [(columns[2],), (columns[3],)])
    still = numbers.intervals(np.zeros(2), 0.0, data.n)
    moved = numbers.intervals(np.array([3.0, 5.0]), 2.0, data.n)
    ranges = numbers.ranges
    for k, (_, _, less) in enumerate(numbers.asked):
        parts = [k, 0] if less else [k]
        step = sum((3.0, 5.0)[j] * np.sqrt(ranges[j]) for j in parts) / data.n
        noise = sum(4.0 * ranges[j] for j in parts) / data.n**2
        assert moved[k].value - still[k].value == pytest.approx(step)
        wide, narrow = ((one.width / 2 / 1.959964) ** 2 for one in (moved[k], still[k]))
        assert wide - narrow == pytest.approx(noise, rel=1e-6)


@pytest.mark.parametrize("name", ["asia", "survey", "child"])
def test_no_pair_of_records_moves_the_sums_beyond_their_sensitivity(name):
    """Every pair of cells, hostile fits with empty arms among them; some pair comes near."""
    rng, data = np.random.default_rng(3), load_dataset(name, n=3_000)
    nearest = 0.0
    for _ in range(6):
        x, y, *zs = rng.permutation(data.d)[:5].tolist()
        m = noisy(data, rng.choice([1e-4, 0.01, 0.2]), rng)
        r = [m.cardinalities[v] for v in (x, y)]
        values = tuple(rng.normal(0, 100, r[1]).tolist())
        numbers = numbers_of(m, Contrast(x, 1, 0, y, values), [tuple(zs[:2]), (zs[2],), ()])
        codes = np.stack([rng.integers(0, r, 400) for r in m.cardinalities], axis=1)
        alone = np.ones(1, dtype=np.int64)
        one = np.array([numbers.sums(SimpleNamespace(codes=c[None], weights=alone)) for c in codes])
        apart = one[:, None] - one[None]
        most = np.sqrt((apart**2).sum(axis=2)).max()
        assert most <= numbers.sensitivity * (1 + 1e-12)
        for k, size in enumerate(np.sqrt(numbers.ranges)):
            assert np.abs(apart[:, :, k]).max() <= size * (1 + 1e-12)
        nearest = max(nearest, most / numbers.sensitivity)
    assert nearest > 0.8
