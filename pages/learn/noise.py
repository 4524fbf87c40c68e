"""The tour's steps on one noisy test: its noise, and a game in which one person is replaced."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import streamlit as st

from engine.teaching.lessons import NoisyTest, noisy_test, query
from engine.teaching.neighbours import NeighbourTest, guess_bound
from pages.draw import show
from pages.draw.curves import Axis, Curve, curves, vertical
from pages.draw.scene import show_noise
from pages.learn.tour import Tour, neighbours_of
from pages.shell.palette import PLAIN
from pages.shell.words import number, plain

FOUND, GONE = 0, 1  # styles


EACH = 0.02  # the epsilon of the one test, at the start


def noise_view(now: Tour) -> None:
    """One test's score and its noise, to be dragged."""
    data = now.data
    pairs = [f"{a} – {b}" for a, b in combinations(data.names, 2)]
    left, right = st.columns([2, 4], gap="large")
    with left:
        start = pairs.index("tub – dysp") if "tub – dysp" in pairs else 0
        pair = str(st.selectbox("Which pair", pairs, index=start, key="learn-pair"))
        x, y = pair.split(" – ")
        test = noisy_test(data, query(data, x, y), EACH)
        _words(x, y, test)
    with right:
        show_noise(
            {
                "score": test.exact,
                "level": test.level,
                "sensitivity": test.sensitivity,
                "epsilon": test.epsilon,
            },
            key="learn-noise",
        )


def _words(x: str, y: str, test: NoisyTest) -> None:
    stays = "goes" if test.right else "stays"
    st.markdown(
        f"Kendall's τ between **{plain(x)}** and **{plain(y)}** gives |z| = "
        f"**{number(test.exact)}**. The threshold is T = {number(test.level)}: without noise the "
        f"link {stays}."
    )
    st.markdown(
        f"One person can move |z| by at most {number(test.sensitivity)} (the sensitivity). The "
        f"noise has scale {number(test.sensitivity)} / ε: at ε = {number(test.epsilon)} that is "
        f"**{number(test.scale)}**, and noise decides otherwise in **{test.flipped:.1%}**."
    )
    st.markdown("Drag the score, or ε, and see how many of the dots fall on the other side.")


# The tour's game: one person is replaced; who can tell from a noisy output? --------------


NAMES = ("A", "B")
MANY = 1000


@dataclass
class Game:
    """Guesses so far, the output on the table and where it came from."""

    settings: tuple[object, ...]
    right: int = 0
    played: int = 0
    machine: tuple[int, int] | None = None
    last: str = ""
    which: int = 0
    value: float = 0.0

    def deal(self, pair: NeighbourTest) -> None:
        """Toss a coin for the dataset, and draw its output."""
        self.which = secrets.randbelow(2)
        self.value = pair.drawn(self.which, secrets.randbelow(2**63))


def person_view(now: Tour) -> None:
    """The neighbouring dataset, both distributions, the game and its score."""
    data = now.data
    pairs = [f"{a} – {b}" for a, b in combinations(data.names, 2)]
    left, right = st.columns([2, 4], gap="large")
    with left:
        start = pairs.index("tub – either") if "tub – either" in pairs else 0
        chosen = str(st.selectbox("The test", pairs, index=start, key="learn-game-pair"))
        options = [0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0]
        epsilon = float(
            st.select_slider(
                "ε, all of it for this one output",
                options,
                value=1.0,
                key="learn-game-epsilon",
                format_func=lambda e: f"{e:g}",
            )
        )
        x, y = chosen.split(" – ")
        pair = neighbours_of(now.network, x, y).at(epsilon)
        game = _game((now.network, chosen, epsilon), pair)
        _person(pair)
        _guess(game, pair)
    with right:
        _outputs(pair, game)
        _score(game, pair)


def _game(settings: tuple[object, ...], pair: NeighbourTest) -> Game:
    game: Game | None = st.session_state.get("tour_game")
    if game is None or game.settings != settings:
        game = st.session_state["tour_game"] = Game(settings)
        game.deal(pair)
    return game


def _person(pair: NeighbourTest) -> None:
    said = [
        f"{plain(name)} **{plain(pair.before[name])}** → **{plain(pair.after[name])}**"
        for name in pair.before
    ]
    st.markdown(
        f"Dataset **A** has {pair.data.n:,} people. In **B** person {pair.row + 1:,} is replaced: "
        f"{', '.join(said)}. No other replacement moves this test more: |z| "
        f"{number(pair.exact[0], 5)} → {number(pair.exact[1], 5)}."
    )


def _guess(game: Game, pair: NeighbourTest) -> None:
    st.markdown(f"An output came out: **{number(game.value, 4)}**. From which dataset?")
    with st.container(horizontal=True):
        for which, name in enumerate(NAMES):
            st.button(
                f"It was {name}",
                key=f"learn-guess-{name}",
                type="primary",
                on_click=_answer,
                args=(game, pair, which),
            )
        st.button(
            f"Best guesser, {MANY:,} times",
            key="learn-guess-many",
            on_click=_machine,
            args=(game, pair),
            help="Always names the dataset under which the output is likelier.",
        )
    st.markdown(game.last or "&nbsp;")


def _answer(game: Game, pair: NeighbourTest, guess: int) -> None:
    right = guess == game.which
    game.played += 1
    game.right += right
    verdict = "Right" if right else "Wrong"
    game.last = f"**{verdict}:** {number(game.value, 4)} came from **{NAMES[game.which]}**."
    game.deal(pair)


def _machine(game: Game, pair: NeighbourTest) -> None:
    right = 0
    for _ in range(MANY):
        which = secrets.randbelow(2)
        right += pair.likelier(pair.drawn(which, secrets.randbelow(2**63))) == which
    game.machine = (right, MANY)


def _score(game: Game, pair: NeighbourTest) -> None:
    tiles = st.columns(4)
    share = f" ({game.right / game.played:.0%})" if game.played else ""
    tiles[0].metric("You", f"{game.right} of {game.played}{share}")
    if game.machine is not None:
        right, of = game.machine
        tiles[1].metric("Best guesser", f"{right / of:.1%}", help=f"{right:,} of {of:,}")
    else:
        tiles[1].metric("Best guesser", "–", help="Press its button.")
    tiles[2].metric(
        "Best possible here", f"{pair.best:.1%}", help="For these two datasets, computed."
    )
    tiles[3].metric(
        "Limit at this ε",
        f"{guess_bound(pair.epsilon):.1%}",
        help="e^ε / (1 + e^ε): no guesser does better between any two neighbours. 50 % is chance.",
    )


def _outputs(pair: NeighbourTest, game: Game) -> None:
    middle = sum(pair.exact) / 2
    reach = 5 * pair.scale
    reach = max(reach, 1.2 * abs(game.value - middle))
    x = np.unique(np.append(np.linspace(middle - reach, middle + reach, 500), pair.exact))
    lines = [
        Curve(
            name=f"Outputs of {NAMES[which]}",
            x=list(x),
            y=[pair.density(which, float(v)) for v in x],
            style=which,
            mode="lines",
            fill=True,
        )
        for which in (0, 1)
    ]
    figure = curves(
        lines,
        Axis("Noisy |z|, the output", ends=(middle - reach, middle + reach)),
        Axis("How likely"),
        height=310,
    )
    figure.update_layout(margin={"t": 30}, yaxis={"showticklabels": False, "rangemode": "tozero"})
    vertical(figure, game.value, "this output", style=PLAIN, level=1.08)
    show.figure(figure, key="learn-person", alt="Outputs of the two datasets, and one output")
