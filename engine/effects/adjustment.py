"""Which variables to adjust for in a DAG: the set that leaves least noise, or the cause's parents.

Among all valid sets, the parents of the variables between cause and effect, without the cause's
effects, are optimal (Henckel, Perković and Maathuis 2022).
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

    ``dag`` (d, d), in which y is no ancestor of x; ``ways`` [i, j] whether a directed path leads
    from i to j. Without a path from x to y it is x's parents, and adjusting for them gives 0.
    """
    if not ways[x, y] or sets == PARENTS:
        return tuple(np.flatnonzero(dag[:, x]).tolist())
    between = ways[x] & ways[:, y]
    between[y] = True
    forbidden = between | ways[between].any(axis=0)
    forbidden[x] = True
    return tuple(np.flatnonzero(dag[:, between].any(axis=1) & ~forbidden).tolist())
