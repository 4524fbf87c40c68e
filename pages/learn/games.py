"""The three questions of a class, in words, numbers and pictures, for projectors and phones."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Sequence
from statistics import median_low

import streamlit as st

from engine.data.networks import plain_names
from engine.graphs.links import LinkClass
from engine.graphs.picture import Inks, Svg, graph_svg, sheet, tag
from engine.graphs.view import Link, view
from engine.percent import number, percent
from engine.registry import algorithm
from engine.studies.scenes import kept_scene
from engine.teaching.classroom import LOW, ONCE, PER_TEST, PICKS, Lesson, luck
from engine.teaching.neighbours import moves
from engine.words.run import guesses
from pages.draw import ink
from pages.learn.rooms import Question, Room
from pages.learn.tour import neighbours_of
from pages.shell.words import safe, theme

TABLES = ("A", "B")
_INKS = {"light": "#1a2230", "dark": "#e8edf5"}
STEP = 2.0  # seconds from one lost link to the next
PAIRS = {"asia": ("tub", "either"), "cancer": ("Smoker", "Cancer")}
_STYLE = """
.both {display: flex; flex-wrap: wrap; gap: .6rem 2.5rem; margin: 0 0 .5rem}
.both table {border-collapse: collapse; font-size: 1.15rem; font-variant-numeric: tabular-nums}
.both caption {text-align: left} .both mark {font-weight: 700}
.both th, .both td {text-align: right; padding: .15rem .7rem; border: 1px solid #8592a8}
.asked {font-size: 1.3rem; margin: 0 0 .5rem} .seen {width: 100%; max-height: 36vh}
ul.rows {font-size: 1.15rem; margin: 0; padding: 0 !important; list-style: none}
.rows li {display: grid; grid-template-columns: minmax(8rem, 17rem) 1fr 15rem; gap: .8rem;
  margin: .2rem 0; padding: 0}
.rows i {display: block; height: 1.4rem; background: #8592a8}
.asked.said {margin: .6rem 0 0}
"""


@st.cache_resource(max_entries=8, show_spinner=False)
def lesson_of(network: str) -> Lesson:
    """Return the facts for a class on this network."""
    scene = kept_scene(network)
    x, y = PAIRS.get(network, scene["names"][:2])
    return Lesson(scene, neighbours_of(network, x, y))


def titles(lesson: Lesson) -> list[str]:
    """Return the columns in plain words."""
    return plain_names(lesson.scene["dataset"], lesson.scene["names"])


def link_names(lesson: Lesson) -> list[str]:
    """Return each true link in plain words."""
    named = titles(lesson)
    return [f"{named[i]} → {named[j]}" for i, j in lesson.links]


def named(room: Room, one: Question, option: int) -> str:
    """Return an option in words."""
    if one.game == "links":
        return link_names(room.lesson)[option]
    return TABLES[option] if one.game == "person" else f"ε = {number(prices(room.lesson)[option])}"


def prices(lesson: Lesson) -> Sequence[float]:
    """Values of ε that a voter can choose."""
    kept: Sequence[float] = lesson.scene["epsilons"]
    return kept


def price_words(epsilon: float) -> str:
    """Return a sentence on how much an ε reveals about one person."""
    return f"ε = {number(epsilon)}: an attacker is right at most {guesses(epsilon)} times in 100"


# Questions --------------------------------------------------------------------------------


def asked(room: Room) -> str:
    """Return the question and its picture, as a wall and a phone show them."""
    said = {"links": _links_asked, "person": _person_asked, "price": _price_asked}[room.now.game]
    return f"<style>{_STYLE}</style>{said(room)}"


def _links_asked(room: Room) -> str:
    """Return the question, or after the last lost link its result."""
    if room.now.shown is not None and _steps(room) >= len(room.lesson.lost):
        return _foreseen(room)
    rows, picks = room.lesson.scene["rows"], min(PICKS, room.options())
    return (
        f'<p class="asked">{rows:,} records show these links. Then noise hides every person at '
        f"ε = {number(LOW)}. <b>Choose {picks} links that will be lost.</b></p>"
    )


def _price_asked(room: Room) -> str:
    return (
        '<p class="asked">A study asks for your record. A small ε hides you well, and a large ε '
        "finds more links. <b>At which ε would you give your record?</b></p>"
    )


def _person_asked(room: Room) -> str:
    pair, value = room.lesson.pair, room.now.value
    named = dict(zip(room.lesson.scene["names"], titles(room.lesson), strict=True))
    changed = ", ".join(
        f"{safe(named[name])}: {safe(pair.before[name])} becomes {safe(pair.after[name])}"
        for name in pair.before
    )
    x, y = (safe(titles(room.lesson)[k]) for k in (pair.q.x, pair.q.y))
    return (
        f'<p class="asked">Tables <b>A</b> and <b>B</b> differ in one person ({changed}). A noisy '
        f"measurement of the link between {x} and {y} is <b>{number(value, 5)}</b>, at ε = "
        f"{number(room.now.epsilon)}. <b>Which table did it come from?</b></p>"
        f"{_tables(room.lesson)}{_line(pair.exact, value)}"
    )


def _tables(lesson: Lesson) -> str:
    """Return both tables of counts; the cells that the person changes are marked."""
    pair = lesson.pair
    data, q = pair.pair.data, pair.q
    x, y = (safe(titles(lesson)[k]) for k in (q.x, q.y))
    both = [moves(d, q).table[0].tolist() for d in (data, pair.pair.other)]
    heads = "".join(f"<th>{safe(level)}</th>" for level in data.levels[q.y])
    drawn = ""
    for name, table, other in zip(TABLES, both, reversed(both), strict=True):
        rows = "".join(
            f"<tr><th>{safe(level)}</th>"
            + "".join(
                f"<td>{n:,}</td>" if n == m else f"<td><mark>{n:,}</mark></td>"
                for n, m in zip(mine, theirs, strict=True)
            )
            + "</tr>"
            for level, mine, theirs in zip(data.levels[q.x], table, other, strict=True)
        )
        drawn += (
            f"<table><caption><b>{name}</b>: {x} ↓, {y} →</caption>"
            f"<tr><th></th>{heads}</tr>{rows}</table>"
        )
    return f"<div class='both'>{drawn}</div>"


def _line(exact: tuple[float, float], value: float) -> str:
    """Return a line with the positions of A, B and the noisy measurement."""
    low, high = min(*exact, value), max(*exact, value)
    place = [40 + 520 * (v - low) / (high - low or 1) for v in (*exact, value)]
    words = {"text_anchor": "middle", "font_size": 18, "font_weight": 700, "fill": "currentColor"}
    body = tag("path", d="M10 40H590", stroke="currentColor", stroke_width=1.5)
    for k, (x, name, y) in enumerate(zip(place, (*TABLES, "noisy"), (26, 26, 72), strict=True)):
        body += tag("circle", cx=x, cy=40.0, r=7.0, fill=ink(k))
        body += tag("text", name, x=min(max(x, 30.0), 570.0), y=float(y), **words)
    alt = "A, B and the noisy measurement on one line"
    return _shown(sheet(body, (0, 0, 600, 80), alt=alt), alt)


def _shown(svg: Svg, alt: str) -> str:
    """Return a picture in the theme's ink as an image: Streamlit removes SVG elements from HTML."""
    drawn = b64encode(svg.replace("currentColor", _INKS[theme()]).encode()).decode()
    return f'<img class="seen" alt="{safe(alt)}" src="data:image/svg+xml;base64,{drawn}">'


# Pictures of questions ----------------------------------------------------------------------


def picture(room: Room) -> str:
    """Return the picture of a question, before and after its answer."""
    now = room.now
    if now.game == "links":
        gone = [] if now.shown is None else room.lesson.lost[: _steps(room)]
        alt = f"The true graph; {len(gone)} links are lost"
        return _shown(_graph(room.lesson, gone, alt), alt)
    if now.game == "price" and now.shown is not None and now.votes:
        at = _median(now)
        alt = "How many voters chose each ε"
        return f"{_shown(_histogram(room, alt), alt)}{_paid(room.lesson, at)}"
    return ""


def _steps(room: Room) -> int:
    """Return the number of lost links that have disappeared since the answer, one after the
    other."""
    assert room.now.shown is not None
    return int((room.clock() - room.now.shown) / STEP)


def _median(one: Question) -> int:
    return median_low([choice[0] for choice in list(one.votes.values())])


def _graph(lesson: Lesson, gone: Sequence[int], alt: str) -> Svg:
    """Return the true graph, with lost links as missed."""
    named = titles(lesson)
    arrows = [(named[i], named[j]) for i, j in lesson.links]
    links = [
        Link(a, b, True, LinkClass.MISSED if k in gone else LinkClass.CORRECT)
        for k, (a, b) in enumerate(arrows)
    ]
    return graph_svg(view(named, links, arrows), alt=alt, inks=Inks(theme()))


def _histogram(room: Room, alt: str) -> Svg:
    """Return a histogram of the voters' choices of ε, with the median."""
    every, counts = prices(room.lesson), room.now.counts()
    wide, most, body = 600 / len(every), max(counts.values()), ""
    for at, votes in counts.items():
        tall = 130.0 * votes / most
        shade = ink(1 if at == _median(room.now) else 0)
        spot = {"x": at * wide + 1, "y": 140 - tall, "width": wide - 2, "height": tall}
        body += tag("rect", **spot, fill=shade)
    words = {"font_size": 16, "fill": "currentColor", "y": 160.0}
    for at in (0, len(every) // 3, 2 * len(every) // 3, len(every) - 1):
        anchor = "start" if at == 0 else "end" if at == len(every) - 1 else "middle"
        where = 0.0 if at == 0 else 600.0 if at == len(every) - 1 else (at + 0.5) * wide
        body += tag("text", number(every[at]), x=where, text_anchor=anchor, **words)
    body += tag("path", d="M0 141H600", stroke="currentColor")
    return sheet(body, (0, 0, 600, 166), alt=alt)


def _paid(lesson: Lesson, at: int) -> str:
    epsilon, (found, false) = prices(lesson)[at], lesson.found(at)
    return (
        f'<p class="asked said">The class\'s median is <b>ε = {number(epsilon)}</b>. There '
        f"{algorithm(ONCE).title} finds <b>{number(found, 2)} of {len(lesson.links)} links</b> on "
        f"average, with {number(false, 2)} false positives. An attacker is right at most "
        f"{guesses(epsilon)} times in 100 about one person.</p>"
    )


# The answer -------------------------------------------------------------------------------


def answer(room: Room) -> str:
    """Return the votes and their meaning, after the answer is shown."""
    now, voters, lesson = room.now, max(1, len(room.now.votes)), room.lesson
    counts = now.counts()
    if now.game == "person":
        rows = "".join(
            _row(f"{name}{' (the right table)' if k == now.which else ''}", counts[k] / voters, "")
            for k, name in enumerate(TABLES)
        )
        return f'<ul class="rows">{rows}</ul><p class="asked said">{score(room)}</p>'
    if now.game == "links":
        rows = "".join(
            _row(link_names(lesson)[k], counts[k] / voters, _limit(lesson.limits[k]))
            for k in lesson.lost[: _steps(room)]
        )
        return f'<ul class="rows">{rows}</ul>'
    return ""


def _limit(epsilon: float) -> str:
    never = math.isinf(epsilon)
    return "missed at every ε" if never else f"lost below ε = {number(epsilon)}"


def _foreseen(room: Room) -> str:
    """Return a sentence on the right choices, compared with random ones."""
    lesson, counts, lost = room.lesson, room.now.counts(), room.lesson.lost
    never = [k for k in lost if math.isinf(lesson.limits[k])]
    right, picks = sum(counts[k] for k in lost), sum(counts.values())
    chance = number(picks * len(lost) / len(lesson.links), 2)
    title = algorithm(PER_TEST).title
    own = f" Its test misses {len(never)} of them at every ε." if never else ""
    return (
        f'<p class="asked">{right} of {picks} choices were right; '
        f"random choices would give {chance}. {title} loses {len(lost)} of {len(lesson.links)} "
        f"links at ε = {number(LOW)}.{own}</p>"
    )


def _row(words: str, share: float, note: str) -> str:
    bar = f'<i style="width:{100 * share:.0f}%"></i>'
    said = f"{percent(share)}{' · ' if note else ''}{safe(note)}"
    return f"<li><span>{safe(words)}</span><span>{bar}</span><b>{said}</b></li>"


def score(room: Room) -> str:
    """Return how often the majority was right, with the bound and the range that chance
    explains."""
    right, chances = room.score()
    if not chances:
        return "Most votes decide the class's answer; a tie does not count."
    mean = sum(chances) / len(chances)
    low, high = luck(chances)
    spread = f"{low}" if low == high else f"{low} to {high}"
    return (
        f"The class was right on <b>{right} of {len(chances)}</b> outputs. In the long run the "
        f"best guesser is right {percent(mean, 1)} of the time. After {len(chances)}, 9 of 10 "
        f"classes get {spread} right by luck."
    )
