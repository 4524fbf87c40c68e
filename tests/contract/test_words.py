"""All that a person reads is in plain English, with one term for every idea (``words.toml``).

Each pattern there has its rule and the plain form. Each folder has a number of sentences that still
break a rule: on screen, in documents, in docstrings and comments. The numbers may only fall.
"""

import ast
import io
import re
import tokenize
import tomllib
from functools import cache
from pathlib import Path

import pytest

from scripts.examples import cells

ROOT = Path(__file__).resolve().parents[2]
KEPT = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))
PATTERNS = [
    (re.compile(one["find"], re.MULTILINE), one["rule"], one.get("in", ""))
    for one in KEPT["pattern"]
]
LEFT_OUT = ("research", "decisions", "kept")
# What is no prose in Markdown: code, HTML comments and the tables between them, targets of links.
CODE = re.compile(
    r"(?ms)^```.*?^```|^<!-- ([^\n]+) -->.*?^<!-- (\1 ends|/\1|end) -->|`[^`\n]*`|\]\([^)]*\)"
)
SENTENCE = re.compile(r"(?<=[.!?:;])\s+|\n\s*\n|\n\s*[-*|#] ")
JS_STRING = re.compile(r"`([^`]*)`|\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'")


def sentences(text):
    """Split prose into sentences, of at least two words each."""
    lines = (re.sub(r"\s+", " ", part).strip() for part in SENTENCE.split(text))
    return [line for line in lines if " " in line]


def hits(text, place):
    """Return each sentence that has a retired word, with the rule it breaks."""
    found = []
    for line in sentences(text):
        rule = next((rule for find, rule, only in PATTERNS if place in (only or place)
                     and find.search(line)), None)  # fmt: skip
        if rule:
            found.append(f"{rule}: {line}")
    return found


def _python(path):
    """Return the texts that a module shows, then its docstrings and comments."""
    source = path.read_text(encoding="utf-8")
    shown, notes, seen = [], [], set()
    for node in ast.walk(ast.parse(source)):  # what is within comes later
        if node in seen:
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            seen.add(node.value)
            notes.append(str(node.value.value))
        elif isinstance(node, ast.JoinedStr):
            seen.update(node.values)
            shown.append("".join(str(getattr(part, "value", "")) if isinstance(part, ast.Constant)
                                 else "…" for part in node.values))  # fmt: skip
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            shown.append(node.value)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and "type:" not in token.string:
            notes.append(token.string.lstrip("#: "))
    return shown, notes


def _script(path):
    """Return the texts of a script of the scene, then its comments."""
    source = path.read_text(encoding="utf-8")
    notes = re.findall(r"(?m)(?:^|\s)//\s(.*)$|/\*(.*?)\*/", source)
    code = re.sub(r"(?m)(^|\s)//\s.*$", "", source)
    shown = [re.sub(r"\$\{[^}]*\}", "…", "".join(one)) for one in JS_STRING.findall(code)]
    return shown, ["".join(one) for one in notes]


def _strings(value):
    """Return every text in a data file."""
    parts = value.values() if isinstance(value, dict) else value
    return [value] if isinstance(value, str) else [word for one in parts for word in _strings(one)]


def _texts(folder):
    """Yield what stands in a folder: the place, the file and its texts."""
    for path in sorted((ROOT / folder).rglob("*") if (ROOT / folder).is_dir() else [ROOT / folder]):
        if any(part in LEFT_OUT for part in path.relative_to(ROOT).parts):
            continue
        if path.suffix in (".py", ".js"):
            shown, notes = (_python if path.suffix == ".py" else _script)(path)
            yield "screen", path, shown
            yield "code", path, notes
            if path.parent.name == "examples":  # of the documents: its text is a page
                told = [body for kind, body in cells(path.read_text("utf-8")) if kind == "markdown"]
                yield "docs", path, [CODE.sub(" ", "\n\n".join(told))]
        elif path.suffix == ".toml":
            yield "screen", path, _strings(tomllib.loads(path.read_text(encoding="utf-8")))
        elif path.suffix == ".md":
            yield "docs", path, [CODE.sub(" ", path.read_text(encoding="utf-8"))]


@cache
def _hits(folder):
    """Return the sentences with a retired word, by place."""
    found = {"screen": [], "code": [], "docs": []}
    for place, path, texts in _texts(folder):
        found[place] += [f"{path.relative_to(ROOT)}: {hit}" for text in texts
                         for hit in hits(text, place)]  # fmt: skip
    return found


@pytest.mark.parametrize("place", ["screen", "docs", "code"])
def test_a_folder_has_no_more_retired_words_than_it_had(place):
    counted = [(_hits(folder)[place], most) for folder, most in KEPT["most"][place].items()]
    assert [found for found, most in counted if len(found) > most] == []


def test_every_folder_is_counted():
    """A new folder of the engine or of the pages is read from its first day."""
    for place in ("screen", "code"):
        counted = set(KEPT["most"][place])
        for top in ("engine", "pages"):
            parts = [path for path in (ROOT / top).iterdir() if path.name != "__pycache__"]
            names = {
                f"{top}/{path.name}" for path in parts if path.is_dir() or path.suffix == ".py"
            }
            assert names <= counted


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("See what a budget will buy.", "no headless clause"),
        ("Of the link a step is not shown.", "usual word order"),
        ("Each cell has noise of its own.", "no 'of its own'"),
        ("It gives one vote a browser.", "'per', not 'a'"),
        ("Codes have a column a name.", "'per', not 'a'"),
        ("It found 0.3 links a run.", "'per', not 'a'"),
        ("See what is told.", "no headless clause"),
        (f"One {'and one ' * 12}too.", "at most 25 words"),
        (f"One {'and one ' * 11}too.", None),
        ("The wall at this level", "no figure of speech"),
        ("The ε that is defended here", "one term: guarantee"),
        ("Four links are invented", "one term: edges"),
        ("The columns are stated above", "one term: declared"),
        ("It uses what is known already", "no headless clause"),
        ("Then open *My table* and wait", "one term: pages"),
        ("What is a causal graph?", None),
        ("The stated total holds.", None),
    ],
)
def test_a_retired_word_is_seen_and_a_plain_one_is_not(text, rule):
    found = hits(text, "screen")
    assert found == ([] if rule is None else [f"{rule}: {text}"])


def test_texts_are_read_where_a_person_reads_them(tmp_path):
    module = tmp_path / "one.py"
    module.write_text('"""Doc one."""\nx = f"a {y} b" "c d"  # says e\nz = "f g"\n')
    shown, notes = _python(module)
    assert (sorted(shown), sorted(notes)) == (["a … bc d", "f g"], ["Doc one.", "says e"])
    page = "It stands.\n```sh\nbeside it\n```\nand `beside it`\n"
    assert hits(CODE.sub(" ", page), "docs") == []
