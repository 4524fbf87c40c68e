"""Who is signed in, said quietly in the header; and why budgets and own data are off where they
are.
"""

from __future__ import annotations

import streamlit as st

from pages.host import person
from pages.shell import words as text


def line() -> None:
    """The visitor's name and, where Streamlit signs people in, the way in or out."""
    if not person.knows_people():
        return
    found = person.visitor()
    with st.container(key="who", horizontal=True, vertical_alignment="center"):
        if found is not None:
            st.html(f'<span title="{text.safe(found.name)}">{text.safe(found.name)}</span>')
        if person.signs_in():
            way, go = ("Sign in", st.login) if found is None else ("Sign out", st.logout)
            st.button(way, key="sign", type="tertiary", on_click=go)


def switched_off() -> bool:
    """Whether this session is nobody's; says so in the place of what is off."""
    if person.visitor() is not None:
        return False
    st.info(person.why_not(), icon=":material/lock:")
    return True
