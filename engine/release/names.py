"""Names of budgets: no two that a reader would take for one another.

A total is worth nothing if a second name that looks the same has a total of its own. Two names look
alike if they are equal but for case, width or another compatibility form of Unicode (NFKC), or once
every character is drawn as the Latin one that it resembles.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from engine.errors import InputError

_NAME = re.compile(r"\w[\w .+-]{0,59}")
# Latin letter: what looks like it, after casefolding (some of Unicode's confusables, UTS 39).
_RESEMBLE = {
    "a": "аα",
    "b": "ьв",
    "c": "сϲ",
    "d": "ԁ",
    "e": "еєε",
    "h": "һнη",
    "i": "іїιı",
    "j": "јϳ",
    "k": "кκ",
    "l": "1ӏ|",
    "m": "мμ",
    "n": "ոпν",
    "o": "0оοσօ",
    "p": "рρ",
    "q": "ԛ",
    "r": "гᴦ",
    "s": "ѕ",
    "t": "тτ",
    "u": "υս",
    "v": "ѵ",
    "w": "ԝшω",
    "x": "хχ",
    "y": "уүγ",
    "z": "ᴢζ",
}
_LATIN = {ord(other): latin for latin, others in _RESEMBLE.items() for other in others}
# Scripts that are written together: kanji with kana, Hangul with Chinese characters.
_TOGETHER = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL"})


def tidy(name: str) -> str:
    """The name in Unicode's composed form, so that no keyboard makes two of one."""
    return unicodedata.normalize("NFC", name)


def check_name(name: str, others: Iterable[str]) -> None:
    """InputError for a new name that is malformed, mixes scripts, or looks like another."""
    if not _NAME.fullmatch(name):
        raise InputError(
            "A budget's name has at most 60 letters, digits, spaces, dots, + and -; it starts "
            "with a letter or digit."
        )
    if name != " ".join(name.split()):
        raise InputError("A budget's name has single spaces between words, and none at its end.")
    found = _scripts(name)
    if len(found) > 1 and not found <= _TOGETHER:
        raise InputError(
            f"The name mixes letters of {' and '.join(sorted(s.capitalize() for s in found))}, "
            "which look alike; write it in one script."
        )
    for other in others:
        if _looks(name) & _looks(other):
            raise InputError(f"There is a budget {other!r} already, which looks the same.")


def _scripts(name: str) -> frozenset[str]:
    """The scripts of its letters, by the first word of their Unicode names."""
    return frozenset(unicodedata.name(c, "unknown").split()[0] for c in name if c.isalpha()) - {
        "MODIFIER",
        "FEMININE",
        "MASCULINE",
    }


def _looks(name: str) -> frozenset[tuple[str, str]]:
    """What the name is told by: its letters whatever their case, and what they resemble."""
    wide = " ".join(unicodedata.normalize("NFKC", name).split())
    # A capital I is drawn as a small l, which casefolding would hide.
    drawn = wide.replace("I", "l").casefold().translate(_LATIN).replace("rn", "m")
    return frozenset({("same", wide.casefold()), ("drawn", drawn)})
