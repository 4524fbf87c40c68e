"""Plant small faults in a module, one at a time, and say which of them its tests let pass.

    python -m scripts.mutate engine/privacy/ledger.py --tests tests/privacy/test_ledger.py

A fault is one changed node of the syntax tree: a comparison, an operator, a constant, a sign, a
returned value, a statement left out. Each runs in a forked process whose import of the module is
given the changed code; no file is written. A fault that no test sees is printed with its line.
``--each`` faults are drawn in every function, with ``--seed``. Kernels of a changed module are
compiled afresh (numba's cache would not see a changed constant), or with ``--no-jit`` not at all.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import importlib.machinery
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import numba
import pytest

PRELOADED = (
    "numpy scipy.stats scipy.optimize scipy.integrate pandas hypothesis mpmath "
    "networkx dp_accounting.pld.privacy_loss_distribution"
).split()

COMPARE: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
}
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}


def changed(node: Any, **fields: Any) -> Any:
    """A copy of the node with other fields."""
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """The faults that can be planted at a node."""
    match node:
        case ast.Compare():
            for i, op in enumerate(node.ops):
                for kind in COMPARE[type(op)]:
                    yield changed(node, ops=[*node.ops[:i], kind(), *node.ops[i + 1 :]])
        case ast.BinOp() if type(node.op) in ARITHMETIC:
            yield changed(node, op=ARITHMETIC[type(node.op)]())
        case ast.BoolOp():
            yield changed(node, op=ast.And() if isinstance(node.op, ast.Or) else ast.Or())
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield changed(node, value=not node.value)
        case ast.Constant(value=int()):
            yield changed(node, value=node.value + 1)
        case ast.Constant(value=float()):
            yield changed(node, value=node.value * 0.9 or 1.0)
        case ast.Name(id=name) if name in NAMES:
            yield changed(node, id=NAMES[name])
        case ast.Attribute(attr=name) if name in NAMES:
            yield changed(node, attr=NAMES[name])
        case ast.Return(value=ast.expr()):
            yield changed(node, value=ast.copy_location(ast.Constant(None), node))
        case ast.If() | ast.IfExp() | ast.While() if isinstance(node.test, ast.Name | ast.Call):
            no = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
            yield changed(node, test=no)
    yield from dropped(node)


def dropped(node: ast.AST) -> Iterator[ast.AST]:
    """Nothing in a statement's place, where the names that follow still exist."""
    match node:
        case (
            ast.Expr(value=ast.Call() | ast.YieldFrom())
            | ast.Raise()
            | ast.AugAssign()
            | ast.Continue()
            | ast.Break()
            | ast.Assign(targets=[ast.Attribute() | ast.Subscript()])
        ):
            yield ast.copy_location(ast.Pass(), node)


class Fault(NamedTuple):
    """A fault's place, the line as it was and as it is with the fault, and the changed module."""

    function: str
    line: int
    was: str
    now: str
    code: CodeType


SKIPPED = {"decorator_list", "annotation", "returns", "type_params", "exc"}


def places(node: ast.AST, function: str = "") -> Iterator[tuple[str, Any, str, int | None]]:
    """(function, parent, field, index) of every node a fault can be planted at."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        function = f"{function}.{node.name}".strip(".")
    for name, value in ast.iter_fields(node):
        if name in SKIPPED or isinstance(value, ast.JoinedStr):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                yield function, node, name, index
                yield from places(child, function)


def put(parent: Any, name: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[index] = node


def faults(path: Path) -> Iterator[Fault]:
    """Every fault of the module, in order."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    uncached(tree)
    for function, parent, name, index in places(tree):
        held = getattr(parent, name)
        node = held if index is None else held[index]
        for variant in variants(node):
            was = ast.unparse(node)
            put(parent, name, index, variant)
            code = compile(ast.fix_missing_locations(tree), str(path), "exec")
            yield Fault(function, node.lineno, was, ast.unparse(variant), code)
            put(parent, name, index, node)


def uncached(tree: ast.AST) -> None:
    """Leaves ``cache=True`` out of the kernels' decorators."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "njit":
            node.keywords = [k for k in node.keywords if k.arg != "cache"]


def drawn(found: list[Fault], each: int, seed: int) -> list[Fault]:
    """At most ``each`` faults of every function."""
    by_function: dict[str, list[Fault]] = {}
    for fault in found:
        by_function.setdefault(fault.function, []).append(fault)
    rng, kept = random.Random(seed), []
    for some in by_function.values():
        kept += some if len(some) <= each else rng.sample(some, each)
    return sorted(kept, key=lambda f: f.line)


class First:
    """pytest's plugin that remembers the first test to fail."""

    def __init__(self) -> None:
        self.name = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.name:
            self.name = report.nodeid

    def pytest_collectreport(self, report: Any) -> None:
        self.pytest_runtest_logreport(report)


class Callers(First):
    """Also remembers which tests called which function of the module, and how long they took."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path, self.seconds, self.of = str(path), dict[str, float](), dict[str, set[str]]()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        def called(frame: Any, event: str, arg: Any) -> None:
            if frame.f_code.co_filename == self._path:
                name = frame.f_code.co_qualname.replace(".<locals>", "")
                self.of.setdefault(name, set()).add(item.nodeid)

        started = time.monotonic()
        sys.settrace(called)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self.seconds[item.nodeid] = time.monotonic() - started

    def told(self) -> str:
        """For every function its tests, the quickest first, as JSON."""
        by_time = {f: sorted(some, key=self.seconds.__getitem__) for f, some in self.of.items()}
        return json.dumps({"first": self.name, "of": by_time})


def apart(work: Callable[[], str], limit: int) -> str:
    """What ``work`` says in a process of its own; "endless" if it takes more than ``limit`` s."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.alarm(limit)  # ends the process
        said = work()
        with os.fdopen(write, "w") as out:
            out.write(said)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answers:
        said = answers.read()
    _, status = os.waitpid(child, 0)
    return "endless" if os.WIFSIGNALED(status) else said


def attempt(path: Path, code: CodeType | None, tests: list[str], jit: bool, plugin: First) -> None:
    """Runs the tests with the module's code replaced."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    numba.config.DISABLE_JIT = not jit
    plain = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: Any, name: str) -> Any:
        return code if code and Path(self.path) == path else plain(self, name)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    ended = pytest.main([*tests, "-x", "-q", "-p", "no:cacheprovider"], [plugin])
    if ended and not plugin.name:
        plugin.name = f"pytest ended with {int(ended)}"


def seen_by(path: Path, code: CodeType, tests: list[str], limit: int, jit: bool) -> str:
    """The first test that fails on the code, "" if none does."""

    def work() -> str:
        attempt(path, code, tests, jit, plugin := First())
        return plugin.name

    return apart(work, limit)


def keeping(path: Path) -> set[str]:
    """Functions that keep their answers: a test may use what another one computed."""
    found = {}
    for function, parent, *_ in places(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(parent, ast.FunctionDef):
            found[function] = "cache" in " ".join(map(ast.unparse, parent.decorator_list))
    return {function for function, keeps in found.items() if keeps}


def baseline(path: Path, tests: list[str], jit: bool) -> dict[str, list[str]]:
    """The tests of every function; they pass without a fault."""

    def work() -> str:
        attempt(path, None, tests, jit, plugin := Callers(path))
        return plugin.told()

    told = json.loads(apart(work, 10**4))
    if told["first"]:
        sys.exit(f"The tests fail without a fault: {told['first']}")
    found: dict[str, list[str]] = told["of"]
    return found


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("module", type=Path)
    parser.add_argument("--tests", nargs="+", required=True, help="run in this order, up to a fail")
    parser.add_argument("--each", type=int, default=10**6, help="faults drawn in a function")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--functions", default="", help="only functions whose name contains this")
    parser.add_argument("--no-jit", action="store_true")
    parser.add_argument("--only", type=Path, help="only faults that an earlier --out let pass")
    parser.add_argument("--out", type=Path, help="a line of JSON for every fault is added to it")
    args = parser.parse_args()
    os.environ["CI"] = "1"  # hypothesis then draws the same examples for every fault
    for name in PRELOADED:
        importlib.import_module(name)
    path = args.module.resolve()
    found = [f for f in faults(path) if args.functions in f.function]
    chosen = drawn(found, args.each, args.seed)
    if args.only:
        passed = {passing(line) for line in args.only.read_text().splitlines()}
        chosen = [f for f in found if (f.function, f.was, f.now) in passed]
    started = time.monotonic()
    kept = keeping(path)
    callers = baseline(path, args.tests, not args.no_jit)
    limit = int(20 + 10 * (time.monotonic() - started))
    passed_by = 0
    for fault in chosen:
        tests = args.tests if fault.function in kept else callers.get(fault.function, args.tests)
        by = seen_by(path, fault.code, tests, limit, not args.no_jit)
        passed_by += not by
        line = {"module": str(args.module), **fault._asdict(), "by": by}
        del line["code"]
        if args.out:
            with args.out.open("a", encoding="utf-8") as out:
                out.write(json.dumps(line) + "\n")
        if not by:
            print(f"{args.module}:{fault.line} {fault.function}: {fault.was}  ->  {fault.now}")
            sys.stdout.flush()
    took = time.monotonic() - started
    print(f"{args.module}: {passed_by} of {len(chosen)} faults passed ({len(found)} in all), {took:.0f} s")


def passing(line: str) -> tuple[str, str, str] | None:
    """What an earlier run's line tells of a fault that passed; None if it was seen."""
    told = json.loads(line)
    return None if told["by"] else (told["function"], told["was"], told["now"])


if __name__ == "__main__":
    main()
