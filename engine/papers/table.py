"""One table with all computable tables, figures, theorems and lemmas of the papers.

Each reproduction writes its rows as ``rows-NAME.json`` into its folder; :func:`document` makes one
page from the existing files.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

MARKS = {
    "=": "as the paper says, within the error or 5 %",
    "≈": "within 25 %",
    "≠": "differs",
    "†": "our number departs from the text, or the text does not hold: the reason says how",
    "?": "the paper prints no number to compare with",
}
HEAD = """# The papers, reproduced

Priv-PC: Wang, Pang and Song, NeurIPS 2020, and its preprint with appendices. CURATE: Bhattacharjee
and Tandon 2024. Kusner: Kusner, Sun, Sridharan and Weinberger 2016.

Each section's heading is the command that measured its rows: `engine reproduce NAME --out DIR`.
Figures are written as SVG and every run into `DIR/runs.db`, so that an interrupted reproduction
resumes. `engine reproduce table --out DIR` writes this page from the runs in that folder. The
sections that state a time take {seconds} of one core together, on a computer that had other work.
Runs that two sections share count twice.

All runs are *published* ones at the paper's settings, on n = {n:,} rows drawn from each network
with seed 0. **program** follows the authors' public program (`--form program`), which made the
printed numbers; **text** follows the paper's text (`--form text`). The difference is
the program's, or the text's where there is no program column.

**vs PC** scores against the output of non-private PC (Kendall's τ at the same T), which the papers
call ground truth; **vs truth** against the true graph, whose CPDAG is all that data can tell.
*Skeleton F1* counts links; *arcs* is F1 of a CPDAG's arcs, where an undirected edge counts as two.
**The authors' list** holds the arcs that both programs score against. It lacks true
links (Asia has 6 of 8, Survey 4 of 6, Sachs 13 of 17, Child 21 of 25, Alarm 35 of 46) and has
false ones (Sachs 1, Child 4, Alarm 8). The true graph's CPDAG scores {perfect}
against it ({networks}). **Claimed ε** is the total that the paper states,
**proven ε** the total that our ledger proves
([privacy](theory/privacy.md)). ± is the largest standard error of a mean in the cell.
Numbers of several networks are in the order {orders}.

"""
# The networks of each paper, in the order of the numbers in a row.
ORDERS = {
    "Priv-PC": "earthquake, cancer, asia, survey, sachs, child, alarm",
    "CURATE": "cancer, earthquake, survey, asia, sachs, child",
}


@dataclass(frozen=True)
class Row:
    """One statement: its place, its subject, and the paper's and our numbers or words.

    ``text`` follows the text of the paper and ``program`` the authors' program, if a run has both
    forms. ``error`` and ``program_error`` are the largest standard errors of the two. ``mark`` is
    computed from the differences if it is not given.
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
        """Relative differences of the program's numbers (otherwise the text's) from the paper's."""
        ours = self.text if isinstance(self.program, str) else self.program
        if isinstance(self.paper, str) or isinstance(ours, str):
            return []
        pairs = zip(self.paper, ours, strict=True)
        return [b / a - 1 for a, b in pairs if a and b is not None and not math.isnan(b)]

    @property
    def marked(self) -> str:
        """Given mark, or the mark for the largest difference."""
        if self.mark:
            return self.mark
        far = max(map(abs, self.differences), default=0.0)
        return "=" if far <= 0.05 else "≈" if far <= 0.25 else "≠"

    @property
    def cells(self) -> list[str]:
        """Cells of the row, in words."""
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
    """Write the rows as one Markdown table; network names are omitted."""
    columns = ["item", "what", "paper", "program", "text", "difference", "mark", "reason"]
    lines = [columns, ["---"] * len(columns)]
    for row in rows:
        cells = row.cells
        for order in ORDERS.values():
            cells[1] = cells[1].replace(f": {order}", "")
        lines.append([cell.replace("|", "\\|") for cell in cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


@dataclass(frozen=True)
class Measured:
    """The rows of one reproduction, and its seconds on one core; None if not timed."""

    seconds: float | None
    rows: tuple[Row, ...]


def save(folder: Path, name: str, measured: Measured) -> Path:
    """Store one reproduction."""
    path = folder / f"rows-{name}.json"
    text = json.dumps(asdict(measured), indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def load(folder: Path, names: Iterable[str]) -> dict[str, Measured]:
    """Load the reproductions that have files in the folder, in this order."""
    files = {name: folder / f"rows-{name}.json" for name in names}
    found = {
        name: json.loads(f.read_text(encoding="utf-8")) for name, f in files.items() if f.is_file()
    }
    return {
        name: Measured(one["seconds"], tuple(Row(**row) for row in one["rows"]))
        for name, one in found.items()
    }


def document(measured: Mapping[str, Measured], n: int, perfect: Mapping[str, float]) -> str:
    """Write the page: the meaning of the numbers, the marks, and a section per command.

    ``perfect`` has the score of each network's true CPDAG against the authors' list.
    """
    legend = "".join(f"- **{mark}** {words}\n" for mark, words in MARKS.items())
    head = HEAD.format(
        n=n,
        orders="; ".join(f"{networks} ({paper})" for paper, networks in ORDERS.items()),
        seconds=_duration(sum(one.seconds or 0.0 for one in measured.values())),
        perfect=", ".join(map(number, perfect.values())),
        networks=", ".join(perfect),
    )
    return head + legend + "".join(_section(name, one) for name, one in measured.items())


def _section(name: str, measured: Measured) -> str:
    figures = "".join(
        f"\n![{title}](pictures/{stem}.svg)\n"
        for stem, (study, title) in FIGURES.items()
        if study == name
    )
    seconds = measured.seconds
    took = "Not timed." if seconds is None else f"{_duration(seconds)} of one core."
    return f"\n## `engine reproduce {name}`\n\n{took}\n\n{markdown(measured.rows)}\n{figures}"


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 100 else f"{max(1, round(seconds))} s"


FIGURES = {  # drawing command of each figure, and its title
    "figure1-claimed": ("figure1", "Priv-PC figure 1: F1 against the claimed total"),
    "figure1-defended": ("figure1", "Priv-PC figure 1: F1 against the total that can be proven"),
    "figure1-directed-claimed": ("figure1", "Priv-PC figure 1: F1 of arrows"),
    "figure1-program": (
        "figure1-forms",
        "Priv-PC figure 1 as the programs make it: F1 of arcs against the authors' list",
    ),
    "curate-figure3": ("curate-figure3", "CURATE figure 3: iterations that a total affords"),
    "curate-figure4-claimed": (
        "curate-figure4",
        "CURATE figure 4: F1 against the claimed total; at small totals CURATE gives all budget to "
        "order 0 and asks no conditional question, so that its curve need not rise",
    ),
    "curate-figure4-directed-claimed": ("curate-figure4", "CURATE figure 4: F1 of arrows"),
    "curate-figure4-program": (
        "curate-figure4",
        "CURATE figure 4 as the programs make it: F1 of arcs against the authors' list",
    ),
    "pairs-figure1": ("pairs-figure1", "Kusner figure 1: the right direction against ε"),
    "pairs-figure2": ("pairs-figure2", "Kusner figure 2: the training half, against λ"),
}
