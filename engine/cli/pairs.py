"""``python -m engine pairs``: which of two columns causes the other."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from engine.algorithms.anm import AnmParameters
from engine.cli.flags import Parser, add_parameter_flags, add_run_flags, parts, values
from engine.data.networks import load_dataset
from engine.data.pairs import read_pair
from engine.errors import InputError
from engine.pairs.decision import Decision
from engine.result import RunResult
from engine.runner import run
from engine.serialise import plain

KEY = "anm"


def pairs_command(argv: Sequence[str]) -> None:
    """Say which of two columns causes the other; with --json the numbers."""
    specs = AnmParameters.specs()
    parser = Parser(
        description="Which of two columns causes the other, with differential privacy.",
        example="pairs --csv pair.csv --bounds=-3,3,-3,12 --epsilon 1",
    )
    parser.add_argument("--csv", metavar="FILE", help="your own two numeric columns with a header")
    parser.add_argument(
        "--bounds",
        metavar="LOW,HIGH,LOW,HIGH",
        help="lowest and highest value of each column, as public facts: a strict guarantee needs "
        "them; values outside are cut off",
    )
    parser.add_argument("--dataset", help="a simulated pair in its place, e.g. pair:cubic:uniform")
    parser.add_argument("--n", type=int, default=1_000, help="rows to simulate")
    parser.add_argument("--data-seed", type=int, default=0, help="seed of the simulation")
    add_run_flags(parser)
    add_parameter_flags(parser, specs)
    args = parser.parse_args(argv)
    if (args.csv is None) == (args.dataset is None):
        raise InputError("Give either --csv FILE or --dataset pair:MECHANISM:NOISE.")
    if args.csv is not None:
        _refuse_unstated(args.bounds, values(args, specs))
        data = read_pair(args.csv, _bounds(args.bounds))
    else:
        data = load_dataset(args.dataset, n=args.n, seed=args.data_seed)
    result = run(KEY, data, seed=args.seed, **values(args, specs))
    decision = result.diagnostics
    assert isinstance(decision, Decision)
    if args.json:
        print(json.dumps(decision_dict(result, decision, data.notes)))
    else:
        print(sentence(result, decision))


def _refuse_unstated(bounds: str | None, given: Mapping[str, Any]) -> None:
    """InputError where a strict release would rest on bounds that are read from the data."""
    if bounds is None and AnmParameters.build(given).strict:
        raise InputError(
            "State each column's lowest and highest value with --bounds LOW,HIGH,LOW,HIGH: bounds "
            "read from the data would break the strict guarantee."
        )


def _bounds(text: str | None) -> tuple[tuple[float, float], tuple[float, float]] | None:
    if text is None:
        return None
    try:
        a, b, c, d = map(float, parts(text, "--bounds"))
    except ValueError:
        raise InputError(
            f"--bounds takes four numbers, low,high of either column; {text!r} is not that."
        ) from None
    return (a, b), (c, d)


def decision_dict(result: RunResult, decision: Decision, notes: Sequence[str]) -> dict[str, object]:
    """The decision and what it cost, JSON-ready."""
    return {
        "direction": decision.direction,
        "scores": list(decision.scores),
        "probability": decision.probability,
        "spent": plain(result.spent),
        "claimed": plain(result.claimed),
        "guarantee": result.params.as_dict()["guarantee"],
        "protects": decision.protects,
        "score": decision.score,
        "release": decision.release,
        "noise_scale": decision.scale,
        "notes": list(notes),
    }


def sentence(result: RunResult, decision: Decision) -> str:
    """The decision in plain words."""
    spent = f"epsilon {result.spent.epsilon:.4g}, delta {result.spent.delta:.3g}"
    if decision.direction is None:
        return f"Nothing was released: the data are too close to a change. Spent: {spent}."
    cause, effect = result.names if decision.forward else result.names[::-1]
    return (
        f"If the model holds, {cause} explains {effect} rather than the other way round; noise of "
        f"this size turns such a decision in {100 * (1 - decision.probability):.0f} of 100 cases. "
        "That counts noise, not truth: on real pairs the model itself is right little more often "
        f"than a coin (docs/explanation/pairs.md). Spent: {spent}."
    )
