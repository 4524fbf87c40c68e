"""The pair of columns of a report's question: chosen, or read from a typed sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from itertools import islice

import numpy as np

from engine.graphs.cpdag import Adjacency
from engine.graphs.orientation import reachable

_BACKWARDS = re.compile(r"\b(by|from|due to|because of|depend\w* on|result\w* of)\b")
_CLOSE = 0.8  # share of equal letters in a misspelt name
_SHORT = 2  # letters up to which a name is also a word: "A", "T"


def read(question: str, titles: Mapping[str, str]) -> tuple[str, str] | None:
    """Return (cause, outcome) of a sentence that names two columns; None for another sentence.

    ``titles`` has each column's plain name. A misspelt name counts if no other one fits. "Is B
    caused by A?" asks about the effect of A on B.
    """
    places = _named(question, titles)
    if len(places) < 2:
        places |= _misspelt(question, titles, places)
    if len(places) != 2:
        return None
    (first, (_, end)), (second, (start, _)) = sorted(places.items(), key=lambda item: item[1])
    backwards = _BACKWARDS.search(question.casefold()[end:start])
    return (second, first) if backwards else (first, second)


def _named(question: str, titles: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """Return where each column is named first; of nested names the longest counts."""
    found, left = dict[str, tuple[int, int]](), question
    words = {(word, name) for name, title in titles.items() for word in (name, title)}
    for word, name in sorted(words, key=lambda w: (-len(w[0]), w)):
        case = re.IGNORECASE if len(word) > _SHORT else 0
        while at := re.search(rf"(?<!\w){re.escape(word)}(?!\w)", left, case):
            left = left[: at.start()] + "\0" * len(word) + left[at.end() :]
            found[name] = min(found.get(name, at.span()), at.span())
    return found


def _misspelt(
    question: str, titles: Mapping[str, str], known: Mapping[str, tuple[int, int]]
) -> dict[str, tuple[int, int]]:
    """Return where other columns are named with a few wrong letters."""
    found = {}
    taken = {k for span in known.values() for k in range(*span)}
    words = [at.span() for at in re.finditer(r"\w+", question) if at.start() not in taken]
    for name, title in titles.items():
        for called in {name, title} if name not in known else ():
            size = len(called.split())
            spans = {question[a[0] : b[1]].casefold(): (a[0], b[1])
                     for a, b in zip(words, words[size - 1 :], strict=False)}  # fmt: skip
            for near in get_close_matches(called.casefold(), spans, 1, _CLOSE):
                found[name] = spans[near]
    return found


def examples(graph: Adjacency, names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return up to three pairs that a graph answers: through other columns first, then directly."""
    directed = graph & ~graph.T
    through = reachable(directed) & ~directed
    parts = (through, directed, np.triu(graph & graph.T))
    pairs = ((names[i], names[j]) for some in parts for i, j in np.argwhere(some).tolist())
    return list(islice(dict.fromkeys(pairs), 3))
