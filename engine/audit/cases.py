"""The cases of an audit: every private algorithm, strict and published."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.algorithm import Algorithm
from engine.audit.instrumented import noise_faults
from engine.audit.measure import Measured, Trial
from engine.audit.neighbours import Neighbours, extremes, many
from engine.audit.replay import NOTHING, Finding, replay, transcript
from engine.errors import InputError
from engine.monitor import QUIET, Monitor, OnProgress, Stop, renamed
from engine.params import Parameters
from engine.privacy.budget import PUBLISHED
from engine.registry import ALGORITHMS, algorithm

BATCH = 25  # runs per side between two checks
PLANTED = (2, 8)  # factors by which injected faults exceed the epsilon, tried in turn
REPLAYED = 18  # random pairs to replay in addition to the documented ones

# Order 0 must keep the pair x, y of the documented strata (its p there is 0.41), otherwise the
# leaking query is never made. These are the largest threshold for published p-values, and no coin
# below it.
KEEPS_THE_PAIR = {"threshold": 0.5, "beta1": 0.0}


@dataclass(frozen=True, eq=False)
class Case:
    """One case of an audit: the algorithm, its settings and the two neighbours."""

    kind: str
    algorithm: Algorithm
    pair: Neighbours
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The case's name in files."""
        return f"{self.algorithm.key}/{self.kind}/{self.pair.name}"

    @property
    def params(self) -> Parameters:
        """The validated parameters."""
        return self.algorithm.params.build(self.values)

    def trial(self, share: float = 1.0) -> Trial:
        """Return its trial before any run; ``share`` below 1 injects a fault."""
        return Trial(self.algorithm, self.params, self.pair, share=share)


def cases(key: str | None = None) -> list[Case]:
    """Return all cases, or those of one algorithm, or raise InputError if it has no guarantee."""
    if key is not None and not algorithm(key).private:
        raise InputError(f"{key} reads the data without noise: there is no claim to audit.")
    every = [one for one in ALGORITHMS.values() if one.private and not one.chooses]
    return [
        Case(kind, one, pair, {"guarantee": kind, "epsilon": 1.0, **_settings(one, kind)})
        for one in (every if key is None else [algorithm(key)])
        for kind in one.guarantees
        for pair in extremes(one.columns)
    ]


def _settings(one: Algorithm, guarantee: str) -> dict[str, Any]:
    names = {spec.name for spec in one.params.specs()}
    if guarantee == PUBLISHED and {"threshold", "score"} <= names:
        return {name: value for name, value in KEEPS_THE_PAIR.items() if name in names}
    return {}


@dataclass(frozen=True)
class Power:
    """The power of an attack: how many of the faults injected into the algorithm it finds.

    ``tried`` has (k, lower bound on epsilon) for mechanisms that drew 1/k of their noise, with as
    many runs, up to the first k with a bound above the claim. ``replay`` says whether the replays
    detect half of the noise and a charge for half of the sensitivity. ``claimed`` is the claim.
    """

    claimed: float
    tried: tuple[tuple[int, float], ...]
    replay: bool

    @property
    def runs(self) -> int | None:
        """The smallest k found by runs, or None if there is no such k."""
        return next((k for k, bound in self.tried if bound > self.claimed), None)

    @property
    def twice(self) -> bool:
        """True if runs or replays find a fault that doubles the epsilon."""
        return self.replay or self.runs == PLANTED[0]

    @property
    def words(self) -> str:
        """The faults found by replays and by runs, in words."""
        by_runs = "runs: none" if self.runs is None else f"runs: {self.runs} × ε"
        return f"replay: {'2 × ε' if self.replay else 'none'}; {by_runs}"


@dataclass(frozen=True)
class CaseResult:
    """The findings about one case; ``replayed`` is set if the run has a strict guarantee.

    ``growth`` has the intermediate results: (runs per side, lower bound on epsilon).
    """

    algorithm: str
    kind: str
    pair: str
    measured: Measured
    replayed: Finding | None = None
    growth: tuple[tuple[int, float], ...] = ()
    power: Power | None = None

    @property
    def key(self) -> str:
        """The key of the case."""
        return f"{self.algorithm}/{self.kind}/{self.pair}"

    @property
    def refuted(self) -> bool:
        """True if the runs or the replays refute the claim."""
        return self.measured.refuted or (self.replayed is not None and not self.replayed.passed)

    @property
    def verdict(self) -> str:
        """The result in a few words."""
        if self.kind == PUBLISHED:
            return "claim refuted" if self.refuted else "not refuted by these runs"
        if self.refuted:
            return "REFUTED"
        weak = self.power is not None and not self.power.twice
        return "not refuted, without power" if weak else "not refuted"

    def as_dict(self) -> dict[str, Any]:
        """Return the fields for JSON, with infinity as the string "inf"."""
        m, r, p = self.measured, self.replayed, self.power
        epsilon = "inf" if m.claimed == math.inf else m.claimed
        return {
            "key": self.key,
            "algorithm": self.algorithm,
            "kind": self.kind,
            "neighbours": self.pair,
            "claimed": {"epsilon": epsilon, "delta": m.delta},
            "measured": {"epsilon": m.epsilon, "runs": m.runs, "counted": m.counted},
            "hits": list(m.hits),
            "growth": [list(look) for look in self.growth],
            "replay": r
            and {
                "pairs": r.pairs,
                "change_over_sensitivity": dict(r.ratios),
                "faults": list(r.faults),
            },
            "power": p and {"replay": p.replay, "tried": [list(one) for one in p.tried]},
            "verdict": self.verdict,
        }


def from_dict(entry: Any) -> CaseResult:
    """Read a result written by :meth:`CaseResult.as_dict`; ValueError for anything else."""
    claimed, m, r, p = (entry[name] for name in ("claimed", "measured", "replay", "power"))
    epsilon, delta = float(claimed["epsilon"]), float(claimed["delta"])
    bound, runs, counted = float(m["epsilon"]), int(m["runs"]), int(m["counted"])
    hits = int(entry["hits"][0]), int(entry["hits"][1])
    ratios, faults = (r["change_over_sensitivity"], tuple(map(str, r["faults"]))) if r else ({}, ())
    result = CaseResult(
        str(entry["algorithm"]),
        str(entry["kind"]),
        str(entry["neighbours"]),
        Measured(bound, delta, epsilon, runs, counted, hits),
        r and Finding({k: float(v) for k, v in ratios.items()}, faults, int(r["pairs"])),
        tuple((int(n), float(value)) for n, value in entry["growth"]),
        p and Power(epsilon, tuple((int(k), float(v)) for k, v in p["tried"]), bool(p["replay"])),
    )
    if result.as_dict() != entry:
        raise ValueError(entry)
    return result


def read_results(path: str | None) -> dict[str, CaseResult]:
    """Read the results of an earlier audit by key; InputError for any other file content."""
    if path is None or not Path(path).exists():
        return {}
    try:
        found = [from_dict(entry) for entry in json.loads(Path(path).read_text(encoding="utf-8"))]
    except Exception:  # malformed content can raise any error
        raise InputError(f"{path} is not a file of an audit: give --out another name.") from None
    return {one.key: one for one in found}


def write_results(path: str, results: Iterable[CaseResult]) -> None:
    """Replace the whole file, so that a crash leaves the previous one."""
    fresh = Path(f"{path}.new")
    try:
        fresh.write_text(json.dumps([one.as_dict() for one in results], indent=1), encoding="utf-8")
        os.replace(fresh, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from None


@renamed(cancelled="stop", watch="on_look")
def audit(
    case: Case,
    runs: int,
    *,
    stop: Stop | None = None,
    on_progress: OnProgress | None = None,
    on_look: Callable[[Measured], object] = lambda measured: None,
) -> CaseResult:
    """Audit one case with ``runs`` runs per side; ``on_look`` is called as the bound grows.

    A strict claim is attacked a second time, with injected faults.
    """
    monitor, growing, growth = Monitor(on_progress, stop), case.trial(), []
    while growing.runs < runs and not monitor.stopped():
        growing.extend(min(BATCH, runs - growing.runs), monitor)
        look = growing.measured()
        growth.append((look.runs, look.epsilon))
        on_look(look)
        phrase = f"{look.runs:,} of {runs:,} runs on each side, ε ≥ {look.epsilon:.2f}"
        monitor.tell(look.runs / runs, phrase)
    measured, names = growing.measured(), (case.algorithm.key, case.kind, case.pair.name)
    if case.kind == PUBLISHED or monitor.stopped():
        return CaseResult(*names, measured, growth=tuple(growth))
    replayed = replays(case)
    power = power_of(case, measured, replayed, monitor)
    return CaseResult(*names, measured, replayed, tuple(growth), power)


def power_of(
    case: Case,
    measured: Measured,
    replayed: Finding,
    monitor: Monitor = QUIET,
) -> Power:
    """Repeat the attack on the same algorithm with too little noise."""
    faint = transcript(case.algorithm, case.pair.data, case.params, seed=0, share=0.5)
    sees = bool(noise_faults(faint.answers, faint.ledger))
    tried: list[tuple[int, float]] = []
    for times in PLANTED:
        faulty = case.trial(share=1 / times)
        faulty.extend(measured.runs, monitor)
        tried.append((times, faulty.measured().epsilon))
        if tried[-1][1] > measured.claimed or monitor.stopped():
            break
    return Power(measured.claimed, tuple(tried), sees and 2 * replayed.largest > 1)


def replays(case: Case) -> Finding:
    """Replay on the case's pair and on random pairs."""
    one, params, found = case.algorithm, case.params, NOTHING
    pairs = [*[case.pair] * 3, *many(1, REPLAYED, columns=one.columns, least=one.min_rows)]
    for seed, pair in enumerate(pairs):
        found += replay(one, pair, params, seed)
    return found
