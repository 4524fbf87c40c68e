"""The pages there are. A new page is a folder with a ``page.py`` and a line here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class PageEntry:
    """One page: its title in the navigation, and the name of its folder."""

    title: str
    name: str

    @property
    def file(self) -> Path:
        """The page's script."""
        return FOLDER / self.name / "page.py"

    @property
    def url(self) -> str:
        """Its address below the server's root; the first page also answers to "/"."""
        return self.name


GROUPS = {
    "Explore": (
        PageEntry("Scene", "explore"),
        PageEntry("Run", "run"),
        PageEntry("Compare", "compare"),
        PageEntry("Sweep", "sweep"),
        PageEntry("Tune", "tune"),
    ),
    "Learn": (
        PageEntry("Learn", "learn"),
        PageEntry("Sieve", "sieve"),
        PageEntry("Budget", "budget"),
        PageEntry("Pairs", "pairs"),
    ),
    "My data": (
        PageEntry("Data", "data"),
        PageEntry("Plan", "plan"),
        PageEntry("Release", "release"),
        PageEntry("Report", "report"),
    ),
    "Trust": (PageEntry("Audit", "audit"),),
}
PAGES = tuple(page for group in GROUPS.values() for page in group)


def group_of(title: str) -> str:
    """The group that a page's title stands under."""
    return next(name for name, group in GROUPS.items() if title in {p.title for p in group})


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
