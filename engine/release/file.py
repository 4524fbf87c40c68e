"""The file of a release: its contents, and the functions that write and read it.

The file is canonical JSON. The reader bounds every size before it uses it, writes the content
again, and requires the same bytes. This single comparison excludes unknown and repeated fields,
other layouts and other spellings of numbers.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

import networkx as nx
import numpy as np

from engine.algorithm import Outcome
from engine.data.column import MOST_RELEASED
from engine.data.schema import Schema, parse_schema
from engine.errors import InputError, show
from engine.graphs.cpdag import Adjacency, matrix_of
from engine.knowledge import Knowledge, parse_knowledge
from engine.marginals.diagnostics import MarginalDiagnostics
from engine.privacy.accounting import Guarantee
from engine.privacy.sources import MOST_ENTRIES, Released

FORMAT = "dp-causal-explorer/release"
# its noise is Gaussian on fixed tables, for which there are hardened samplers
ALGORITHM = "marginal_pc"
# Formats: a plain release; one with later background knowledge or combined; one with a question.
VERSION, DERIVED, ASKED = 3, 4, 5
NOISE = "discrete Gaussian on a grid (OpenDP), from the operating system's random bytes; no seed"
DISJOINT = (
    "If each person is in one release only, they have that release's (ε, δ). No file can show "
    "this. For a person in several of them, the ε and δ of these releases add up."
)
VOUCHED = (  # for releases that are as similar as those about the same people
    f"{DISJOINT} Some of these releases are as alike as releases of the same people. Whoever "
    "combined them states that each person is in one only."
)
BEFORE = (  # in files of version 0.3
    "Nobody is in two of these releases: then each person's (ε, δ) is that of the release that "
    "holds them. No file can show this. The ε and δ of all releases that hold a person add up."
)
MOST_EPSILON, MOST_DELTA = Decimal(10_000_000), Decimal("0.1")  # largest budget
MOST_ROWS, MOST_PARTS = 10_000_000_000, 50  # records, and combined releases
MOST_BYTES = 30_000_000
MOST_VALUES = 8 * MOST_ENTRIES  # bound on commas in the file: numbers and table names
MOST_RELEASES = 6  # for the graph; each question adds two releases
MOST_TEXT = 200
_SIGNED = re.compile("Ed25519[0-9a-f]{256}")  # key and digest have 64 digits, the value 128
_VERSION = re.compile(r"[0-9A-Za-z.+!_-]{1,40}")


@dataclass(frozen=True)
class Signature:
    """Signature of a release: public key, SHA-256 of its page, and value, all in hex."""

    kind: str
    public_key: str
    page_sha256: str
    value: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """One release: its request, its guarantee and all released numbers.

    ``total`` is the guarantee; ``params`` are those of the algorithm, with a slightly smaller delta
    (:func:`engine.release.checking.allowance`). ``releases`` are the noisy numbers. From these
    follow ``cpdag`` (with undirected edges in both directions), the ``confidence`` of each edge,
    and ``arrows``: how often there is one from the first column to the second, and back, if the
    edge is true. ``arrows`` is empty if the directions were voted.

    ``applied`` is background knowledge that replaces that of the schema, except for the choice of
    the released tables. ``parts`` are the combined releases about different people. In this case
    ``rows`` is their sum, ``total`` is their largest total, ``releases`` is empty, and ``rests_on``
    is the assumption under which each person has the guarantee ``total``.

    Examples:
        >>> import tempfile
        >>> from engine import Budget, Schema, load_dataset
        >>> frame = load_dataset("cancer", n=1_000).to_frame()
        >>> schema = Schema.draft(frame).declare(*frame.columns)
        >>> place = Path(tempfile.mkdtemp()) / "budgets.db"
        >>> ward = Budget("ward", epsilon=3, delta=1e-5, path=place)
        >>> release = ward.release(frame, schema).release
        >>> release.algorithm, release.rows, release.total.epsilon
        ('marginal_pc', 1000, 1.0)
    """

    name: str
    algorithm: ClassVar[str] = ALGORITHM
    params: Mapping[str, Any]
    rows: int
    schema: Schema
    total: Guarantee
    releases: tuple[Released, ...]
    labels: tuple[str, ...]
    tables: tuple[tuple[str, ...], ...]
    cpdag: tuple[tuple[str, str], ...]
    confidence: tuple[tuple[str, str, float], ...]
    arrows: tuple[tuple[str, str, float, float], ...]
    versions: Mapping[str, str]
    signature: Signature | None = None
    applied: Knowledge | None = None
    parts: tuple[Release, ...] = ()
    rests_on: str = ""

    @property
    def knowledge(self) -> Knowledge | None:
        """Applied background knowledge or, if there is none, that of the schema."""
        return self.schema.knowledge if self.applied is None else self.applied

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.schema.names

    @property
    def matrix(self) -> Adjacency:
        """Graph as a (d, d) boolean matrix."""
        return matrix_of(nx.DiGraph(self.cpdag), self.names)


def neighbours(schema: Schema) -> str:
    """Describe the neighbouring datasets, which differ in one record or one person."""
    other = "record" if schema.person is None else "person with all of their rows"
    return f"replace one {other}; the number of {schema.what} and the schema are public"


def findings(outcome: Outcome, names: tuple[str, ...]) -> dict[str, Any]:
    """Return graph, edge and direction confidences, and released tables, with column names."""
    matrix, found = outcome.matrix, outcome.diagnostics
    assert isinstance(found, MarginalDiagnostics)
    links, arrows = found.edge_confidence, found.direction_confidence
    pairs = np.argwhere(np.triu(matrix | matrix.T, 1)).tolist()
    return {
        "cpdag": tuple(sorted((names[i], names[j]) for i, j in np.argwhere(matrix).tolist())),
        "confidence": tuple((names[i], names[j], float(links[i, j])) for i, j in pairs),
        "arrows": tuple(
            (names[i], names[j], float(arrows[i, j]), float(arrows[j, i]))
            for i, j in pairs
            if arrows
        ),
        "tables": tuple(tuple(names[i] for i in table) for table in found.released_tables),
    }


def to_json(release: Release) -> dict[str, Any]:
    """Return the file's content, which has only public facts and released values."""
    signed = None if release.signature is None else vars(release.signature)
    return _content(release) | {"digest": digest(release), "signature": signed}


def canonical(release: Release) -> str:
    """Return the file's text; a reader accepts only this text for a release."""
    return _compact(to_json(release)) + "\n"


def digest(release: Release) -> str:
    """Return the SHA-256, in hex, of the whole content except the signature."""
    return hashlib.sha256(_compact(_content(release)).encode()).hexdigest()


def _compact(content: Mapping[str, Any]) -> str:
    return json.dumps(content, separators=(",", ":"), allow_nan=False)


def _content(release: Release) -> dict[str, Any]:
    derived = release.applied is not None or bool(release.parts)
    total, made = release.total, zip(release.labels, release.releases, strict=True)
    promise = vars(total) | {"neighbours": neighbours(release.schema), "noise": NOISE}
    content = {
        "format": FORMAT,
        "version": ASKED if release.schema.questions else DERIVED if derived else VERSION,
        "name": release.name,
        "guarantee": promise | ({"rests_on": release.rests_on} if release.parts else {}),
        "algorithm": release.algorithm,
        "params": dict(release.params),
        "rows": release.rows,
        "schema": release.schema.to_json(),
        "cpdag": release.cpdag,
        "edge_confidence": release.confidence,
        "arrow_confidence": release.arrows,
        "tables": release.tables,
        "releases": [{"label": label} | vars(one) for label, one in made],
        "versions": dict(release.versions),
    }
    if derived:
        content["knowledge"] = None if release.applied is None else release.applied.to_json()
        content["combined"] = [to_json(part) for part in release.parts]
    return content


def read_bytes(path: str | os.PathLike[str], most: int) -> bytes:
    """Read at most ``most`` + 1 bytes of a file; raises InputError if there is no file."""
    try:
        with Path(path).open("rb") as file:
            return file.read(most + 1)
    except (OSError, TypeError, ValueError):
        raise InputError(
            f"There is no file to read at {show(str(path))}; check the path."
        ) from None


def loads(raw: bytes) -> Release:
    """Return the release in a file's bytes; raises InputError unless they are its exact text.

    This verifies only the layout and the digest; ``opened`` verifies the rest.
    """
    if len(raw) > MOST_BYTES or raw.count(b",") > MOST_VALUES:
        raise InputError("This file is too large for a release.")
    try:
        content = json.loads(raw.decode())
        release = parse(content)
        same = canonical(release).encode() == raw  # raises ValueError for NaN and infinity
        mine = content["digest"] == digest(release)
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, RecursionError):
        raise InputError(
            "The release, or a part of it, is not JSON in UTF-8 as this program writes it; ask for "
            "the file again."
        ) from None
    if not mine:
        raise InputError("The file was modified: its digest does not match.")
    if not same:
        raise InputError(
            "The layout of the release is not the one that this program writes; ask for the file "
            "again."
        )
    return release


def parse(content: Any) -> Release:
    """Return a release from its JSON value; raises InputError, ValueError, KeyError or similar."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f'This is not a release: its JSON needs "format": "{FORMAT}".')
    if content.get("version") not in (VERSION, DERIVED, ASKED):
        raise InputError(f"This program reads versions {VERSION} to {ASKED} of a release file.")
    if content["algorithm"] != ALGORITHM:
        raise InputError(
            f"A release is made by {ALGORITHM}; {show(content['algorithm'])} cannot make one."
        )
    schema = parse_schema(content.get("schema"))
    if schema.waiting:
        raise InputError("Invalid release: its schema was not declared.")
    parts = tuple(map(parse, content.get("combined", ())))
    _check_sizes(content, schema, parts)
    stated, applied, made = content["guarantee"], content.get("knowledge"), content["releases"]
    total = Guarantee(float(stated["epsilon"]), float(stated["delta"]))
    if not 0 < total.epsilon <= float(MOST_EPSILON) or not 0 <= total.delta <= float(MOST_DELTA):
        raise InputError("Invalid release: ε or δ is outside the allowed range.")
    rests_on = stated.get("rests_on", "")
    if rests_on not in ("", DISJOINT, VOUCHED, BEFORE):
        raise InputError("The release rests on an assumption that this program does not know.")
    arrows, signed = content["arrow_confidence"], content.get("signature")
    signature = None if signed is None else Signature(**signed)
    if signature and not _SIGNED.fullmatch("".join(vars(signature).values())):
        raise InputError("The release's signature is of a format that this program does not know.")
    return Release(
        schema=schema,
        total=total,
        releases=tuple(map(parse_released, made)),
        labels=tuple(str(one["label"]) for one in made),
        tables=tuple(tuple(map(str, table)) for table in content["tables"]),
        cpdag=tuple((str(a), str(b)) for a, b in content["cpdag"]),
        confidence=tuple((str(a), str(b), float(c)) for a, b, c in content["edge_confidence"]),
        arrows=tuple((str(a), str(b), float(there), float(back)) for a, b, there, back in arrows),
        signature=signature,
        applied=None if applied is None else parse_knowledge(applied),
        parts=parts,
        rests_on=rests_on,
        **{field: content[field] for field in ("name", "params", "rows", "versions")},
    )


def _check_sizes(content: Mapping[str, Any], schema: Schema, parts: Sequence[Release]) -> None:
    """Check that the number of values in the first release follows from the schema."""
    rows, versions = content["rows"], content["versions"]
    named = (content["name"], *content["params"], *versions)
    for what, usable in (
        ("rows", type(rows) is int and 2 <= rows <= MOST_ROWS),
        ("name", max(map(len, named)) <= MOST_TEXT and content["name"].isprintable()),
        ("versions", all(map(_VERSION.fullmatch, versions.values()))),
    ):
        if not usable:
            raise InputError(f'The release has no usable "{what}"; ask for the file again.')
    sizes = [len(one["steps"]) for one in content["releases"]]
    if parts:
        right = len(parts) <= MOST_PARTS and not any(part.parts for part in parts) and not sizes
    else:
        most = MOST_RELEASES + 2 * len(schema.questions)
        right = 0 < len(sizes) <= most and sum(sizes) <= MOST_ENTRIES
    ones = [min(column.size, MOST_RELEASED) - 1 for column in schema.columns]
    pairs = (sum(ones) ** 2 - sum(size**2 for size in ones)) // 2
    if not right or (sizes and sizes[0] != sum(ones) + pairs):
        raise InputError("The file's measurements do not match its algorithm and schema.")


def parse_released(content: Mapping[str, Any]) -> Released:
    """Return one noisy release from its JSON value; raises ValueError or KeyError otherwise."""
    steps, grid = content["steps"], content["grid"]
    if type(grid) is not int or not -1000 < grid < 1000:
        raise ValueError(grid)
    if not all(type(step) is int and abs(step) < 2**53 for step in steps):
        raise ValueError("steps")
    return Released(float(content["sensitivity"]), float(content["sigma"]), grid, tuple(steps))
