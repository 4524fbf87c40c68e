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


def png(svg: str) -> bytes:
    """Return an SVG as PNG, two pixels for each of its units."""
    return compiled(_PNG, {"svg": svg}, format="png", ppi=144)


def compiled(template: str, data: Any, **options: Any) -> bytes:
    """Return the template filled with the data (JSON types, ``sys.inputs.data``), by default as
    PDF."""
    import typst

    given = {"data": json.dumps(data)}
    compiler: Any = typst.Compiler(font_paths=_fonts())
    made: bytes = compiler.compile(template.encode(), sys_inputs=given, **options)
    return made
