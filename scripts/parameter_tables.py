"""The parameters in docs/algorithms: python -m scripts.parameter_tables [--write].

They are written from the algorithms' declarations; a test compares the pages with them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from engine import ALGORITHMS
from engine.params import Spec

PAGES = Path(__file__).resolve().parent.parent / "docs" / "algorithms"


def values(spec: Spec) -> str:
    """What a parameter may be, in a few words."""
    if spec.choices:
        return ", ".join(f"`{choice}`" for choice in spec.choices)
    words = [f"`{word}`" for word in spec.words]
    if spec.kind in ("int", "float"):
        low = "" if spec.low is None else f"{'above' if spec.open_low else 'from'} {spec.low:g}"
        high = "" if spec.high is None else f"to {spec.high:g}"
        words.append(" ".join(filter(None, (low, high))) or "a number")
    return ", ".join(words) or {"bool": "true, false"}.get(spec.kind, "text")


def table(key: str) -> str:
    """The parameters of one algorithm as Markdown."""
    lines = ["| parameter | default | values | meaning |", "|---|---|---|---|"]
    for spec in ALGORITHMS[key].params.specs():
        cells = (f"`{spec.name}`", f"`{spec.default}`", values(spec), f"{spec.title}. {spec.help}")
        lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
    return "\n".join(lines)


def written(key: str) -> str:
    """The page of one algorithm with its table as it has to be."""
    text = (PAGES / f"{key}.md").read_text(encoding="utf-8")
    begin, end = f"<!-- parameters {key} -->\n", f"<!-- parameters {key} ends -->"
    return re.sub(f"{begin}.*{end}", lambda _: f"{begin}\n{table(key)}\n\n{end}", text, flags=re.S)


def main(argv: list[str]) -> None:
    """Write the tables, or name the pages whose table is another."""
    for key in ALGORITHMS:
        page, text = PAGES / f"{key}.md", written(key)
        if "--write" in argv:
            page.write_text(text, encoding="utf-8")
        elif page.read_text(encoding="utf-8") != text:
            print(page.name)


if __name__ == "__main__":
    main(sys.argv[1:])
