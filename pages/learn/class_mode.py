"""Class mode: one address, everybody votes with a phone, a live histogram on the wall."""

from __future__ import annotations

import secrets
import socket
from contextlib import suppress
from urllib.parse import urlsplit

import segno
import streamlit as st

from engine.errors import InputError
from engine.percent import percent
from engine.story.modules import plain_names
from engine.teaching.neighbours import NeighbourTest, guess_bound
from pages import mode
from pages.draw import ink
from pages.learn.rooms import Room, Rooms
from pages.shell.state import Place
from pages.shell.words import number, plain, safe

NAMES = ("A", "B")
NAME = "room"  # in the address
WALL, PHONE = 1.0, 2.0  # seconds between two looks
_HOSTED: Place[str] = Place("learn_room", str)
_VOTER: Place[str] = Place("learn_voter", lambda: secrets.token_hex(8))
_BARE = (
    '[data-testid="stHeader"], [data-testid="stToolbar"], [data-testid="stSidebar"] '
    "{display: none !important} "
    ".stMainBlockContainer {padding: 1rem !important; max-width: 34rem; margin: auto} "
    ".st-key-ballot button {min-height: 6rem} .st-key-ballot button p {font-size: 2rem}"
)

_TABLES = """
.both {display: flex; flex-wrap: wrap; gap: .6rem 2.5rem; margin: 0 0 .5rem}
.both table {border-collapse: collapse; font-size: 1.15rem; font-variant-numeric: tabular-nums}
.both caption {text-align: left} .both mark {font-weight: 700}
.both th, .both td {text-align: right; padding: .15rem .7rem; border: 1px solid #8592a8}
"""


@st.cache_resource(show_spinner=False)
def rooms() -> Rooms:
    """The server's rooms: public data, and votes without names."""
    return Rooms()


# The phone ------------------------------------------------------------------------------


def ballot(code: str) -> None:
    """What a phone shows: the output, and two buttons."""
    st.html(f"<style>{_BARE}</style>")

    @st.fragment(run_every=PHONE)
    def look() -> None:
        room = rooms().find(code)
        if room is None:
            st.info("There is no such room any more: rooms last an hour. Ask for a new code.")
            return
        _paper(room)

    look()


def _paper(room: Room) -> None:
    voter = _VOTER.get()
    mine = room.votes.get(voter)
    st.html(f'<h1 style="font-size:1.4rem">Room {safe(room.code)}, output {room.number}</h1>')
    st.html(f"{_question(room)}{_tables(room)}")
    with st.container(horizontal=True, key="ballot"):
        for guess, name in enumerate(NAMES):
            st.button(
                name,
                key=f"ballot-{name}",
                type="primary" if mine == guess else "secondary",
                disabled=room.shown,
                on_click=room.vote,
                args=(voter, guess),
                width="stretch",
            )
    if room.shown:
        right = sum(guess == room.which for guess in room.votes.values())
        of = f" {right} of {len(room.votes)} in the class were right."
        said = (
            "" if mine is None else " You were right." if mine == room.which else " You were not."
        )
        st.markdown(f"It came from **{NAMES[room.which]}**.{said}{of}")
    else:
        st.markdown("Bet." if mine is None else f"You say **{NAMES[mine]}**. Look at the wall.")
    st.caption("Nothing about you is kept: one vote a browser, gone within the hour.")


# The wall -------------------------------------------------------------------------------


def door(pair: NeighbourTest) -> None:
    """A button that opens a room on these two tables, or closes the one that is open."""
    room = _hosted()
    if room is None:
        st.button(
            "Open a room for a class",
            key="learn-room-open",
            on_click=_open,
            args=(pair,),
            help="Everybody votes with a phone at one address; the votes are drawn here.",
        )
    else:
        st.button("Close the room", key="learn-room-close", on_click=_close, args=(room.code,))
        st.text_input(
            "Address for phones",
            key="learn-room-address",
            placeholder=_site().removesuffix("/learn"),
            help="As phones on the same network reach this machine; empty for its own address.",
        )


def wall() -> None:
    """The room that this session has opened, live."""
    if (room := _hosted()) is not None:

        @st.fragment(run_every=WALL)
        def look() -> None:
            _bars(room)

        look()


def _hosted() -> Room | None:
    code = _HOSTED.get()
    return rooms().find(code) if code else None


def _open(pair: NeighbourTest) -> None:
    try:
        _HOSTED.put(rooms().open(pair).code)
    except InputError as error:
        st.toast(str(error))


def _close(code: str) -> None:
    rooms().close(code)
    _HOSTED.put("")


def _bars(room: Room) -> None:
    """The address, the question, the votes as bars, and what the class has got right."""
    votes, of = room.counts(), max(1, sum(room.counts()))
    epsilon = room.pair.epsilon
    asked, scan = st.columns([3, 1], gap="large")
    with asked:
        st.html(f"{_question(room)}{_tables(room)}")
        st.html(
            "".join(_bar(k, count, count / of, room) for k, count in enumerate(votes))
            + f'<p style="margin:.3rem 0">{_score(room)} At ε = {number(epsilon)} nobody can be '
            f"right more often than {percent(guess_bound(epsilon), 1)}; a coin is right half the "
            "time.</p>"
        )
        if room.shown:
            st.button("Next output", key="learn-room-next", type="primary", on_click=room.deal)
        else:
            st.button("Show the answer", key="learn-room-show", type="primary", on_click=room.show)
    with scan:
        where = f"{_site()}?{NAME}={room.code}"
        code = segno.make(where).svg_data_uri(border=2, dark="#000", light="#fff")
        st.html(
            f'<img alt="QR code of {safe(where)}" src="{code}" style="width:100%;max-width:22rem">'
            f'<p style="font-size:1.3rem;margin:0;overflow-wrap:anywhere">Bet at <b>'
            f"{safe(where.removeprefix('http://'))}</b></p>"
        )
        if mode.local(urlsplit(where).hostname or ""):
            st.warning("Phones cannot reach this address: it is this machine's alone.")


def _question(room: Room) -> str:
    """What the class is asked, on the wall and on every phone."""
    one, other = (number(z, 4) for z in room.pair.exact)
    return (
        '<p style="font-size:1.3rem;margin:0 0 .4rem"><b>A</b> and <b>B</b> differ in one person: '
        f"{safe(_replaced(room))}. Without noise the score |z| of A is {one} and of B is {other}. "
        f"With noise came out <b>{number(room.value, 4)}</b>. From which table?</p>"
    )


def _tables(room: Room) -> str:
    """Both tables of counts; what the one person changed is marked."""
    data, q = room.pair.pair.data, room.pair.q
    x, y = (plain(name) for name in plain_names(data.name, [data.names[k] for k in (q.x, q.y)]))
    heads = "".join(f"<th>{safe(level)}</th>" for level in data.levels[q.y])
    drawn = ""
    for name, table, other in zip(NAMES, room.tables, reversed(room.tables), strict=True):
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
            f"<table><caption><b>{name}</b>: {safe(x)} ↓, {safe(y)} →</caption>"
            f"<tr><th></th>{heads}</tr>{rows}</table>"
        )
    return f"<style>{_TABLES}</style><div class='both'>{drawn}</div>"


def _site() -> str:
    """Where phones find this page: what was typed, else the browser's address, else this machine's
    on its network.
    """
    typed = str(st.session_state.get("learn-room-address", "")).strip().rstrip("/")
    if typed:
        return f"{typed if '://' in typed else f'http://{typed}'}/learn"
    here = urlsplit(st.context.url or "http://localhost:8501")
    host = here.hostname or "localhost"
    if mode.local(host):
        host = _own_address() or host
    return f"{here.scheme}://{host}{f':{here.port}' if here.port else ''}/learn"


def _own_address() -> str:
    """This machine's address on its network, empty where it has none; nothing is sent."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])
    return ""


def _replaced(room: Room) -> str:
    """What one person's answers were, and what they are."""
    return ", ".join(
        f"{plain(name)} {plain(room.pair.before[name])} → {plain(room.pair.after[name])}"
        for name in room.pair.before
    )


def _bar(which: int, count: int, share: float, room: Room) -> str:
    right = room.shown and room.which == which
    mark = " ✔ it was this one" if right else ""
    return (
        '<div style="display:flex;align-items:center;gap:.8rem;font-size:1.3rem;margin:.25rem 0">'
        f'<b style="width:1.4rem">{NAMES[which]}</b><div style="flex:1;height:2.2rem;'
        'background:rgba(128,140,160,.18)"><div style="height:100%;transition:width .4s;'
        f'width:{100 * share:.1f}%;background:{ink(which)}"></div></div>'
        f'<b style="min-width:4.5rem">{count}</b><span style="min-width:10rem">{mark}</span></div>'
    )


def _score(room: Room) -> str:
    right, of = room.score()
    return (
        f"<b>Right so far: {right} of {of} ({percent(right / of)}).</b>"
        if of
        else "No round is over."
    )
