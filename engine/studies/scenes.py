"""A scene: one small graph at many epsilons and noise seeds, for an interactive page.

For a dataset, a few algorithms, about forty values of epsilon and about fifty draws, a scene stores
the state of every pair of columns. A page draws it without new runs. Each frame is an ordinary
:func:`engine.run` that can be repeated (strict, seed = number of the draw).
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.data.dataset import Dataset
from engine.data.networks import SAMPLE_DATA
from engine.errors import InputError
from engine.graphs.cpdag import Adjacency
from engine.graphs.known import truth_cpdag
from engine.monitor import Monitor, OnProgress, Stop, renamed
from engine.registry import algorithm
from engine.result import RunResult
from engine.runner import run
from engine.studies.price import loss_steps

VERSION = 1
ALGORITHMS = ("priv_pc", "curate_pc", "marginal_pc")
EPSILONS = tuple(float(f"{e:.3g}") for e in np.geomspace(0.01, 10, 40))
DRAWS = 50
COARSE, FEW = tuple(float(f"{e:.3g}") for e in np.geomspace(0.01, 10, 12)), 25  # for large networks
MOST_COLUMNS = 40
_KEPT = SAMPLE_DATA / "scenes"

# The class of a pair (i, j), i < j, in one draw.
ABSENT, LINE, FORTH, BACK, UNTESTED = range(5)
States = NDArray[np.uint8]


@renamed(cancelled="stop", on_frame="on_progress")
def make_scene(
    data: Dataset,
    keys: Sequence[str] = ALGORITHMS,
    epsilons: Sequence[float] = EPSILONS,
    draws: int = DRAWS,
    *,
    stop: Stop | None = None,
    on_progress: OnProgress | None = None,
) -> dict[str, Any] | None:
    """Compute every frame of a dataset.

    Args:
        data: A bundled network's rows, 2 to ``MOST_COLUMNS`` columns.
        keys: Algorithms, all run with ``guarantee="strict"``.
        epsilons: Totals, ascending.
        draws: Number of noise seeds at each epsilon.
        stop: A ``threading.Event``, or a function that returns True to stop; checked before each
            run.
        on_progress: Called after each run with the completed share and a phrase.

    Returns:
        JSON types for files and pages; None if it was stopped. "states" of each method
        (:func:`states_in`; bytes in base64, deflated as in RFC 1950) are ABSENT, LINE (no
        direction), FORTH (i -> j), BACK or UNTESTED for the pairs i < j in the order of
        ``itertools.combinations``. "free" (pairs,) is the same for the non-private reference: PC
        with its best test, G2. "steps" are each method's searches without noise
        (:func:`engine.studies.price.loss_steps`).

    Raises:
        InputError: For too many columns, or without a public ground truth.

    Examples:
        >>> from engine import load_dataset
        >>> scene = make_scene(load_dataset("cancer", n=2_000), ["marginal_pc"], [1.0], draws=2)
        >>> states_in(scene)["marginal_pc"].shape, scene["epsilons"]
        ((1, 2, 10), [1.0])
    """
    if data.truth is None or not data.public:
        raise InputError("A scene compares with a known graph: choose a bundled network.")
    if not 2 <= data.d <= MOST_COLUMNS:
        raise InputError(f"A scene draws 2 to {MOST_COLUMNS} columns; {data.name} has {data.d}.")
    shape = (len(epsilons), draws, math.comb(data.d, 2))
    states = {key: np.zeros(shape, np.uint8) for key in keys}
    frames = list(product(keys, range(len(epsilons)), range(draws)))
    monitor = Monitor(on_progress, stop)
    count = monitor.counted(len(frames))
    for key, at, draw in frames:
        if monitor.stopped():
            return None
        values: Any = {"epsilon": epsilons[at], "guarantee": "strict"}
        states[key][at, draw] = states_of(run(key, data, seed=draw, trace=False, **values))
        count()
    names = data.names
    return {
        "version": VERSION,
        "dataset": data.name,
        "rows": data.n,
        "names": list(names),
        "truth": pair_states(truth_cpdag(data.truth, names)).tolist(),
        "arrows": sorted([names.index(a), names.index(b)] for a, b in data.truth.edges),
        "epsilons": list(epsilons),
        "draws": draws,
        "free": states_of(run("pc", data, seed=0, trace=False, statistic="g2")).tolist(),
        "methods": [
            {
                "key": key,
                "title": algorithm(key).title,
                "steps": [
                    {"kind": s.kind, "statistic": s.statistic, "found": s.counts.found}
                    for s in loss_steps(data, key, algorithm(key).params.build({}))
                ],
                "states": base64.b64encode(zlib.compress(found.tobytes(), 9)).decode(),
            }
            for key, found in states.items()
        ],
    }


def states_of(result: RunResult) -> States:
    """Return the displayed state of each pair (pairs,) in one run, including UNTESTED."""
    states = pair_states(result.displayed_cpdag)
    pairs = combinations(range(len(result.names)), 2)
    states[[pair in result.untested for pair in pairs]] = UNTESTED
    return states


def pair_states(matrix: Adjacency) -> States:
    """Return ABSENT, LINE, FORTH or BACK for each pair i < j of a (d, d) CPDAG matrix."""
    i, j = np.triu_indices(len(matrix), 1)
    forth, back = matrix[i, j], matrix[j, i]
    return np.where(forth & back, LINE, np.where(forth, FORTH, BACK * back)).astype(np.uint8)


def states_in(scene: Mapping[str, Any]) -> dict[str, States]:
    """Unpack the frames of a scene by method, (epsilons, draws, pairs)."""
    shape = len(scene["epsilons"]), scene["draws"], -1
    raw = {m["key"]: zlib.decompress(base64.b64decode(m["states"])) for m in scene["methods"]}
    return {key: np.frombuffer(some, np.uint8).reshape(shape) for key, some in raw.items()}


@cache
def kept_scenes() -> tuple[str, ...]:
    """List the networks with a scene bundled with the project."""
    return tuple(sorted(path.stem for path in _KEPT.glob("*.json")))


def kept_scene(name: str) -> dict[str, Any]:
    """Load the bundled scene of a benchmark network, as JSON types."""
    if name not in kept_scenes():
        raise InputError(
            f"There is no saved scene of {name}; make one: engine scene --dataset {name}."
        )
    found: dict[str, Any] = json.loads((_KEPT / f"{name}.json").read_text(encoding="utf-8"))
    return found
