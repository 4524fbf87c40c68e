"""Errors a person can act on, and how names are written in them and in other tools' files."""

import shlex
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from importlib.util import find_spec


class InputError(ValueError):
    """Invalid input; the one-line message says what to do.

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
        Line 3 of two.csv has another number of cells than the header has names; correct it.
    """


def need(package: str) -> None:
    """Check that an optional package is installed.

    InputError names the command that installs it in this environment, however that was made: pip
    if it is there, else uv. It names the package, never this project, which no index holds.
    """
    if not _there(package):
        python = shlex.quote(sys.executable)
        pip = f"{python} -m pip install" if _there("pip") else f"uv pip install --python {python}"
        raise InputError(f"Package {package} is missing. Install it with: {pip} {package}")


def _there(package: str) -> bool:
    """Return whether a package can be imported."""
    try:
        return bool(sys.modules.get(package) or find_spec(package))
    except (ImportError, ValueError):  # None in its place among the modules
        return False


_LONGEST = 60  # characters
_MOST_ON_A_WAY = 8


NOT_IN_TETRAD = " \u00a0,;"  # characters that Tetrad's text of a graph allows in no name


def portable(names: Sequence[str], forbidden: str = "", instead: str = "_") -> list[str]:
    """Return the names on one line each, without forbidden characters, still all different.

    Control characters become spaces: no format here keeps them.
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
    """Names on a way from one to the next, for a message: a long way and long names are cut."""
    if len(names) > _MOST_ON_A_WAY:
        names = [*names[: _MOST_ON_A_WAY - 2], "…", names[-1]]
    return arrow.join(map(cut, names))


def writable(text: str) -> bool:
    """Whether a text is one that a file can hold: half of a pair of code units is none."""
    return text.encode(errors="ignore").decode() == text


def show(value: object) -> str:
    """Quote a value for a message: on one line, cut where it is long."""
    if isinstance(value, str):
        return repr(cut(value))
    try:
        return cut(repr(value))
    except ValueError:  # an integer of more digits than Python prints
        return "a number of thousands of digits"


def cut(words: str) -> str:
    """Return the words, or the beginning of a long text."""
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"


def no_subcommand(command: str, given: Sequence[str], options: Iterable[str]) -> str:
    """Say that a command's first word is missing, or none of its subcommands."""
    options = list(options)
    known = f"choose one of {', '.join(options)}; see {command} --help."
    if not given:
        return f"Missing subcommand: {known}"
    return f"{command} has no {show(given[0])}: {known}{did_you_mean(given[0], options)}"


def did_you_mean(word: object, options: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the nearest option, or nothing."""
    by_folded = {option.casefold(): option for option in options}
    near = get_close_matches(str(word)[:_LONGEST].casefold(), by_folded, n=1)
    return f" Did you mean '{by_folded[near[0]]}'?" if near else ""
