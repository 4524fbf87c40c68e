"""The tables that docs copy from the code: python -m scripts.parameter_tables [--write].

The settings in docs/reference/algorithms.md come from the algorithms' declarations, the public API
in docs/reference/python from docstrings; a test compares the pages with them.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from engine import ALGORITHMS
from engine.params import Spec

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference" / "python"


def values(spec: Spec) -> str:
    """Return the values that a setting may have, in a few words."""
    if spec.choices:
        return ", ".join(f"`{choice}`" for choice in spec.choices)
    words = [f"`{word}`" for word in spec.words]
    if spec.kind in ("int", "float"):
        low = "" if spec.low is None else f"{'above' if spec.open_low else 'from'} {spec.low:g}"
        high = "" if spec.high is None else f"to {spec.high:g}"
        words.append(" ".join(filter(None, (low, high))) or "a number")
    return ", ".join(words) or {"bool": "true, false"}.get(spec.kind, "text")


def table() -> str:
    """Return the settings of all algorithms as Markdown, with one row per meaning of a name."""
    used: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for key, algorithm in ALGORITHMS.items():
        for spec in algorithm.params.specs():
            if spec.choices and len(spec.choices) == 1:
                continue  # nothing to set
            what = (spec.name, values(spec), f"{spec.title}. {spec.help}")
            used.setdefault(what, []).append((key, f"`{spec.default}`"))
    private = [key for (name, *_), users in used.items() if name == "epsilon" for key, _ in users]
    lines = ["| setting | algorithms | default | values | meaning |", "|---|---|---|---|---|"]
    for (name, allowed, meaning), users in sorted(used.items(), key=lambda row: row[0][0]):
        keys, defaults = (list(dict.fromkeys(part)) for part in zip(*users, strict=True))
        who = "all with ε" if keys == private else ", ".join(keys)
        cells = (f"`{name}`", who, " or ".join(defaults), allowed, meaning)
        lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
    return "\n".join(lines)


def api() -> str:
    """Return the Python reference without the theory: pages and first lines of docstrings."""
    lines = ["| name | what it is |", "|---|---|"]
    for page in (REFERENCE / f"{name}.md" for name in ("runs", "data", "release")):
        for name in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.M):
            module, _, last = name.rpartition(".")
            first = inspect.getdoc(getattr(importlib.import_module(module), last)) or ""
            said = first.splitlines()[0].replace("``", "`").replace("|", "&#124;")
            lines.append(f"| [`{last}`]({page.name}#{name}) | {said} |")
    return "\n".join(lines)


def pages() -> Iterator[tuple[Path, str]]:
    """Yield each page with a table, and its text as it has to be."""
    settings = (ROOT / "docs" / "reference" / "algorithms.md", "parameters", table())
    for page, mark, rows in (settings, (REFERENCE / "index.md", "api", api())):
        text = page.read_text(encoding="utf-8")
        head, rest = text.split(f"<!-- {mark} -->\n")
        end = f"<!-- {mark} ends -->"
        yield page, f"{head}<!-- {mark} -->\n\n{rows}\n\n{end}{rest.split(end)[1]}"


def main(argv: list[str]) -> None:
    """Write the tables, or name the pages with another table."""
    for page, text in pages():
        if "--write" in argv:
            page.write_text(text, encoding="utf-8")
        elif page.read_text(encoding="utf-8") != text:
            print(page.name)


if __name__ == "__main__":
    main(sys.argv[1:])
