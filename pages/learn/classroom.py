"""A class: its projector has the way to join, the question, and the votes after the answer; a phone
has a random name, the question and its vote."""

from __future__ import annotations

import re
import shlex
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import segno
import streamlit as st

from engine.errors import InputError
from pages import mode
from pages.learn.games import lesson_of, price_words, show_answer, show_question
from pages.learn.rooms import GAMES, TABLES, Choice, Room, Rooms
from pages.learn.tour import tour
from pages.shell import listen, state
from pages.shell.export import download
from pages.shell.state import Place
from pages.shell.words import plain, safe

PHONE, WALL = "room", "wall"  # in the address
LOOK, PHONE_LOOK = 1.0, 2.0  # seconds between two checks
GONE = "is not open: it was closed, its hour ended, or the server restarted."
EPSILONS = (0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
# The Python and the program that run now, wherever they were installed.
_SERVE = shlex.join([sys.executable, str(Path(__file__).parents[2] / "scripts" / "serve.py")])
RESTART = f"{mode.PUBLIC}=1 {_SERVE} --server.address 0.0.0.0"
_KEY: Place[str | None] = Place("learn_wall")  # None until the address was read


@st.cache_resource(show_spinner=False)
def rooms() -> Rooms:
    """Return the server's rooms: public data, and votes without names."""
    return Rooms()


def led() -> bool:
    """Return whether this session shows a room, because it opened one or its address names one."""
    if _KEY.get() is None:
        _KEY.put(st.query_params.get(WALL, ""))
    return bool(_KEY.get())


def door() -> None:
    """Draw a button that opens a room for a class on the tour's network."""
    st.button("Teach a class", key="learn-room-open", icon=":material/groups:", on_click=_open)


def _open() -> None:
    try:
        _KEY.put(rooms().open(lesson_of(tour().data)).key)
    except InputError as error:
        st.toast(str(error))


def _close(room: Room) -> None:
    rooms().close(room)
    _KEY.put("")


def _live(word: str, every: float, draw: Callable[[Room | None], None]) -> None:
    """Draw the room of a code or key again and again; None if there is none."""

    @st.fragment(run_every=every)
    def look() -> None:
        with st.container(key="room"):
            draw(rooms().find(word))

    look()


# The projector ----------------------------------------------------------------------------


def wall() -> None:
    """Draw the room of this session or address, with live updates."""
    key = _KEY.get() or ""
    state.visit().words[WALL] = key
    _live(key, LOOK, _screen)


def _turn(title: str, key: str, act: Callable[[], None]) -> None:
    """Draw a button that changes the whole page; a callback would run the fragment only."""
    if st.button(title, key=key, type="tertiary"):
        act()
        st.rerun()


def _screen(room: Room | None) -> None:
    if room is None:
        st.info(f"This room {GONE} Open a new room, and give the class its code.")
        with st.container(horizontal=True):
            _turn("Open a new room", "learn-room-open", _open)
            _turn("Back to Learn", "learn-room-close", lambda: _KEY.put(""))
        return
    now = room.now
    question, scan = st.columns([3, 1], gap="large")
    with question:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.title(GAMES[now.game].title, anchor=False, width="content")
            joined, voted = len(room.voters), len(now.votes)
            st.markdown(f"Question {now.number}. Joined: **{joined}**. Voted: **{voted}**.")
        _controls(room)
        show_question(room)
        show_answer(room)
    with scan:
        _joining(room)


def _controls(room: Room) -> None:
    now, key = room.now, "learn-room"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if now.shown is None:
            title, args = "Show the answer", (now.number,)
            st.button(title, key=f"{key}-show", type="primary", on_click=room.show, args=args)
        game = st.segmented_control(
            "Next question",
            GAMES,
            default=now.game,
            format_func=lambda name: GAMES[name].title,
            key=f"{key}-game-{now.number}",
            required=True,
            label_visibility="collapsed",
        )
        epsilon = now.epsilon
        if game == "person":
            at = min(EPSILONS, key=lambda e: abs(e - now.epsilon))
            place = f"{key}-epsilon-{now.number}"
            epsilon = st.select_slider("ε of the output", EPSILONS, at, key=place)
        next_ = game, now.number, epsilon
        st.button("Ask it", key=f"{key}-next", on_click=room.ask, args=next_)
        download("Results as CSV", room.table(), f"room-{room.code}.csv", key=f"{key}-csv")
        _turn("Close the room", f"{key}-close", lambda: _close(room))


def _joining(room: Room) -> None:
    """Draw the address and its QR code, or, if no phone can reach the server, the reason and the
    command."""
    where = f"{_site()}/j{room.code}"
    if not _reached():
        st.warning(
            "This server answers only this computer, so phones cannot join and there is no code "
            "to scan. Stop it, and start it in public mode, which accepts no private data:"
        )
        st.code(RESTART, language=None, wrap_lines=True)
        st.caption(f"To try the room now, open {plain(where)} in another browser window.")
        return
    code = segno.make(where).svg_data_uri(border=2, dark="#000", light="#fff")
    st.html(
        f'<img alt="QR code of {safe(where)}" src="{code}" style="width:100%;max-width:22rem">'
        f'<p style="font-size:1.5rem;margin:0;overflow-wrap:anywhere">Join at <b>'
        f"{safe(where.partition('://')[2])}</b></p>"
    )
    st.text_input(
        "Address for phones",
        key="learn-room-address",
        placeholder=_site(),
        help="The address at which phones reach this computer, if it differs.",
    )


def _reached() -> bool:
    """Return whether phones can reach the server, that is, whether it is bound to more than this
    computer."""
    bound = str(st.get_option("server.address") or "0.0.0.0")
    return (mode.public() or mode.trusted()) and not mode.local(bound)


def _site() -> str:
    """Return the app's address for phones: the typed one, else the browser's, else this
    computer's."""
    typed = str(st.session_state.get("learn-room-address", "")).strip().rstrip("/")
    if typed:
        return typed if "://" in typed else f"http://{typed}"
    here = urlsplit(st.context.url or "http://localhost:8501")
    host = here.hostname or "localhost"
    if mode.local(host) and _reached():
        host = _own_address() or host
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    port = f":{here.port}" if here.port else ""
    return f"{here.scheme}://{host}{port}{f'/{base}' if base else ''}"


def _own_address() -> str:
    """Return this computer's address on its network, or ""; nothing is sent."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])
    return ""


# A phone ----------------------------------------------------------------------------------

_VOTER: Place[str] = Place("learn_voter", str)
# A random name that the phone keeps, so that a reload is the same voter. Without storage it lasts
# as long as the page.
_NAMED = """
let own = "";
export default function ({data, setStateValue}) {
  const key = "dp-causal-explorer-voter", fits = (word) => /^[0-9a-f]{32}$/.test(word);
  try { own = localStorage.getItem(key) || own; } catch { /* no storage */ }
  if (!fits(own)) {
    const drawn = [...crypto.getRandomValues(new Uint8Array(16))];
    own = drawn.map((b) => b.toString(16).padStart(2, "0")).join("");
    try { localStorage.setItem(key, own); } catch { /* no storage */ }
  }
  if (data.voter !== own) { setStateValue("voter", own); }
}
"""


def _voter() -> str:
    """Return the phone's random name, "" until the browser has sent it."""
    said = st.session_state.get("voter-state", {}).get("voter") or ""
    if re.fullmatch("[0-9a-f]{32}", said):
        _VOTER.put(said)
    listen("voter", _NAMED, key="voter-state", data={"voter": said}, on_voter_change=lambda: None)
    return _VOTER.get()


def ballot(code: str) -> None:
    """Draw the question and the choices; the projector's page sets the question."""
    voter = _voter()

    def draw(room: Room | None) -> None:
        with st.container(key="phone"):
            if room is None:
                st.info(f"Room {plain(code.upper()[:8])} {GONE} Ask your teacher for the new code.")
            elif not voter:
                st.markdown("Joining the room …")
            elif not room.join(voter):
                st.info("This room is full.")
            else:
                _paper(room, voter)

    _live(code, PHONE_LOOK, draw)


def _paper(room: Room, voter: str) -> None:
    now = room.now
    mine = now.votes.get(voter)
    st.title(f"Room {plain(room.code)}, question {now.number}", anchor=False)
    show_question(room)
    if now.shown is None:
        _choose(room, voter, mine)
    if mine is not None:
        said = ", ".join(room.options[option] for option in mine)
        st.markdown(f"You chose **{plain(said)}**.")
    if now.shown is not None:
        if now.game == "person":
            right = " You were right." if mine == (now.which,) else ""
            st.markdown(f"It came from **{TABLES[now.which]}**.{right}")
        st.markdown("Look at the projector for the answer.")
    st.caption("One vote per browser, deleted within an hour.")


def _choose(room: Room, voter: str, mine: Choice | None) -> None:
    """Draw the choices; the last vote before the answer counts."""
    now, options = room.now, room.options
    key, places = f"ballot-{now.number}", range(len(options))

    def button(title: str, word: str, choice: Choice, **options: Any) -> None:
        args = voter, now.number, choice
        st.button(title, key=f"{key}-{word}", on_click=room.vote, args=args, **options)

    if now.game == "person":
        with st.container(horizontal=True):
            for k, name in enumerate(options):
                look = "primary" if mine == (k,) else "secondary"
                button(name, name, (k,), type=look, width="stretch")
        return
    if now.game == "links":
        picked = st.pills(
            f"Choose {room.picks} links",
            places,
            selection_mode="multi",
            default=mine or (),
            format_func=options.__getitem__,
            key=key,
        )
        choice = tuple(picked)
    else:
        start = mine[0] if mine else len(options) // 2
        at = st.select_slider("ε", places, start, options.__getitem__, key=key)
        st.markdown(price_words(room.lesson.scene["epsilons"][at]))
        choice = (at,)
    short = room.picks - len(choice)
    title = "Change my vote" if mine else "Vote"
    button(title, "vote", choice, type="primary", disabled=short != 0 or choice == mine)
    if short:
        st.caption(f"Choose {short} more." if short > 0 else f"Choose {-short} fewer.")
