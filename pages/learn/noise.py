"""The tour's steps on one noisy test: its noise, and a game in which one person is replaced."""

from __future__ import annotations

from itertools import combinations

import streamlit as st

from engine.percent import percent
from engine.teaching.lessons import NoisyTest, noisy_test, query
from pages.draw.scene import show_noise
from pages.learn.tour import Tour
from pages.shell.words import number, plain

FOUND, GONE = 0, 1  # styles


EACH = 0.02  # the epsilon of the one test, at the start


def noise_view(now: Tour) -> None:
    """One test's score and its noise, to be dragged."""
    data = now.dataset
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
        f"**{number(test.scale)}**, and noise decides otherwise in **{percent(test.flipped, 1)}**."
    )
    st.markdown("Drag the score, or ε, and see how many of the dots fall on the other side.")
