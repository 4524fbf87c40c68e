"""Choose the adjustment set in a DAG: the set with the least noise, or the parents of the cause.

Among all valid sets, the optimal one is the parents of the variables between cause and effect,
without the effects of the cause (Henckel, Perković and Maathuis 2022).
"""

from __future__ import annotations

import numpy as np

from engine.graphs.cpdag import Adjacency

OPTIMAL, PARENTS = "optimal", "parents"
SETS = (OPTIMAL, PARENTS)


def adjustment_set(
    dag: Adjacency, ways: Adjacency, x: int, y: int, sets: str = OPTIMAL
) -> tuple[int, ...]:
    """Return the adjustment set for the effect of x on y, in column order.

    In ``dag`` (d, d), y is not an ancestor of x; ``ways`` [i, j] is True if a directed path leads
    from i to j. If there is no path from x to y, the set is the parents of x, and adjusting for
    them gives 0.
    """
    if not ways[x, y] or sets == PARENTS:
        return tuple(np.flatnonzero(dag[:, x]).tolist())
    between = ways[x] & ways[:, y]
    between[y] = True
    forbidden = between | ways[between].any(axis=0)
    forbidden[x] = True
    return tuple(np.flatnonzero(dag[:, between].any(axis=1) & ~forbidden).tolist())
