"""Command line: ``python -m engine run | sweep | reproduce | algorithms | warm``.

Every algorithm's flags come from its parameter declaration. Bad input ends with exit status 2 and
one line on standard error.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from engine import ALGORITHMS, InputError, RunResult, load_dataset, read_csv, run
from engine.data.dataset import Dataset
from engine.data.networks import NETWORKS
from engine.params import Spec
from engine.registry import algorithm
from engine.serialise import algorithm_dict, result_dict


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaint is one line."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message[0].upper()}{message[1:]}; see python -m {self.prog} --help.")


def _dataset_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", help=f"a bundled network: {', '.join(NETWORKS)}")
    parser.add_argument("--n", type=int, default=100_000, help="rows to sample from the network")
    parser.add_argument("--data-seed", type=int, default=0, help="seed of the sample")
    parser.add_argument("--csv", metavar="FILE", help="your own data instead of a network")
    parser.add_argument("--truth", metavar="FILE", help="its true edges: two columns, from and to")


def _dataset(args: argparse.Namespace) -> Dataset:
    if (args.csv is None) == (args.dataset is None):
        raise InputError("Give either --dataset NAME or --csv FILE.")
    if args.csv is not None:
        return read_csv(args.csv, truth=args.truth)
    if args.truth is not None:
        raise InputError("--truth belongs to --csv: a bundled network brings its own true graph.")
    return load_dataset(args.dataset, n=args.n, seed=args.data_seed)


def _spec_flag(parser: argparse.ArgumentParser, spec: Spec) -> None:
    flags = dict.fromkeys((f"--{spec.name}", f"--{spec.name.replace('_', '-')}"))
    what = ", ".join(spec.choices) or spec.bounds() + "".join(f' or "{w}"' for w in spec.words)
    parser.add_argument(
        *flags,
        dest=f"param_{spec.name}",
        metavar=spec.kind.upper(),
        help=f"{spec.help} ({what}; default {spec.default})".replace("%", "%%"),
    )


def _parse_run(argv: Sequence[str]) -> tuple[argparse.Namespace, dict[str, Any]]:
    """Two passes: the algorithm's name first, because it declares the other flags."""
    first = _Parser(add_help=False, allow_abbrev=False)
    first.add_argument("--algorithm", default="priv_pc")
    chosen = algorithm(first.parse_known_args(argv)[0].algorithm)
    parser = _Parser(prog="engine run", description=chosen.summary, allow_abbrev=False)
    _dataset_flags(parser)
    parser.add_argument("--algorithm", default="priv_pc", help=", ".join(ALGORITHMS))
    parser.add_argument("--seed", type=int, default=0, help="seed of every draw of the run")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    specs = chosen.params.specs()
    for spec in specs:
        _spec_flag(parser, spec)
    args = parser.parse_args(argv)
    given = {s.name: getattr(args, f"param_{s.name}") for s in specs}
    return args, {s.name: s.parse(given[s.name]) for s in specs if given[s.name] is not None}


def _run(argv: Sequence[str]) -> None:
    args, values = _parse_run(argv)
    result = run(args.algorithm, _dataset(args), seed=args.seed, **values)
    print(json.dumps(result_dict(result)) if args.json else _summary(result))


def _summary(result: RunResult) -> str:
    """A run in a few lines for the terminal."""
    lines = [f"{ALGORITHMS[result.algorithm].title} on {result.dataset}: {result.status}"]
    directed = set(result.cpdag.edges)
    for a, b in sorted(directed):
        if (b, a) not in directed:
            lines.append(f"  {a} -> {b}")
        elif a < b:
            lines.append(f"  {a} -- {b}")
    if result.metrics is not None:
        m = result.metrics
        lines.append(
            f"skeleton F1 {m.skeleton_f1:.3f}, precision {m.precision:.3f}, recall {m.recall:.3f}, "
            f"directed F1 {m.directed_f1:.3f}, SHD {m.shd}"
        )
    lines.append(f"{result.ci_tests} tests, {result.seconds:.3f} s")
    lines.append(f"defended: epsilon {result.spent.epsilon:.4g}, delta {result.spent.delta:.3g}")
    if result.claimed is not None:
        claimed = result.claimed
        lines.append(f"the paper claims: epsilon {claimed.epsilon:.4g}, delta {claimed.delta:.3g}")
    return "\n".join(lines)


def _algorithms(argv: Sequence[str]) -> None:
    parser = _Parser(prog="engine algorithms", description="Every algorithm and its parameters.")
    parser.add_argument("--json", action="store_true", help="parameters, defaults and bounds too")
    if parser.parse_args(argv).json:
        print(json.dumps([algorithm_dict(a) for a in ALGORITHMS.values()]))
        return
    for a in ALGORITHMS.values():
        print(f"{a.key:16} {a.title}: {a.summary}")


def _warm(argv: Sequence[str]) -> None:
    """Compile every kernel once, so that numba's disk cache spares users the wait."""
    _Parser(prog="engine warm", description="Fill numba's compile cache.").parse_args(argv)
    small = load_dataset("asia", n=2_000)
    for key, chosen in ALGORITHMS.items():
        names = {s.name: s for s in chosen.params.specs()}
        tests = names["statistic"].choices if "statistic" in names else (None,)
        for test in tests:
            values: dict[str, Any] = {} if test is None else {"statistic": test}
            try:
                run(key, small, trace=False, **values)
            except InputError:
                continue  # a combination the algorithm refuses needs no kernel


def _sweep(argv: Sequence[str]) -> int:
    from engine.studies.cli import sweep_command

    return sweep_command(argv)


def _reproduce(argv: Sequence[str]) -> int:
    from engine.studies.cli import reproduce_command

    return reproduce_command(argv)


COMMANDS: dict[str, Callable[[Sequence[str]], int | None]] = {
    "run": _run,
    "algorithms": _algorithms,
    "warm": _warm,
    "sweep": _sweep,
    "reproduce": _reproduce,
}


def main(argv: Sequence[str]) -> int:
    """Run one command; 0, or 2 with one line on standard error."""
    try:
        if not argv or argv[0] not in COMMANDS:
            raise InputError(f"Say what to do: python -m engine {' | '.join(COMMANDS)}.")
        return COMMANDS[argv[0]](argv[1:]) or 0
    except InputError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
