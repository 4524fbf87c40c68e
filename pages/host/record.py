"""What the server counts and logs of its work: nothing of data that are a person's own.

Of own data neither their size nor how long something took, how it ended or what it said is told:
each of these follows from the rows.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from threading import Lock

from pages.host import bounds

_LOG = logging.getLogger("dp_causal_explorer")
_LOCK = Lock()
_COUNTS: Counter[tuple[str, tuple[tuple[str, str], ...]]] = Counter()
_GAUGES: dict[str, tuple[str, Callable[[], float]]] = {}
_HELP = {
    "dpce_runs_total": "Runs that ended, by algorithm and kind of data.",
    "dpce_releases_total": "Releases that were asked for, by whether they were charged and made.",
    "dpce_refused_total": "Requests that the gate refused, by reason.",
}


def listen() -> None:
    """Write log lines to standard error, one an event; called once by the server."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    _LOG.addHandler(handler)
    _LOG.setLevel(logging.INFO)
    _LOG.propagate = False


def run(algorithm: str, *, public: Mapping[str, object] | None) -> None:
    """A run has ended; ``public`` says more of it where its data are public, None otherwise."""
    count("dpce_runs_total", algorithm=algorithm, data="own" if public is None else "public")
    _say("run", {"algorithm": algorithm, **({"data": "own"} if public is None else public)})


def release(algorithm: str, *, charged: bool, made: bool) -> None:
    """A release has ended: whether it was paid for and whether there is a file."""
    words = {"charged": _yes(charged), "made": _yes(made)}
    count("dpce_releases_total", **words)
    _say("release", {"algorithm": algorithm, **words})


def count(name: str, **labels: str) -> None:
    """Add one to a counter."""
    with _LOCK:
        _COUNTS[name, tuple(sorted(labels.items()))] += 1


def gauge(name: str, about: str, read: Callable[[], float]) -> None:
    """Let a number be read whenever somebody asks for the metrics."""
    _GAUGES[name] = about, read


def metrics() -> str:
    """Everything in the Prometheus text format, version 0.0.4."""
    with _LOCK:
        counts = dict(_COUNTS)
    lines = []
    for name, about in _HELP.items():
        lines += [f"# HELP {name} {about}", f"# TYPE {name} counter"]
        for (of, labels), value in sorted(counts.items()):
            if of == name:
                named = ",".join(f'{k}="{v}"' for k, v in labels)
                lines.append(f"{name}{{{named}}} {value}")
    for name, (about, read) in sorted(_GAUGES.items()):
        lines += [f"# HELP {name} {about}", f"# TYPE {name} gauge", f"{name} {read():g}"]
    return "\n".join([*lines, ""])


def _say(what: str, words: Mapping[str, object]) -> None:
    _LOG.info(" ".join([what, *(f"{name}={value}" for name, value in words.items())]))


def _yes(value: bool) -> str:
    return "yes" if value else "no"


gauge("dpce_resident_bytes", "Memory of the server's own process.", bounds.resident)
