"""Pages of the site that are stored elsewhere or in another form (a hook of mkdocs, see
mkdocs.yml).

The examples in docs/examples are shown with the outputs of ``python -m scripts.examples``.
CONTRIBUTING.md, CHANGELOG.md and research/ keep their usual places in the repository; in the site
they are pages without a menu entry.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 76  # characters of a line of output that a page shows without scrolling
TOP = ("CONTRIBUTING.md", "CHANGELOG.md")
# From a page in docs/ to the top and from research/ into docs/: the site has all in one folder.
UP = re.compile(r"\]\(\.\./((?:\.\./)*)(research/[^)]*|CONTRIBUTING\.md|CHANGELOG\.md)")
DOWN = re.compile(r"\]\(((?:\.\./)*)(?:docs/|(?=CONTRIBUTING\.md|CHANGELOG\.md))")

# The style that pandas adds to a frame; the site has another.
FRAME = re.compile(r"(?s)<style.*?</style>| border=\"1\"| class=\"dataframe\"")


def page_of(notebook: dict[str, Any], name: str) -> str:
    """Return an executed example as a page: its text, code, outputs, and its file to download."""
    title, *parts = (part for cell in notebook["cells"] for part in _parts(cell))
    file = f"[Download this page as a notebook]({name}.ipynb)"
    return "\n\n".join((title, *parts, f"{file}. Its outputs were made when this site was built."))


def _parts(cell: dict[str, Any]) -> Iterator[str]:
    """Yield the text of one cell, or the block and the outputs of its code."""
    if cell["cell_type"] == "markdown":
        yield cell["source"]
        return
    yield f"```python\n{cell['source']}\n```"
    for shown in cell["outputs"]:
        data = shown.get("data", {})
        rich = data.get("image/svg+xml") or data.get("text/html")
        if rich:
            plain = re.sub(r"\s*\n\s*", " ", FRAME.sub("", rich))
            yield f"<div>{plain}</div>"
        else:
            text = shown.get("text") or data["text/plain"]
            lines = "\n".join(map(_wrapped, text.rstrip().splitlines()))
            yield f"```text\n{lines}\n```"


def _wrapped(line: str) -> str:
    """Return a printed sentence in lines that a page shows whole; a table's row stays one line."""
    return line if "  " in line else "\n".join(textwrap.wrap(line, WIDTH)) or line


def of_the_site(text: str, inside: bool) -> str:
    """Return a document with links of the site; ``inside`` is true for a page in docs/."""
    text = UP.sub(r"](\1\2", text) if inside else DOWN.sub(r"](\1", text)
    text = re.sub(r"\]\(([^):]*examples/)?(\w+)\.py\)", r"](\1\2.md)", text)
    return re.sub(r"\]\(((?:\.\./)*)(CONTRIBUTING|CHANGELOG)\.md", _lower, text)


def _lower(link: re.Match[str]) -> str:
    return link[0].lower()


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs once it has listed the folder."""
    from mkdocs.structure.files import File

    for path in sorted((ROOT / ".examples").glob("*.ipynb")):
        text = path.read_text(encoding="utf-8")
        page = of_the_site(page_of(json.loads(text), path.stem), inside=True)
        files.append(File.generated(config, f"examples/{path.stem}.md", content=page))
        files.append(File.generated(config, f"examples/{path.name}", content=text))
    research = (path for path in sorted((ROOT / "research").rglob("*")) if path.is_file())
    for path in (*research, *(ROOT / name for name in TOP)):
        place = str(path.relative_to(ROOT))
        if path.suffix == ".md":
            # Not in the menu or the search; links of pages lead there.
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
