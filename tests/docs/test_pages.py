"""The documents address a reader, and the files they cite exist."""

import re
from functools import cache
from pathlib import Path
from unicodedata import normalize

from engine import ALGORITHMS
from scripts.architecture import PICTURE, picture
from scripts.parameter_tables import pages as pages_with_tables

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *(ROOT / "research").rglob("*.md")])
TOP = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
# What is said to those who build, not to those who read.
TO_BUILDERS = re.compile(
    r"\b([Ii]ssues? \d+|[Tt]ickets?|[Aa]ims?|at a load of|[Bb]efore and now)\b"
)


FOLDERS = ("benchmarks", "docs", "engine", "pages", "research", "scripts", "static", "tests")


def files(*kinds):
    """The project's own files that end in one of these."""
    for folder in FOLDERS:
        yield from (p for p in (ROOT / folder).rglob("*") if p.suffix in kinds)
    yield from TOP


def test_no_page_speaks_to_builders():
    said = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in [*PAGES, *TOP]
        if path != ROOT / "CONTRIBUTING.md"
        for found in TO_BUILDERS.finditer(path.read_text(encoding="utf-8"))
    ]
    assert said == []


def test_every_document_that_is_cited_is_there():
    cited = [
        (path, name)
        for path in files(".py", ".md", ".js")
        for name in re.findall(
            r"\b(?:docs|research)/[\w./-]+\.\w+", path.read_text(encoding="utf-8")
        )
        if path != Path(__file__)
    ]
    gone = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, name in cited
        if not any((top / name).exists() for top in (ROOT, ROOT / "tests"))
    ]
    assert len(cited) > 30
    assert gone == []


@cache
def anchors(path):
    """The places that a link to a page can name: headings, entries of the API, and own marks."""
    text = path.read_text(encoding="utf-8")
    heads = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", h) for h in re.findall(r"(?m)^#+ (.+)$", text))
    plain = (normalize("NFKD", h).encode("ascii", "ignore").decode().lower() for h in heads)
    slugs = {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", h).strip()) for h in plain}
    marks = re.findall(r'(?m)<a id="([^"]+)"|^::: (\S+)$', text)
    return slugs | {name for pair in marks for name in pair}


def leads(path, place):
    """Whether a link's page is there, and has the place that the link names."""
    return path.exists() and (not place or path.suffix != ".md" or place in anchors(path))


def test_every_link_leads_somewhere_in_the_repository():
    """``make docs`` ends at such a link, too."""
    dead = [
        f"{path.relative_to(ROOT)}: {link}{place}"
        for path in [*PAGES, *TOP, *(ROOT / "docs" / "examples").glob("*.py")]
        for link, place in re.findall(r"\]\(([^)#\s]*)(#[^)\s]+)?", path.read_text("utf-8"))
        if "://" not in link + place
        and not leads(path.parent / link if link else path, place.removeprefix("#"))
    ]
    assert dead == []


def test_every_page_is_in_the_navigation():
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    here = {
        str(path.relative_to(ROOT / "docs")) for path in PAGES if path.is_relative_to(ROOT / "docs")
    }
    assert here <= set(re.findall(r"(\S+\.md)$", menu, re.M))


def test_a_label_in_italics_stands_on_a_page():
    """Names of pages, buttons and panels, as the documents have them."""
    shown = [
        path
        for folder in ("pages", "static/scene", "engine")
        for path in (ROOT / folder).rglob("*")
    ]
    texts = [p.read_text("utf-8") for p in shown if p.suffix in (".py", ".js", ".typ")]
    screen = "\n".join(texts)
    label = re.compile(r"(?<![*\w])\*([A-Z][^*\n]*(?:\n[^*\n]+)?)\*(?!\*)")
    wrong = []
    for path in (ROOT / "docs").rglob("*.md"):
        prose = re.sub(r"(?ms)^```.*?^```|\*\*[^*]*\*\*", "", path.read_text(encoding="utf-8"))
        named = [" ".join(found.split()) for found in label.findall(prose)]
        wrong += [f"{path.relative_to(ROOT)}: {name}" for name in named if name not in screen]
    assert wrong == []


def test_the_readme_lists_every_algorithm():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.split("<!-- algorithms -->")[1].split("<!-- /algorithms -->")[0]
    assert re.findall(r"(?m)^\| `(\w+)` \|", table) == list(ALGORITHMS)


def test_tables_of_parameters_and_of_the_api_are_the_codes():
    written = dict(pages_with_tables())
    algorithms = {page.stem for page in (ROOT / "research" / "algorithms").glob("*.md")} - {"index"}
    assert algorithms == set(ALGORITHMS)
    assert len(written) == 2
    old = [page.name for page, text in written.items() if page.read_text("utf-8") != text]
    assert old == [], "python -m scripts.parameter_tables --write"


def test_the_picture_of_the_layers_is_the_contracts():
    assert PICTURE.read_text("utf-8") == picture(), "python -m scripts.architecture"
