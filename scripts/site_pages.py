"""Pages of the documents' site that are kept as something else (a hook of mkdocs, see mkdocs.yml).

The notebooks in docs/notebooks are Python with ``# %%`` between cells and ``# %% [markdown]``
before text, so that the tests can run them; CONTRIBUTING.md and CHANGELOG.md stand where a
repository has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "docs" / "notebooks"
TOP = ("CONTRIBUTING.md", "CHANGELOG.md")


def cells(text: str) -> Iterator[tuple[str, str]]:
    """("markdown" or "python", content) of each cell of a percent script, in order."""
    parts = re.split(r"(?m)^# %%(.*)\n", text)
    for mark, body in zip(parts[1::2], parts[2::2], strict=True):
        if "[markdown]" in mark:
            yield "markdown", re.sub(r"(?m)^# ?", "", body).strip()
        elif body.strip():
            yield "python", body.strip()


def page_of(notebook: Path) -> str:
    """A notebook as a page: its text, and its code in blocks."""
    text = notebook.read_text(encoding="utf-8")
    shown = [
        body if kind == "markdown" else f"```python\n{body}\n```" for kind, body in cells(text)
    ]
    where = f"\n\nThis page is `docs/notebooks/{notebook.name}`; the tests run it."
    return "\n\n".join(shown) + where + "\n"


def top_page(name: str) -> str:
    """A document of the repository's top, its links into docs/ as links of the site."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return text.replace("](docs/", "](")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs once it has listed the folder."""
    from mkdocs.structure.files import File

    made = {f"tutorial/{path.stem}.md": page_of(path) for path in sorted(NOTEBOOKS.glob("*.py"))}
    made |= {name.lower(): top_page(name) for name in TOP}
    for place, content in made.items():
        files.append(File.generated(config, place, content=content))
    return files


def on_page_content(html: str, **about: object) -> str:
    """Called by mkdocs with each page: docstrings' ``:func:`name``` shows as its name."""
    role = r":(?:attr|class|data|func|meth|mod):<code>~?([^<]+)</code>"
    return re.sub(role, r"<code>\1</code>", html)
