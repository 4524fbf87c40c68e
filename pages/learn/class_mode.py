"""Class mode: one address, everybody votes with a phone, a live histogram on the wall."""

from __future__ import annotations

import secrets
from urllib.parse import urlsplit

import streamlit as st

from engine.errors import InputError
from engine.percent import percent
from engine.teaching.neighbours import NeighbourTest, guess_bound
from pages.learn.rooms import Room, Rooms
from pages.shell.palette import ink
from pages.shell.session import Place
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
    st.html(f"<h1>Room {safe(room.code)}, output {room.number}</h1>")
    one, other = (number(z, 4) for z in room.pair.exact)
    st.markdown(
        f"Two tables. **A** gives |z| = {one} exactly. **B** is A with one person replaced "
        f"({_replaced(room)}) and gives {other}. With noise came out **{number(room.value, 4)}**. "
        "From which?"
    )
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
        said = (
            "" if mine is None else " You were right." if mine == room.which else " You were not."
        )
        st.markdown(f"It came from **{NAMES[room.which]}**.{said}")
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
    """The address, the output, the votes as bars, and what the class has got right."""
    votes, of = room.counts(), max(1, sum(room.counts()))
    epsilon = room.pair.epsilon
    st.html(
        f'<p style="font-size:1.5rem;margin:0">Bet at <b>{safe(_address(room.code))}</b> · output '
        f"{room.number}: |z| = <b>{number(room.value, 4)}</b></p>"
    )
    st.html(
        "".join(_bar(k, count, count / of, room) for k, count in enumerate(votes))
        + f'<p style="margin:.3rem 0">{_score(room)} At ε = {number(epsilon)} nobody can be right '
        f"more often than {percent(guess_bound(epsilon), 1)}; a coin is right half the time.</p>"
    )
    if room.shown:
        st.button("Next output", key="learn-room-next", type="primary", on_click=room.deal)
    else:
        st.button("Show the answer", key="learn-room-show", type="primary", on_click=room.show)
    st.caption(f"B is A with one person replaced: {_replaced(room)}. No other person matters more.")
    if urlsplit(st.context.url or "").hostname in ("localhost", "127.0.0.1"):
        st.caption("Phones cannot reach this address: open the page by this machine's own name.")


def _replaced(room: Room) -> str:
    """What one person's answers were, and what they are."""
    return ", ".join(
        f"{plain(name)} {plain(room.pair.before[name])} → {plain(room.pair.after[name])}"
        for name in room.pair.before
    )


def _address(code: str) -> str:
    """Where phones find the room: this page's own address, as the browser has it."""
    here = urlsplit(st.context.url or "")
    return f"{here.netloc}{here.path.rstrip('/') or '/learn'}?{NAME}={code}"


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
