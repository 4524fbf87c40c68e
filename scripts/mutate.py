"""Plant small faults in a module, one at a time, and say which of them its tests let pass.

    python -m scripts.mutate engine/privacy/ledger.py --tests tests/privacy/test_ledger.py

A fault is one changed node of the syntax tree: a comparison, an operator, a constant, a sign, a
returned value, a statement left out. The tests are collected once; for each fault a forked process
changes the function's code and runs the tests that call the function, the quickest first. Faults
outside of functions (and in their defaults) run all tests, on a module imported anew. No file is
changed. A fault that no test sees is printed with its line. ``--each`` faults are drawn in every
function, with ``--seed``. The module's kernels run uncompiled, so that a fault needs no compiler.

Tests of ``--added`` files run after the others, so that it can be told what they alone see.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import importlib.machinery
import inspect
import json
import math
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import pytest

PRELOADED = (
    *("numpy", "scipy.stats", "scipy.optimize", "scipy.integrate", "pandas", "hypothesis"),
    *("mpmath", "networkx", "dp_accounting.pld.privacy_loss_distribution"),
)

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
MOST = 8.0  # seconds of a fault's tests; of those that take longer together the slow ones stay out
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
    for function, parent, name, index in places(tree):
        held = getattr(parent, name)
        node = held if index is None else held[index]
        for variant in variants(node):
            was, now = ast.unparse(node), ast.unparse(variant)
            if was == now:
                continue
            put(parent, name, index, variant)
            code = compile(ast.fix_missing_locations(tree), str(path), "exec")
            yield Fault(function, node.lineno, was, now, code)
            put(parent, name, index, node)


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


def apart(work: Callable[[], str], limit: float) -> str:
    """What ``work`` says in a process of its own; "endless" if it takes more than ``limit`` s."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.alarm(math.ceil(limit))  # ends the process
        try:
            said = work()
        except BaseException as error:  # nothing may return into the parent's code
            said = f"stopped by {error!r}"
        with os.fdopen(write, "w") as out:
            out.write(said)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answers:
        said = answers.read()
    _, status = os.waitpid(child, 0)
    return "endless" if os.WIFSIGNALED(status) else said


# Faults in functions ------------------------------------------------------------------


def code_of(code: CodeType, name: str) -> CodeType:
    """The code of the function with this qualified name, inside the code of its module."""
    for part in name.split("."):
        code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == part)
    return code


def function_of(module: Any, name: str) -> Any:
    """The live function with this qualified name, out of whatever wraps it."""
    found = module
    for part in name.split("."):
        found = vars(found)[part]
    for wrapper in ("fget", "func", "__func__", "__wrapped__", "py_func"):
        found = getattr(found, wrapper, found)
    return found


class Loop(First):
    """pytest's plugin that runs the tests once as they are, and again for every fault."""

    def __init__(
        self,
        path: Path,
        chosen: Sequence[Fault],
        told: Callable[[Fault, str], None],
        added: Sequence[str],
    ):
        super().__init__()
        self._path, self._chosen, self._told, self._added = path, chosen, told, tuple(added)
        self._base = compile(ast.parse(path.read_text(encoding="utf-8")), str(path), "exec")
        self._names = {code: code.co_qualname for code in inner(self._base)}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        started = time.monotonic()
        uncompiled(sys.modules[name_of(self._path)])
        self.items = {item.nodeid: item for item in session.items}
        told = json.loads(apart(lambda: json.dumps(self._watched(session.items)), 10**4))
        if isinstance(told, str):
            self.name = told
            return True
        limit = 20 + 5 * (time.monotonic() - started)
        for fault in self._chosen:
            self._told(fault, apart(lambda f=fault: self._seen_by(f, told), limit))
        return True

    def _run(self, items: Sequence[pytest.Item]) -> Iterator[pytest.Item]:
        """Up to the first that fails."""
        for item, following in zip(items, [*items[1:], None], strict=False):
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.name:
                return
            yield item

    def _watched(self, items: Sequence[pytest.Item]) -> dict[str, list[str]] | str:
        """Which tests called which function, the quickest first; or the test that failed."""
        callers: dict[str, dict[str, float]] = {}
        now: set[str] = set()

        def called(frame: Any, event: str, arg: Any) -> None:
            if frame.f_code.co_filename == str(self._path):
                now.add(frame.f_code.co_qualname)

        sys.settrace(called)
        since = time.process_time()
        for item in self._run(items):
            for name in now:
                took = time.process_time() - since
                callers.setdefault(name.split(".<locals>")[0], {})[item.nodeid] = took
            now.clear()
            since = time.process_time()
        return self.name or {f: self._ordered(took) for f, took in callers.items()}

    def _ordered(self, took: dict[str, float]) -> list[str]:
        """The quickest first, those added last; as many as take ``MOST`` seconds together."""
        found, total = [], {False: 0.0, True: 0.0}
        for test in sorted(took, key=lambda t: (t.startswith(self._added), took[t])):
            total[test.startswith(self._added)] += took[test]
            if total[test.startswith(self._added)] <= MOST or took[test] < MOST / 100:
                found.append(test)
        return found

    def _seen_by(self, fault: Fault, callers: dict[str, list[str]]) -> str:
        name = outer(fault.function, self._base)
        function_of(sys.modules[name_of(self._path)], name).__code__ = code_of(fault.code, name)
        tests = callers.get(name, [])
        for _ in self._run([self.items[t] for t in tests]):
            pass
        return self.name


def uncompiled(module: Any) -> None:
    """Puts the plain functions in the place of the module's kernels, wherever they are used."""
    kernels = {id(v): v.py_func for v in vars(module).values() if hasattr(v, "py_func")}
    for user in [m for m in sys.modules.values() if str(Path.cwd()) in str(m)] if kernels else []:
        for name, value in list(vars(user).items()):
            if id(value) in kernels:
                setattr(user, name, kernels[id(value)])


def inner(code: CodeType) -> Iterator[CodeType]:
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from inner(const)


def outer(name: str, base: CodeType) -> str:
    """The function that holds the one of this name: its own name, unless it is a local one."""
    parts = name.split(".")
    for k in range(1, len(parts) + 1):
        if code_of(base, ".".join(parts[:k])).co_flags & inspect.CO_OPTIMIZED:
            return ".".join(parts[:k])
    return ""


def name_of(path: Path) -> str:
    """The module's dotted name."""
    return ".".join(path.relative_to(Path.cwd()).with_suffix("").parts)


def in_function(fault: Fault, base: CodeType) -> bool:
    """Whether the fault changes a function's code, and not what stands around it."""
    name = outer(fault.function, base) if fault.function else ""
    return bool(name) and code_of(fault.code, name) != code_of(base, name)


# Faults around functions --------------------------------------------------------------


def around(path: Path, fault: Fault, tests: list[str]) -> str:
    """The first test that fails on the module with the fault, imported anew; "" if none does."""
    plain = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: Any, name: str) -> Any:
        return fault.code if Path(self.path) == path else plain(self, name)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    first = First()
    ended = quiet(tests, first)
    return "" if ended == 0 else first.name or f"pytest ended with {ended}"


def quiet(tests: list[str], plugin: First) -> int:
    """pytest without a word."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    said = os.dup(1)
    os.dup2(nowhere, 1)
    try:
        return int(pytest.main([*tests, "-x", "-q", "-p", "no:cacheprovider"], [plugin]))
    finally:
        os.dup2(said, 1)


def chosen_of(args: argparse.Namespace, path: Path) -> list[Fault]:
    """The faults that the command line asks for."""
    found = [f for f in faults(path) if args.functions in f.function]
    if args.only:
        passed = {passing(line) for line in args.only.read_text().splitlines()}
        return [f for f in found if (f.function, f.was, f.now) in passed]
    return drawn(found, args.each, args.seed)


def passing(line: str) -> tuple[str, str, str] | None:
    """What an earlier run's line tells of a fault that passed; None if it was seen."""
    told = json.loads(line)
    return None if told["by"] else (told["function"], told["was"], told["now"])


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("module", type=Path)
    parser.add_argument("--tests", nargs="+", required=True)
    parser.add_argument("--added", nargs="*", default=[], help="files whose tests come last")
    parser.add_argument("--around", nargs="*", help="tests of faults outside of functions")
    parser.add_argument("--each", type=int, default=10**6, help="faults drawn in a function")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--functions", default="", help="only functions whose name contains this")
    parser.add_argument("--only", type=Path, help="only faults that an earlier --out let pass")
    parser.add_argument("--out", type=Path, help="a line of JSON for every fault is added to it")
    args = parser.parse_args()
    os.environ["CI"] = "1"  # hypothesis then draws the same examples for every fault
    for name in PRELOADED:
        importlib.import_module(name)
    path = args.module.resolve()
    chosen = chosen_of(args, path)
    base = compile(ast.parse(path.read_text(encoding="utf-8")), str(path), "exec")
    counts, started = [0, 0], time.monotonic()

    def told(fault: Fault, by: str) -> None:
        counts[bool(by)] += 1
        line = {"module": str(args.module), **fault._asdict(), "by": by}
        del line["code"]
        if args.out:
            with args.out.open("a", encoding="utf-8") as out:
                out.write(json.dumps(line) + "\n")
        if not by:
            said = f"{args.module}:{fault.line} {fault.function}: {fault.was}  ->  {fault.now}\n"
            sys.stderr.write(said)

    inside = [f for f in chosen if in_function(f, base)]
    tests = [*(args.tests if args.around is None else args.around), *args.added]
    for fault in chosen:
        if fault not in inside:
            told(fault, apart(lambda f=fault: around(path, f, tests), 300))
    loop = Loop(path, inside, told, args.added)
    quiet([*args.tests, *args.added], loop)
    if loop.name:
        sys.exit(f"The tests fail without a fault: {loop.name}")
    sys.stderr.write(
        f"{args.module}: {counts[0]} of {sum(counts)} faults passed, "
        f"{time.monotonic() - started:.0f} s\n"
    )


if __name__ == "__main__":
    main()
