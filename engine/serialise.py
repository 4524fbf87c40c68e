"""Results as plain JSON, with the same fields and names; infinity becomes the string "inf".

In version 2 of a run's JSON each key has one meaning. :func:`current` also reads version 1, from
release 0.3.
"""

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
    from engine.graphs.edges import Edge
    from engine.result import RunResult


def plain(value: Any) -> Any:
    """Return a result's content as JSON types; non-finite numbers become "inf", "-inf", "nan"."""
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
    """Return one ledger line: the action and its costs."""
    return {
        "label": charge.label,
        "order": charge.order,
        "iteration": charge.iteration,
        "event": charge.event.describe(),
        "epsilon": plain(charge.epsilon),
        "rho": plain(charge.rho),
        "delta": plain(charge.event.delta),
    }


VERSION = 2  # of the JSON format of a run
# Fields of a result that have the same names in its JSON.
_SAME = (
    *("algorithm", "dataset", "fingerprint", "names", "params", "seed_known", "status", "counts"),
    *("metrics_all", "metrics_tested", "ci_tests", "ci_tests_by_order", "claimed", "proven"),
    *("guaranteed_epsilon", "attacker_success", "steps", "diagnostics"),
)


def result_dict(result: RunResult) -> dict[str, Any]:
    """Return the fields of a run, ready for JSON. Pairs are sorted by name.

    ``cpdag``, ``skeleton`` and ``metrics_all`` include ``untested`` pairs as edges; ``counts`` and
    ``metrics_tested`` do not. ``edges`` has each one as displayed: ``kind`` is its mark, ``class``
    its comparison with the ground truth, ``note`` the reason if it has no direction.
    ``low_confidence`` lists directed edges of ``cpdag`` that are displayed undirected;
    ``contradicted`` lists undirected edges whose directions contradict each other.

    A seed given for private data is omitted, because it determines the noise.
    """
    return (
        {"format_version": VERSION}
        | {name: plain(getattr(result, name)) for name in _SAME}
        | {
            "knowledge": None if result.knowledge is None else _known(result),
            "seed": result.seed if result.public else None,
            "seconds": None if math.isnan(result.seconds) else result.seconds,
            "skeleton": [list(p) for p in unordered(result.skeleton)],
            "cpdag": sorted([a, b] for a, b in result.cpdag.edges),
            "separating_sets": [
                {"pair": sorted(pair), "sets": plain([sorted(s) for s in sets])}
                for pair, sets in sorted(result.separating_sets.items(), key=lambda i: sorted(i[0]))
            ],
            "edges": [_edge(edge) for edge in result.edge_list],
            "low_confidence": sorted(
                [result.names[i], result.names[j]] for i, j in result.low_confidence
            ),
            "contradicted": _named(result, result.contradicted),
            "untested": _named(result, result.untested),
            "no_guarantee_reasons": list(result.ledger.no_guarantee_reasons),
            "ledger": plain(list(result.ledger)),
        }
    )


def _edge(edge: Edge) -> dict[str, Any]:
    """Return one edge; a number that its algorithm does not give is null."""
    numbers = {
        name: None if math.isnan(value := getattr(edge, name)) else value
        for name in ("edge_confidence", "direction_confidence", "weight")
    }
    shown = {"a": edge.source, "b": edge.target, "class": edge.outcome, "kind": edge.kind}
    return plain(shown | numbers | {"note": edge.note})  # type: ignore[no-any-return]


# Version 1 ------------------------------------------------------------------------------

_EARLIER = {
    "simulation": "seed_known",
    "metrics": "metrics_all",
    "spent": "proven",
    "doubted": "low_confidence",
    "undefended": "no_guarantee_reasons",
}
_COUNTS = {
    "lines": "undirected",
    "claimed": "not_identifiable",
    "invented": "false_positives",
}


def current(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run's JSON, of this or the previous version, under the names of this version.

    Steps from version 1 keep their sentences, because they have no codes.
    """
    if not _EARLIER.keys() & record.keys():
        return dict(record)
    found = {_EARLIER.get(name, name): value for name, value in record.items()}
    if counts := found.get("counts"):
        counts = {_COUNTS.get(name, name): value for name, value in counts.items()}
        del counts["untested_true"]
        others = (counts[name] for name in ("reversed", "undirected", "not_identifiable"))
        found["counts"] = counts | {"correct": counts["found"] - sum(others)}
    if (known := found.get("knowledge")) and "settled" in known:
        links, fixed = known["settled"]["links"], known["settled"]["directions"]
        rest = {name: value for name, value in known.items() if name != "settled"}
        found["knowledge"] = rest | {"fixed": {"edges": links, "directions": fixed}}
    if (shown := found.get("diagnostics")) and "arrow_confidence" in shown:
        arrows = shown["arrow_confidence"]
        rest = {name: value for name, value in shown.items() if name != "arrow_confidence"}
        found["diagnostics"] = rest | {"direction_confidence": arrows}
    found["steps"] = [_step(step) for step in found.get("steps", ())]
    return found | {"format_version": VERSION}


def _step(step: Mapping[str, Any]) -> dict[str, Any]:
    names = {"given": "conditioning_set", "spent": "budget_used", "reason": "code"}
    return {"numbers": {}} | {names.get(name, name): value for name, value in step.items()}


def _named(result: RunResult, pairs: Iterable[tuple[int, int]]) -> list[list[str]]:
    """Return pairs of columns by name."""
    named = (frozenset((result.names[i], result.names[j])) for i, j in pairs)
    return [list(pair) for pair in unordered(named)]


def _known(result: RunResult) -> dict[str, Any]:
    """Return the background knowledge, the directions that it fixes, and their scores."""
    assert result.knowledge is not None
    assert result.known is not None
    turned, links = result.known.fixed(result.matrix)
    return {
        **result.knowledge.to_json(),
        "fixed": {"edges": links, "directions": turned},
        "alone": plain(result.knowledge_alone),
    }


def algorithm_dict(algorithm: Algorithm) -> dict[str, Any]:
    """Return one registered algorithm with the declarations of all its parameters."""
    said = ("key", "title", "family", "private", "reference", "summary")
    parameters = {"parameters": plain(algorithm.params.specs())}
    return {name: getattr(algorithm, name) for name in said} | parameters
