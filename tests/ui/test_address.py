"""Who is right when a field and the address differ: the browser may be behind."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def _page() -> None:
    """One field, and a look by the clock."""
    import streamlit as st

    from pages.shell import address
    from pages.shell.drafts import kept
    from pages.shell.form import bound

    form = kept("form", {"seed": 1})
    if (query := address.arrived("here")) is not None:
        form["seed"] = int(query["seed"])
    bound(st.number_input, "Seed", form, "seed", key="seed", step=1)
    address.write("here", {"seed": str(form["seed"])})
    if "tick" in st.session_state:
        st.query_params.from_dict({"seed": st.session_state.pop("tick")})
        address.again()


def _opened() -> AppTest:
    app = AppTest.from_function(_page)
    app.query_params["seed"] = "1"
    return app.run()


def test_a_field_that_was_just_changed_is_ahead_of_the_address() -> None:
    app = _opened()
    app.number_input("seed").set_value(2).run()
    app.query_params["seed"] = "1"  # the browser has not got the address of 2
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
    app.query_params["seed"] = "1"
    app.run()
    assert app.number_input("seed").value == 1
