"""Data without dependence: every link that a search finds in it is false."""

from __future__ import annotations

import networkx as nx
import numpy as np

from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.randomness import illustration


def shuffled(data: Dataset, seed: int) -> Dataset:
    """Permute every column of public data independently; the true graph has no link.

    Each column keeps its values and their counts, and is independent of all others. The same seed
    gives the same rows. Raises InputError for private data, because it must not be shown without
    noise.
    """
    if not data.public:
        raise InputError("Only public data are shuffled here.")
    rng, rows = illustration(seed), data.row_codes()
    codes = np.column_stack([rng.permutation(column) for column in rows.T])
    return Dataset.from_codes(
        codes,
        data.names,
        data.levels,
        name=f"{data.name}, shuffled",
        truth=nx.empty_graph(data.names, create_using=nx.DiGraph),
        public=True,
    )
