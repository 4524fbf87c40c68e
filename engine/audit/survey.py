"""What an audit tries, one line each: mechanisms, algorithms as strict and as published, faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine.algorithm import Algorithm
from engine.audit.measure import Measured, trial
from engine.audit.neighbours import Neighbours, all_alike, known, many
from engine.audit.replay import NOTHING, Finding, replay, sees_half_the_noise
from engine.audit.toys import FAULTS, MECHANISMS
from engine.errors import InputError
from engine.privacy.budget import PUBLISHED, STRICT
from engine.registry import ALGORITHMS, algorithm

MECHANISM, FAULT = "mechanism", "planted fault"
BATCH = 25  # runs a side between two looks
PLANTED = (2, 8)  # how many times the epsilon planted faults leak, tried in turn
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
    every = [one for one in ALGORITHMS.values() if not one.chooses]
    for one in every if key is None else [algorithm(key)]:
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
class Power:
    """What the same attack finds of faults that are planted in the same algorithm.

    ``tried``: (k, lower bound on epsilon) where mechanisms drew 1/k of their noise, with as many
    runs; up to the first k whose bound is above the claim. ``replay``: whether the replays see half
    of the noise, and a charge of half the sensitivity. The claim is ``claimed``.
    """

    claimed: float
    tried: tuple[tuple[int, float], ...]
    replay: bool

    @property
    def runs(self) -> int | None:
        """The smallest k that the runs alone found; None if none was."""
        return next((k for k, bound in self.tried if bound > self.claimed), None)

    @property
    def twice(self) -> bool:
        """Whether a fault of twice the epsilon is found, by runs or by replays."""
        return self.replay or self.runs == PLANTED[0]

    @property
    def words(self) -> str:
        """Which fault is found by what."""
        by_runs = "runs: none" if self.runs is None else f"runs: {self.runs} × ε"
        return f"replay: {'2 × ε' if self.replay else 'none'}; {by_runs}"


@dataclass(frozen=True)
class Surveyed:
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
    power: Power | None = None

    @property
    def verdict(self) -> str:
        """In a few words."""
        caught = self.measured.refuted or (self.replayed is not None and not self.replayed.passed)
        if self.kind == FAULT:
            return "found" if caught else "NOT FOUND"
        if self.kind == PUBLISHED:
            return "claim refuted" if caught else "not refuted by these runs"
        if caught:
            return "REFUTED"
        weak = self.power is not None and not self.power.twice
        return "not refuted, without power" if weak else "not refuted"

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
            "power": None,
            "verdict": self.verdict,
        }
        if self.power is not None:
            tried = [list(one) for one in self.power.tried]
            found["power"] = {"replay": self.power.replay, "tried": tried}
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
) -> Surveyed:
    """Audit one subject with so many runs a side; ``watch`` sees the bound as it grows.

    What makes a strict claim is attacked a second time with faults planted in it.
    """
    growing, growth = trial(subject.algorithm, subject.pair, subject.values), []
    while growing.runs < runs and not cancelled():
        growing.extend(min(BATCH, runs - growing.runs), cancelled)
        look = growing.measured()
        growth.append((look.runs, look.epsilon))
        watch(subject, look)
    measured = growing.measured()
    replayed = replays(subject) if subject.kind != PUBLISHED and not cancelled() else None
    power = None
    if subject.kind in {STRICT, MECHANISM} and replayed is not None:
        power = power_of(subject, measured, replayed, cancelled)
    return Surveyed(
        subject.key,
        subject.algorithm.key,
        subject.kind,
        subject.pair.name,
        measured,
        replayed,
        tuple(growth),
        power,
    )


def power_of(
    subject: Subject,
    measured: Measured,
    replayed: Finding,
    cancelled: Callable[[], bool] = lambda: False,
) -> Power:
    """What the same attack says of the same algorithm with too little noise."""
    params = subject.algorithm.params.build(subject.values)
    sees = sees_half_the_noise(subject.algorithm, subject.pair, params, seed=0)
    tried: list[tuple[int, float]] = []
    for times in PLANTED:
        faulty = trial(subject.algorithm, subject.pair, subject.values, share=1 / times)
        faulty.extend(measured.runs, cancelled)
        tried.append((times, faulty.measured().epsilon))
        if tried[-1][1] > measured.claimed or cancelled():
            break
    return Power(measured.claimed, tuple(tried), sees and 2 * replayed.largest > 1)


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
    done: Mapping[str, Surveyed] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    watch: Watch = lambda subject, measured: None,
) -> Iterator[Surveyed]:
    """Audit the subjects one after the other; what is ``done`` with as many runs is passed on."""
    for subject in chosen:
        before = (done or {}).get(subject.key)
        if before is not None and before.measured.runs >= runs:
            yield _with_power(subject, before, cancelled)
        elif not cancelled():
            yield audit(subject, runs, cancelled=cancelled, watch=watch)


def _with_power(subject: Subject, line: Surveyed, cancelled: Callable[[], bool]) -> Surveyed:
    """A finished line; where its power is not known yet, that is found out too."""
    if line.power is not None or line.replayed is None or subject.kind == FAULT:
        return line
    return replace(line, power=power_of(subject, line.measured, line.replayed, cancelled))
