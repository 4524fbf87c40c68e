"""One value a control for the whole visit, and the address that follows it."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from engine.params import ParameterError, Spec
from pages.shell import state
from tests.ui.history import back, behind


def _visit() -> None:
    """Two pages of one visit, and a preset."""
    import streamlit as st

    from engine.params import Spec
    from pages.shell import form, state

    specs = (
        Spec(name="epsilon", kind="float", default=1.0, title="ε", low=0.0, open_low=True),
        Spec(name="seeds", kind="int", default=3, title="Seeds", low=1),
        Spec(name="score", kind="choice", default="p", title="Score", choices=("p", "z")),
        Spec(name="nets", kind="many", default=("asia",), title="Networks"),
    )
    here = st.session_state.get("page", "one")
    state.begin(here)
    d = state.of(specs, f"{here}.")
    presets = {"epsilon": 2.5, "score": "z", "nets": ("asia", "child")}
    st.button("preset", on_click=d.update, args=(presets,), key="preset")
    form.parameters(specs[:3], d, key="f")
    form.bound(st.multiselect, "Networks", d, "nets", key="nets", options=["asia", "child"])
    state.finish()
    state.mark()


def _opened(**query: str) -> AppTest:
    app = AppTest.from_function(_visit)
    app.query_params.update(query)
    return app.run()


def _query(app: AppTest) -> dict[str, str]:
    return {key: "".join(words) for key, words in app.query_params.items()}


def test_a_preset_is_one_write_and_back_undoes_all_of_it() -> None:
    app = _opened()
    assert _query(app) == {}
    app.button("preset").click().run()
    whole = {"epsilon": "2.5", "one.score": "z", "one.nets": "asia,child"}
    assert _query(app) == whole
    assert app.number_input("f-epsilon").value == 2.5
    back(app, {})
    assert (app.number_input("f-epsilon").value, _query(app)) == (1.0, {})
    back(app, whole)
    assert app.multiselect("nets").value == ["asia", "child"]


def test_a_link_sets_what_it_names_and_what_no_control_can_show_is_dropped() -> None:
    app = _opened(**{"epsilon": "0.2", "one.score": "q", "one.seeds": "many", "nobody": "1"})
    assert app.number_input("f-epsilon").value == 0.2
    assert (app.radio("f-score").value, app.number_input("f-seeds").value) == ("p", 3)
    assert _query(app) == {"epsilon": "0.2"}


def test_epsilon_is_one_for_all_pages_and_the_rest_is_each_pages_own() -> None:
    app = _opened()
    app.number_input("f-epsilon").set_value(4.0).run()
    app.number_input("f-seeds").set_value(9).run()
    app.session_state["page"] = "two"
    behind(app, {})
    app.run()
    assert (app.number_input("f-epsilon").value, app.number_input("f-seeds").value) == (4.0, 3)
    app.session_state["page"] = "one"
    behind(app, {})
    app.run()
    assert app.number_input("f-seeds").value == 9


def test_a_refused_number_stays_with_its_sentence() -> None:
    app = _opened()
    app.number_input("f-epsilon").set_value(-1.0).run()
    assert app.number_input("f-epsilon").value == -1.0
    assert any("must be above 0" in said.value for said in app.markdown)


def test_an_address_of_before_takes_nothing_back() -> None:
    app = _opened()
    app.number_input("f-seeds").set_value(5).run()
    behind(app, {})
    app.number_input("f-epsilon").set_value(2.0).run()
    assert _query(app) == {"epsilon": "2.0", "one.seeds": "5"}


def test_a_press_right_after_a_preset_does_not_undo_it() -> None:
    app = _opened()
    app.button("preset").click().run()
    app.text_input(state.MARK).set_value("0")  # the browser has not seen the preset's values
    app.number_input("f-epsilon").set_value(1.0)
    app.run()
    assert app.number_input("f-epsilon").value == 2.5


def test_a_choice_of_several_is_checked() -> None:
    spec = Spec(name="nets", kind="many", default=(), title="", choices=("a", "b"))
    assert spec.check(spec.parse("a,b")) == ("a", "b")
    for bad in (("a", "c"), ("a", "a"), 3):
        with pytest.raises(ParameterError):
            spec.check(bad)


def _hidden() -> None:
    """A field that a switch hides."""
    import streamlit as st

    from engine.params import Spec
    from pages.shell import form, state

    spec = Spec(name="score", kind="choice", default="p", title="Score", choices=("p", "z"))
    state.begin("hidden")
    d = state.of([spec])
    st.button("preset", on_click=d.update, args=({"score": "z"},), key="preset")
    st.button("back", on_click=d.update, args=({"score": "p"},), key="back")
    if st.checkbox("show", value=True, key="show"):
        form.parameters([spec], d, key="f")
    state.finish()
    state.mark()


def test_what_a_field_was_told_before_it_was_hidden_binds_no_hand() -> None:
    app = AppTest.from_function(_hidden).run()
    app.button("preset").click().run()
    app.checkbox("show").uncheck().run()
    app.button("back").click().run()
    app.checkbox("show").check().run()
    for chosen in ("z", "p"):
        app.radio("f-score").set_value(chosen).run()
        assert app.radio("f-score").value == chosen


def test_a_choice_whose_run_was_cut_short_is_kept() -> None:
    """The next press ends a run at any line, also in a callback: the browser's values hold all."""
    app = _opened()
    app.radio("f-score").set_value("z").run()
    lost = app.session_state["state_chosen"].pop("one.score")  # as if its callback had been ended
    app.session_state["state_heard"]["f-score"] = "p"
    app.number_input("f-seeds").set_value(5).run()
    assert (lost, app.radio("f-score").value) == ("z", "z")
    assert _query(app) == {"one.score": "z", "one.seeds": "5"}
