"""Who is right when a field and the address differ: the browser may be behind."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.shell import form, state
from tests.ui.history import back, behind


def _page() -> None:
    """One field, and a look by the clock."""
    import streamlit as st

    from engine.params import Spec
    from pages.shell import state
    from pages.shell.form import bound

    state.begin("here")
    form = state.of([Spec(name="seed", kind="int", default=0, title="Seed")])
    bound(st.number_input, "Seed", form, "seed", key="seed", step=1)
    state.finish()
    if "tick" in st.session_state:
        st.query_params.from_dict({"seed": st.session_state.pop("tick")})
        st.rerun()


def _opened() -> AppTest:
    app = AppTest.from_function(_page)
    app.query_params["seed"] = "1"
    return app.run()


def test_a_field_that_was_just_changed_is_ahead_of_the_address() -> None:
    app = _opened()
    app.number_input("seed").set_value(2).run()
    behind(app, {"seed": "1"})
    app.number_input("seed").set_value(3).run()
    assert app.number_input("seed").value == 3
    assert "".join(app.query_params["seed"]) == "3"


def test_a_look_by_the_clock_brings_no_address() -> None:
    app = _opened()
    app.number_input("seed").set_value(2).run()
    app.session_state["tick"] = "1"
    app.run()
    assert app.number_input("seed").value == 2
    assert "".join(app.query_params["seed"]) == "2"


def test_back_brings_one() -> None:
    app = _opened()
    app.number_input("seed").set_value(2).run()
    back(app, {"seed": "1"})
    assert app.number_input("seed").value == 1


def test_a_field_begins_with_what_it_is_told(open_app: Callable[..., AppTest]) -> None:
    """The telling is lost where another run begins before it was sent: a browser then shows what
    the field begins with, its least number or first choice, and sends that back as chosen.
    """
    app = open_app("run", data="sem:sf:12:24:gumbel", n="3000", sample="7", epsilon="2")
    app.run()  # in which nothing is told any more
    numbers = {field.key: field.proto for field in app.number_input}
    asked = {"run-sem_nodes": 12, "run-sem_edges": 24, "run-n": 3000, "run-sample": 7}
    for key, value in {**asked, "param-epsilon": 2.0}.items():
        assert (numbers[key].set_value, numbers[key].default) == (False, value), key
    lists = {field.key: field for field in (*app.selectbox, *app.radio)}
    for key in ("run-network", "run-sem_graph", "run-sem_noise", "run-algorithm"):
        assert lists[key].proto.default == lists[key].index > 0, key


def test_a_look_by_the_clock_takes_nothing_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """It brings what all fields held when the clock struck, and no choice of anybody's."""
    run = SimpleNamespace(fragment_ids_this_run=None)
    monkeypatch.setattr(form, "get_script_run_ctx", lambda: run)
    monkeypatch.setattr(state, "get_script_run_ctx", lambda: run)
    home = SimpleNamespace(get=lambda: SimpleNamespace(fragment_id=None))
    monkeypatch.setattr(form, "ThreadState", home)
    monkeypatch.setattr(st, "session_state", {})
    made: dict[str, Any] = {}
    store = {"epsilon": 3.0}
    form.bound(lambda _, **told: made.update(told), "ε", store, "epsilon", key="e")
    st.session_state["e"] = 1.0
    run.fragment_ids_this_run = ["clock"]
    made["on_change"]()
    assert store["epsilon"] == 3.0
    run.fragment_ids_this_run = None
    made["on_change"]()
    assert store["epsilon"] == 1.0
    run.fragment_ids_this_run = ["dialog"]
    st.session_state["e"] = 2.0
    assert form._may_change("dialog")  # a field of a dialog's own, in which alone a hand runs it


def _pair() -> None:
    """Two fields of one number, and a switch beside them."""
    import streamlit as st

    from pages.shell.form import bound
    from pages.shell.state import kept, mark

    form = kept("form", {"epsilon": 1.0, "stable": False})
    bound(st.number_input, "ε", form, "epsilon", key="typed", step=1.0)
    bound(st.select_slider, "ε", form, "epsilon", key="slid", options=[1.0, 2.0, 3.0])
    bound(st.toggle, "Stable", form, "stable", key="stable")
    mark()


def _typed() -> AppTest:
    """ε = 2 is typed, and the slider told."""
    app = AppTest.from_function(_pair).run()
    app.number_input("typed").set_value(2.0).run()
    assert app.select_slider("slid").value == 2.0
    return app


def test_what_a_field_showed_before_it_was_told_another_is_no_choice() -> None:
    app = _typed()
    for _ in range(2):  # whatever is pressed before the browser has the slider's new place
        app.text_input(state.MARK).set_value("0")
        app.select_slider("slid").set_value(1.0)
        app.toggle("stable").set_value(not app.toggle("stable").value).run()
        assert app.number_input("typed").value == app.select_slider("slid").value == 2.0
    assert not app.toggle("stable").value


def test_a_hand_may_take_a_field_back_or_elsewhere() -> None:
    app = _typed()
    app.select_slider("slid").set_value(1.0).run()  # the browser has seen that it was told 2
    assert app.number_input("typed").value == app.select_slider("slid").value == 1.0
    app = _typed()
    app.text_input(state.MARK).set_value("0")
    app.select_slider("slid").set_value(3.0).run()  # it had not, but nothing had shown 3
    assert app.number_input("typed").value == app.select_slider("slid").value == 3.0


def test_of_two_tellings_the_first_is_no_choice_either() -> None:
    app = _typed()
    seen = app.text_input(state.MARK).value
    app.number_input("typed").set_value(3.0).run()
    app.text_input(state.MARK).set_value(seen)  # the browser has the slider at 2, and sends that
    app.select_slider("slid").set_value(2.0)
    app.toggle("stable").set_value(True).run()
    assert app.number_input("typed").value == app.select_slider("slid").value == 3.0


def test_what_a_hand_chose_is_not_undone_by_a_telling_that_comes_late() -> None:
    app = _typed()
    late = app.text_input(state.MARK).value
    app.text_input(state.MARK).set_value("0")
    app.select_slider("slid").set_value(3.0).run()
    app.text_input(state.MARK).set_value(late)  # the telling of 2 has come over the hand's 3
    app.select_slider("slid").set_value(2.0)
    app.toggle("stable").set_value(True).run()
    assert app.number_input("typed").value == app.select_slider("slid").value == 3.0
    for value in (2.0, 3.0, 2.0):  # and a hand may go to and fro
        app.select_slider("slid").set_value(value).run()
        assert app.number_input("typed").value == app.select_slider("slid").value == value


def test_a_mark_that_is_no_number_is_none() -> None:
    app = _typed()
    app.text_input(state.MARK).set_value("me")  # as a browser that fills in forms may
    app.select_slider("slid").set_value(1.0).run()
    assert not app.exception
    assert app.number_input("typed").value == 1.0
