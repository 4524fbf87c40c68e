"""The reference is written from docstrings: complete, and its examples run."""

import ast
import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

import engine
from engine import statistics, theory
from engine.__main__ import COMMANDS
from engine.serialise import result_dict
from engine.studies.summary import frame

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "reference" / "python").glob("*.md"))
NAMED = [
    name
    for page in PAGES
    for name in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.M)
]


def found(name):
    """What a dotted name of the reference stands for."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


FUNCTIONS = [name for name in NAMED if inspect.isfunction(found(name))]


def sections(text):
    """The parts of a docstring by their headings: Args, Returns, Raises, Examples."""
    parts = re.split(r"(?m)^(Args|Returns|Raises|Examples):$", inspect.cleandoc(text))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_what_is_public_is_in_the_reference():
    here = [found(name) for name in NAMED]
    missing = [
        name
        for name in engine.__all__
        if name != "__version__" and not any(getattr(engine, name) is one for one in here)
    ]
    formulas = [
        f"theory.{name}"
        for name, one in inspect.getmembers(theory, inspect.isfunction)
        if one.__module__ == theory.__name__ and not name.startswith("_") and one not in here
    ]
    tests = [n for n in ("kendall_z", "spearman_z") if getattr(statistics, n) not in here]
    assert missing + formulas + tests == []


def test_the_index_has_the_first_paragraph_of_each_docstring():
    index = (ROOT / "docs/reference/python/index.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| \[`[\w.]+`\]\([\w.]+#([\w.]+)\) \| (.*) \|", index)
    theory_page = (ROOT / "docs/reference/python/theory.md").read_text(encoding="utf-8")
    assert sorted(name for name, _ in rows) == sorted(n for n in NAMED if n not in theory_page)
    for name, shown in rows:
        one = found(name)
        documented = inspect.isfunction(one) or inspect.isclass(one)
        doc = inspect.getdoc(one if documented else type(one))
        first = " ".join(doc.partition("\n\n")[0].split())
        assert shown == first.replace("``", "`"), name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_says_its_parameters_and_errors(name):
    function = found(name)
    parts = sections(function.__doc__)
    told = re.findall(r"(?m)^    (\w+):", parts["Args"])
    assert told == list(inspect.signature(function).parameters)
    source = inspect.getsource(function)
    if re.search(r"\braise (Input|Data)Error", source):
        assert "Raises" in parts


@pytest.mark.parametrize("name", NAMED)
def test_the_examples_run(name):
    """Of a function, of a class and of its methods, of an object's class."""
    one = found(name)
    if not inspect.isfunction(one) and not inspect.isclass(one):
        one = type(one)
    assert ">>>" in one.__doc__
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    scope = dict(vars(inspect.getmodule(one)))
    said = []
    for test in doctest.DocTestFinder().find(one, globs=scope):
        runner.run(test, out=said.append)
    assert runner.tries > 0
    assert runner.failures == 0, "".join(said)


def public(tree, before=""):
    """Functions and classes without an underscore, those inside public classes too."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield before + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from public(node, f"{before}{node.name}.")


def test_every_public_function_of_the_engine_has_a_docstring():
    without = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / "engine").rglob("*.py"))
        for name, node in public(ast.parse(path.read_text(encoding="utf-8")))
        if not ast.get_docstring(node)
    ]
    assert without == []


def _section(name):
    text = (ROOT / "docs/reference/files.md").read_text(encoding="utf-8")
    return set(re.findall(r"`(\w+)`", text.split(f"## {name}\n")[1].split("\n## ")[0]))


def test_every_key_of_a_run_and_every_column_of_a_study_is_listed():
    data = engine.load_dataset("cancer", n=500)
    result = engine.run("marginal_pc", data, epsilon=1.0, seed=0)
    assert set(result_dict(result)) <= _section("The result of a run")
    (trial,) = engine.sweep(data, "priv_pc", {"epsilon": 1.0}, 1)
    columns = set(frame([trial]).columns)
    assert columns - set(trial.values) <= _section("Columns of a study")


def test_every_subcommand_is_listed():
    text = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    listed = text.split("| task | subcommand |")[1].split("\n\n")[0]
    assert set(COMMANDS) <= set(re.findall(r"`(\w+)`", listed))
