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


PAGES = (
    PageEntry("Run", "run"),
    PageEntry("Learn", "learn"),
    PageEntry("Compare", "compare"),
    PageEntry("Sweep", "sweep"),
    PageEntry("Budget", "budget"),
    PageEntry("Sieve", "sieve"),
    PageEntry("Pairs", "pairs"),
    PageEntry("Data", "data"),
    PageEntry("Release", "release"),
    PageEntry("Report", "report"),
    PageEntry("Plan", "plan"),
    PageEntry("Audit", "audit"),
)
