"""The loss by the test and its bounded form without noise: python -m scripts.form_costs [--write].

One line per bundled network: the true and false links that PC finds without noise, with
the best test (G2), and with both rank tests as published and in the form of bounded change by one
record. ``--write`` puts the table into research/theory/privacy_proofs.md; it takes minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engine import load_dataset, run
from engine.data.networks import NETWORKS

DOC = Path(__file__).resolve().parent.parent / "research" / "theory" / "privacy_proofs.md"
START, END = "<!-- python -m scripts.form_costs --write -->\n", "<!-- end -->\n"
ROWS = 100_000
ORDERS = {"hailfinder": 3}  # the largest order: with 'auto' G2 would take hours
FORMS: dict[str, dict[str, Any]] = {
    "G²": {"statistic": "g2"},
    "Kendall, published": {"statistic": "kendall", "variant": "published"},
    "Kendall, strict": {"statistic": "kendall", "variant": "strict"},
    "Spearman, published": {"statistic": "spearman", "variant": "published"},
    "Spearman, strict": {"statistic": "spearman", "variant": "strict"},
}


def line(network: str) -> str:
    """Return the network's row of the table."""
    data = load_dataset(network, n=ROWS, seed=0)
    order = ORDERS.get(network, "auto")
    runs = [run("pc", data, trace=False, max_order=order, **form) for form in FORMS.values()]
    found = [r.counts for r in runs if r.counts is not None]
    cells = [network, f"{found[0].true}", *(f"{c.found} + {c.false_positives}" for c in found)]
    return f"| {' | '.join(cells)} |"


def table(networks: Iterable[str]) -> str:
    """Return the whole table as Markdown."""
    head = ["network", "true links", *FORMS]
    rule = ["---"] * len(head)
    lines = [f"| {' | '.join(cells)} |" for cells in (head, rule)]
    return "\n".join([*lines, *map(line, networks), ""])


def main(argv: list[str]) -> None:
    """Print the table, or write it into the document."""
    made = table(NETWORKS)
    if "--write" not in argv:
        print(made, end="")
        return
    before, rest = DOC.read_text(encoding="utf-8").split(START)
    DOC.write_text(f"{before}{START}{made}{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
