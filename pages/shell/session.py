"""What a session keeps: one typed place for each thing, apart from the widgets' own values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import streamlit as st

T = TypeVar("T")


def nothing() -> Any:
    """None: what a place holds before anything was put there."""
    return None


class Place(Generic[T]):
    """One value of the session; ``name`` is its key and ``first()`` what it holds until set."""

    def __init__(self, name: str, first: Callable[[], T] = nothing):
        self._name, self._first = name, first

    def get(self) -> T:
        """What is there."""
        if self._name not in st.session_state:
            st.session_state[self._name] = self._first()
        found: T = st.session_state[self._name]
        return found

    def put(self, value: T) -> None:
        """Put a value there."""
        st.session_state[self._name] = value

    def take(self) -> T:
        """What is there, which leaves as it was at first."""
        found = self.get()
        del st.session_state[self._name]
        return found
