"""The tour's step on one noisy test."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import streamlit as st

from engine.teaching.lessons import NoisyTest, noisy_test, query
from pages.draw import show
from pages.draw.curves import Axis, Line, curves, vertical
from pages.learn.tour import Tour
from pages.shell.drafts import kept
from pages.shell.palette import PLAIN
from pages.shell.words import number, plain

FOUND, GONE = 0, 1  # styles


def noise_view(now: Tour) -> None:
    """Statistic, threshold, tweak, density and decision of one test."""
    data = now.data
    pairs = [f"{a} – {b}" for a, b in combinations(data.names, 2)]
    store = kept("learn_noise", {"each": 0.02})
    left, right = st.columns([2, 4], gap="large")
    with left:
        start = pairs.index("tub – dysp") if "tub – dysp" in pairs else 0
        pair = str(st.selectbox("Which pair", pairs, index=start, key="learn-pair"))
        each = st.select_slider(
            "ε for this one test",
            [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0],
            value=float(store["each"]),
            key="learn-each",
            format_func=lambda e: f"{e:g}",
            help="A whole run asks many tests, and all of them share its total.",
        )
        store["each"] = each
        x, y = pair.split(" – ")
        test = noisy_test(data, query(data, x, y), float(each))
        _words(x, y, test)
    with right:
        _chart(test)


def _words(x: str, y: str, test: NoisyTest) -> None:
    stays = "goes" if test.right else "stays"
    st.markdown(
        f"Kendall's τ between **{plain(x)}** and **{plain(y)}** gives |z| = "
        f"**{number(test.exact)}**. The threshold is T = {number(test.level)}: without noise the "
        f"link {stays}."
    )
    st.markdown(
        f"One person can move |z| by at most {number(test.sensitivity)} (the sensitivity). The "
        f"noise has scale {number(test.sensitivity)} / ε = **{number(test.scale)}**."
    )
    a, b = st.columns(2)
    a.metric("The link goes", f"{test.removed:.1%}", help="With noise, over many draws.")
    b.metric("Noise decides otherwise", f"{test.flipped:.1%}")


def _chart(test: NoisyTest) -> None:
    reach = max(5 * test.scale, 1.0)
    low, high = max(-reach, test.exact - reach), max(test.exact, test.level) + reach
    x = np.unique(np.append(np.linspace(low, high, 600), [test.exact, test.level]))
    gone, stays = x[x <= test.level], x[x >= test.level]
    lines = [
        Line(
            name=name,
            x=list(part),
            y=test.density(list(part)),
            style=style,
            mode="lines",
            fill=True,
        )
        for name, part, style in (
            ("Noisy |z| below T: the link goes", gone, GONE),
            ("At T or above: it stays", stays, FOUND),
        )
        if len(part)
    ]
    figure = curves(
        lines, Axis("|z|", ends=(low, high)), Axis("Density of the noisy |z|"), height=360
    )
    figure.update_layout(margin={"t": 44}, yaxis={"showticklabels": False, "rangemode": "tozero"})
    vertical(figure, test.exact, f"|z| = {number(test.exact)}", style=PLAIN, level=1.1)
    vertical(figure, test.level, f"T = {number(test.level)}", style=2, level=1.0)
    vertical(
        figure,
        test.lowered,
        f"the sieve's, with tweak t: {number(test.lowered)}",
        style=3,
        level=0.88,
    )
    show.figure(figure, key="learn-noise", alt="Density of the noisy statistic with thresholds")
