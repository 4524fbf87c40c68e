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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
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
_NOT_DRAWN = 255

States = NDArray[np.uint8]


@dataclass(frozen=True)
class Frame:
    """One run of a scene: which algorithm, place of its epsilon, and its draw (the run's seed)."""

    algorithm: str
    at: int
    draw: int


@dataclass(frozen=True, eq=False)
class Scene:
    """The frames of a dataset that there are; more may be added while a page shows it.

    ``states[key]`` (epsilons, draws, pairs) holds ABSENT, LINE (no direction), FORTH (i -> j), BACK
    or UNTESTED for the pairs i < j in the order of ``itertools.combinations``; 255 marks a frame
    that was not run yet. ``free[key]`` (pairs,) is the same for the algorithm without privacy that
    this one is compared with: PC by its best test, G2. ``steps[key]`` are the searches without
    noise that belong to a method's price, known once the scene is whole.

    Examples:
        >>> from engine import load_dataset
        >>> scene = empty_scene(load_dataset("cancer", n=2_000), ["marginal_pc"], [1.0], draws=2)
        >>> fill(scene), scene.states["marginal_pc"].shape, scene.epsilons
        (True, (1, 2, 10), (1.0,))
    """

    data: Dataset
    epsilons: tuple[float, ...]
    draws: int
    states: Mapping[str, States]
    free: States
    steps: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def run(self, frame: Frame) -> RunResult:
        """The run behind a frame."""
        return run(
            frame.algorithm,
            self.data,
            seed=frame.draw,
            trace=False,
            epsilon=self.epsilons[frame.at],
            guarantee="strict",
        )

    def add(self, frame: Frame) -> None:
        """Make a frame's run and keep what became of the pairs."""
        self.states[frame.algorithm][frame.at, frame.draw] = states_of(self.run(frame))

    def missing(self) -> Iterator[Frame]:
        """What was not run yet: one draw of every epsilon first, far apart ones before others."""
        apart = sorted(range(len(self.epsilons)), key=lambda at: f"{at:016b}"[::-1])
        for draw in range(self.draws):
            for at in apart:
                for key, states in self.states.items():
                    if states[at, draw, 0] == _NOT_DRAWN:
                        yield Frame(key, at, draw)

    def price(self) -> None:
        """Find the steps of each method's price."""
        for key in self.states:
            params = algorithm(key).params.build({"epsilon": self.epsilons[-1]})
            self.steps[key] = [
                {"kind": s.kind, "statistic": s.statistic, "found": s.counts.found}
                for s in price_steps(self.data, key, params)
            ]

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
                    "steps": self.steps.get(key, []),
                    "states": packed(states),
                }
                for key, states in self.states.items()
            ],
        }  # fmt: skip


def empty_scene(
    data: Dataset,
    keys: Sequence[str] = ALGORITHMS,
    epsilons: Sequence[float] = EPSILONS,
    draws: int = DRAWS,
) -> Scene:
    """A scene without a frame.

    Args:
        data: A bundled network's rows, 2 to ``MOST_COLUMNS`` columns.
        keys: Algorithms, all run with ``guarantee="strict"``.
        epsilons: Totals, ascending.
        draws: Of the noise, at each epsilon.

    Raises:
        InputError: Where it cannot be drawn: too many columns, or no public truth.

    Examples:
        >>> from engine import load_dataset
        >>> scene = empty_scene(load_dataset("cancer", n=2_000), ["priv_pc"], [0.1, 1.0], draws=3)
        >>> scene.states["priv_pc"].shape, len(list(scene.missing()))
        ((2, 3, 10), 6)
    """
    if data.truth is None or not data.public:
        raise InputError("A scene counts against a known graph: choose a bundled network.")
    if not 2 <= data.d <= MOST_COLUMNS:
        raise InputError(f"A scene draws 2 to {MOST_COLUMNS} columns; {data.name} has {data.d}.")
    shape = (len(epsilons), draws, math.comb(data.d, 2))
    return Scene(
        data=data,
        epsilons=tuple(epsilons),
        draws=draws,
        states={key: np.full(shape, _NOT_DRAWN, np.uint8) for key in keys},
        free=states_of(run("pc", data, seed=0, trace=False, statistic="g2")),
    )


def fill(
    scene: Scene,
    cancelled: Callable[[], bool] = lambda: False,
    on_frame: Callable[[int, int], None] = lambda done, of: None,
) -> bool:
    """Make the runs that are missing.

    Args:
        scene: Filled in place, one draw of every epsilon first.
        cancelled: Polled before each run.
        on_frame: Called with (runs made, runs in all) after each.

    Returns:
        False if it was stopped before the end.

    Examples:
        >>> from engine import load_dataset
        >>> scene = empty_scene(load_dataset("cancer", n=2_000), ["priv_pc"], [1.0], draws=2)
        >>> fill(scene), len(list(scene.missing()))
        (True, 0)
    """
    waiting = list(scene.missing())
    for done, frame in enumerate(waiting):
        if cancelled():
            return False
        scene.add(frame)
        on_frame(done + 1, len(waiting))
    scene.price()
    return True


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
