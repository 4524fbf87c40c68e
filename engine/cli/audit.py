"""``python -m engine audit``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial

from engine.audit.cases import CaseResult, audit, cases, read_results, write_results
from engine.audit.replay import Finding
from engine.cli.flags import Parser, add_json_flag, aligned, at_least
from engine.cli.interrupts import ending, watched
from engine.monitor import Monitor
from engine.release.checking import HALF, attack_release, verdict
from engine.release.door import load

RUNS = 200


def audit_command(argv: Sequence[str]) -> int:
    """Attack the claims; print claimed and measured bounds as a table or JSON."""
    parser = Parser(
        description="Attack the claims with many runs on hard neighbours and with replays.",
        example="audit --release release.json",
    )
    parser.add_argument(
        "--release",
        metavar="FILE",
        help="audit a release file by transcript replay on neighbouring datasets",
    )
    parser.add_argument("--algorithm", help="one algorithm (default: all)")
    parser.add_argument(
        "--runs", type=at_least(4), default=RUNS, help="runs on each of two neighbours"
    )
    parser.add_argument(
        "--out", metavar="FILE", help="the results file: keeps results and reuses existing ones"
    )
    add_json_flag(parser, "print one JSON array")
    args = parser.parse_args(argv)
    if args.release is not None:
        return _attack_release(args.release, args.json)
    results: list[CaseResult] = []
    done = read_results(args.out)
    with watched() as monitor:
        for case in cases(args.algorithm):
            result = done.get(case.key)
            if result is None or result.measured.runs < args.runs:
                if monitor.stopped():
                    continue
                told = partial(_told, monitor, case.key)
                result = audit(case, args.runs, stop=monitor.stop, on_progress=told)
                if args.out and not monitor.stopped():
                    done[case.key] = result
                    write_results(args.out, done.values())
            results.append(result)
    print(json.dumps([one.as_dict() for one in results]) if args.json else table(results))
    return ending(monitor, args.out)


def _told(monitor: Monitor, case: str, share: float | None, phrase: str) -> None:
    monitor.tell(share, f"{case}: {phrase}")


def _attack_release(path: str, as_json: bool) -> int:
    release, _ = load(path)
    with watched() as monitor:
        found = attack_release(release, **monitor.options)
    if as_json:
        record = {"pairs": found.pairs, "faults": list(found.faults), "ratios": dict(found.ratios)}
        print(json.dumps({"refuted": not found.passed, **record}))
    else:
        print("\n".join(attack_words(found)))
    return ending(monitor, None)


def attack_words(found: Finding) -> list[str]:
    """Describe the replay of each measurement of a release, and the verdict."""
    lines = [
        f"{name}: moved by at most {ratio:.4f} of its charge; a charge of half the "
        f"sensitivity would {'' if ratio > HALF else 'NOT '}have been found"
        for name, ratio in found.ratios.items()
    ]
    return [*lines, verdict(found), *found.faults]


def table(results: Sequence[CaseResult]) -> str:
    """Return the table for the terminal."""
    if not results:
        return "No audit finished."
    heads = ("algorithm", "claim", "neighbours", "claimed ε", "measured ε ≥", "replay ≤ 1", "")
    rows = [(*heads, "injected")]
    for one in results:
        replayed = "–" if one.replayed is None else f"{one.replayed.largest:.3f}"
        planted = "" if one.power is None else one.power.words
        bounds = f"{one.measured.claimed:.2f}", f"{one.measured.epsilon:.2f}"
        rows.append((one.algorithm, one.kind, one.pair, *bounds, replayed, one.verdict, planted))
    drawn = aligned(rows)
    note = (
        "measured: 99 % lower bound from runs without a replay. replay: largest change of a "
        "mechanism's exact input over the sensitivity it paid for. injected: the smallest "
        "fault, as a multiple of ε, that the same attack finds in a copy that draws too little "
        "noise. A failed attack proves nothing."
    )
    return "\n".join([*drawn, note])
