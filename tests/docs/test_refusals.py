"""The page on privacy lists every sentence with which a table is refused before a charge."""

import ast
import re
from pathlib import Path

from engine.data import sources

ROOT = Path(__file__).parents[2]
READING = {  # where a person's table is read and looked at; of a file without names all of it
    "engine/data/sources.py": (),
    "engine/data/reading.py": ("read",),
    "engine/data/pairs.py": ("read_pair",),
    "engine/release/make.py": ("_declared",),
    "engine/cli/flags.py": ("own_table",),
}
CAUSES = {"a record", "the number of records", "the header or the file's kind", "what was asked"}
PUT_IN = {"… ….": sources._UNREAD.values(), "Line … of … …; correct it.": sources._WRONG.values()}


def words(node):
    """A message as the code has it, with … for what is put in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(words, node.values))
    return node.value if isinstance(node, ast.Constant) else "…"


def refusals():
    for path, names in READING.items():
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        parts = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name in names]
        assert len(parts) == len(names)
        for node in (node for part in parts or [tree] for node in ast.walk(part)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
                "DataError",
                "InputError",
            ):
                message = words(node.args[0])
                yield from PUT_IN.get(message, [message])


def test_the_list_of_refusals_is_the_codes():
    """A refusal in the code that is not listed is one whose cause nobody stated."""
    text = (ROOT / "research" / "theory" / "privacy.md").read_text(encoding="utf-8")
    table = text.split("<!-- refusals -->")[1].split("<!-- /refusals -->")[0]
    listed = dict(re.findall(r"(?m)^\| `(.+)` \| (.+) \|$", table))
    assert set(listed) == set(refusals())
    assert set(listed.values()) == CAUSES
