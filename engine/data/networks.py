"""Benchmark Bayesian networks: read them, sample from them, return their true graphs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from engine.data.dataset import Dataset, frozen
from engine.data.simulated import parse_name, simulate_sem, stream
from engine.errors import InputError, did_you_mean, show

MAX_ROWS = 10_000_000


def folder(name: str, in_repository: str) -> Path:
    """Return a folder of the project, inside an installed package or in the repository."""
    here = Path(__file__).resolve().parents[1]
    return here / name if (here / name).is_dir() else here.parent / in_repository


SAMPLE_DATA = folder("sample_data", "sample_data")
_FOLDER = SAMPLE_DATA / "networks"

# A benchmark network is a file in the folder; adding a file adds its name here.
NETWORKS: tuple[str, ...] = tuple(sorted(path.stem for path in _FOLDER.glob("*.json")))
# published tables are rounded; a row that deviates more from a sum of 1 is an error
_ROUNDING = 1e-3
_FILES = ("csv", "tsv", "txt", "gz", "parquet", "xlsx", "arrow")


@dataclass(frozen=True, eq=False)
class Network:
    """A discrete Bayesian network.

    names    d node names, the column order.
    states   for each node, its states in ordinal order.
    parents  for each node, the names of its parents.
    tables   for each node, (parent configurations, states) probabilities. The order of
             configurations is mixed radix with the last parent fastest; rows sum to 1.
    """

    name: str
    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    parents: tuple[tuple[str, ...], ...]
    tables: tuple[np.ndarray, ...]
    source: str = ""
    licence: str = ""

    def dag(self) -> nx.DiGraph:
        """Return a new graph with an edge from each parent to its child."""
        graph = nx.empty_graph(self.names, nx.DiGraph)
        for child, parents in zip(self.names, self.parents, strict=True):
            graph.add_edges_from((parent, child) for parent in parents)
        return graph

    @cached_property
    def _order(self) -> tuple[int, ...]:
        """Columns, parents first; ties are broken by position, so a seed's rows never change."""
        position = {name: j for j, name in enumerate(self.names)}
        ordered = nx.lexicographical_topological_sort(self.dag(), key=position.__getitem__)
        return tuple(position[name] for name in ordered)

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw n rows: codes (n, d) in the smallest unsigned type, columns contiguous.

        Each node uses one uniform number per row and inverts the cumulative probabilities, given
        its parents, which are drawn before it.
        """
        kind = np.min_scalar_type(max(map(len, self.states)) - 1)
        codes = np.zeros((n, len(self.names)), kind, order="F")
        for j in self._order:
            row: np.ndarray | int = 0  # table row for each sample; always 0 without parents
            for k in map(self.names.index, self.parents[j]):
                row = row * len(self.states[k]) + codes[:, k].astype(np.intp)
            uniform = rng.random(n)
            cumulative = np.cumsum(self.tables[j], axis=1)
            # Dividing by the last sum makes a state with probability 0 exactly impossible.
            thresholds = cumulative[:, :-1] / cumulative[:, -1:]
            for threshold in thresholds.T:
                codes[:, j] += uniform >= threshold[row]
        return codes


@cache
def load_network(name: str) -> Network:
    """Read a benchmark network by its name, one of `NETWORKS`; InputError for another name."""
    if name not in NETWORKS:
        known = ", ".join(NETWORKS)
        hint = did_you_mean(name, NETWORKS)
        raise InputError(f"There is no network {show(name)}; choose one of {known}.{hint}")
    content = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return network_of(name, content["nodes"], content["source"], content["licence"])


def network_of(name: str, nodes: Sequence[Mapping[str, Any]], *said: str) -> Network:
    """Build a network from nodes as the files store them: name, states, parents and table.

    ``said`` has its source and licence.
    """
    return Network(
        name,
        tuple(node["name"] for node in nodes),
        tuple(tuple(node["states"]) for node in nodes),
        tuple(tuple(node["parents"]) for node in nodes),
        tuple(normalised(node["table"]) for node in nodes),
        *said,
    )


def normalised(rows: list[list[float]]) -> np.ndarray:
    """Return rows of probabilities, (configurations, states), that sum to 1; read-only.

    Raises InputError if a row deviates by more than rounding.
    """
    table = np.array(rows, dtype=float)
    sums = table.sum(axis=1, keepdims=True)
    if not ((table >= 0).all() and (abs(sums - 1) <= _ROUNDING).all()):
        raise InputError("A row of a probability table does not sum to 1; correct the table.")
    return frozen(table / sums)


def load_dataset(name: str, n: int = 100_000, seed: int = 0) -> Dataset:
    """Sample n rows of a benchmark network; the ground truth is known, so the data is public.

    Args:
        name: One of ``NETWORKS``. "sem:er:10:20:gaussian" simulates a linear model instead (graph
            er or sf, nodes, edges, and gaussian, exponential or gumbel noise); "pair:cubic:uniform"
            simulates two columns, cause and effect; a fourth part names the cause's distribution
            (uniform, normal or skewed).
        n: Rows, from 2 to 10,000,000.
        seed: The data seed; the same name, n and seed give the same rows.

    Returns:
        Codes (n, d), their levels, and the true graph.

    Raises:
        InputError: If the name is unknown, or n or the seed is outside its range.

    Examples:
        >>> data = load_dataset("asia", n=1_000)
        >>> data
        <Dataset 'asia': 1,000 rows, 8 columns, public>
        >>> data.names[0], data.levels[0], data.codes.shape
        ('asia', ('yes', 'no'), (1000, 8))
    """
    if not isinstance(name, str) or "/" in name or name.rpartition(".")[2] in _FILES:
        raise InputError(
            "load_dataset draws rows from a bundled network. Read your own table with "
            'read_table(frame), or by its path: read_table("mine.csv").'
        )
    for what, value, least, most in (("n", n, 2, MAX_ROWS), ("seed", seed, 0, math.inf)):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or not least <= value <= most:
            range_ = f"from 2 to {MAX_ROWS:,}" if what == "n" else "of 0 or more"
            raise InputError(f"{what} must be a whole number {range_}, not {value!r}.")
    n, seed = int(n), int(seed)
    if name.startswith("sem:"):
        return simulate_sem(*parse_name(name), n=n, seed=seed)
    if name.startswith("pair:"):
        from engine.data.pairs import simulate_pair  # graphs need neither of them

        mechanism, _, rest = name.removeprefix("pair:").partition(":")
        noise, _, cause = rest.partition(":")
        return simulate_pair(mechanism, noise, cause or "uniform", n=n, seed=seed)
    network = load_network(name)
    return Dataset(
        name=name,
        codes=frozen(network.sample(n, stream("data", seed))),
        names=network.names,
        levels=network.states,
        truth=network.dag(),
        public=True,
        notes=(f"The rows were forward-sampled from the network {name} with seed {seed}.",),
    )


# Plain words ----------------------------------------------------------------------------------


@cache
def words() -> dict[str, Any]:
    """Return plain names of the benchmark networks and their columns."""
    found: dict[str, Any] = json.loads((SAMPLE_DATA / "names.json").read_text("utf-8"))
    return found


def plainly(name: str) -> dict[str, Any]:
    """Return a network's title, subject and plain column names, or else its original names."""
    found: dict[str, Any] = words().get(name, {})
    return {"title": name.capitalize(), "about": "", "nodes": {}, **found}


def plain_names(dataset: str, names: Sequence[str]) -> list[str]:
    """Return the columns of a benchmark network in plain words, if it has them."""
    nodes = plainly(dataset)["nodes"]
    return [nodes.get(name, name) for name in names]
