"""The fast way and the careful way to read text: what one reads, the other reads alike.

One odd record sends all of a file the careful way, so a difference would show that it is there.
"""

from __future__ import annotations

import random

import pyarrow as pa

from engine.data import delimited
from engine.data.source import stream
from engine.data.tally import NotPlain, words_of
from engine.errors import DataError

HEADERS = ("a,b,c\n", "a,b\n", "a,b,c,\n", "a;b;c\n", ",a,b\n", "a,b,c\r\n", "a\tb\tc\n")
BITS = (
    "x",
    "y",
    '"',
    '""',
    ' "',
    " ",
    "#",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\v",
    "\x85",
    "\u2028",
    "\xa0",
)
FILES = 1_500


def written(chance: random.Random) -> bytes:
    """A few lines of cells that mean mischief, most of them as long as the header."""
    header = chance.choice(HEADERS)
    by = next(sign for sign in ",;\t" if sign in header)
    end = chance.choice(("", "", by)) + ("\r\n" if header.endswith("\r\n") else "\n")
    return "".join(
        [header, *(line(chance, by, header.count(by) + 1) + end for _ in "four")]
    ).encode()


def line(chance: random.Random, by: str, width: int) -> str:
    many = width if chance.random() < 0.95 else chance.randint(1, width + 2)
    cells = [cell(chance, by) if chance.random() < 0.25 else "x" for _ in range(many)]
    return chance.choice(("", "", "", "", "", "#", " ")) + by.join(cells)


def cell(chance: random.Random, by: str) -> str:
    found = "".join(chance.choice((*BITS, by)) for _ in range(chance.choice((0, 1, 1, 2, 3))))
    return '"{}"'.format(found.replace('"', '""')) if chance.random() < 0.4 else found


def test_both_ways_read_the_same_rows() -> None:
    """Of the first column, the only one that is asked for; how many rows there are is of all."""
    chance, fast = random.Random(0), 0
    for _ in range(FILES):
        found = stream(written(chance))
        try:
            head = delimited._head(found)
            plain = [words_of(columns[0], "a", True) for columns in delimited._fast(found, head)]
        except (NotPlain, pa.ArrowInvalid, DataError):
            continue
        fast += 1
        careful = [words_of(columns[0], "a", False) for columns in delimited._careful(found, head)]
        rows = [[words[k] for words, at in way for k in at.to_pylist()] for way in (plain, careful)]
        assert rows[0] == rows[1], found.content
    assert fast > FILES / 5
