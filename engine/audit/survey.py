"""What an audit tries, one line each: mechanisms, algorithms as strict and as published, faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.algorithm import Algorithm
from engine.audit.measure import Measured, trial
from engine.audit.neighbours import Neighbours, all_alike, known, many
from engine.audit.replay import NOTHING, Finding, replay
from engine.audit.toys import FAULTS, MECHANISMS
from engine.errors import InputError
from engine.privacy.budget import PUBLISHED, STRICT
from engine.registry import ALGORITHMS, algorithm

MECHANISM, FAULT = "mechanism", "planted fault"
BATCH = 25  # runs a side between two looks
REPLAYED = 18  # random pairs that are replayed beside the documented ones
EPSILON = 1.0

# Order 0 must keep the pair x, y of the documented strata (its p there is 0.41), or the query that
# leaks is never asked: the largest threshold that published p-values admit, and no coin below it.
KEEPS_THE_PAIR = {"threshold": 0.5, "beta1": 0.0}


@dataclass(frozen=True, eq=False)
class Subject:
    """One line of an audit: what is run, how, and on which two neighbours."""

    kind: str
    algorithm: Algorithm
    pair: Neighbours
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Its name in files."""
        return f"{self.algorithm.key}/{self.kind}/{self.pair.name}"


def subjects(key: str | None = None) -> list[Subject]:
    """Everything there is to audit, or one algorithm; InputError for one that promises nothing."""
    if key is not None and not algorithm(key).private:
        raise InputError(f"{key} reads the data without noise: there is no claim to audit.")
    found = []
    for one in ALGORITHMS.values() if key is None else [algorithm(key)]:
        for guarantee in one.guarantees if one.private else ():
            for pair in known(one.columns):
                values = {"guarantee": guarantee, "epsilon": EPSILON, **_settings(one, guarantee)}
                found.append(Subject(guarantee, one, pair, values))
    if key is None:
        toys = [Subject(MECHANISM, toy, all_alike()) for toy in MECHANISMS.values()]
        faults = [Subject(FAULT, toy, all_alike()) for toy in FAULTS.values()]
        found = toys + found + faults
    return found


def _settings(one: Algorithm, guarantee: str) -> dict[str, Any]:
    names = {spec.name for spec in one.params.specs()}
    if guarantee == PUBLISHED and {"threshold", "score"} <= names:
        return {name: value for name, value in KEEPS_THE_PAIR.items() if name in names}
    return {}


@dataclass(frozen=True)
class Line:
    """What was found about one subject; ``replayed`` for what promises a strict guarantee.

    ``growth`` are the looks on the way: (runs a side, lower bound on epsilon).
    """

    key: str
    algorithm: str
    kind: str
    pair: str
    measured: Measured
    replayed: Finding | None = None
    growth: tuple[tuple[int, float], ...] = ()

    @property
    def verdict(self) -> str:
        """In a few words."""
        caught = self.measured.refuted or (self.replayed is not None and not self.replayed.passed)
        if self.kind == FAULT:
            return "found" if caught else "NOT FOUND"
        if self.kind == PUBLISHED:
            return "claim refuted" if caught else "not refuted by these runs"
        return "REFUTED" if caught else "holds"

    def as_dict(self) -> dict[str, Any]:
        """For JSON; infinity as the string "inf"."""
        m, r = self.measured, self.replayed
        claimed = "inf" if m.claimed == float("inf") else m.claimed
        found: dict[str, Any] = {
            "key": self.key,
            "algorithm": self.algorithm,
            "kind": self.kind,
            "neighbours": self.pair,
            "claimed": {"epsilon": claimed, "delta": m.delta},
            "measured": {"epsilon": m.epsilon, "runs": m.runs, "counted": m.counted},
            "hits": list(m.hits),
            "growth": [list(look) for look in self.growth],
            "replay": None,
            "verdict": self.verdict,
        }
        if r is not None:
            found["replay"] = {
                "pairs": r.pairs,
                "change_over_sensitivity": dict(r.ratios),
                "faults": list(r.faults),
            }
        return found


Watch = Callable[[Subject, Measured], None]


def audit(
    subject: Subject,
    runs: int,
    *,
    cancelled: Callable[[], bool] = lambda: False,
    watch: Watch = lambda subject, measured: None,
) -> Line:
    """Audit one subject with so many runs a side; ``watch`` sees the bound as it grows."""
    growing, growth = trial(subject.algorithm, subject.pair, subject.values), []
    while growing.runs < runs and not cancelled():
        growing.extend(min(BATCH, runs - growing.runs), cancelled)
        look = growing.measured()
        growth.append((look.runs, look.epsilon))
        watch(subject, look)
    replayed = replays(subject) if subject.kind != PUBLISHED and not cancelled() else None
    return Line(
        subject.key,
        subject.algorithm.key,
        subject.kind,
        subject.pair.name,
        growing.measured(),
        replayed,
        tuple(growth),
    )


def replays(subject: Subject) -> Finding:
    """Replays on the subject's pair, and for an algorithm on random ones too."""
    params = subject.algorithm.params.build(subject.values)
    pairs = [subject.pair] * 3
    if subject.kind == STRICT:
        one = subject.algorithm
        pairs += many(1, REPLAYED, columns=one.columns, least=one.min_rows)
    found = NOTHING
    for seed, pair in enumerate(pairs):
        found += replay(subject.algorithm, pair, params, seed)
    return found


def survey(
    chosen: list[Subject],
    runs: int,
    *,
    done: Mapping[str, Line] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    watch: Watch = lambda subject, measured: None,
) -> Iterator[Line]:
    """Audit the subjects one after the other; what is ``done`` with as many runs is passed on."""
    for subject in chosen:
        before = (done or {}).get(subject.key)
        if before is not None and before.measured.runs >= runs:
            yield before
        elif not cancelled():
            yield audit(subject, runs, cancelled=cancelled, watch=watch)
