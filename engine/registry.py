"""Every algorithm, one line each."""

from __future__ import annotations

from engine.algorithm import Algorithm
from engine.algorithms import (
    anm,
    curate_notears,
    curate_pc,
    em_pc,
    gauss_pc,
    gram_notears,
    marginal_pc,
    noleaks,
    notears,
    pc,
    priv_pc,
    svt_pc,
)
from engine.errors import InputError, did_you_mean

ALGORITHMS: dict[str, Algorithm] = {
    a.key: a
    for a in (
        pc.ALGORITHM,
        priv_pc.ALGORITHM,
        svt_pc.ALGORITHM,
        em_pc.ALGORITHM,
        gauss_pc.ALGORITHM,
        curate_pc.ALGORITHM,
        marginal_pc.ALGORITHM,
        notears.ALGORITHM,
        noleaks.ALGORITHM,
        curate_notears.ALGORITHM,
        gram_notears.ALGORITHM,
        anm.ALGORITHM,
    )
}


def algorithm(key: str) -> Algorithm:
    """The registered algorithm; an unknown key raises InputError and names a near match."""
    if key not in ALGORITHMS:
        raise InputError(
            f"There is no algorithm {key!r}; there are {', '.join(ALGORITHMS)}."
            f"{did_you_mean(key, ALGORITHMS)}"
        )
    return ALGORITHMS[key]
