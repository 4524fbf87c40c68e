"""The answers of every algorithm on a fixed grid: ``python -m scripts.results [--write]``.

Without ``--write`` it computes all runs again and says which differ from the kept file. A change
that should not affect results must give no output here.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from engine import ALGORITHMS, load_dataset, run
from engine.serialise import charge_dict, plain

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "tests" / "known_answer" / "results.jsonl"
# A sum's last digit depends on the widest instructions that a processor has, and after a thousand
# gradients the graph depends on it. Every x86-64 processor has these.
SAME_EVERYWHERE = {
    "OPENBLAS_CORETYPE": "Nehalem",
    "OPENBLAS_NUM_THREADS": "1",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
}
CHILD = "--answers"
DATA = (("cancer", 20_000), ("survey", 20_000), ("asia", 20_000))
PAIRS = (("pair:cubic:uniform", 2_000), ("pair:sine:laplace", 2_000))
EPSILONS, SEEDS = (0.1, 1.0, 10.0), (0, 1)

Line = dict[str, Any]


def grid() -> Iterator[Line]:
    """Yield the question of each line of the file: algorithm, dataset, n, seed, values."""
    for key, algorithm in ALGORITHMS.items():
        if algorithm.chooses:
            continue
        for guarantee in algorithm.guarantees or (None,):
            said = {} if guarantee is None else {"guarantee": guarantee}
            for name, n in PAIRS if algorithm.columns == 2 else DATA:
                for epsilon in EPSILONS if algorithm.private else (None,):
                    values = said if epsilon is None else {**said, "epsilon": epsilon}
                    for seed in SEEDS:
                        yield ask(key, name, n, seed, values)


def ask(key: str, name: str, n: int, seed: int, values: Line) -> Line:
    """Return one line's question."""
    return {"algorithm": key, "dataset": name, "n": n, "seed": seed, "values": values}


def answer(question: Line) -> Line:
    """Return the question with the run's answer; the ledger and the trace as digests."""
    data = load_dataset(question["dataset"], n=question["n"], seed=0)
    result = run(question["algorithm"], data, seed=question["seed"], **question["values"])
    ledger = [charge_dict(charge) for charge in result.ledger]
    steps = [
        [s.kind, s.order, s.x, s.y, s.conditioning_set, plain(s.value), plain(s.threshold)]
        for s in result.steps
    ]
    return question | {
        "edges": sorted([a, b] for a, b in result.cpdag.edges),
        "tests": list(result.ci_tests_by_order),
        "spent": plain(result.proven),
        "claimed": plain(result.claimed),
        "status": result.status,
        "charges": len(ledger),
        "ledger": digest(ledger),
        "steps": digest(steps),
    }


def answers(questions: Sequence[Line]) -> list[Line]:
    """Return the answers of runs in a process that rounds as every x86-64 processor can."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "scripts.results", CHILD],
        cwd=ROOT,
        env=os.environ | SAME_EVERYWHERE,
        input=json.dumps(list(questions)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def digest(content: Any) -> str:
    """Return sixteen hexadecimal digits of the content's JSON, with numbers to ten digits."""
    return hashlib.sha256(json.dumps(rounded(content)).encode()).hexdigest()[:16]


def rounded(content: Any) -> Any:
    """Return the content with its numbers to ten digits, which no compiler's rounding changes."""
    if isinstance(content, float):
        return f"{content:.10g}"
    if isinstance(content, dict):
        return {k: rounded(v) for k, v in content.items()}
    return [rounded(v) for v in content] if isinstance(content, list | tuple) else content


def kept() -> list[Line]:
    """Return the lines of the kept file."""
    return [json.loads(line) for line in KEPT.read_text(encoding="utf-8").splitlines()]


def main(argv: list[str]) -> int:
    """Write the file, or compare; Return 1 if a line differs."""
    if CHILD in argv:
        for question in json.load(sys.stdin):
            print(json.dumps(answer(question)), flush=True)
        return 0
    lines = answers(list(grid()))
    if "--write" in argv:
        KEPT.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return 0
    old = {json.dumps([line[k] for k in ask("", "", 0, 0, {})]): line for line in kept()}
    differ = 0
    for line in lines:
        before = old.get(json.dumps([line[k] for k in ask("", "", 0, 0, {})]))
        if before is not None and before != line:
            differ += 1
            print(line["algorithm"], line["dataset"], line["seed"], line["values"])
    print(f"{len(lines)} runs, {differ} differ from the kept ones.")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
