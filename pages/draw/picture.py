"""Still pictures on pages and in files: a graph, a curve, a hundred people; all of them SVG."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.graphs.layout import Point
from engine.graphs.picture import Inks, Link, graph_svg, people_svg
from engine.summary import FINE, NOTHING
from pages.draw.typeset import png
from pages.shell import words as text
from pages.shell.words import INKS, LOOKS, price_ink

if TYPE_CHECKING:
    from engine.studies.figures import Panel


@dataclass(frozen=True)
class Picture:
    """One picture as SVG text, and as PNG when asked for; ``alt`` says what is on it."""

    svg: str
    alt: str

    @property
    def png(self) -> bytes:
        """PNG, two pixels for each unit of the picture."""
        return png(self.svg)

    @property
    def image(self) -> str:
        """An <img> that holds the SVG: Streamlit's pages drop inline SVG."""
        coded = base64.b64encode(self.svg.encode()).decode()
        return f'<img alt="{text.safe(self.alt)}" src="data:image/svg+xml;base64,{coded}">'


def graph_picture(
    names: Sequence[str],
    links: Sequence[Link],
    positions: Mapping[str, Point],
    *,
    alt: str,
    theme: str = "light",
) -> Picture:
    """The graph at the given positions in the theme's colours."""
    inks = Inks(theme, LOOKS[theme].font, LOOKS[theme].background)
    return Picture(graph_svg(names, links, positions, alt=alt, inks=inks), alt)


def curve_picture(panel: Panel, *, alt: str) -> Picture:
    """A chart as files have it, on white."""
    from engine.studies.figures import inline  # matplotlib: pages that show a graph need none

    return Picture(inline(panel, alt), alt)


def people_picture(lit: int, level: str, *, alt: str, theme: str = "light") -> Picture:
    """A hundred figures, ten in a row: chance's fifty grey, those beyond in colour, the rest empty.

    ``level`` is how well the price holds; where it is nothing, all of them are red.
    """
    look = LOOKS[theme]
    beyond = INKS[theme][0] if level == FINE else price_ink(level, theme)
    chance = beyond if level == NOTHING else look.border
    return Picture(people_svg(lit, chance, beyond, look.border, alt=alt), alt)
