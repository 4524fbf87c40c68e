"""After a shuffle each column has its old values, and no column depends on another."""

import numpy as np
import pytest

from engine import Dataset, InputError, load_dataset
from engine.teaching.shuffled import shuffled


def test_columns_stay_and_what_joined_them_goes():
    """Correlations: some above .5 before, all below .03 (four standard deviations) after."""
    data = load_dataset("asia", n=20_000)
    found = shuffled(data, 1)
    assert (found.names, found.levels, found.n) == (data.names, data.levels, data.n)
    for before, after in zip(data.codes.T, found.codes.T, strict=True):
        assert (np.bincount(before) == np.bincount(after)).all()
    off = ~np.eye(data.d, dtype=bool)
    assert np.abs(np.corrcoef(data.codes.T)[off]).max() > 0.5
    assert np.abs(np.corrcoef(found.codes.T)[off]).max() < 0.03
    assert found.truth.number_of_edges() == 0

    assert (found.codes == shuffled(data, 1).codes).all()
    assert (found.codes != shuffled(data, 2).codes).any()


def test_aggregated_rows_are_repeated_first_and_private_ones_refused():
    counted = Dataset.from_codes([[0, 1], [1, 0]], weights=[30, 70], public=True)
    found = shuffled(counted, 0)
    assert found.n == 100
    assert found.codes.sum(axis=0).tolist() == [70, 30]
    assert len(np.unique(found.codes, axis=0)) > 2
    with pytest.raises(InputError, match="public"):
        shuffled(Dataset.from_codes([[0, 1], [1, 0]]), 0)
