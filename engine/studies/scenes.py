"""A scene: one small graph under every draw of the noise, ready to be dragged through epsilon.

For a dataset, a few algorithms, some forty values of epsilon and some fifty draws, a scene keeps
what became of every pair of columns. A page draws it without asking the engine again; each frame is
an ordinary :func:`engine.run` that anybody can repeat (strict, seed = the draw's number).
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.data.dataset import Dataset
from engine.data.networks import SAMPLE_DATA, load_dataset
from engine.errors import InputError
from engine.graphs.cpdag import Adjacency
from engine.graphs.known import truth_cpdag
from engine.registry import algorithm
from engine.result import RunResult
from engine.runner import run
from engine.studies.price import price_steps

VERSION = 1
ALGORITHMS = ("priv_pc", "curate_pc", "marginal_pc")
EPSILONS = tuple(float(f"{e:.3g}") for e in np.geomspace(0.01, 10, 40))
DRAWS = 50
COARSE, FEW = tuple(float(f"{e:.3g}") for e in np.geomspace(0.01, 10, 12)), 25  # of large networks
MOST_COLUMNS = 40
_KEPT = SAMPLE_DATA / "scenes"

# What became of a pair (i, j), i < j, in one draw.
ABSENT, LINE, FORTH, BACK, UNTESTED = range(5)
States = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Scene:
    """The frames of a dataset.

    ``states[key]`` (epsilons, draws, pairs) holds ABSENT, LINE (no direction), FORTH (i -> j), BACK
    or UNTESTED for the pairs i < j in the order of ``itertools.combinations``. ``free`` (pairs,) is
    the same for the algorithm without privacy that all are compared with: PC by its best test, G2.
    ``steps[key]`` are the searches without noise that belong to a method's price.

    Examples:
        >>> scene = read_scene(kept_scene("cancer"))
        >>> scene.data.n, len(scene.epsilons), scene.draws
        (100000, 40, 50)
    """

    data: Dataset
    epsilons: tuple[float, ...]
    draws: int
    states: Mapping[str, States]
    free: States
    steps: Mapping[str, list[dict[str, Any]]]

    def run(self, key: str, at: int, draw: int) -> RunResult:
        """The run behind a frame: an algorithm at a place of epsilon; the draw is its seed."""
        how: Any = {"seed": draw, "trace": False, "guarantee": "strict"}
        return run(key, self.data, epsilon=self.epsilons[at], **how)

    def as_dict(self) -> dict[str, Any]:
        """JSON types; states are bytes in base64, deflated (RFC 1950)."""
        assert self.data.truth is not None
        truth = truth_cpdag(self.data.truth, self.data.names)
        return {
            "version": VERSION,
            "dataset": self.data.name,
            "rows": self.data.n,
            "names": list(self.data.names),
            "truth": pair_states(truth).tolist(),
            "arrows": sorted([self.data.names.index(a), self.data.names.index(b)]
                             for a, b in self.data.truth.edges),
            "epsilons": list(self.epsilons),
            "draws": self.draws,
            "free": self.free.tolist(),
            "methods": [
                {
                    "key": key,
                    "title": algorithm(key).title,
                    "steps": self.steps[key],
                    "states": packed(states),
                }
                for key, states in self.states.items()
            ],
        }  # fmt: skip


def make_scene(
    data: Dataset,
    keys: Sequence[str] = ALGORITHMS,
    epsilons: Sequence[float] = EPSILONS,
    draws: int = DRAWS,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    on_frame: Callable[[int, int], None] = lambda done, of: None,
) -> Scene | None:
    """Every frame of a dataset.

    Args:
        data: A bundled network's rows, 2 to ``MOST_COLUMNS`` columns.
        keys: Algorithms, all run with ``guarantee="strict"``.
        epsilons: Totals, ascending.
        draws: Of the noise, at each epsilon.
        cancelled: Polled before each run.
        on_frame: Called with (runs made, runs in all) after each.

    Returns:
        The scene; None where it was stopped.

    Raises:
        InputError: Where it cannot be drawn: too many columns, or no public truth.

    Examples:
        >>> from engine import load_dataset
        >>> scene = make_scene(load_dataset("cancer", n=2_000), ["marginal_pc"], [1.0], draws=2)
        >>> scene.states["marginal_pc"].shape, scene.epsilons
        ((1, 2, 10), (1.0,))
    """
    if data.truth is None or not data.public:
        raise InputError("A scene counts against a known graph: choose a bundled network.")
    if not 2 <= data.d <= MOST_COLUMNS:
        raise InputError(f"A scene draws 2 to {MOST_COLUMNS} columns; {data.name} has {data.d}.")
    shape = (len(epsilons), draws, math.comb(data.d, 2))
    states = {key: np.zeros(shape, np.uint8) for key in keys}
    free = states_of(run("pc", data, seed=0, trace=False, statistic="g2"))
    scene = Scene(data, tuple(epsilons), draws, states, free, {k: _steps(data, k) for k in keys})
    frames = list(product(keys, range(len(epsilons)), range(draws)))
    for done, (key, at, draw) in enumerate(frames, 1):
        if cancelled():
            return None
        states[key][at, draw] = states_of(scene.run(key, at, draw))
        on_frame(done, len(frames))
    return scene


def _steps(data: Dataset, key: str) -> list[dict[str, Any]]:
    """The steps of a method's price."""
    params = algorithm(key).params.build({})
    return [
        {"kind": s.kind, "statistic": s.statistic, "found": s.counts.found}
        for s in price_steps(data, key, params)
    ]


def states_of(result: RunResult) -> States:
    """What became of each pair (pairs,) in one run as it is displayed, UNTESTED among it."""
    states = pair_states(result.displayed_cpdag)
    if result.untested:
        d = len(result.names)
        at = {pair: k for k, pair in enumerate(combinations(range(d), 2))}
        states[[at[pair] for pair in result.untested]] = UNTESTED
    return states


def pair_states(matrix: Adjacency) -> States:
    """ABSENT, LINE, FORTH or BACK for each pair i < j of a (d, d) CPDAG matrix."""
    i, j = np.triu_indices(len(matrix), 1)
    forth, back = matrix[i, j], matrix[j, i]
    return np.where(forth & back, LINE, np.where(forth, FORTH, BACK * back)).astype(np.uint8)


def packed(states: States) -> str:
    """Bytes of an array as text."""
    return base64.b64encode(zlib.compress(states.tobytes(), 9)).decode()


def unpacked(text: str, shape: tuple[int, ...]) -> States:
    """The array behind :func:`packed`."""
    raw = zlib.decompress(base64.b64decode(text))
    return np.frombuffer(raw, np.uint8).reshape(shape)


@cache
def kept_scenes() -> tuple[str, ...]:
    """Networks with a scene that comes with the project."""
    return tuple(sorted(path.stem for path in _KEPT.glob("*.json")))


def kept_scene(name: str) -> dict[str, Any]:
    """The scene of a bundled network that comes with the project, as JSON types."""
    if name not in kept_scenes():
        raise InputError(f"No scene of {name} is kept; make one: engine scene --dataset {name}.")
    found: dict[str, Any] = json.loads((_KEPT / f"{name}.json").read_text(encoding="utf-8"))
    return found


def read_scene(content: Mapping[str, Any]) -> Scene:
    """The scene that :meth:`Scene.as_dict` wrote, with its dataset sampled again."""
    data = load_dataset(content["dataset"], n=content["rows"])
    epsilons, draws = tuple(content["epsilons"]), int(content["draws"])
    shape = (len(epsilons), draws, math.comb(data.d, 2))
    return Scene(
        data=data,
        epsilons=epsilons,
        draws=draws,
        states={m["key"]: unpacked(m["states"], shape) for m in content["methods"]},
        free=np.array(content["free"], np.uint8),
        steps={m["key"]: m["steps"] for m in content["methods"]},
    )
