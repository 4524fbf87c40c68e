"""Widgets bound to a draft, and the fields that several forms have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from engine.registry import ALGORITHMS
from pages.shell import words as text
from pages.shell.drafts import Draft

# What takes any number of columns; those of two have a page of their own.
GRAPH_ALGORITHMS = tuple(key for key, chosen in ALGORITHMS.items() if chosen.columns is None)

Widget = Callable[..., Any]


def bound(widget: Widget, label: str, store: Draft, name: str, *, key: str, **options: Any) -> Any:
    """Show a widget whose value is ``store[name]``, whatever page or rerun it is shown on."""

    def keep() -> None:
        store[name] = st.session_state[key]

    st.session_state[key] = store[name]
    return widget(label, key=key, on_change=keep, **options)


def radio(
    store: Draft, name: str, title: str, options: Sequence[str], *, key: str, help: str = ""
) -> None:
    """A choice of few, in one row."""
    bound(
        st.radio,
        title,
        store,
        name,
        key=key,
        options=options,
        format_func=text.label,
        horizontal=True,
        help=help or None,
    )


def slide(store: Draft, name: str, title: str, ends: Sequence[float], *, key: str) -> None:
    """A slider from ends[0] to ends[1] by steps of ends[2]."""
    low, high, step = ends
    bound(st.slider, title, store, name, key=key, min_value=low, max_value=high, step=step)


def number(store: Draft, name: str, title: str, *, key: str, help: str = "") -> None:
    """A number; the engine says what it refuses."""
    bound(st.number_input, title, store, name, key=key, format="%g", help=help or None)


def seed(store: Draft, name: str, title: str, *, key: str, help: str = "") -> None:
    """A seed: a whole number from 0."""
    bound(st.number_input, title, store, name, key=key, step=1, min_value=0, help=help or None)


def title_of(key: str) -> str:
    """The algorithm's name."""
    return ALGORITHMS[key].title


def algorithm_choice(store: Draft, *, key: str, help: str = "") -> str:
    """Which algorithm."""
    return str(
        bound(
            st.selectbox,
            "Algorithm",
            store,
            "algorithm",
            key=key,
            options=list(GRAPH_ALGORITHMS),
            format_func=title_of,
            help=help or None,
        )
    )
