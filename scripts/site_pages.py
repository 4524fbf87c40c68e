"""Pages of the documents' site that are kept as something else (a hook of mkdocs, see mkdocs.yml).

The notebooks in docs/notebooks are Python with ``# %%`` between cells and ``# %% [markdown]``
before text, so that the tests can run them. CONTRIBUTING.md, CHANGELOG.md and research/ stand
where a repository has them: in the site they are pages without an entry in the menu.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "docs" / "notebooks"
TOP = ("CONTRIBUTING.md", "CHANGELOG.md")
# From a page in docs/ to the top and from research/ into docs/: the site has all in one folder.
UP = re.compile(r"\]\(\.\./((?:\.\./)*)(research/[^)]*|CONTRIBUTING\.md|CHANGELOG\.md)")
DOWN = re.compile(r"\]\(((?:\.\./)*)(?:docs/|(?=CONTRIBUTING\.md|CHANGELOG\.md))")


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


def of_the_site(text: str, inside: bool) -> str:
    """A document with links of the site; ``inside`` is true for a page in docs/."""
    text = UP.sub(r"](\1\2", text) if inside else DOWN.sub(r"](\1", text)
    return re.sub(r"\]\(((?:\.\./)*)(CONTRIBUTING|CHANGELOG)\.md", _lower, text)


def _lower(link: re.Match[str]) -> str:
    return link[0].lower()


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs once it has listed the folder."""
    from mkdocs.structure.files import File

    for path in sorted(NOTEBOOKS.glob("*.py")):
        page = of_the_site(page_of(path), inside=True)
        files.append(File.generated(config, f"tutorial/{path.stem}.md", content=page))
    research = (path for path in sorted((ROOT / "research").rglob("*")) if path.is_file())
    for path in (*research, *(ROOT / name for name in TOP)):
        place = str(path.relative_to(ROOT))
        if path.suffix == ".md":
            # Neither in the menu nor found by the search: a link of a page leads there.
            text = of_the_site(path.read_text(encoding="utf-8"), inside=False)
            page = f"---\nsearch:\n  exclude: true\n---\n{text}"
            place = place if place.startswith("research/") else place.lower()
            files.append(File.generated(config, place, content=page))
        else:
            files.append(File.generated(config, place, content=path.read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Page, **about: object) -> str:
    """Called by mkdocs with each page's text: links out of docs/ as links of the site."""
    return markdown if page.file.generated_by else of_the_site(markdown, inside=True)


def on_page_content(html: str, **about: object) -> str:
    """Called by mkdocs with each page: docstrings' ``:func:`name``` shows as its name."""
    role = r":(?:attr|class|data|func|meth|mod):<code>~?([^<]+)</code>"
    return re.sub(role, r"<code>\1</code>", html)
