"""``engine scene``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from engine.cli.flags import Parser, at_least, parts
from engine.cli.interrupts import ending, watched
from engine.data.networks import load_dataset
from engine.release.places import check_place
from engine.studies.scenes import ALGORITHMS, COARSE, DRAWS, EPSILONS, make_scene


def scene_command(argv: Sequence[str]) -> int:
    """Write all repetitions on one dataset to the file that the opening page draws."""
    parser = Parser(
        description="Run some algorithms at forty values of epsilon, many times each, and write "
        "the result for every pair of columns.",
        example="scene --dataset cancer --n 2000 --algorithm marginal_pc --draws 1 "
        "--out cancer.json",
    )
    parser.add_argument("--dataset", required=True, help="a bundled network")
    parser.add_argument("--n", type=int, default=100_000, help="rows")
    parser.add_argument("--algorithm", default=",".join(ALGORITHMS), help="with commas")
    parser.add_argument("--draws", type=at_least(1), default=DRAWS, help="draws at each epsilon")
    parser.add_argument("--coarse", action="store_true", help="only twelve values of epsilon")
    parser.add_argument("--out", required=True, metavar="FILE", help="the file to write")
    args = parser.parse_args(argv)
    check_place(out := Path(args.out))
    keys, epsilons = parts(args.algorithm, "--algorithm"), COARSE if args.coarse else EPSILONS
    data = load_dataset(args.dataset, n=args.n)
    with watched() as monitor:
        scene = make_scene(data, keys, epsilons, args.draws, **monitor.options)
    if scene is not None:
        out.write_text(json.dumps(scene) + "\n", encoding="utf-8")
    return ending(monitor, None)
