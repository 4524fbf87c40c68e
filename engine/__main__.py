"""Command line: ``python -m engine WORD ...``; bad input gives exit status 2 and one line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module

import engine
from engine import compiled
from engine.cli.interrupts import INTERRUPTED, end_on_signals, ignore_signals, interrupted
from engine.errors import InputError

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
    "scene": ("engine.cli.scene", "scene_command"),
    "plan": ("engine.cli.plan", "plan_command"),
    "audit": ("engine.cli.audit", "audit_command"),
    "budget": ("engine.cli.budget", "budget_command"),
    "release": ("engine.cli.release", "release_command"),
    "check": ("engine.cli.check", "check_command"),
    "key": ("engine.cli.check", "key_command"),
    "effect": ("engine.cli.effect", "effect_command"),
    "twin": ("engine.cli.release", "twin_command"),
    "reproduce": ("engine.cli.studies", "reproduce_command"),
}


def command(word: str) -> Callable[[Sequence[str]], int | None]:
    """The function that a word stands for."""
    module, name = COMMANDS[word]
    found: Callable[[Sequence[str]], int | None] = getattr(import_module(module), name)
    return found


def main(argv: Sequence[str]) -> int:
    """Run one command; 0, or one line on standard error with 2 (130 where it was stopped)."""
    try:
        if not argv or argv[0] not in COMMANDS:
            raise InputError(f"Say what to do: python -m engine {' | '.join(COMMANDS)}.")
        if engine.PASSING:
            print(compiled.NOTE, file=sys.stderr)
        return command(argv[0])(argv[1:]) or 0
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
    print("Stopped; finished runs of a study are kept.", file=sys.stderr)
    return INTERRUPTED


if __name__ == "__main__":
    end_on_signals()
    sys.exit(main(sys.argv[1:]))
