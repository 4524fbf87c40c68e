"""Run the examples of the documents and keep them as notebooks with their outputs.

``python -m scripts.examples`` runs each file of docs/examples and writes ``.examples/NAME.ipynb``;
``make docs`` does that first, and the site shows the outputs and offers the notebook. The files are
Python with ``# %%`` between cells and ``# %% [markdown]`` before text.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "docs" / "examples"
OUT = ROOT / ".examples"
SHOWN = {"_repr_svg_": "image/svg+xml", "_repr_html_": "text/html"}


def cells(text: str) -> Iterator[tuple[str, str]]:
    """Return ("markdown" or "code", content) of each cell of a percent script, in order."""
    parts = re.split(r"(?m)^# %%(.*)\n", text)
    for mark, body in zip(parts[1::2], parts[2::2], strict=True):
        if "[markdown]" in mark:
            yield "markdown", re.sub(r"(?m)^# ?", "", body).strip()
        elif body.strip():
            yield "code", body.strip()


def executed(text: str, name: str) -> dict[str, Any]:
    """Run the cells of an example in order and return it as a notebook (nbformat 4).

    A cell outputs its printed text and the value of its last expression. The example runs in a new
    folder, with its own file of budgets.
    """
    module = ModuleType(name)
    made: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, _alone(folder):
        sys.modules[name] = module  # dataclasses look up their module
        try:
            for kind, body in cells(text):
                cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": body}
                if kind == "code":
                    outputs = _outputs(body, f"{name}, cell {len(made) + 1}", vars(module))
                    cell |= {"execution_count": None, "outputs": outputs}
                made.append(cell)
        finally:
            del sys.modules[name]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}


@contextlib.contextmanager
def _alone(folder: str) -> Iterator[None]:
    """Work in a folder, which also gets budgets and temporary files."""
    before = os.environ.get("DP_CAUSAL_EXPLORER_BUDGETS"), tempfile.tempdir
    os.environ["DP_CAUSAL_EXPLORER_BUDGETS"] = str(Path(folder) / "budgets.db")
    tempfile.tempdir = folder
    try:
        with contextlib.chdir(folder), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        tempfile.tempdir = before[1]
        del os.environ["DP_CAUSAL_EXPLORER_BUDGETS"]
        if before[0] is not None:
            os.environ["DP_CAUSAL_EXPLORER_BUDGETS"] = before[0]


def _outputs(body: str, where: str, scope: dict[str, Any]) -> list[dict[str, Any]]:
    """Run one cell and return its outputs."""
    tree = ast.parse(body, where)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    said, value = io.StringIO(), None
    with contextlib.redirect_stdout(said):
        exec(compile(tree, where, "exec"), scope)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), where, "eval"), scope)
    shown: list[dict[str, Any]] = []
    if said.getvalue():
        shown.append({"output_type": "stream", "name": "stdout", "text": said.getvalue()})
    if value is not None:
        rich = {kind: getattr(value, how)() for how, kind in SHOWN.items() if hasattr(value, how)}
        data = {kind: text for kind, text in rich.items() if text} or {"text/plain": repr(value)}
        shown.append({"output_type": "display_data", "metadata": {}, "data": data})
    return shown


def main() -> None:
    """Run every example and write its notebook."""
    OUT.mkdir(exist_ok=True)
    for path in sorted(EXAMPLES.glob("*.py")):
        made = executed(path.read_text(encoding="utf-8"), path.stem)
        text = json.dumps(made, indent=1, ensure_ascii=False)
        (OUT / f"{path.stem}.ipynb").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
