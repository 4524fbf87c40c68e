"""The tour's last steps: sieve and examine, later orders, a bound that fails, spending once."""

from __future__ import annotations

import streamlit as st

from engine.percent import percent
from engine.teaching.lessons import strengths
from engine.teaching.neighbours import counterexample, places
from engine.teaching.replay import by_order, scenes
from pages.draw import show
from pages.draw.allocation import START, UNIFORM, is_planned, orders_table
from pages.draw.bars import Group, bars, grouped
from pages.draw.scene import show_record
from pages.learn.tour import Tour, shown_run
from pages.shell.palette import PLAIN, ink
from pages.shell.words import number


def sieve_view(now: Tour) -> None:
    """What the sieve settled alone, and what was examined."""
    result = shown_run(now, "priv_pc", epsilon=now.epsilon)
    counts = by_order(list(scenes(result.steps, result.names)))
    sieved = [c.kinds.get("sieve", 0) - c.kinds.get("examine", 0) for c in counts]
    examined = [c.kinds.get("examine", 0) for c in counts]
    orders = [c.order for c in counts]
    left, right = st.columns([5, 3], gap="large")
    with left:
        figure = grouped(
            orders,
            [
                Group("Settled by the sieve alone: the link stays", sieved, ink(0)),
                Group("Examined", examined, ink(1), "/"),
                Group("Links that went", [c.removed for c in counts], ink(PLAIN), "x"),
            ],
            x_title="Order",
            y_title="Questions",
            height=360,
        )
        show.figure(figure, key="learn-sieve", alt="Questions sieved and examined at each order")
    with right:
        rounds = sum(examined)
        st.metric("Questions", f"{sum(sieved) + rounds:,}")
        st.metric("Answered by the sieve alone", f"{sum(sieved):,}")
        st.metric("Examined", f"{rounds:,}")
        st.markdown(
            f"Answering each of {sum(sieved) + rounds:,} questions on its own would split ε = "
            f"{number(now.epsilon)} (strict, the whole run) as often. Sieve and examine split it "
            f"into rounds, one for each “perhaps independent”: {rounds:,} here. The sieve's "
            "“dependent” answers cost nothing more."
            + (
                " The budget ran out before the last question."
                if result.status == "budget_exhausted"
                else ""
            )
        )


def orders_view(now: Tour) -> None:
    """How far tests lie from the threshold by order, and where CURATE puts its budget."""
    data = now.dataset
    perfect = shown_run(now, "pc", seed=0, statistic="oracle")
    each = now.epsilon / max(1, perfect.ci_tests)
    lines = [s for s in strengths(data, perfect.steps, each) if s.dependent]
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**How far real links lie above the threshold**")
        figure = bars(
            [s.order for s in lines],
            [s.margin for s in lines],
            x_title="Order: how many variables a test conditions on",
            y_title="Distance in sensitivities (median)",
            words=[number(s.margin) for s in lines],
            height=330,
        )
        show.figure(figure, key="learn-margin", alt="Distance from the threshold by order")
        flips = ", ".join(f"{percent(s.flips)} at order {s.order}" for s in lines)
        st.caption(
            f"With ε = {number(now.epsilon)} (strict) shared equally among {perfect.ci_tests} "
            f"tests, noise would take away a real link in {flips}."
        )
    with right:
        _curate(now)


def _curate(now: Tour) -> None:
    result = shown_run(now, "curate_pc", epsilon=now.epsilon)
    st.markdown("**What CURATE gives one test, by order**")
    if not is_planned(result):
        st.info("The total is too small for a plan. Raise ε.")
        return
    table = orders_table(result)
    orders = table["Order"].tolist()
    plan, even = (table[f"{view}: ε a test"].tolist() for view in (START, UNIFORM))
    figure = grouped(
        orders,
        [
            Group("CURATE's plan before the first test", plan, ink(0)),
            Group("The same for every test", even, ink(PLAIN), "."),
        ],
        x_title="Order",
        y_title="ε of one test",
        height=330,
    )
    show.figure(figure, key="learn-curate", alt="CURATE's ε of one test at each order")
    st.caption(
        "A link that is wrongly kept at order 0 is asked about again in every later order, so an "
        "early mistake costs budget too."
    )


def bound_view(now: Tour) -> None:
    """One record to move against a published sensitivity, computed now."""
    left, right = st.columns([2, 5], gap="large")
    with left:
        small = int(st.slider("Rows in the small stratum", 10, 200, 40, 10, key="learn-small"))
        large = int(
            st.select_slider(
                "Rows in the large stratum",
                [1_000, 4_960, 9_960, 49_960, 99_960],
                value=49_960,
                key="learn-large",
                format_func=lambda n: f"{n:,}",
            )
        )
        found = counterexample(small, large)
        claimed = max(found.claims.values())
        change = abs(found.p[0] - found.p[1])
        st.markdown(
            "At first one column is constant in the large stratum, so the published test skips "
            "those rows. **Drag the record** to x = 1 there: now they all count. It moves p by "
            f"**{number(change)}**, **{number(change / claimed)} times** what the noise was made "
            f"for. The **strict** form counts every stratum always: its proved bound is "
            f"{number(found.bound)}."
        )
        st.caption(" · ".join(f"{name}: {number(v)}" for name, v in found.claims.items()))
    rest, cells = places(small, large)
    moves = {
        "rest": rest.tolist(),
        "places": [vars(place) for place in cells],
        "claim": claimed,
        "bound": found.bound,
    }
    with right:
        show_record(moves, key="learn-record")
