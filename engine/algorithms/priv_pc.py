"""Priv-PC: sieve and examine with Laplace noise (Wang, Pang, Song, NeurIPS 2020)."""

from __future__ import annotations

from engine.algorithm import Algorithm
from engine.privacy.budget import PRESETS
from engine.search.sieve import BUDGET, SieveParameters, examined_noise, sieve_and_examine

ALGORITHM = Algorithm(
    key="priv_pc",
    title="Priv-PC",
    family="constraint-based",
    params=SieveParameters,
    run=sieve_and_examine,
    private=True,
    reference="Wang, Pang, Song, NeurIPS 2020",
    summary="Screens every question with a cheap noisy answer, then pays for a precise one "
    "only where the two might be unlinked.",
    ledger=BUDGET.ledger,
    noise=examined_noise,
    epsilon_pays="a round (one sieve and one examine)",
    parent="pc",
    presets=PRESETS,
)
