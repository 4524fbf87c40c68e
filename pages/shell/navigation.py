"""The pages there are, and where old addresses lead. A new page is a folder with a ``page.py`` and
a line here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class PageEntry:
    """One page: its title, its folder, and the names by which addresses called what it holds."""

    title: str
    name: str
    old: tuple[str, ...] = ()

    @property
    def file(self) -> Path:
        """The page's script."""
        return FOLDER / self.name / "page.py"


def _stands(title: str, *names: str) -> PageEntry:
    """A page under the first of its names that has a folder."""
    name = next(n for n in names if (FOLDER / n / "page.py").exists())
    return PageEntry(title, name, tuple(n for n in names if not (FOLDER / n).exists()))


PAGES = (
    _stands("Scene", "scene", "explore"),
    _stands("Run", "run", "compare"),
    _stands("Which ε?", "study", "sweep", "tune", "plan"),
    _stands("Learn", "learn", "sieve", "budget"),
    _stands("Pairs", "pairs"),
    _stands("My table", "table", "data", "release"),
    _stands("Report", "report"),
    _stands("Trust", "trust", "audit"),
)
# Pages of before whose folders stand: what they hold has not come to one of the eight.
MORE = tuple(
    PageEntry(file.parent.name.capitalize(), file.parent.name)
    for file in sorted(FOLDER.glob("*/page.py"))
    if file.parent.name not in {page.name for page in PAGES}
)
# What an old address asks of the page that it leads to.
ASKS = {"sieve": {"step": "sieve"}, "budget": {"step": "orders"}}

# Words of old links: those of a simulated model, which were one, and Learn's.
_MODEL = ("data", "sem_graph", "sem_nodes", "sem_edges", "sem_noise")
_LEARN = {"network": "data", "total": "epsilon", "draw": "seed"}


def today(query: dict[str, str]) -> dict[str, str]:
    """The words of an old link as they are now."""
    if ":" in (name := query.get("data", "")):
        return query | dict(zip(_MODEL, name.split(":"), strict=False))
    if "step" in query:
        return {_LEARN.get(name, name): word for name, word in query.items()}
    return query
