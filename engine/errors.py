"""Errors that a user can act on, and how messages and other tools' files write names."""

import shlex
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from typing import Any, TypeGuard


class InputError(ValueError):
    """Invalid input; the message is one line and says what to do.

    Examples:
        >>> from engine import load_dataset, run
        >>> try:
        ...     run("priv_pc", load_dataset("cancer", n=100), epsilon=-1)
        ... except InputError as error:
        ...     print(error)
        epsilon must be at least 1e-06 and at most 1e+07; -1 is not.
    """


class DataError(InputError):
    """A data file that cannot be used as it is.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from engine import read_table
        >>> place = Path(tempfile.mkdtemp()) / "two.csv"
        >>> _ = place.write_text("a,b\\n1,0\\n1\\n")
        >>> try:
        ...     read_table(place)
        ... except DataError as error:
        ...     print(error)
        Line 3 of two.csv does not have as many cells as the header has names; correct it.
    """


def need(package: str) -> None:
    """Check that an optional package is installed.

    The InputError names the command that installs it in this environment: pip if it is available,
    else uv. The command names the package, not this project, because no index has this project.
    """
    if not _there(package):
        python = shlex.quote(sys.executable)
        pip = f"{python} -m pip install" if _there("pip") else f"uv pip install --python {python}"
        raise InputError(f"Package {package} is missing. Install it with: {pip} {package}")


def _there(package: str) -> bool:
    """Return whether a package can be imported."""
    try:
        return bool(sys.modules.get(package) or find_spec(package))
    except (ImportError, ValueError):  # sys.modules has None for this package
        return False


_LONGEST = 60  # in characters
_MOST_ON_A_WAY = 8


NOT_IN_TETRAD = " \u00a0,;"  # characters that Tetrad does not allow in a name


def portable(names: Sequence[str], forbidden: str = "", instead: str = "_") -> list[str]:
    """Return unique one-line names without the forbidden characters.

    Control characters become spaces, because no format here keeps them.
    """
    taken: set[str] = set()
    out = []
    for name in names:
        line = "".join(c if c.isprintable() else " " for c in name)
        base = line = "".join(instead if c in forbidden else c for c in line)
        k = 2
        while line in taken:
            line, k = f"{base}{instead}{k}", k + 1
        taken.add(line)
        out.append(line)
    return out


def way(names: Sequence[str], arrow: str) -> str:
    """Join the names along a path for a message; long paths and long names are shortened."""
    if len(names) > _MOST_ON_A_WAY:
        names = [*names[: _MOST_ON_A_WAY - 2], "…", names[-1]]
    return arrow.join(map(cut, names))


def writable(text: str) -> bool:
    """Return whether a file can store a text: an unpaired surrogate cannot be encoded."""
    return text.encode(errors="ignore").decode() == text


def is_number(value: Any) -> TypeGuard[int | float]:
    """Return whether a value is a finite number: neither a truth value nor beyond every float."""
    real = isinstance(value, int | float) and not isinstance(value, bool)
    return real and abs(value) <= sys.float_info.max


def show(value: object) -> str:
    """Quote a value for a message, on one line and shortened if it is long."""
    if isinstance(value, str):
        return repr(cut(value))
    try:
        return cut(repr(value))
    except ValueError:  # an integer with more digits than Python prints
        return "a number of thousands of digits"


def cut(words: str) -> str:
    """Return the words, shortened if they are long."""
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"


def no_subcommand(command: str, given: Sequence[str], options: Iterable[str]) -> str:
    """Say that a command has no subcommand, or an unknown one."""
    options = list(options)
    known = f"choose one of {', '.join(options)}; see {command} --help."
    if not given:
        return f"Missing subcommand: {known}"
    return f"{command} has no {show(given[0])}: {known}{did_you_mean(given[0], options)}"


def did_you_mean(word: object, options: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the nearest option, or an empty text."""
    by_folded = {option.casefold(): option for option in options}
    near = get_close_matches(str(word)[:_LONGEST].casefold(), by_folded, n=1)
    return f" Did you mean '{by_folded[near[0]]}'?" if near else ""
