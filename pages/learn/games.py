"""The three questions of a class and their answers, as projectors and phones show them."""

from __future__ import annotations

import math
from statistics import median_low

import streamlit as st

from engine.graphs.links import LinkClass
from engine.graphs.picture import sheet, tag
from engine.graphs.view import Link, view
from engine.percent import number, percent, span
from engine.registry import algorithm
from engine.studies.scenes import kept_scene
from engine.teaching.classroom import LOW, ONCE, PER_TEST, Lesson, luck
from engine.teaching.lessons import query
from engine.teaching.neighbours import farthest, moves
from engine.words.run import guesses
from pages.draw import charts, ink, palette
from pages.draw.links import Picture, graph_picture
from pages.learn.rooms import TABLES, Room, link_names, titles
from pages.learn.tour import Tour
from pages.shell.words import plain, theme

STEP = 2.0  # seconds from one lost link to the next
PAIRS = {"asia": ("tub", "either"), "cancer": ("Smoker", "Cancer")}


@st.cache_resource(max_entries=8, show_spinner=False)
def lesson_of(network: str) -> Lesson:
    """Return the facts for a class on this network, with the neighbour that moves one test most."""
    scene, data = kept_scene(network), Tour(data=network).dataset
    return Lesson(scene, farthest(data, query(data, *PAIRS.get(network, data.names[:2])), 1.0))


def price_words(epsilon: float) -> str:
    """Return a sentence on how much an ε reveals about one person."""
    return f"ε = {number(epsilon)}: an attacker is right at most {guesses(epsilon)} times in 100"


def show_question(room: Room) -> None:
    """Draw the question with its picture, on a projector or a phone."""
    with st.container(key="question"):
        {"links": _ask_links, "person": _ask_person, "price": _ask_price}[room.now.game](room)


def show_answer(room: Room) -> None:
    """Draw the graph of the question and, once the answer is shown, the votes and their meaning."""
    with st.container(key="answer"):
        if room.now.game == "links":
            _lost_links(room)
        elif room.now.shown is not None:
            (_right_table if room.now.game == "person" else _paid_price)(room)


def _row(words: str, share: float, note: str = "") -> None:
    st.progress(share, " · ".join(filter(None, (f"{plain(words)}: **{percent(share)}**", note))))


# Which links survive? ---------------------------------------------------------------------


def _gone(room: Room) -> list[int]:
    """Return the lost links that have disappeared since the answer, one after the other."""
    now = room.now
    return [] if now.shown is None else room.lesson.lost[: int((room.clock() - now.shown) / STEP)]


def _ask_links(room: Room) -> None:
    """Ask the question, or after the last lost link compare the choices with random ones."""
    lesson, title = room.lesson, algorithm(PER_TEST).title
    lost, counts = lesson.lost, room.now.counts()
    if room.now.shown is None or len(_gone(room)) < len(lost):
        st.markdown(
            f"{lesson.scene['rows']:,} records show these links. Then the noise of {title} hides "
            f"every person at ε = {number(LOW)}. **Choose {room.picks} links that it will lose.**"
        )
        return
    right, picks = sum(counts[k] for k in lost), sum(counts.values())
    never = sum(math.isinf(lesson.limits[k]) for k in lost)
    st.markdown(
        f"{right} of {picks} choices were right; random choices would give "
        f"{number(picks * len(lost) / len(lesson.links), 2)}. {title} loses {len(lost)} of "
        f"{len(lesson.links)} links at ε = {number(LOW)}."
        + (f" Its test misses {never} of them at every ε." if never else "")
    )


def _lost_links(room: Room) -> None:
    """Draw the true graph, with lost links as missed, and the votes for each of these."""
    lesson, counts, gone = room.lesson, room.now.counts(), _gone(room)
    named, words = titles(lesson), link_names(lesson)
    arrows = [(named[i], named[j]) for i, j in lesson.links]
    links = [
        Link(a, b, True, LinkClass.MISSED if k in gone else LinkClass.CORRECT)
        for k, (a, b) in enumerate(arrows)
    ]
    alt = f"The true graph; {len(gone)} links are lost"
    st.html(graph_picture(view(named, links, arrows), alt=alt, theme=theme()).image)
    for k in gone:
        _row(words[k], counts[k] / max(1, len(room.now.votes)), _limit(lesson, k))


def _limit(lesson: Lesson, k: int) -> str:
    """Say below which ε the class's method loses a link; another method may find it."""
    title, limit = algorithm(PER_TEST).title, lesson.limits[k]
    if not math.isinf(limit):
        return f"{title} loses it below ε = {number(limit)}"
    other = lesson.limits_of(ONCE)[k]
    finds = f"; {algorithm(ONCE).title} finds it from ε = {number(other)} on"
    return f"{title} misses it at every ε{'' if math.isinf(other) else finds}"


# Was this person in? ----------------------------------------------------------------------


def _ask_person(room: Room) -> None:
    lesson, pair = room.lesson, room.lesson.pair
    named = dict(zip(lesson.scene["names"], titles(lesson), strict=True))
    changed = ", ".join(
        f"{named[name]}: {pair.before[name]} becomes {pair.after[name]}" for name in pair.before
    )
    x, y = (titles(lesson)[k] for k in (pair.q.x, pair.q.y))
    st.markdown(
        f"Tables **A** and **B** differ in one person ({plain(changed)}). A noisy measurement of "
        f"the link between {plain(x)} and {plain(y)} is **{number(room.now.value, 5)}**, at ε = "
        f"{number(room.now.epsilon)}. **Which table did it come from?**"
    )
    _counts(lesson, f"{x} ↓, {y} →")
    _line(pair.exact, room.now.value)


def _counts(lesson: Lesson, axes: str) -> None:
    """Draw both tables of counts; the cells that the person changes are marked."""
    pair = lesson.pair
    data, q = pair.pair.data, pair.q
    both = [moves(one, q).table[0].tolist() for one in (data, pair.pair.other)]
    for place, name, table, other in zip(st.columns(2), TABLES, both, both[::-1], strict=True):
        lines = [[f"**{name}**: {plain(axes)}", *map(plain, data.levels[q.y])]]
        lines.append(["---", *["--:"] * len(data.levels[q.y])])
        for level, mine, theirs in zip(data.levels[q.x], table, other, strict=True):
            cells = zip(mine, theirs, strict=True)
            marked = (f"{n:,}" if n == m else f":orange-background[**{n:,}**]" for n, m in cells)
            lines.append([f"**{plain(level)}**", *marked])
        place.markdown("\n".join(f"| {' | '.join(line)} |" for line in lines))


def _line(exact: tuple[float, float], value: float) -> None:
    """Draw a line with the positions of A, B and the noisy measurement."""
    low, high = min(*exact, value), max(*exact, value)
    font = palette().font
    words = {"text_anchor": "middle", "font_size": 18, "font_weight": 700, "fill": font}
    body = tag("path", d="M10 40H590", stroke=font, stroke_width=1.5)
    spots = zip((*TABLES, "noisy"), (*exact, value), (26.0, 26.0, 72.0), strict=True)
    for k, (name, v, y) in enumerate(spots):
        x = 40 + 520 * (v - low) / (high - low or 1)
        body += tag("circle", cx=x, cy=40.0, r=7.0, fill=ink(k))
        body += tag("text", name, x=x, y=y, **words)
    alt = "A, B and the noisy measurement on one line"
    st.html(Picture(sheet(body, (0, 0, 600, 80), alt=alt), alt).image)


def _right_table(room: Room) -> None:
    """Draw the votes, and how often the majority was right, with the bound and the range that
    chance explains."""
    now, counts = room.now, room.now.counts()
    for k, name in enumerate(TABLES):
        note = " (the right table)" if k == now.which else ""
        _row(f"{name}{note}", counts[k] / max(1, len(now.votes)))
    right, chances = room.score()
    if not chances:
        st.markdown("Most votes decide the class's answer; a tie does not count.")
        return
    st.markdown(
        f"The class was right on **{right} of {len(chances)}** outputs. In the long run the "
        f"best guesser is right {percent(sum(chances) / len(chances), 1)} of the time. After "
        f"{len(chances)}, 9 of 10 classes get {span(*luck(chances))} right by luck."
    )


# How much would you pay? ------------------------------------------------------------------


def _ask_price(room: Room) -> None:
    st.markdown(
        "A study asks for your record. A small ε hides you well, and a large ε finds more links. "
        "**At which ε would you give your record?**"
    )


def _paid_price(room: Room) -> None:
    """Draw a histogram of the voters' choices of ε, and the meaning of their median."""
    lesson, counts, votes = room.lesson, room.now.counts(), list(room.now.votes.values())
    if not votes:
        return
    every, at = lesson.scene["epsilons"], median_low(choice[0] for choice in votes)
    names, heights = [number(epsilon) for epsilon in every], [counts[k] for k in range(len(every))]
    drawn = charts.bars(names, heights, x_title="ε", y_title="Voters", words=names)
    drawn["data"][0]["marker"] = {"color": [ink(int(k == at)) for k in range(len(every))]}
    charts.figure(drawn, key="learn-room-votes", alt="How many voters chose each ε")
    found, false = lesson.found(at)
    st.markdown(
        f"The class's median is **ε = {names[at]}**. There {algorithm(ONCE).title} finds "
        f"**{number(found, 2)} of {len(lesson.links)} links** on average, with "
        f"{number(false, 2)} false positives. An attacker is right at most {guesses(every[at])} "
        "times in 100 about one person."
    )
