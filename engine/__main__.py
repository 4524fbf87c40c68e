"""Command line: ``engine SUBCOMMAND ...``; bad input gives one line and exit status 2."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path

import engine
from engine import compiled
from engine.cli.interrupts import (
    INTERRUPTED,
    end_on_signals,
    ignore_signals,
    interrupted,
    modules_are_read,
)
from engine.errors import InputError, no_subcommand
from engine.version import __version__

# Task -> its subcommands, each with the module of engine.cli that defines SUBCOMMAND_command. A
# module is imported when its subcommand is used.
TASKS = {
    "learn a graph": {"run": "run", "algorithms": "run", "pairs": "pairs"},
    "compare algorithms and settings": {
        "sweep": "studies",
        "tune": "tune",
        "figure": "figures",
        "merge": "figures",
        "table": "figures",
    },
    "release a graph of your own table": {
        "new": "new",
        "schema": "schema",
        "plan": "plan",
        "budget": "budget",
        "release": "release",
        "key": "check",
    },
    "use a release": {
        "check": "check",
        "effect": "effect",
        "synthetic": "release",
        "combine": "release",
    },
    "test the claims": {"audit": "audit", "reproduce": "reproduce"},
    "teach, and prepare": {"story": "story", "scene": "scene", "warm": "run"},
}
COMMANDS = {word: f"engine.cli.{home}" for words in TASKS.values() for word, home in words.items()}
STOPPED = "Stopped; finished runs of a study are kept."


def command(word: str) -> Callable[[Sequence[str]], int | None]:
    """Return the function of a subcommand."""
    found: Callable[[Sequence[str]], int | None]
    found = getattr(import_module(COMMANDS[word]), f"{word.replace('-', '_')}_command")
    return found


EXAMPLES = (
    "run --dataset asia --algorithm marginal_pc --epsilon 1",
    "schema draft table.csv > schema.json",
    "release --csv table.csv --schema schema.json --budget ward-7 --epsilon 1 --out release.json",
)


def help_text() -> str:
    """Return the help: subcommands by task, the default algorithm and three examples.

    This imports no subcommand's module.
    """
    from engine.request import usual_algorithm  # imported here because it loads every algorithm

    width = max(map(len, COMMANDS))
    lines = ["usage: engine SUBCOMMAND [--help] | --version"]
    for task, words in TASKS.items():
        lines += ["", f"{task}:", *(f"  {word:{width}}  {_sentence(word)}" for word in words)]
    lines += [
        "",
        f"default algorithm: {usual_algorithm(True)} for your own table (--csv), "
        f"{usual_algorithm(False)} for a bundled network (--dataset)",
        "dashboard: dp-causal-explorer without a subcommand",
        "",
        "examples:",
        *(f"  engine {example}" for example in EXAMPLES),
    ]
    return "\n".join(lines)


def _sentence(word: str) -> str:
    """Return the first line of a subcommand's docstring, read from its file."""
    spec, name = find_spec(COMMANDS[word]), f"{word.replace('-', '_')}_command"
    assert spec is not None
    tree = ast.parse(Path(str(spec.origin)).read_text(encoding="utf-8"))
    found = (ast.get_docstring(n) for n in tree.body if getattr(n, "name", "") == name)  # type: ignore[arg-type]
    return (next(found, None) or "").partition("\n")[0]


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit status."""
    try:
        if argv and argv[0] in ("--help", "-h", "help"):
            print(help_text())
            return 0
        if argv and argv[0] in ("--version", "-V"):
            print(f"dp-causal-explorer {__version__}")
            return 0
        if not argv or argv[0] not in COMMANDS:
            raise InputError(no_subcommand("engine", argv, COMMANDS))
        if engine.PASSING:
            print(compiled.NOTE, file=sys.stderr)
        with modules_are_read(STOPPED):
            chosen = command(argv[0])
        return chosen(argv[1:]) or 0
    except InputError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 2
    except KeyboardInterrupt as pressed:
        return _stopped(pressed)
    except BrokenPipeError:
        sys.stderr.close()
    except OSError as error:  # for example a full disk or a read-only folder
        where = f"{error.filename}: " if error.filename else ""
        print(f"{where}{error.strerror or error}; give another path.", file=sys.stderr)
        return 2
    except Exception as error:
        if interrupted():  # other code turned the interrupt into another error
            return _stopped(error)
        raise
    return 0


def _stopped(error: BaseException) -> int:
    """Print a release's note about its charge, or the usual sentence if there is no note."""
    ignore_signals()
    notes = getattr(error, "__notes__", None)
    print(" ".join(["Stopped.", *notes]) if notes else STOPPED, file=sys.stderr)
    return INTERRUPTED


def script() -> int:
    """Run the command ``engine`` of the installed package."""
    end_on_signals()
    # a terminal that cannot print ε must not end a release
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(script())
