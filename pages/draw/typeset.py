"""PNG from SVG, and PDF from a template. Nothing else in the project knows typst.

Typst gets text and data in memory. It reads only fonts and uses no network.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

_PNG = """#set page(width: auto, height: auto, margin: 0pt)
#image(bytes(json(bytes(sys.inputs.data)).svg), format: "svg")
"""


@cache
def _fonts() -> Any:
    """Return the fonts: Source Sans from the pinned packages, and this machine's for other
    letters."""
    import typst  # here, so that other pages do not wait for it

    return typst.Fonts(font_paths=[str(files("font_source_sans_pro") / "files")])


def _compiled(template: str, data: Any, **options: Any) -> Any:
    import typst

    given = {"data": json.dumps(data)}
    return typst.Compiler(font_paths=_fonts()).compile(
        template.encode(), sys_inputs=given, **options
    )


def png(svg: str) -> bytes:
    """Return an SVG as PNG, two pixels for each of its units."""
    drawn: bytes = _compiled(_PNG, {"svg": svg}, format="png", ppi=144)
    return drawn


def pages(template: str, data: Any) -> list[bytes]:
    """Return the template filled with the data, each page as a PNG."""
    drawn = _compiled(template, data, format="png", ppi=144)
    return drawn if isinstance(drawn, list) else [drawn]


def pdf(template: str, data: Any) -> bytes:
    """Return the template filled with the data (JSON types, ``sys.inputs.data``), as PDF."""
    made: bytes = _compiled(template, data, format="pdf")
    return made
