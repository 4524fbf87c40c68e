"""Results as plain JSON: the same fields under the same names, infinity as the string "inf"."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.graphs.cpdag import unordered
from engine.params import Parameters
from engine.privacy.ledger import Charge

if TYPE_CHECKING:
    from engine.algorithm import Algorithm
    from engine.result import RunResult


def plain(value: Any) -> Any:
    """Anything a result holds as JSON types; non-finite numbers become "inf", "-inf", "nan"."""
    if isinstance(value, Charge):
        return charge_dict(value)
    if isinstance(value, Parameters):
        return plain(value.as_dict())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = (f.name for f in dataclasses.fields(value) if not f.metadata.get("omitted"))
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {_key(k): plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (set, frozenset)):
        return sorted((plain(v) for v in value), key=str)
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _key(key: Any) -> str:
    return " - ".join(map(str, sorted(key))) if isinstance(key, (frozenset, tuple)) else str(key)


def charge_dict(charge: Charge) -> dict[str, Any]:
    """One line of the ledger: what was done, and its costs."""
    return {
        "label": charge.label,
        "order": charge.order,
        "iteration": charge.iteration,
        "event": charge.event.describe(),
        "epsilon": plain(charge.epsilon),
        "rho": plain(charge.rho),
        "delta": plain(charge.event.delta),
    }


# Fields of a result that its JSON has under the same names.
_SAME = (
    *("algorithm", "dataset", "fingerprint", "names", "params", "simulation", "status", "counts"),
    *("metrics", "metrics_tested", "ci_tests", "ci_tests_by_order", "spent", "claimed", "steps"),
    "diagnostics",
)


def result_dict(result: RunResult) -> dict[str, Any]:
    """A run's fields, JSON-ready. Pairs are sorted by name.

    ``cpdag``, ``skeleton`` and ``metrics`` are of the graph as it stands, ``untested`` pairs
    included; ``counts`` and ``metrics_tested`` leave those apart. ``doubted`` are the arrows of it
    that pictures and graph files show as lines, ``contradicted`` the undirected edges whose arrows
    contradict each other.

    A seed given for private data is left out: it fixes the noise of a simulation.
    """
    return {name: plain(getattr(result, name)) for name in _SAME} | {
        "knowledge": None if result.knowledge is None else _known(result),
        "seed": result.seed if result.public else None,
        "seconds": None if math.isnan(result.seconds) else result.seconds,
        "skeleton": [list(p) for p in unordered(result.skeleton)],
        "cpdag": sorted([a, b] for a, b in result.cpdag.edges),
        "separating_sets": [
            {"pair": sorted(pair), "sets": plain([sorted(s) for s in sets])}
            for pair, sets in sorted(result.separating_sets.items(), key=lambda i: sorted(i[0]))
        ],
        "doubted": sorted([result.names[i], result.names[j]] for i, j in result.low_confidence),
        "contradicted": _named(result, result.contradicted),
        "untested": _named(result, result.untested),
        "undefended": list(result.ledger.undefended),
        "ledger": plain(list(result.ledger)),
    }


def _named(result: RunResult, pairs: Iterable[tuple[int, int]]) -> list[list[str]]:
    """Pairs of columns by their names."""
    named = (frozenset((result.names[i], result.names[j])) for i, j in pairs)
    return [list(pair) for pair in unordered(named)]


def _known(result: RunResult) -> dict[str, Any]:
    """What was known, how many of the links found it turns by itself, and what that scores."""
    assert result.knowledge is not None
    assert result.known is not None
    turned, links = result.known.settled(result.matrix)
    return {
        **result.knowledge.to_json(),
        "settled": {"links": links, "directions": turned},
        "alone": plain(result.knowledge_alone),
    }


def algorithm_dict(algorithm: Algorithm) -> dict[str, Any]:
    """One registered algorithm with its parameters: all that is declared of each."""
    said = ("key", "title", "family", "private", "reference", "summary")
    parameters = {"parameters": plain(algorithm.params.specs())}
    return {name: getattr(algorithm, name) for name in said} | parameters
