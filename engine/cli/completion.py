"""``python -m engine completion SHELL``: words, flags and their values, completed by a shell."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from engine.cli.flags import Asked, Parser
from engine.data.networks import NETWORKS
from engine.errors import InputError
from engine.registry import ALGORITHMS

SHELLS = {
    "bash": """_dp_engine() {
  local IFS=$'\\n'
  COMPREPLY=($(__PYTHON__ -m engine complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [ ${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o filenames -F _dp_engine engine
""",
    "zsh": """#compdef engine
_dp_engine() {
  local -a found
  found=("${(@f)$(__PYTHON__ -m engine complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=(${found:#})
  if (( ${#found} )); then compadd -- "${found[@]}"; else _files; fi
}
compdef _dp_engine engine
""",
    "fish": """function __dp_engine
  __PYTHON__ -m engine complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null
end
complete -c engine -a '(__dp_engine)'
""",
}


def completion_command(argv: Sequence[str]) -> None:
    """Print what makes a shell complete the command engine."""
    parser = Parser(
        description="A script for your shell that completes the command engine: words, flags, and "
        'algorithms and networks as their values. In bash: eval "$(engine completion bash)".',
        example="completion bash",
    )
    parser.add_argument("shell", choices=list(SHELLS))
    shell = parser.parse_args(argv).shell
    print(SHELLS[shell].replace("__PYTHON__", f"'{sys.executable}'"), end="")


def complete_words(
    words: Sequence[str], command: Callable[[str], Any], known: Sequence[str]
) -> list[str]:
    """What the last of some words may become; nothing where only the person knows."""
    *before, last = words or [""]
    if not before:
        return [word for word in known if word.startswith(last)]
    # A flag without its value cannot be parsed: without it, then without any.
    for argv in (before[1:], before[1:-1], []):
        try:
            parser = parser_of(command(before[0]), argv)
        except (InputError, KeyError, SystemExit):
            continue
        return [word for word in _candidates(parser, before) if word.startswith(last)]
    return []


def parser_of(command: Callable[[Sequence[str]], Any], argv: Sequence[str]) -> Parser:
    """The parser that a command would use; InputError where it asks for another word first."""
    Parser.asked = True
    try:
        command(argv)
    except Asked as asked:
        return asked.parser
    finally:
        Parser.asked = False
    raise InputError("The command takes no words.")


def _candidates(parser: Parser, before: Sequence[str]) -> Iterator[str]:
    """Values of the flag before, or every flag, and the choices of what is no flag."""
    for action in parser._actions:
        if before[-1] in action.option_strings and action.nargs != 0:
            yield from _values(action)
            return
    for action in parser._actions:
        if action.option_strings:
            yield action.option_strings[0]
        else:
            yield from _values(action)


def _values(action: Any) -> Iterator[str]:
    if action.choices is not None:
        yield from map(str, action.choices)
    elif "--algorithm" in action.option_strings:
        yield from ALGORITHMS
    elif "--dataset" in action.option_strings:
        yield from NETWORKS
