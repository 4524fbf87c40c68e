"""``engine run | algorithms | warm``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

from engine.algorithm import Algorithm
from engine.cli.flags import (
    USUAL,
    Parser,
    add_dataset_flags,
    add_json_flag,
    add_knowledge_flag,
    add_parameter_flags,
    add_run_flags,
    chosen_algorithms,
    dataset,
    requested,
)
from engine.cli.interrupts import INTERRUPTED, interruptible, watched
from engine.data.networks import load_dataset
from engine.errors import InputError
from engine.graphs.cpdag import digraph_of
from engine.graphs.weighed_colliders import SHOWN
from engine.percent import count, number, percent
from engine.registry import ALGORITHMS, algorithm
from engine.result import RunResult
from engine.runner import run
from engine.serialise import algorithm_dict, result_dict
from engine.studies.detectability import Shape, unworkable
from engine.words.run import CLAIMED, proven_name, stated


def run_command(argv: Sequence[str]) -> int:
    """Run one algorithm on one dataset; print a summary, or every field with --json."""
    (key,), specs = chosen_algorithms("engine run", argv)
    chosen = algorithm(key)
    parser = Parser(
        description=chosen.summary,
        example="run --csv table.csv --schema schema.json --algorithm marginal_pc --epsilon 1",
    )
    add_dataset_flags(parser)
    parser.add_argument("--algorithm", help=USUAL)
    add_run_flags(parser)
    add_knowledge_flag(parser, ready=True)
    add_parameter_flags(parser, specs)
    args = parser.parse_args(argv)
    data = dataset(args)  # nothing to keep if reading is interrupted
    request = requested(args, key, specs, data)
    for bad in unworkable([key], [Shape.of(data)], request.params):
        print(bad, file=sys.stderr)
    # If standard error is not a terminal, a script may read it, so no progress is printed.
    with (watched if sys.stderr.isatty() else interruptible)() as monitor:
        result = request.run(data, **monitor.options)
    print(json.dumps(result_dict(result)) if args.json else summary(result))
    if result.status == "cancelled":
        print("Cancelled. Partial result above.", file=sys.stderr)
        return INTERRUPTED
    return 0


def summary(result: RunResult) -> str:
    """Summarise a run in a few lines for the terminal."""
    lines = [f"{ALGORITHMS[result.algorithm].title} on {result.dataset}: {result.status}"]
    arcs = set(digraph_of(result.displayed_cpdag, result.names).edges)
    for a, b in sorted(arcs):
        if (b, a) not in arcs or a < b:
            lines.append(f"  {a} {'--' if (b, a) in arcs else '->'} {b}")
    if result.low_confidence:
        lines.append(
            f"  {count(len(result.low_confidence), 'undirected edge')} (--) "
            f"with direction confidence below {percent(SHOWN)}"
        )
    if result.diagnostics.chosen:
        lines.append(f"  {result.diagnostics.chosen}")
    lines.extend(_known(result))
    lines.extend(_scores(result))
    clock = f", {result.seconds:.3f} s" if result.public else ""
    lines.append(f"{result.ci_tests} tests{clock}")
    lines.extend(epsilons(result))
    lines.append(str(result.summary()))
    return "\n".join(lines)


def _known(result: RunResult) -> list[str]:
    """Say how many directions background knowledge fixes; empty without knowledge."""
    if result.known is None:
        return []
    turned, links = result.known.fixed(result.matrix)
    alone = result.knowledge_alone
    said = "" if alone is None else f"; directed F1 with only those {alone.directed_f1:.3f}"
    return [f"background knowledge fixes {turned} of {count(links, 'direction')}{said}"]


def _scores(result: RunResult) -> list[str]:
    """Compare with the ground truth: fully tested edges, then also partly tested pairs, if any."""
    said = [("", result.metrics_tested)]
    if result.untested:
        said.append(("counting partly tested pairs as edges: ", result.metrics_all))
    return [
        f"{which}skeleton F1 {m.skeleton_f1:.3f}, precision "
        f"{'–' if m.precision is None else format(m.precision, '.3f')}, "
        f"recall {m.recall:.3f}, directed F1 {m.directed_f1:.3f}, SHD {m.shd}"
        for which, m in said
        if m is not None
    ]


def epsilons(result: RunResult) -> list[str]:
    """Return each ε of a private run with its name, one per line."""
    if not ALGORITHMS[result.algorithm].private:
        return []
    known = [(proven_name(result.ledger), result.proven)]
    if result.claimed is not None:
        known.insert(0, (CLAIMED, result.claimed))
    return [f"{stated(name, g.epsilon)}, δ = {number(g.delta)}" for name, g in known]


def algorithms_command(argv: Sequence[str]) -> None:
    """List every algorithm; with --json, also parameters, defaults and bounds."""
    parser = Parser(
        description="List every algorithm; with --json also its parameters.",
        example="algorithms",
    )
    add_json_flag(parser, "print parameters, defaults and bounds as JSON")
    if parser.parse_args(argv).json:
        print(json.dumps([algorithm_dict(a) for a in ALGORITHMS.values()]))
        return
    for a in ALGORITHMS.values():
        print(f"{a.key:16} {a.title}: {a.summary}")


def warm_command(argv: Sequence[str]) -> int:
    """Compile every counting loop once, so that later runs need not wait."""
    parser = Parser(
        description="Compile every counting loop once, into numba's cache on disk.", example="warm"
    )
    parser.parse_args(argv)
    networks, pairs = load_dataset("asia", n=300), load_dataset("pair:cubic:uniform", n=200)
    # the compiler cannot be interrupted, so a stop waits for the next kernel
    with interruptible() as monitor:
        for key, chosen in ALGORITHMS.items():
            small = pairs if chosen.columns == pairs.d else networks
            for options in _kernels(chosen):
                if monitor.stopped():
                    return INTERRUPTED
                with suppress(InputError):  # invalid combinations need no kernel
                    run(key, small, trace=False, **options)
        if monitor.stopped():
            return INTERRUPTED
        # With many columns, all pairs are counted together and samples are drawn row by row.
        run("priv_pc", load_dataset("win95pts", n=200), trace=False, max_order=0)
    return 0


def _kernels(chosen: Algorithm) -> Iterator[dict[str, Any]]:
    """Yield every choice that may need different kernels: guarantee, form, statistic, score."""
    choices = {s.name: [v for v in s.choices if v != "auto"] for s in chosen.params.specs()}
    names = [name for name in ("guarantee", "form", "statistic", "score") if name in choices]
    for chosen_values in product(*(choices[name] for name in names)):
        yield dict(zip(names, chosen_values, strict=True))
