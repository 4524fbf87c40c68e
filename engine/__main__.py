"""Command line: ``python -m engine WORD ...``; bad input gives exit status 2 and one line."""

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
from engine.errors import InputError, did_you_mean

# Word -> module and function; a module is imported when its word is used.
COMMANDS = {
    "run": ("engine.cli.run", "run_command"),
    "algorithms": ("engine.cli.run", "algorithms_command"),
    "pairs": ("engine.cli.pairs", "pairs_command"),
    "warm": ("engine.cli.run", "warm_command"),
    "sweep": ("engine.cli.studies", "sweep_command"),
    "tune": ("engine.cli.tune", "tune_command"),
    "figure": ("engine.cli.figures", "figure_command"),
    "compare-studies": ("engine.cli.figures", "compare_command"),
    "merge": ("engine.cli.figures", "merge_command"),
    "table": ("engine.cli.figures", "table_command"),
    "scene": ("engine.cli.scene", "scene_command"),
    "plan": ("engine.cli.plan", "plan_command"),
    "audit": ("engine.cli.audit", "audit_command"),
    "schema": ("engine.cli.schema", "schema_command"),
    "budget": ("engine.cli.budget", "budget_command"),
    "release": ("engine.cli.release", "release_command"),
    "check": ("engine.cli.check", "check_command"),
    "key": ("engine.cli.check", "key_command"),
    "effect": ("engine.cli.effect", "effect_command"),
    "combine": ("engine.cli.release", "combine_command"),
    "synthetic": ("engine.cli.release", "synthetic_command"),
    "reproduce": ("engine.cli.reproduce", "reproduce_command"),
    "completion": ("engine.cli.completion", "completion_command"),
}
ALIASES = {"twin": "synthetic"}
STOPPED = "Stopped; finished runs of a study are kept."


def command(word: str) -> Callable[[Sequence[str]], int | None]:
    """The function that a word stands for."""
    module, name = COMMANDS[word]
    found: Callable[[Sequence[str]], int | None] = getattr(import_module(module), name)
    return found


EXAMPLES = (
    "run --dataset asia --algorithm marginal_pc --epsilon 1",
    "schema draft table.csv > schema.json",
    "release --csv table.csv --schema schema.json --budget ward-7 --epsilon 1 --out release.json",
)


def help_text() -> str:
    """What each word does, and three examples; no word's module is imported for it."""
    width = max(map(len, COMMANDS))
    lines = ["usage: python -m engine WORD ... (each word has a --help of its own)", ""]
    lines += [f"  {word:{width}}  {_sentence(*home)}" for word, home in COMMANDS.items()]
    lines += ["", "examples:", *(f"  python -m engine {example}" for example in EXAMPLES)]
    return "\n".join(lines)


def _sentence(module: str, name: str) -> str:
    """The first sentence of a function's docstring, read from its file."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    told = (ast.get_docstring(n) for n in tree.body if getattr(n, "name", "") == name)  # type: ignore[arg-type]
    return (next(told, None) or "").partition("\n")[0]


def main(argv: Sequence[str]) -> int:
    """Run one command; 0, or one line on standard error with 2 (130 where it was stopped)."""
    try:
        argv = [ALIASES.get(word, word) for word in argv[:1]] + list(argv[1:])
        if argv and argv[0] in ("--help", "-h", "help"):
            print(help_text())
            return 0
        if argv[:2] == ["complete", "--"]:
            from engine.cli.completion import complete_words  # here: it loads the algorithms

            print("\n".join(complete_words(argv[2:], command, list(COMMANDS))))
            return 0
        if not argv or argv[0] not in COMMANDS:
            hint = did_you_mean(argv[0], COMMANDS) if argv else ""
            raise InputError(
                f"Say what to do: python -m engine {' | '.join(COMMANDS)}; --help says what each "
                f"does.{hint}"
            )
        if engine.PASSING:
            print(compiled.NOTE, file=sys.stderr)
        with modules_are_read(STOPPED):
            chosen = command(argv[0])
        return chosen(argv[1:]) or 0
    except InputError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return _stopped()
    except BrokenPipeError:
        sys.stderr.close()
    except OSError as error:  # a full disk, a folder that cannot be written to
        where = f"{error.filename}: " if error.filename else ""
        print(f"{where}{error.strerror or error}; give another place.", file=sys.stderr)
        return 2
    except Exception:
        if interrupted():  # other people's code turned the interrupt into an error of its own
            return _stopped()
        raise
    return 0


def _stopped() -> int:
    ignore_signals()
    print(STOPPED, file=sys.stderr)
    return INTERRUPTED


def script() -> int:
    """The command ``engine`` of an installed package."""
    end_on_signals()
    if isinstance(sys.stdout, TextIOWrapper):  # a terminal without an ε must not end what is paid
        sys.stdout.reconfigure(errors="backslashreplace")
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(script())
