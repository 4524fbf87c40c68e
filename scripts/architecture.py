"""The picture of the layers, from the import contracts in pyproject.toml.

``python -m scripts.architecture`` writes research/pictures/architecture.svg. A package imports
packages in lower rows only; ``make lint`` checks it.
"""

from __future__ import annotations

import re
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "research" / "pictures" / "architecture.svg"
WIDTH, ROW, GAP, LEFT = 960, 30, 6, 280
STYLE = 'font-family="system-ui, sans-serif" font-size="13" fill="#1f2933"'
# The purpose of a row, by its first package.
WORDS = {
    "scene": "one folder a page, none imports another",
    "draw": "graphs, curves, the scene's data",
    "shell": "menu, forms, state, tasks",
    "files": "a person's files; whose server it is",
    "worker": "the process that does long work",
    "__main__": "python -m engine",
    "cli": "flags and subcommands",
    "papers": "the papers reproduced; lessons",
    "studies": "sweeps, forecasts; budgets, releases",
    "audit": "attacks on the claims",
    "serialise": "results as files; scikit-learn's shape",
    "runner": "runs an algorithm",
    "result": "what a run found and cost",
    "summary": "its counts and sentences",
    "registry": "key to algorithm",
    "algorithms": "one file each",
    "effects": "effects from released tables",
    "search": "what several algorithms share",
    "algorithm": "what an algorithm declares",
    "context": "ledger, trace, stop, randomness",
    "statistics": "independence tests",
    "privacy": "mechanisms, ledger; counts; formulas",
    "data": "tables, graphs, parameters, chance",
    "cluster": "Dask; progress and stops",
    "knowledge": "what is known of the causes",
    "errors": "below everything",
}


def layers() -> list[tuple[str, list[str]]]:
    """Return (root package, its packages of one layer) from top to bottom."""
    kept = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = kept["tool"]["importlinter"]["contracts"]
    found = {c["containers"][0]: c["layers"] for c in contracts if c["type"] == "layers"}
    roots = ("pages", "engine")
    return [(root, re.split(r" [|:] ", layer)) for root in roots for layer in found[root]]


def picture() -> str:
    """Return the layers as SVG: one row per layer, packages as boxes, purpose at the left."""
    parts, y = [], GAP
    for root, packages in layers():
        fill = "#dbe7f5" if root == "pages" else "#e6f2e4"
        words = escape(WORDS.get(packages[0], ""))
        parts.append(f'<text x="{LEFT - 10}" y="{y + 20}" text-anchor="end">{words}</text>')
        wide = (WIDTH - LEFT) / len(packages)
        for k, name in enumerate(packages):
            x = LEFT + k * wide
            parts.append(
                f'<rect x="{x:.0f}" y="{y}" width="{wide - GAP:.0f}" height="{ROW}" rx="4" '
                f'fill="{fill}" stroke="#7b8794"/><text x="{x + (wide - GAP) / 2:.0f}" '
                f'y="{y + 20}" text-anchor="middle">{name}</text>'
            )
        y += ROW + GAP
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" {STYLE}>'
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>\n"])


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
