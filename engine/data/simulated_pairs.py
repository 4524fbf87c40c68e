"""Simulated pairs whose cause is known: an additive-noise model of two columns.

A cause on [-1, 1], a mechanism, independent noise. The bounds are the model's, public facts that no
row enters.
"""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from engine.data.dataset import Dataset
from engine.errors import InputError, did_you_mean

Values = NDArray[np.float64]

NOISE_SHARE = 0.4  # standard deviation of the noise over that of the mechanism on [-1, 1]
SPREAD = 6.0  # stated bounds of the effect: so many standard deviations of the noise beyond it
LEVELS = 5
_STREAM = int.from_bytes(b"pair", "big")  # not the stream of a run's noise

MECHANISMS: dict[str, Callable[[Values], Values]] = {
    "cubic": lambda x: x**3 + 0.3 * x,
    "sine": lambda x: np.sin(4 * x),
    "tanh": lambda x: np.tanh(4 * x),
    "exponential": lambda x: np.exp(2 * x) / 4,
    "square": lambda x: (x + 0.5) ** 2,
    "bump": lambda x: np.exp(-8 * (x - 0.2) ** 2) + 0.5 * x,
}
# For measurements only: nothing of the method was chosen on these.
HELD_OUT: dict[str, Callable[[Values], Values]] = {
    "log": lambda x: np.log(x + 1.2),
    "wave": lambda x: np.sin(6 * x) + x,
    "step": lambda x: np.tanh(8 * (x - 0.3)) + np.tanh(8 * (x + 0.4)),
    "quartic": lambda x: (x - 0.2) ** 4,
}
NOISES: dict[str, Callable[[np.random.Generator, int], Values]] = {
    "uniform": lambda rng, n: rng.uniform(-(3**0.5), 3**0.5, n),
    "gaussian": lambda rng, n: rng.standard_normal(n),
    "laplace": lambda rng, n: rng.laplace(0.0, 0.5**0.5, n),
}
CAUSES: dict[str, Callable[[np.random.Generator, int], Values]] = {
    "uniform": lambda rng, n: rng.uniform(-1.0, 1.0, n),
    "normal": lambda rng, n: np.clip(rng.normal(0.0, 0.4, n), -1.0, 1.0),
    "skewed": lambda rng, n: 2 * rng.beta(2.0, 5.0, n) - 1,
}


def simulate_pair(
    mechanism: str,
    noise: str = "gaussian",
    cause: str = "uniform",
    n: int = 1_000,
    seed: int = 0,
    noise_share: float = NOISE_SHARE,
) -> Dataset:
    """Draw n rows of a pair whose first or second column, by a coin, is the cause.

    Public data with its true graph and stated bounds; the seed fixes everything. Raises InputError
    for a mechanism, noise or cause that is not offered, or a size below 2.
    """
    for value, known in (
        (mechanism, {**MECHANISMS, **HELD_OUT}),
        (noise, NOISES),
        (cause, CAUSES),
    ):
        if value not in known:
            raise InputError(
                f"A simulated pair has one of {', '.join(known)}; {value!r} is not."
                f"{did_you_mean(value, known)}"
            )
    if n < 2 or not noise_share > 0:
        raise InputError("A simulated pair has at least 2 rows and a noise share above 0.")
    rng = np.random.default_rng(np.random.SeedSequence(int(seed), spawn_key=(_STREAM,)))
    follow = {**MECHANISMS, **HELD_OUT}[mechanism]
    curve = follow(np.linspace(-1.0, 1.0, 401))
    sd = noise_share * float(curve.std())
    x = CAUSES[cause](rng, n)
    y = follow(x) + sd * NOISES[noise](rng, n)
    bounds = [(-1.0, 1.0), (float(curve.min()) - SPREAD * sd, float(curve.max()) + SPREAD * sd)]
    columns, names = [x, y], ["A", "B"]
    edge = ("A", "B")
    if rng.random() < 0.5:
        columns, bounds, edge = columns[::-1], bounds[::-1], ("B", "A")
    return known_pair(
        np.column_stack(columns),
        bounds,
        names,
        edge,
        name=f"pair:{mechanism}:{noise}",
        note=f"{n:,} rows were simulated: {cause} cause, {mechanism} mechanism, {noise} noise, "
        f"seed {seed}; bounds are the model's.",
    )


def known_pair(
    values: Values,
    bounds: list[tuple[float, float]],
    names: list[str],
    edge: tuple[str, str],
    *,
    name: str,
    note: str,
) -> Dataset:
    """Public data of two columns and the one true edge."""
    truth = nx.DiGraph()
    truth.add_nodes_from(names)
    truth.add_edge(*edge)
    return Dataset.from_values(
        values, bounds, names, bins=LEVELS, name=name, truth=truth, public=True, notes=(note,)
    )


def parse_pair(name: str) -> tuple[str, str]:
    """("cubic", "uniform") from "pair:cubic:uniform"; InputError for another form."""
    parts = name.split(":")
    if len(parts) != 3:
        raise InputError(
            f"{name!r} does not name a simulated pair; write it as pair:cubic:uniform, that is "
            f"mechanism ({', '.join(MECHANISMS)}) and noise ({', '.join(NOISES)})."
        )
    return parts[1], parts[2]
