"""Background knowledge about causes: tiers, forbidden and required edges.

Background knowledge is a public fact, like the schema. A person declares it before any record is
read. It is never computed from rows, so the guarantee is the same with and without it. This module
keeps names only; :mod:`engine.graphs.known` applies them to a table's columns.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from pathlib import Path
from typing import Any

import networkx as nx

from engine.errors import InputError, did_you_mean, show, way, writable

FORMAT, VERSION = "dp-causal-explorer/knowledge", 1
FULL, ORIENTS = "full", "orients"
USES = (FULL, ORIENTS)
MOST_BYTES = 5_000_000
_MOST_ARROWS = 200_000
_FIELDS = ("format", "version", "tiers", "forbidden", "required", "roots", "leaves", "use")

Arrow = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """Public facts about possible causes, by column name.

    ``tiers`` are groups in order of time: a column in a later tier causes no column in an earlier
    one. Columns outside the tiers are unrestricted. A pair (a, b) in ``forbidden`` means that a is
    not a direct cause of b; in ``required``, that it is. ``roots`` have no causes, ``leaves`` no
    effects. With ``use="full"`` the knowledge also decides which tests are made. With "orients" the
    tests find edges as if there were no knowledge, which then only directs them.

    Any collection of names or pairs is accepted. Raises InputError, in one sentence, if two facts
    contradict each other.

    Examples:
        >>> known = Knowledge(tiers=[["age"], ["smoke"], ["cough"]], forbidden=[("age", "cough")])
        >>> known.allows("age", "smoke"), known.allows("cough", "smoke")
        (True, False)
        >>> known.why_not("cough", "age")
        "'cough' is in a later tier than 'age'"
    """

    tiers: tuple[tuple[str, ...], ...] = ()
    forbidden: frozenset[Arrow] = frozenset()
    required: frozenset[Arrow] = frozenset()
    roots: frozenset[str] = frozenset()
    leaves: frozenset[str] = frozenset()
    use: str = FULL

    def __post_init__(self) -> None:
        tiers = tuple(tuple(sorted(_names(tier, "a tier"))) for tier in _listed(self.tiers))
        object.__setattr__(self, "tiers", tiers)
        for field in ("forbidden", "required"):
            object.__setattr__(self, field, frozenset(_arrows(getattr(self, field), field)))
        for field in ("roots", "leaves"):
            object.__setattr__(self, field, frozenset(_names(getattr(self, field), field)))
        if self.use not in USES:
            raise InputError(f"Knowledge is used {' or '.join(USES)}, not {show(self.use)}.")
        for name, times in Counter(name for tier in tiers for name in tier).items():
            if times > 1:
                raise InputError(f"{show(name)} is in two tiers; keep it in one.")
        for a, b in sorted(self.required):
            why = self.why_not(a, b)
            if why is not None:
                raise InputError(
                    f"{show(a)} → {show(b)} is required, but {why}; drop one of the two."
                )
        cycle = _cycle(self.required)
        if cycle:
            raise InputError(f"The required arrows make a cycle: {way(cycle, ' → ')}; drop one.")
        if self.tiers:
            self._refuse_way_back()

    def _refuse_way_back(self) -> None:
        """Raise InputError if required edges lead to an earlier tier through untiered columns."""
        graph, latest = nx.DiGraph([*self.required]), dict[str, tuple[int, str]]()
        for name in nx.lexicographical_topological_sort(graph):
            own = self._tier.get(name, -1)
            before = max((latest[cause] for cause in graph.predecessors(name)), default=(-1, name))
            if -1 < own < before[0]:
                raise InputError(
                    f"The required arrows lead from {show(before[1])} to {show(name)}, which is in "
                    "an earlier tier; drop one of them."
                )
            latest[name] = max(before, (own, name))

    def __bool__(self) -> bool:
        """Return whether it contains any fact."""
        stated = (self.forbidden, self.required, self.roots, self.leaves)
        return any(stated) or sum(map(bool, self.tiers)) > 1

    def __repr__(self) -> str:
        """Return one line that counts the facts."""
        said = [f"{len(self.tiers)} tiers"] if self.tiers else []
        for field in ("forbidden", "required", "roots", "leaves"):
            if getattr(self, field):
                said.append(f"{len(getattr(self, field))} {field}")
        said += ["only orients"] if self.use == ORIENTS else []
        return f"<Knowledge: {', '.join(said) or 'nothing'}>"

    @cached_property
    def _tier(self) -> dict[str, int]:
        return {name: k for k, tier in enumerate(self.tiers) for name in tier}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All names that occur, sorted."""
        arrows = (name for arrow in self.forbidden | self.required for name in arrow)
        return tuple(sorted({*self._tier, *arrows, *self.roots, *self.leaves}))

    def tier(self, name: str) -> int | None:
        """Return the index of the column's tier, or None if it is in no tier."""
        return self._tier.get(name)

    def allows(self, cause: str, effect: str) -> bool:
        """Return whether ``cause`` may be a direct cause of ``effect``."""
        return self.why_not(cause, effect) is None

    def why_not(self, cause: str, effect: str) -> str | None:
        """Return, as a clause, why ``cause`` cannot directly cause ``effect``; None if it can."""
        a, b = show(cause), show(effect)
        if (cause, effect) in self.forbidden:
            return f"{a} → {b} is forbidden"
        first, second = self._tier.get(cause, 0), self._tier.get(effect, 0)
        if cause in self._tier and effect in self._tier and first > second:
            return f"{a} is in a later tier than {b}"
        if effect in self.roots:
            return f"{b} is a root, which nothing causes"
        if cause in self.leaves:
            return f"{a} is a leaf, which causes nothing"
        if (effect, cause) in self.required:
            return f"{b} → {a} is required"
        return None

    def to_json(self) -> dict[str, Any]:
        """Return the file's content, without empty fields."""
        stated: dict[str, Any] = {"format": FORMAT, "version": VERSION}
        if self.tiers:
            stated["tiers"] = [list(tier) for tier in self.tiers]
        for field in ("forbidden", "required", "roots", "leaves"):
            if found := sorted(getattr(self, field)):
                stated[field] = [list(one) if isinstance(one, tuple) else one for one in found]
        return stated if self.use == FULL else stated | {"use": self.use}

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the JSON file, or raise InputError if it exists or cannot be written.

        ``overwrite`` replaces an existing file.

        Examples:
            >>> import tempfile
            >>> place = Path(tempfile.mkdtemp()) / "known.json"
            >>> Knowledge(tiers=[["age"], ["smoke"]]).save(place)
            >>> Knowledge.load(place)
            <Knowledge: 2 tiers>
        """
        write_json(self.to_json(), path, overwrite=overwrite)

    @classmethod
    def load(cls, source: str | os.PathLike[str] | bytes) -> Knowledge:
        """Read a file; see :func:`load_knowledge`."""
        return load_knowledge(source)


def check_names(knowledge: Knowledge, names: Sequence[str]) -> None:
    """Raise InputError if this is not a Knowledge or names a column that the table lacks."""
    if not isinstance(knowledge, Knowledge):
        raise InputError(f"Background knowledge is a Knowledge(tiers=[…]), not {show(knowledge)}.")
    known = frozenset(names)
    for name in knowledge.names:
        if name not in known:
            hint = did_you_mean(name, names)
            raise InputError(
                f"Background knowledge names {show(name)}, which is not a column.{hint}"
            )


def _listed(value: Any) -> list[Any]:
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise InputError(f"Knowledge takes lists of names, not {show(value)}.")
    return list(value)


def _names(value: Any, what: str) -> set[str]:
    found = _listed(value)
    for name in found:
        if not isinstance(name, str) or not name.strip() or not writable(name):
            raise InputError(f"Knowledge takes names of columns for {what}, not {show(name)}.")
    return set(found)


def _arrows(value: Any, what: str) -> set[Arrow]:
    found = [tuple(_listed(arrow)) for arrow in _listed(value)]
    if len(found) > _MOST_ARROWS:
        raise InputError(f"Knowledge has at most {_MOST_ARROWS:,} {what} arrows.")
    for arrow in found:
        _names(arrow, what)
        if len(arrow) != 2 or arrow[0] == arrow[1]:
            raise InputError(f"A {what} arrow consists of two different names, cause and effect.")
    return {(a, b) for a, b in found}


def _cycle(arrows: Iterable[Arrow]) -> list[str]:
    """Return a directed cycle of the edges, its first name at both ends; empty if none exists."""
    graph = nx.DiGraph(sorted(arrows))
    loops = [part for part in nx.strongly_connected_components(graph) if len(part) > 1]
    if not loops:
        return []
    found = [a for a, _ in nx.find_cycle(graph, min(map(min, loops)))]
    return [*found, found[0]]


def _tetrad(text: str) -> dict[str, Any]:
    """Parse the facts in a Tetrad file for :class:`Knowledge`."""
    found: dict[str, Any] = {"forbidden": [], "required": []}
    tiers, apart, section = dict[int, list[str]](), set[int](), None
    for row in (row.strip() for row in text.splitlines()):
        word = row.split(maxsplit=1)[0].lower() if row else ""
        if not row or row.startswith(("//", "#")) or word == "/knowledge":
            continue
        if word in _SECTIONS:
            section = _SECTIONS[word]
        elif word in _GROUPS:
            raise InputError(f"Tetrad's section {word} is not read here; write each of its arrows "
                             f"under {_GROUPS[word]}.")  # fmt: skip
        elif section is None:
            raise InputError(f"This is not a knowledge file of Tetrad: {show(row)} is in none of "
                             f"{', '.join(_SECTIONS)}.")  # fmt: skip
        elif section == "tiers":
            number, *names = row.split()
            if not re.fullmatch(r"\d{1,9}\*?", number):
                raise InputError(
                    f"A tier in Tetrad's file begins with its number, unlike {show(row)}."
                )
            place = int(number.rstrip("*"))  # rows with the same number form one tier
            tiers.setdefault(place, []).extend(names)
            # a star forbids edges within the tier
            apart |= {place} if number.endswith("*") else set()
        else:
            parts = row.split()
            if len(parts) != 2:
                raise InputError(f"An arrow in Tetrad's file is two names, not {show(row)}.")
            found[section].append(parts)
    for names in (sorted({*tiers[place]}) for place in apart):
        # checked before the pairs are listed
        if len(found["forbidden"]) + len(names) ** 2 > _MOST_ARROWS:
            raise InputError(f"Knowledge has at most {_MOST_ARROWS:,} forbidden arrows.")
        found["forbidden"] += permutations(names, 2)
    return found | {"tiers": [names for _, names in sorted(tiers.items())]}


_SECTIONS = {"addtemporal": "tiers", "forbiddirect": "forbidden", "requiredirect": "required"}
_GROUPS = {"forbiddengroup": "forbiddirect", "requiredgroup": "requiredirect"}


def parse_knowledge(content: Any) -> Knowledge:
    """Build Knowledge from the JSON value of its file; InputError, in one sentence, if invalid."""
    check_fields(content, _FIELDS, "knowledge", FORMAT)
    stated = {k: v for k, v in content.items() if k not in ("format", "version")}
    return Knowledge(**stated)


def load_knowledge(source: str | os.PathLike[str] | bytes) -> Knowledge:
    """Read knowledge from this program's JSON file or from Tetrad's text file.

    Args:
        source: The path or the bytes of the file.

    Raises:
        InputError: In one sentence, if the format is unknown or facts contradict each other.

    Examples:
        >>> load_knowledge(b"/knowledge\\naddtemporal\\n1 age sex\\n2 smoke")
        <Knowledge: 2 tiers>
    """
    text = read_text(source, "knowledge")
    if text.strip() and not text.lstrip().startswith("{"):
        return Knowledge(**_tetrad(text))
    return parse_knowledge(parse_json(text, "knowledge"))


def read_text(source: str | os.PathLike[str] | bytes, what: str) -> str:
    """Read a short file that a person wrote, or raise InputError if there is no such text file."""
    raw = source
    if not isinstance(raw, bytes):
        try:
            with Path(raw).open("rb") as file:
                raw = file.read(MOST_BYTES + 1)
        except (OSError, TypeError, ValueError):
            raise InputError(
                f"There is no {what} to read at {show(str(source))}; check the path."
            ) from None
    if len(raw) > MOST_BYTES:
        raise InputError(f"A file of {what} has at most {MOST_BYTES // 1_000_000} MB.")
    try:
        return raw.decode("utf-8-sig")
    except ValueError:
        raise InputError(f"The {what} is not text in UTF-8; correct it.") from None


def parse_json(text: str, what: str) -> Any:
    """Parse a JSON text, or raise InputError if an object has a field twice."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(found := dict(pairs)) < len(pairs):
            raise InputError(f"The {what} has one field twice; delete one of them.")
        return found

    try:
        return json.loads(text, object_pairs_hook=once)
    except InputError:
        raise
    except (ValueError, RecursionError):
        raise InputError(f"The {what} is not JSON; correct it.") from None


def check_fields(
    content: Any,
    known: Sequence[str],
    what: str,
    form: str | None = None,
    versions: Sequence[int] = (VERSION,),
) -> Mapping[str, Any]:
    """Check that a JSON object has only known fields and, if it needs one, the right format."""
    if not isinstance(content, Mapping) or (form and content.get("format") != form):
        needed = f' with "format": "{form}"' if form else ""
        raise InputError(f"This is not a file of {what}: it must be a JSON object{needed}.")
    if form and content.get("version") not in versions:
        read = " and ".join(map(str, versions))
        raise InputError(f"This program reads version {read} of a {what}; write that version.")
    for key in content:
        if key not in known:
            raise InputError(
                f"A {what} has no field {show(str(key))}; it has {', '.join(known)}."
                f"{did_you_mean(key, known)}"
            )
    return content


def write_json(content: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a JSON file, by default only a new one, or raise InputError if this is impossible."""
    try:
        with Path(path).open("w" if overwrite else "x", encoding="utf-8") as file:
            file.write(json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    except FileExistsError:
        raise InputError(
            f"There is a file {show(str(path))} already; give another, or pass overwrite=True."
        ) from None
    except (OSError, ValueError):
        raise InputError(f"{show(str(path))} cannot be written; give another path.") from None
