"""One value a control for the whole visit, the address that follows it, and who is right of two.

The browser may be behind: what it sends, of a field or of the address, may be of before.
"""

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from engine.params import ParameterError, Spec
from engine.studies.scenes import kept_scene
from tests.ui.steps import address, back, behind, told, visit


def _visit():
    """Two pages of one visit, a preset and its undoing; a switch that hides a field; a clock."""
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
    state.read_address(here)
    state.write_changes("")
    if "long" in st.session_state:
        st.stop()
    d = state.Values(specs, f"{here}.")
    presets = {"epsilon": 2.5, "score": "z", "nets": ("asia", "child")}
    st.button("preset", on_click=d.update, args=(presets,), key="preset")
    reported = {"epsilon": 3, "seeds": 0, "score": None, "nets": ["asia"]}
    st.button("report", on_click=form.keeping(d), args=(reported,), key="report")
    st.button("undo", on_click=d.update, args=({"score": "p"},), key="undo")
    form.parameters(specs[:2], d, key="f")
    if st.checkbox("show", value=True, key="show"):
        form.parameters(specs[2:3], d, key="f")
    form.bound(st.multiselect, "Networks", d, "nets", key="nets", options=["asia", "child"])
    state.write_address()
    if "tick" in st.session_state:
        st.query_params.from_dict({"epsilon": st.session_state.pop("tick")})
        st.rerun()


@pytest.fixture
def app():
    return AppTest.from_function(_visit).run()


def epsilon(app, value=None):
    """What the field shows, once a value is typed into it."""
    if value is not None:
        app.number_input("f-epsilon").set_value(value).run()
    return float(app.number_input("f-epsilon").value)


def test_a_component_s_report_is_kept_in_the_types_of_its_fields(app):
    """A value beyond its range, or none at all, changes nothing."""
    app.button("report").click().run()
    assert not app.exception
    assert address(app) == {"epsilon": "3.0"}


def test_a_preset_is_one_write_and_back_undoes_all_of_it(app):
    assert address(app) == {}
    app.button("preset").click().run()
    whole = {"epsilon": "2.5", "one.score": "z", "one.nets": "asia,child"}
    assert address(app) == whole
    assert epsilon(app) == 2.5
    back(app, {})
    assert (epsilon(app), address(app)) == (1.0, {})
    back(app, whole)
    assert app.multiselect("nets").value == ["asia", "child"]


def test_a_press_is_in_the_address_before_the_page_is_drawn(app):
    """A page that begins long work may be reloaded before it is drawn to its end."""
    app.session_state["long"] = True
    app.button("preset").click().run()
    words = {"epsilon": "2.5", "one.score": "z", "one.nets": "asia,child"}
    assert address(app, "early_address") == words


def test_a_link_sets_what_it_names_and_what_no_control_can_show_is_dropped():
    app = AppTest.from_function(_visit)
    link = {"epsilon": "0.2", "one.score": "q", "one.seeds": "many", "nobody": "1"}
    app.query_params.update(link)
    assert epsilon(app.run()) == 0.2
    assert (app.radio("f-score").value, app.number_input("f-seeds").value) == ("p", 3)
    assert address(app) == {"epsilon": "0.2"}


def test_epsilon_is_one_for_all_pages_and_the_rest_is_each_pages_own(app):
    epsilon(app, 4.0)
    app.number_input("f-seeds").set_value(9).run()
    for page, seeds in (("two", 3), ("one", 9)):
        app.session_state["page"] = page
        behind(app, {})
        app.run()
        assert (epsilon(app), app.number_input("f-seeds").value) == (4.0, seeds)


def test_a_refused_number_stays_with_its_sentence(app):
    assert epsilon(app, -1.0) == -1.0
    assert "must be above 0" in told(app, "html")


def test_an_address_of_before_takes_nothing_back(app):
    app.number_input("f-seeds").set_value(5).run()
    behind(app, {})
    epsilon(app, 2.0)
    assert address(app) == {"epsilon": "2.0", "one.seeds": "5"}
    app.session_state["tick"] = "1"  # nor does one that a look by the clock brings
    assert epsilon(app.run()) == 2.0
    assert address(app)["epsilon"] == "2.0"


def late(app, old, value, *pressed):
    """The browser sends a field as it was before the server changed it, and a press."""
    for one in pressed:
        one.set_value(not one.value)
    old.set_value(value)
    new = getattr(app, old.type)(old.key)
    states = app._tree.get_widget_states()
    known = [one for one in states.widgets if one.id != new.id]
    del states.widgets[:]
    states.widgets.extend([*known, old._widget_state])
    return app._run(states)


@pytest.mark.parametrize("value", [1.0, 3.0])
def test_a_press_right_after_a_preset_does_not_undo_it(app, value):
    old = app.number_input("f-epsilon")
    app.button("preset").click().run()
    assert epsilon(late(app, old, value)) == 2.5
    assert epsilon(app, 4.0) == 4.0


def test_what_a_field_was_told_before_it_was_hidden_binds_no_hand(app):
    app.button("preset").click().run()
    app.checkbox("show").uncheck().run()
    app.button("undo").click().run()
    app.checkbox("show").check().run()
    for chosen in ("z", "p"):
        app.radio("f-score").set_value(chosen).run()
        assert app.radio("f-score").value == chosen


def test_a_choice_whose_run_was_cut_short_is_kept(app):
    """The next press ends a run at any line, also in a callback: the browser's values hold all."""
    app.radio("f-score").set_value("z").run()
    lost = app.session_state["state"].chosen.pop("one.score")  # as if its callback had been ended
    app.session_state["drawn"]["f-score"] = (0, "p", ("p",))
    app.number_input("f-seeds").set_value(5).run()
    assert (lost, app.radio("f-score").value) == ("z", "z")
    assert address(app) == {"one.score": "z", "one.seeds": "5"}


def test_a_choice_of_several_is_checked():
    spec = Spec(name="nets", kind="many", default=(), title="", choices=("a", "b"))
    assert spec.check(spec.parse("a,b")) == ("a", "b")
    for bad in (("a", "c"), ("a", "a"), 3):
        with pytest.raises(ParameterError):
            spec.check(bad)


def test_a_field_begins_with_what_it_is_told(open_app):
    """The telling is lost where another run begins before it was sent: a browser then shows what
    the field begins with, its least number or first choice, and sends that back as chosen.
    """
    model = {"sem_graph": "sf", "sem_nodes": "12", "sem_edges": "24", "sem_noise": "gumbel"}
    app = open_app("run", data="sem", n="3000", sample="7", epsilon="2", **model)
    app.run()  # in which nothing is told any more
    numbers = {field.key: field.proto for field in app.number_input}
    asked = {"run-sem_nodes": 12, "run-sem_edges": 24, "run-n": 3000, "run-sample": 7}
    for key, value in {**asked, "param-epsilon": 2.0}.items():
        assert (numbers[key].set_value, numbers[key].default) == (False, value), key
    lists = {field.key: field for field in (*app.selectbox, *app.radio)}
    for key in ("run-network", "run-sem_graph", "run-sem_noise", "run-algorithm"):
        assert lists[key].proto.default == lists[key].index > 0, key
    assert "SEM, Scale-free, Gumbel" in told(app, "html")
    assert address(app).items() >= {"data": "sem", "n": "3000", **model}.items()
    visit(app, "table")


def _pair():
    """Two fields of one number, and a switch beside them."""
    import streamlit as st

    from pages.shell.form import bound
    from pages.shell.state import session_values

    form = session_values("form", {"epsilon": 1.0, "stable": False})
    bound(st.number_input, "ε", form, "epsilon", key="typed", step=1.0)
    bound(st.select_slider, "ε", form, "epsilon", key="slid", options=[1.0, 2.0, 3.0])
    bound(st.toggle, "Stable", form, "stable", key="stable")


def test_what_a_field_showed_before_the_server_changed_it_is_no_choice():
    app = AppTest.from_function(_pair).run()
    first = app.select_slider("slid")
    app.number_input("typed").set_value(2.0).run()
    second = app.select_slider("slid")
    for value in (1.0, 3.0):  # whatever is pressed before the browser has the slider's new place
        late(app, first, value, app.toggle("stable"))
        assert app.number_input("typed").value == app.select_slider("slid").value == 2.0
    assert not app.toggle("stable").value
    app.number_input("typed").set_value(3.0).run()
    late(app, second, 1.0)  # of two changes the browser has the first
    assert app.number_input("typed").value == app.select_slider("slid").value == 3.0
    for value in (2.0, 3.0, 1.0):  # and a hand may go to and fro
        app.select_slider("slid").set_value(value).run()
        assert app.number_input("typed").value == app.select_slider("slid").value == value


def test_a_scene_that_is_made_ones_own_brings_its_rows(open_app, monkeypatch):
    app, asked = open_app(data="asia", n="2000", sample="5"), {}
    monkeypatch.setattr(st, "switch_page", lambda page, query_params: asked.update(query_params))
    app.switch_page("pages/scene/page.py")
    app.session_state["scene_yours"] = True  # as the button does
    app.run()
    assert (asked["n"], asked["sample"]) == (str(kept_scene("asia")["rows"]), "0")
