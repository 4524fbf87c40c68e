"""Two studies, or two algorithms of one, compared run by run: same data, same seed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from engine.errors import InputError
from engine.studies.analysis import QUANTITIES

LEVEL = 0.95


def paired(
    ours: pd.DataFrame,
    theirs: pd.DataFrame,
    y: str = "skeleton_f1",
    *,
    by: Sequence[str] = ("dataset", "algorithm", "epsilon"),
) -> pd.DataFrame:
    """How much higher ``y`` is in one table than in the other, pair by pair.

    Args:
        ours: Runs, as :func:`engine.studies.analysis.frame` gives them.
        theirs: The runs they are laid beside. A pair has the same values of ``by``, one dataset and
            one seed.
        y: One of ``QUANTITIES``.
        by: What makes a row of the answer.

    Returns:
        One row a group: ``by``, pairs, ours, theirs (means), difference (their mean difference)
        with the ends ``low`` and ``high`` of its 95 % interval (Student's t), wins, losses, ties
        (a win is a higher value).

    Raises:
        InputError: For a quantity there is not, runs that are not told apart, and no common pair.
    """
    if y not in QUANTITIES:
        raise InputError(f"y must be one of {', '.join(QUANTITIES)}; {y!r} is not.")
    keys = [*by, "fingerprint", "seed"]
    sides = [_side(table, keys, y) for table in (ours, theirs)]
    both = pd.concat(sides, axis=1, join="inner").dropna()
    if both.empty:
        raise InputError("The two have no run in common: the same data, setting and seed.")
    rows = [
        (*(key if isinstance(key, tuple) else (key,)), *_row(group.to_numpy(dtype=float)))
        for key, group in both.groupby(level=list(range(len(by))), sort=True, dropna=False)
    ]
    numbers = ("pairs", "ours", "theirs", "difference", "low", "high", "wins", "losses", "ties")
    return pd.DataFrame(rows, columns=[*by, *numbers])


def _side(table: pd.DataFrame, keys: Sequence[str], y: str) -> pd.DataFrame:
    """``y`` by the keys; refuses two runs that the keys do not tell apart."""
    # No ε is one value like another: NaN would match nothing.
    cells = table.reindex(columns=[*keys, y]).assign(
        epsilon=lambda t: t["epsilon"].fillna(-1.0) if "epsilon" in t else -1.0
    )
    side = cells.set_index(list(keys))[[y]]
    if side.index.has_duplicates:
        raise InputError(
            "Several runs have the same data, algorithm, epsilon and seed; name what else differs "
            "with --by."
        )
    return side


def _row(pairs: np.ndarray) -> tuple[float, ...]:
    from scipy.stats import t

    gap = pairs[:, 0] - pairs[:, 1]
    half = math.nan
    if len(gap) > 1:
        half = float(t.ppf((1 + LEVEL) / 2, len(gap) - 1) * gap.std(ddof=1) / math.sqrt(len(gap)))
    mean = float(gap.mean())
    wins, losses = int((gap > 0).sum()), int((gap < 0).sum())
    ours, theirs = pairs.mean(axis=0).tolist()
    return (len(gap), ours, theirs, mean, mean - half, mean + half, wins, losses,
            len(gap) - wins - losses)  # fmt: skip
