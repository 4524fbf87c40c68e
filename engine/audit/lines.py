"""Lines of an audit in a JSON file, to go on from and to show."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engine.audit.measure import Measured
from engine.audit.replay import Finding
from engine.audit.survey import Power, Surveyed
from engine.errors import InputError

# What reading JSON of another shape, or numbers of another size, may raise.
_NO_LINES = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)

_TEXTS = ("key", "algorithm", "kind", "neighbours")


def read_lines(path: str | None) -> dict[str, Surveyed]:
    """Lines of an earlier audit by key; InputError where the file is none."""
    if path is None or not Path(path).exists():
        return {}
    try:
        found = [_line(entry) for entry in json.loads(Path(path).read_text(encoding="utf-8"))]
    except (*_NO_LINES, OSError):
        raise InputError(f"{path} is no file of an audit: give --out another name.") from None
    return {line.key: line for line in found}


def write_lines(path: str, lines: Iterable[Surveyed]) -> None:
    """Replace the file whole, so that a crash leaves the one before."""
    fresh = Path(f"{path}.new")
    try:
        fresh.write_text(json.dumps([line.as_dict() for line in lines], indent=1), encoding="utf-8")
        os.replace(fresh, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from None


def _line(entry: Any) -> Surveyed:
    key, algorithm, kind, pair = (_text(entry[n]) for n in _TEXTS)
    claimed, measured, replayed = entry["claimed"], entry["measured"], entry["replay"]
    epsilon = math.inf if claimed["epsilon"] == "inf" else float(claimed["epsilon"])
    finding = None
    if replayed is not None:
        ratios = {str(k): float(v) for k, v in replayed["change_over_sensitivity"].items()}
        finding = Finding(ratios, tuple(map(_text, replayed["faults"])), int(replayed["pairs"]))
    power, stated = None, entry.get("power")
    if stated is not None:
        tried = tuple((int(times), float(bound)) for times, bound in stated["tried"])
        power = Power(epsilon, tried, bool(stated["replay"]))
    return Surveyed(
        key,
        algorithm,
        kind,
        pair,
        Measured(
            float(measured["epsilon"]),
            float(claimed["delta"]),
            epsilon,
            int(measured["runs"]),
            int(measured["counted"]),
            (int(entry["hits"][0]), int(entry["hits"][1])),
        ),
        finding,
        tuple((int(runs), float(bound)) for runs, bound in entry["growth"]),
        power,
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value
