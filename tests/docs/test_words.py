"""The documents are in plain English: none of the words that CONTRIBUTING's style section lists."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = ("research", "decisions")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"] + [
    path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name not in LEFT_OUT
]  # fmt: skip
BANNED = re.compile(
    r"\b(beside|anew|drown\w*|twins?|codebooks?|told|hangs? on|hung on|turned round|by lot|"
    r"(in|of) (his|her|its|one's|their) own way|one's own|held still|in the way of|"
    r"belongs? to nobody|nobody is told|defended|invents?|invented|is one sentence|"
    r"into your hand|patience|Sweep|Tune|(Plan|Compare|Explore|Sieve|Budget|Data|Audit) page)\b"
)
# What is no prose: code, HTML comments and the tables between them, targets of links.
CODE = re.compile(
    r"(?ms)^```.*?^```|^<!-- ([^\n]+) -->.*?^<!-- (\1 ends|/\1|end) -->|`[^`\n]*`|\]\([^)]*\)"
)


def words_of(text):
    """The banned words in a page's prose, each with the words around it."""
    prose = CODE.sub(" ", text)
    return [prose[max(0, m.start() - 25) : m.end() + 15] for m in BANNED.finditer(prose)]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_is_in_plain_words(page):
    assert words_of(page.read_text(encoding="utf-8")) == []


def strings_of(path):
    """The texts in a module that are no docstring: messages, labels, help."""
    found, alone = [], set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):  # what is within comes later
        if isinstance(node, ast.Expr):
            alone.add(node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in alone:
            found.append(node.value)
    return found


@pytest.mark.parametrize("part", ["engine", "pages"])
def test_messages_and_labels_are_in_plain_words(part):
    texts = [text for path in (ROOT / part).rglob("*.py") for text in strings_of(path)]
    assert [text for text in texts if " " in text.strip() and BANNED.search(text)] == []


def test_a_banned_word_is_seen_in_prose_alone():
    assert len(words_of("It stands beside it.\n")) == 1
    assert words_of("`beside` and\n```sh\nbeside\n```\n<!-- x -->\ntold\n<!-- x ends -->\n") == []
