"""Command line: ``python -m engine WORD ...``; bad input gives exit status 2 and one line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from engine.errors import InputError

# Word -> module and function; a module is imported when its word is used.
COMMANDS = {
    "run": ("engine.cli.run", "run_command"),
    "algorithms": ("engine.cli.run", "algorithms_command"),
    "pairs": ("engine.cli.pairs", "pairs_command"),
    "warm": ("engine.cli.run", "warm_command"),
    "sweep": ("engine.cli.studies", "sweep_command"),
    "plan": ("engine.cli.plan", "plan_command"),
    "audit": ("engine.cli.audit", "audit_command"),
    "reproduce": ("engine.cli.studies", "reproduce_command"),
}


def command(word: str) -> Callable[[Sequence[str]], int | None]:
    """The function that a word stands for."""
    module, name = COMMANDS[word]
    found: Callable[[Sequence[str]], int | None] = getattr(import_module(module), name)
    return found


def main(argv: Sequence[str]) -> int:
    """Run one command; 0, or 2 with one line on standard error."""
    try:
        if not argv or argv[0] not in COMMANDS:
            raise InputError(f"Say what to do: python -m engine {' | '.join(COMMANDS)}.")
        return command(argv[0])(argv[1:]) or 0
    except InputError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
