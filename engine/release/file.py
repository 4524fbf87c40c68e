"""The file that is handed out: what it holds, and the one way to write it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import networkx as nx

from engine.algorithm import Outcome
from engine.data.schema import Schema
from engine.graphs.cpdag import Adjacency, matrix_of
from engine.knowledge import Knowledge
from engine.marginals.diagnostics import MarginalDiagnostics
from engine.privacy.accounting import Guarantee
from engine.privacy.sources import Released

FORMAT = "dp-causal-explorer/release"
VERSION, DERIVED = 3, 4  # as it was released; with knowledge applied afterwards, or combined
NEIGHBOURS = "replace one record; the number of rows and the schema are public"
PERSONS = (
    "replace one person with all of their rows; the number of persons and the schema are public"
)
NOISE = "discrete Gaussian on a grid (OpenDP), from the operating system's random bytes; no seed"
DISJOINT = (
    "Nobody is in two of these releases: then each person's (ε, δ) is that of the release that "
    "holds them. No file can show this. The ε and δ of all releases that hold a person add up."
)
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Signature:
    """Who made a release: an Ed25519 public key, the SHA-256 of its page, the value; in hex."""

    public_key: str
    page: str
    value: str

    def to_json(self) -> dict[str, str]:
        """As the file has it."""
        return {
            "kind": "Ed25519",
            "public_key": self.public_key,
            "page_sha256": self.page,
            "value": self.value,
        }


@dataclass(frozen=True, kw_only=True)
class Release:
    """One release: what was asked, what it promises, and all that was given out.

    ``total`` is the promise; ``params`` are the algorithm's own, whose delta is a little smaller
    (see :func:`engine.release.settings.allowance`). ``releases`` are the noisy numbers, from which
    ``cpdag`` (an undirected edge in both directions) follows, with each edge's ``confidence`` and
    ``arrows``: how often there is one from the first column to the second, and back, if the edge
    is real. ``arrows`` is empty where the directions were voted.

    ``applied`` is knowledge of the causes that takes the place of the schema's in all but the
    choice of what was released. ``parts`` are the releases of different people that were combined:
    ``rows`` are theirs together, ``total`` is the largest of theirs, and ``releases`` is empty.
    """

    name: str
    algorithm: str
    params: Mapping[str, Any]
    rows: int
    schema: Schema
    total: Guarantee
    releases: tuple[Released, ...]
    labels: tuple[str, ...]
    tables: tuple[tuple[str, ...], ...]
    cpdag: Pairs
    confidence: tuple[tuple[str, str, float], ...]
    arrows: tuple[tuple[str, str, float, float], ...]
    versions: Mapping[str, str]
    signature: Signature | None = None
    applied: Knowledge | None = None
    parts: tuple[Release, ...] = ()

    @property
    def knowledge(self) -> Knowledge | None:
        """What is known of the causes, by what was applied or, without it, by the schema."""
        return self.schema.knowledge if self.applied is None else self.applied

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return self.schema.names

    @property
    def matrix(self) -> Adjacency:
        """The graph as a (d, d) boolean matrix."""
        return matrix_of(nx.DiGraph(self.cpdag), self.names)


def neighbours(schema: Schema) -> str:
    """Between which tables a release does not tell: those that differ in one record, or person."""
    return NEIGHBOURS if schema.person is None else PERSONS


def findings(outcome: Outcome, names: tuple[str, ...]) -> dict[str, Any]:
    """The graph, its edges' and arrows' confidence and the tables that were released, by names."""
    matrix, found = outcome.cpdag, outcome.diagnostics
    assert isinstance(found, MarginalDiagnostics)
    told = found.arrow_confidence
    cells = combinations(range(len(names)), 2)
    joined = [(i, j) for i, j in cells if matrix[i, j] or matrix[j, i]]
    both = [(a, b) for i, j in joined for a, b in ((i, j), (j, i)) if matrix[a, b]]
    return {
        "cpdag": tuple(sorted((names[a], names[b]) for a, b in both)),
        "confidence": tuple(
            (names[i], names[j], float(found.edge_confidence[i, j])) for i, j in joined
        ),
        "arrows": tuple(
            (names[i], names[j], float(told[i, j]), float(told[j, i])) for i, j in joined if told
        ),
        "tables": tuple(tuple(names[i] for i in table) for table in found.released_tables),
    }


def to_json(release: Release) -> dict[str, Any]:
    """The file's content: nothing in it but public facts and what was paid for."""
    signed = None if release.signature is None else release.signature.to_json()
    return _content(release) | {"digest": digest(release), "signature": signed}


def canonical(release: Release) -> str:
    """The file's text. There is one text for each release; a reader accepts no other.

    Args:
        release: What :func:`engine.release.make.make` returned.

    Examples:
        >>> import tempfile
        >>> from dataclasses import replace
        >>> from pathlib import Path
        >>> from engine import load_dataset
        >>> from engine.data.schema import Column, Schema
        >>> from engine.release.budget import Budgets
        >>> from engine.release.make import make
        >>> rows = load_dataset("cancer", n=1_000)
        >>> named = zip(rows.names, rows.levels, strict=True)
        >>> schema = Schema(tuple(Column(name=n, type="ordered", levels=some) for n, some in named))
        >>> budgets = Budgets(Path(tempfile.mkdtemp()) / "budgets.db")
        >>> budget = budgets.new("ward", epsilon=3, delta=1e-5)
        >>> data, asked = replace(rows, schema=schema), {"epsilon": 1}
        >>> release = make(data, schema, "marginal_pc", asked, name="ward", budgets=budgets)
        >>> canonical(release)[:44]
        '{"format":"dp-causal-explorer/release","vers'
    """
    return _compact(to_json(release)) + "\n"


def digest(release: Release) -> str:
    """SHA-256, in hex, of all that the release says but for who signed it."""
    return hashlib.sha256(_compact(_content(release)).encode()).hexdigest()


def _compact(content: Mapping[str, Any]) -> str:
    return json.dumps(content, separators=(",", ":"), allow_nan=False)


def released_json(one: Released) -> dict[str, Any]:
    """One noisy release, JSON-ready."""
    return {
        "sensitivity": one.sensitivity,
        "sigma": one.sigma,
        "grid": one.grid,
        "steps": list(one.steps),
    }


def _content(release: Release) -> dict[str, Any]:
    derived = release.applied is not None or bool(release.parts)
    said = {} if not release.parts else {"rests_on": DISJOINT}
    content = {
        "format": FORMAT,
        "version": DERIVED if derived else VERSION,
        "name": release.name,
        "guarantee": {
            "epsilon": release.total.epsilon,
            "delta": release.total.delta,
            "neighbours": neighbours(release.schema),
            "noise": NOISE,
        }
        | said,
        "algorithm": release.algorithm,
        "params": dict(release.params),
        "rows": release.rows,
        "schema": release.schema.to_json(),
        "cpdag": [list(pair) for pair in release.cpdag],
        "edge_confidence": [list(edge) for edge in release.confidence],
        "arrow_confidence": [list(arrow) for arrow in release.arrows],
        "tables": [list(table) for table in release.tables],
        "releases": [
            {"label": label} | released_json(one)
            for label, one in zip(release.labels, release.releases, strict=True)
        ],
        "versions": dict(release.versions),
    }
    if derived:
        content["knowledge"] = None if release.applied is None else release.applied.to_json()
        content["combined"] = [to_json(part) for part in release.parts]
    return content
