"""The cells of a study: one run each, told apart by what determines its result."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from itertools import product
from pathlib import Path
from time import thread_time
from typing import Any

import numpy as np

from engine.data.dataset import OWN, Dataset
from engine.data.networks import load_dataset
from engine.errors import InputError, did_you_mean
from engine.graphs.cpdag import unordered
from engine.graphs.metrics import Scores
from engine.params import Parameters
from engine.registry import algorithm
from engine.result import RunResult
from engine.runner import check_seed, run
from engine.serialise import plain
from engine.studies.known import Said, knowing
from engine.version import __version__

Pairs = tuple[tuple[str, str], ...]
SCORED = tuple(f.name for f in dataclasses.fields(Scores))
Datasets = Dataset | str | Iterable[Dataset | str]
Names = str | Iterable[str]
Seeds = int | Iterable[int]

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)
_ENGINE = Path(__file__).resolve().parent.parent
# What stands above the runner, so that no run reaches it (the layers in pyproject.toml).
ABOVE_A_RUN = frozenset(
    {
        *("__main__", "cli", "papers", "teaching", "studies", "release", "audit", "serialise"),
        "estimator",
    }
)


@cache
def engine_version() -> str:
    """The release and a digest of the code that computes a cell: "0.1.0+1f3a9c2e".

    A store never mixes results of different code, and comments, docstrings, blank lines and the
    breaking of lines make no difference.
    """
    return f"{__version__}+{code_digest(_ENGINE)}"


def code_digest(package: Path) -> str:
    """Eight digits of what the modules of a package say that a run can reach."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).with_suffix("")
        if name.parts[0] not in ABOVE_A_RUN:
            digest.update(f"{name.as_posix()}\0{_code(path.read_bytes())}\0".encode())
    return digest.hexdigest()[:8]


def _code(source: bytes) -> str:
    """The source's syntax tree without its docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return ast.dump(tree)


@lru_cache(maxsize=1024)
def _read(params: str) -> dict[str, Any]:
    """Parameters from their text; a study asks the same of all seeds, and of every look at it."""
    return dict(json.loads(params))


@dataclass(frozen=True)
class Cell:
    """One run: what determines its result, and nothing else but the dataset's name.

    ``fingerprint`` is the dataset's identity. ``params`` is canonical JSON of every declared
    parameter, defaults included. ``seed`` is the ``seed`` of :func:`engine.run`: a cell can be run
    again on its own, and its draws depend neither on the order of the study nor on where it runs.
    Cells with one seed share their random numbers (common random numbers): compare algorithms over
    several seeds.

    On private data ``seed`` only counts repetitions: every cell draws its own secret noise, without
    which the epsilons of a study would not add up.
    """

    fingerprint: str
    dataset: str
    algorithm: str
    params: str
    seed: int
    version: str

    @property
    def own(self) -> bool:
        """Whether the rows are private."""
        return self.fingerprint.startswith(OWN)

    @property
    def key(self) -> tuple[str, str, str, int, str]:
        """What a store finds it by."""
        return self.fingerprint, self.algorithm, self.params, self.seed, self.version

    @property
    def values(self) -> dict[str, Any]:
        """The parameters by name."""
        return dict(_read(self.params))


@dataclass(frozen=True, kw_only=True)
class CellResult:
    """What a study keeps of a run: everything but the trace and the ledger.

    The metrics are None without a truth: ``skeleton_f1`` to ``shd`` score the graph as it stands,
    ``metrics_tested`` the links tested to the end alone. ``claimed_*`` is None where the paper
    makes no claim. ``cpdag`` holds name pairs, an undirected edge in both directions; ``untested``
    the pairs of it, each sorted, that were not tested to the end. A run that ended early and was
    kept by a version that did not note them has None for both. ``seconds`` and ``cpu`` alone differ
    from run to run, and are NaN on private data; ``cpu``, the processor's seconds, is not kept: it
    tells a study that goes on how long its other runs will take.
    """

    fingerprint: str
    dataset: str
    algorithm: str
    params: str
    seed: int
    version: str
    status: str
    seconds: float
    skeleton_f1: float | None
    directed_f1: float | None
    precision: float | None
    recall: float | None
    shd: int | None
    ci_tests: int
    ci_tests_by_order: tuple[int, ...]
    claimed_epsilon: float | None
    claimed_delta: float | None
    spent_epsilon: float
    spent_delta: float
    cpdag: Pairs
    metrics_tested: Scores | None
    untested: Pairs | None
    cpu: float = field(default=math.nan, compare=False)

    @property
    def cell(self) -> Cell:
        """The cell this is the result of."""
        return Cell(**{f.name: getattr(self, f.name) for f in dataclasses.fields(Cell)})

    @property
    def values(self) -> dict[str, Any]:
        """The parameters by name."""
        return dict(_read(self.params))

    @cached_property
    def skeleton(self) -> Pairs:
        """Adjacent pairs, each sorted, in sorted order."""
        return tuple(sorted({(min(a, b), max(a, b)) for a, b in self.cpdag}))

    @cached_property
    def found(self) -> Pairs:
        """The pairs of the skeleton that were tested to the end, as far as that is known."""
        left = set(self.untested or ())
        return tuple(pair for pair in self.skeleton if pair not in left)

    @property
    def metrics(self) -> Scores | None:
        """Scores of the graph as it stands; None without a truth."""
        if self.skeleton_f1 is None:
            return None
        return Scores(**{name: getattr(self, name) for name in SCORED})

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, with the field names of a single run's JSON."""
        claimed = self.claimed_epsilon is not None
        return {
            **dataclasses.asdict(self.cell),
            "seed": None if self.cell.own else self.seed,
            "params": self.values,
            "status": self.status,
            "seconds": None if math.isnan(self.seconds) else self.seconds,
            "metrics": plain(self.metrics),
            "metrics_tested": plain(self.metrics_tested),
            "ci_tests": self.ci_tests,
            "ci_tests_by_order": list(self.ci_tests_by_order),
            "claimed": {
                "epsilon": plain(self.claimed_epsilon),
                "delta": self.claimed_delta,
            }
            if claimed
            else None,
            "spent": {"epsilon": plain(self.spent_epsilon), "delta": self.spent_delta},
            "skeleton": [list(p) for p in self.skeleton],
            "cpdag": [list(p) for p in self.cpdag],
            "untested": None if self.untested is None else [list(p) for p in self.untested],
        }

    def fixed(self) -> bytes:
        """Canonical bytes of everything but ``seconds``: equal wherever the cell was run."""
        content = self.as_dict()
        del content["seconds"]
        return json.dumps(content, sort_keys=True).encode()


def run_cell(
    data: Dataset, cell: Cell, cancelled: Callable[[], bool] = lambda: False
) -> CellResult:
    """Run one cell, on private data with secret noise.

    Raises InputError, with the cell named, where the run refuses its input.
    """
    began = thread_time()
    try:
        result = run(
            cell.algorithm,
            data,
            seed=cell.seed if data.public else None,
            trace=False,
            cancelled=cancelled,
            **cell.values,
        )
    except InputError as error:
        raise InputError(f"{cell.algorithm} on {cell.dataset}: {error}") from error
    cpu = thread_time() - began if data.public else math.nan
    return summarise(cell, result, cpu)


def summarise(cell: Cell, result: RunResult, cpu: float = math.nan) -> CellResult:
    """What a study keeps of the run."""
    m, claimed, names = result.metrics, result.claimed, result.names
    return CellResult(
        **dataclasses.asdict(cell),
        status=result.status,
        seconds=result.seconds,
        skeleton_f1=m.skeleton_f1 if m else None,
        directed_f1=m.directed_f1 if m else None,
        precision=m.precision if m else None,
        recall=m.recall if m else None,
        shd=m.shd if m else None,
        ci_tests=result.ci_tests,
        ci_tests_by_order=tuple(result.ci_tests_by_order),
        claimed_epsilon=claimed.epsilon if claimed else None,
        claimed_delta=claimed.delta if claimed else None,
        spent_epsilon=result.spent.epsilon,
        spent_delta=result.spent.delta,
        cpdag=tuple(sorted((names[i], names[j]) for i, j in np.argwhere(result.matrix))),
        metrics_tested=result.metrics_tested,
        untested=tuple(unordered(result.untested_pairs)),
        cpu=cpu,
    )


@dataclass(frozen=True, eq=False)
class Study:
    """Every cell of a study, dataset by dataset, and the datasets by identity.

    Within a dataset the seeds are outermost, so that whole curves appear from the first seed on.
    """

    datasets: Mapping[str, Dataset]
    cells: tuple[Cell, ...]


def study_of(
    datasets: Datasets,
    algorithms: Names,
    parameters: Mapping[str, Any] | None = None,
    seeds: Seeds = 5,
    knowledge: Said = None,
) -> Study:
    """All cells of datasets x algorithms x parameters x seeds, checked, each once.

    ``datasets`` are Dataset objects or names of bundled networks. ``parameters`` maps a name to a
    value or to several; an algorithm that does not declare one leaves it out, so that it
    gets fewer cells. ``seeds``: how many (0, 1, ...), or which. ``knowledge``: as in
    :func:`engine.studies.known.knowing`, of every dataset. Raises InputError or ParameterError
    in one sentence for anything that does not fit, before anything runs.
    """
    chosen = _each(algorithms)
    if not chosen:
        raise InputError("Give at least one algorithm.")
    told = [knowing(data, knowledge) for data in _datasets(datasets)]
    by_print = {data.identity: data for data in told}
    grids = {key: list(_combinations(key, chosen, parameters or {})) for key in chosen}
    numbers = _seeds(seeds)
    version = engine_version()
    cells = (
        Cell(fingerprint, data.name, key, params, seed, version)
        for fingerprint, data in by_print.items()
        for seed in numbers
        for key in grids
        for params in grids[key]
    )
    return Study(by_print, tuple(dict.fromkeys(cells)))


def canonical(params: Parameters) -> str:
    """All parameters as JSON with sorted names."""
    return json.dumps(plain(params), sort_keys=True)


def _each(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(dict.fromkeys(names))


def _datasets(given: Datasets) -> Iterator[Dataset]:
    several = [given] if isinstance(given, (Dataset, str)) else list(given)
    if not several:
        raise InputError("Give at least one dataset.")
    for one in several:
        yield load_dataset(one) if isinstance(one, str) else one


def _seeds(seeds: Seeds) -> list[int]:
    if isinstance(seeds, Iterable):
        numbers = [check_seed(seed) for seed in seeds]
    else:
        numbers = list(range(check_seed(seeds)))
    if not numbers:
        raise InputError("Give at least one seed.")
    return list(dict.fromkeys(numbers))


def _combinations(key: str, chosen: Sequence[str], grid: Mapping[str, Any]) -> Iterator[str]:
    """Canonical parameters of one algorithm over the grid; refuses a name that none declares."""
    declared = {k: {s.name for s in algorithm(k).params.specs()} for k in chosen}
    everyone = sorted(set().union(*declared.values()))
    for name in grid:
        if name not in everyone:
            raise InputError(
                f"None of {', '.join(chosen)} has a parameter {name!r}."
                f"{did_you_mean(str(name), everyone)}"
            )
    mine = {name: _values(name, grid[name]) for name in grid if name in declared[key]}
    build = algorithm(key).params.build
    for values in product(*mine.values()):
        yield canonical(build(dict(zip(mine, values, strict=True))))


def _values(name: str, given: Any) -> list[Any]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        return [given]
    values = list(given)
    if not values:
        raise InputError(f"Give at least one value of {name}.")
    return values
