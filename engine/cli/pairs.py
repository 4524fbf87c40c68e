"""``engine pairs``: decide which of two columns causes the other."""

from __future__ import annotations

import json
from collections.abc import Sequence

from engine.algorithms.anm import AnmParameters
from engine.cli.flags import Parser, add_parameter_flags, add_run_flags, numbers, values
from engine.data.networks import load_dataset
from engine.data.pairs import read_pair
from engine.errors import InputError
from engine.pairs.decision import Decision
from engine.percent import number
from engine.result import RunResult
from engine.runner import run
from engine.serialise import plain

KEY = "anm"


def pairs_command(argv: Sequence[str]) -> None:
    """Decide which of two columns causes the other; print numbers with --json."""
    specs = AnmParameters.specs()
    parser = Parser(
        description="Decide which of two columns causes the other, with differential privacy.",
        example="pairs --csv pair.csv --bounds=-3,3,-3,12 --epsilon 1",
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--csv", metavar="FILE", help="your own two numeric columns with a header")
    parser.add_argument(
        "--bounds",
        type=low_high,
        metavar="LOW,HIGH,LOW,HIGH",
        help="declared lowest and highest value of each column, which are public: a strict "
        "guarantee needs them; values outside are clipped",
    )
    which.add_argument("--dataset", help="a simulated pair instead, e.g. pair:cubic:uniform")
    parser.add_argument(
        "--n", type=int, default=1_000, help="rows to simulate (default %(default)s)"
    )
    parser.add_argument(
        "--data-seed", type=int, default=0, help="seed of the simulation (default 0)"
    )
    add_run_flags(parser)
    add_parameter_flags(parser, specs)
    args = parser.parse_args(argv)
    asked = values(args, specs)
    if args.csv is not None:
        if args.bounds is None and AnmParameters.build(asked).strict:
            raise InputError(
                "Declare each column's lowest and highest value with --bounds LOW,HIGH,LOW,HIGH: "
                "bounds read from the data would break the strict guarantee."
            )
        data = read_pair(args.csv, args.bounds)
    else:
        data = load_dataset(args.dataset, n=args.n, seed=args.data_seed)
    result = run(KEY, data, seed=args.seed, **asked)
    decision = result.diagnostics
    assert isinstance(decision, Decision)
    if args.json:
        print(json.dumps(decision_dict(result, decision, data.notes)))
    else:
        print(sentence(result, decision))


def low_high(text: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Parse the value of --bounds: low and high of each column."""
    a, b, c, d = numbers(text)
    return (a, b), (c, d)


def decision_dict(result: RunResult, decision: Decision, notes: Sequence[str]) -> dict[str, object]:
    """Return the decision and its cost, JSON-ready."""
    return {
        "direction": decision.direction,
        "scores": list(decision.scores),
        "probability": decision.probability,
        "proven": plain(result.proven),
        "claimed": plain(result.claimed),
        "guarantee": result.params.as_dict()["guarantee"],
        "protects": decision.protects,
        "score": decision.score,
        "release": decision.release,
        "noise_scale": decision.scale,
        "notes": list(notes),
    }


def sentence(result: RunResult, decision: Decision) -> str:
    """Return the decision in plain words."""
    spent = f"ε = {number(result.proven.epsilon)}, δ = {number(result.proven.delta)}"
    if decision.direction is None:
        return f"Nothing was released: the data are too close to a change. Proven {spent}."
    cause, effect = result.names if decision.forward else result.names[::-1]
    return (
        f"If the model holds, {cause} explains {effect}, not the reverse. Noise of this size "
        f"reverses such a decision in {100 * (1 - decision.probability):.0f} of 100 cases. This "
        "counts noise only: on real pairs the model itself is right little more often than a coin "
        f"(research/theory/pairs.md). Proven {spent}."
    )
