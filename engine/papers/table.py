"""One table of the papers' tables, figures, theorems and lemmas that can be computed.

Each reproduction writes its rows as ``rows-NAME.json`` into its folder; :func:`document` makes one
page of those that are there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

MARKS = {
    "=": "as the paper says, within the error or 5 %",
    "≈": "within 25 %",
    "≠": "differs",
    "†": "we depart from the text, or the text from what holds: the reason says how",
    "?": "the text lacks what is needed to compute it",
}
HEAD = """# The papers, reproduced

Priv-PC: Wang, Pang and Song, NeurIPS 2020, and its preprint with appendices. CURATE: Bhattacharjee
and Tandon 2024. Kusner: Kusner, Sun, Sridharan and Weinberger 2016.

`python -m engine reproduce NAME --out DIR` measures one of {names}; figures are written as SVG and
every run into `DIR/runs.db`, so that an interrupted reproduction resumes. `python -m engine
reproduce table --out DIR` writes this page from what was measured there.

All runs are *published* ones at the paper's settings, on n = {n:,} rows drawn from each network
with seed 0. **program** is what the authors' public program does (`--form program`), with which the
printed numbers were made; **text** is what the paper's text says (`--form text`). The difference is
the program's, or the text's where there is no program column.

**vs PC** scores against the output of non-private PC (Kendall's τ at the same T), which the papers
call ground truth; **vs truth** against the true graph, whose CPDAG is all that data can tell.
*Skeleton F1* counts links; *arcs* is F1 of a CPDAG's arcs, where an undirected edge counts as two.
The authors score arcs against lists of their own, which lack true links (Asia 6 of 8, Survey 4 of
6, Sachs 13 of 17, Child 21 of 25, Alarm 35 of 46): a perfect Survey scores .333. The lists are not
copied here, so no row is scored against them. **Claimed ε** is the paper's total for a run,
**proven ε** what our ledger can prove for it
([privacy](theory/privacy.md)). ± is the largest standard error of a mean in the cell.
Numbers of several networks are in the order {orders}; a reason that is missing is the one above.

"""
# The networks of each paper, in the order of the numbers of a row.
ORDERS = {
    "Priv-PC": "earthquake, cancer, asia, survey, sachs, child, alarm",
    "CURATE": "cancer, earthquake, survey, asia, sachs, child",
}


@dataclass(frozen=True)
class Row:
    """One statement: where it is, what it is about, the paper's and our numbers or words.

    ``text`` is what the text of the paper gives, ``program`` what the authors' program does, where
    a run has both forms. ``error`` and ``program_error`` are the largest standard errors of the
    two. ``mark`` is worked out from the differences where it is not given.
    """

    item: str
    what: str
    paper: Sequence[float | None] | str
    text: Sequence[float | None] | str
    reason: str = ""
    mark: str = ""
    error: float = 0.0
    program: Sequence[float | None] | str = "–"
    program_error: float = 0.0

    @property
    def differences(self) -> list[float]:
        """The program's over the paper's less one, else the text's, where both are numbers."""
        ours = self.text if isinstance(self.program, str) else self.program
        if isinstance(self.paper, str) or isinstance(ours, str):
            return []
        pairs = zip(self.paper, ours, strict=True)
        return [b / a - 1 for a, b in pairs if a and b is not None and not math.isnan(b)]

    @property
    def marked(self) -> str:
        """The mark, as given or by the largest difference."""
        if self.mark:
            return self.mark
        far = max(map(abs, self.differences), default=0.0)
        return "=" if far <= 0.05 else "≈" if far <= 0.25 else "≠"

    @property
    def cells(self) -> list[str]:
        """The row in words."""
        low, high = (f(self.differences, default=0.0) for f in (min, max))
        both = f"{low:+.0%} to {high:+.0%}" if low != high else f"{low:+.0%}"
        if -1 < high < -0.9:
            both = f"{1 / (1 + high):,.0f} to {1 / (1 + low):,.0f} times less"
        return [
            self.item, self.what, _words(self.paper), _words(self.program, self.program_error),
            _words(self.text, self.error), both if self.differences else "–", self.marked,
            self.reason,
        ]  # fmt: skip


def _words(value: Sequence[float | None] | str, error: float = 0.0) -> str:
    said = value if isinstance(value, str) else ", ".join(map(number, value))
    return said + (f" ± {error:.2g}" if error else "")


def number(value: float | None) -> str:
    """Format a number for the table: three digits, no exponent below a million."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value == 0 or abs(value) >= 1e-3 else f"{value:.2e}"


def markdown(rows: Iterable[Row]) -> str:
    """Write the rows as one Markdown table; networks' names and repeated reasons are left out."""
    columns = ["item", "what", "paper", "program", "text", "difference", "mark", "reason"]
    lines = [columns, ["---"] * len(columns)]
    before = ""
    for row in rows:
        cells, reason = row.cells, row.reason
        for order in ORDERS.values():
            cells[1] = cells[1].replace(f": {order}", "")
        if reason == before:
            cells[-1] = ""
        before = reason
        lines.append(cells)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def save(folder: Path, name: str, rows: Sequence[Row]) -> Path:
    """Keep the rows of one reproduction."""
    path = folder / f"rows-{name}.json"
    text = json.dumps([asdict(row) for row in rows], indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def load(folder: Path, names: Iterable[str]) -> list[Row]:
    """Load the rows of the reproductions that have files there, in this order."""
    files = [folder / f"rows-{name}.json" for name in names]
    found = [json.loads(f.read_text(encoding="utf-8")) for f in files if f.is_file()]
    return [Row(**row) for rows in found for row in rows]


def document(rows: Sequence[Row], names: Sequence[str], n: int) -> str:
    """Write the page: what the numbers are, the marks, the table, the figures."""
    legend = "".join(f"- **{mark}** {words}\n" for mark, words in MARKS.items())
    stated = {row.item for row in rows}
    figures = "".join(
        f"\n![{item}: {title}](pictures/{name}.svg)\n"
        for name, (item, title) in FIGURES.items()
        if item in stated
    )
    orders = "; ".join(f"{networks} ({paper})" for paper, networks in ORDERS.items())
    head = HEAD.format(names=", ".join(f"`{name}`" for name in names), n=n, orders=orders)
    return f"{head}{legend}\n{markdown(rows)}\n{figures}"


FIGURES = {
    "figure1-claimed": ("Priv-PC figure 1", "F1 against the claimed total"),
    "figure1-defended": ("Priv-PC figure 1", "F1 against the total that can be proven"),
    "figure1-directed-claimed": ("Priv-PC figure 1", "F1 of arrows"),
    "curate-figure3": ("CURATE figure 3", "iterations that a total affords"),
    "curate-figure4-claimed": (
        "CURATE figure 4",
        "F1 against the claimed total; at small totals CURATE gives all budget to order 0 and asks "
        "no conditional question, so that its curve need not rise",
    ),
    "curate-figure4-directed-claimed": ("CURATE figure 4", "F1 of arrows"),
    "pairs-figure1": ("Kusner figure 1", "the right direction against ε"),
    "pairs-figure2": ("Kusner figure 2", "the training half, against λ"),
}
