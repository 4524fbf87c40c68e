"""Plant small faults in modules, one at a time, and say which of them their tests let pass.

    python -m scripts.mutate engine/privacy/ledger.py --tests tests/privacy/test_ledger.py

A fault is one changed node of the syntax tree: a comparison, an operator, a constant, a sign, a
returned value, a statement left out. The tests are collected once; for each fault a forked process
changes the function's code (or the default, or the constant) and runs the tests that call the
function, the quickest first. No file is changed. A fault that no test sees is printed with its
line. ``--each`` faults are drawn in every function, with ``--seed``. A module's kernels run
uncompiled, so that a fault needs no compiler.

Tests of ``--added`` files run after the others, so that it can be told what they alone see.
"""

from __future__ import annotations

import argparse
import ast
import copy
import inspect
import json
import os
import random
import signal
import sys
import time
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import is_dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

MOST = 8.0  # seconds of tests for one fault; the slowest stay out

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
        case ast.Constant(value=bool(value)):
            yield changed(node, value=not value)
        case ast.Constant(value=int(value)):
            yield changed(node, value=value + 1)
        case ast.Constant(value=float(value)):
            yield changed(node, value=value * 0.9 or 1.0)
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
    """A fault's place, the node as it was and as it is with the fault, and the changed module."""

    path: Path
    function: str
    line: int
    was: str
    now: str
    code: types.CodeType


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
            yield Fault(path, function, node.lineno, was, now, code)
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


# Putting a fault into the running modules ---------------------------------------------


def module_of(path: Path) -> Any:
    """The module as the tests have imported it."""
    return sys.modules[".".join(path.relative_to(Path.cwd()).with_suffix("").parts)]


def ours() -> list[Any]:
    """All modules of this folder that are loaded."""
    return [m for m in list(sys.modules.values()) if str(Path.cwd()) in str(m)]


def code_of(code: types.CodeType, name: str) -> types.CodeType:
    """The code of the function or class with this qualified name, inside its module's."""
    for part in name.split("."):
        held = [c for c in code.co_consts if isinstance(c, types.CodeType)]
        code = next(c for c in held if c.co_name == part)
    return code


def outer(name: str, base: types.CodeType) -> str:
    """The function that holds the one of this name: itself, unless it is local; "" for a class."""
    parts = name.split(".") if name else []
    for k in range(1, len(parts) + 1):
        if code_of(base, ".".join(parts[:k])).co_flags & inspect.CO_OPTIMIZED:
            return ".".join(parts[:k])
    return ""


def plain(found: Any) -> Any:
    """The function itself, out of what wraps it: a property, a cache, a kernel."""
    for wrapper in ("fget", "func", "__func__", "__wrapped__", "py_func"):
        found = getattr(found, wrapper, found)
    return found


def uncompiled(module: Any) -> None:
    """Puts the plain functions in the place of the module's kernels, wherever they are used."""
    kernels = {id(v): v.py_func for v in vars(module).values() if hasattr(v, "py_func")}
    for user in ours() if kernels else []:
        for name, value in list(vars(user).items()):
            if id(value) in kernels:
                setattr(user, name, kernels[id(value)])


def plant(fault: Fault, base: types.CodeType) -> None:
    """Changes the function's code; of what stands around functions, constants and defaults."""
    module, name = module_of(fault.path), outer(fault.function, base)
    if name and code_of(fault.code, name) != code_of(base, name):
        found = module
        for part in name.split("."):
            found = vars(found)[part]
        plain(found).__code__ = code_of(fault.code, name)
        return
    fresh = types.ModuleType(module.__name__)
    fresh.__file__ = module.__file__
    exec(fault.code, vars(fresh))
    adopt(vars(fresh), module)


def inside(value: Any) -> dict[Any, Any]:
    """What a table holds, or the object that a dataclass made."""
    return value if isinstance(value, dict) else vars(value)


def stated(value: Any) -> str:
    """What a table or an object of constants says; nothing of what is known by its place alone."""
    told = repr(value) if isinstance(value, dict) or is_dataclass(value) else ""
    return "" if isinstance(value, type) or " at 0x" in told or "<" in told else told


def adopt(fresh: Any, old: Any) -> None:
    """Constants and defaults from a fresh namespace for a module or a class."""
    for name, value in fresh.items():
        known = vars(old).get(name)
        if isinstance(value, int | float | str | tuple) and known != value:
            for user in ours() if inspect.ismodule(old) else [old]:
                if vars(user).get(name) is known:
                    setattr(user, name, value)
        elif name == "__dataclass_fields__":
            for each in known:
                known[each].metadata = value[each].metadata
        elif type(value).__name__ == type(known).__name__ and stated(value) != stated(known):
            inside(known).clear()
            inside(known).update(inside(value))
        elif inspect.isclass(value) and inspect.ismodule(old) and known is not None:
            if value.__module__ == old.__name__:
                adopt(vars(value), known)
        elif inspect.isfunction(plain(value)) and inspect.isfunction(plain(known)):
            plain(known).__defaults__ = plain(value).__defaults__
            plain(known).__kwdefaults__ = plain(value).__kwdefaults__


def apart(work: Callable[[], str], limit: float) -> str:
    """What ``work`` says in a process of its own; "endless" if it takes more than ``limit`` s."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.setitimer(signal.ITIMER_PROF, limit)  # ends the process
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


# The tests ----------------------------------------------------------------------------


class Loop:
    """pytest's plugin that runs the tests once as they are, and again for every fault."""

    def __init__(
        self, chosen: Sequence[Fault], told: Callable[[Fault, str], None], added: Sequence[str]
    ):
        self.name = ""  # the first test that failed
        self._chosen, self._told, self._added = chosen, told, tuple(added)
        paths = {fault.path for fault in chosen}
        self._base = {p: compile(p.read_text(encoding="utf-8"), str(p), "exec") for p in paths}

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.name:
            self.name = report.nodeid

    def pytest_collectreport(self, report: Any) -> None:
        self.pytest_runtest_logreport(report)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for path in self._base:
            uncompiled(module_of(path))
        items = {item.nodeid: item for item in session.items}
        told = json.loads(apart(lambda: json.dumps(self._watched(session.items)), 10**4))
        if isinstance(told, str):
            self.name = told
            return True
        for fault in self._chosen:
            function = outer(fault.function, self._base[fault.path])
            tests = told.get(f"{fault.path} {function}", []) if function else list(items)
            work = partial(self._seen_by, fault, [items[t] for t in tests])
            self._told(fault, apart(work, 60.0))
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
        paths = {str(path) for path in self._base}
        callers: dict[str, dict[str, float]] = {}
        now: set[str] = set()

        def called(frame: Any, event: str, arg: Any) -> None:
            code = frame.f_code
            if code.co_filename in paths:
                now.add(f"{code.co_filename} {code.co_qualname.split('.<locals>')[0]}")

        sys.settrace(called)
        since = time.process_time()
        for item in self._run(items):
            for name in now:
                callers.setdefault(name, {})[item.nodeid] = time.process_time() - since
            now.clear()
            since = time.process_time()
        return self.name or {f: self._ordered(took) for f, took in callers.items()}

    def _ordered(self, took: dict[str, float]) -> list[str]:
        """The quickest first, those added last; as many as take ``MOST`` seconds together."""
        found, total = [], {False: 0.0, True: 0.0}
        for test in sorted(took, key=lambda t: (t.startswith(self._added), took[t])):
            total[test.startswith(self._added)] += took[test]
            if total[test.startswith(self._added)] <= MOST:
                found.append(test)
        return found

    def _seen_by(self, fault: Fault, tests: Sequence[pytest.Item]) -> str:
        plant(fault, self._base[fault.path])
        for _ in self._run(tests):
            pass
        return self.name


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("modules", nargs="+", type=Path)
    parser.add_argument("--tests", nargs="+", required=True)
    parser.add_argument("--added", nargs="*", default=[], help="files whose tests come last")
    parser.add_argument("--each", type=int, default=10**6, help="faults drawn in a function")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a line of JSON for every fault is added to it")
    args = parser.parse_args()
    os.environ.pop("FRESH", None)  # the same noise and the same examples for every fault
    counts: dict[Path, list[int]] = {module.resolve(): [0, 0] for module in args.modules}
    chosen = [f for p in counts for f in drawn(list(faults(p)), args.each, args.seed)]

    def told(fault: Fault, by: str) -> None:
        counts[fault.path][bool(by)] += 1
        place = f"{fault.path.relative_to(Path.cwd())}:{fault.line} {fault.function}"
        if args.out:
            line = {"place": place, "was": fault.was, "now": fault.now, "by": by}
            with args.out.open("a", encoding="utf-8") as out:
                out.write(json.dumps(line) + "\n")
        if not by:
            sys.stderr.write(f"{place}: {fault.was}  ->  {fault.now}\n")

    loop = Loop(chosen, told, args.added)
    nowhere, said = os.open(os.devnull, os.O_WRONLY), os.dup(1)
    os.dup2(nowhere, 1)  # pytest has nothing to say
    pytest.main([*args.tests, *args.added, "-x", "-q", "-p", "no:cacheprovider"], [loop])
    os.dup2(said, 1)
    if loop.name:
        sys.exit(f"The tests fail without a fault: {loop.name}")
    for path, (passed, seen) in counts.items():
        print(f"{path.relative_to(Path.cwd())}: {passed} of {passed + seen} faults passed")


if __name__ == "__main__":
    main()
